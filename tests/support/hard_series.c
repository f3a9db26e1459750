#include "support/hard_series.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* splitmix64 */
uint64_t swp__random_u64(swp__random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

int64_t swp__random_between(swp__random *random, int64_t low, int64_t high)
{
    return low + (int64_t)(swp__random_u64(random) % (uint64_t)(high - low + 1));
}

double swp__random_unit(swp__random *random)
{
    return (double)(swp__random_u64(random) >> 11) * 0x1p-53;
}

const char *swp__hard_name(swp__hard kind)
{
    static const char *const names[SWP__HARD_COUNT] = {
        "walk",  "constant", "zero",      "ticks",     "coins", "alternating", "flat-noise", "stale",     "steps", "ramp",
        "signs", "jumps",    "nan-holes", "inf-holes", "huge",  "overflow",    "tiny",       "subnormal", "mixed", "bits"};
    return names[kind];
}

static double any_bits(swp__random *random)
{
    uint64_t bits = swp__random_u64(random);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The close of bar `i`; `walk` is a walk around 100, `previous` the close before. */
static double close_of(swp__hard kind, int64_t i, double walk, double previous, swp__random *random)
{
    double unit = swp__random_unit(random);
    bool rare = swp__random_between(random, 0, 59) == 0;
    switch (kind) {
    case SWP__HARD_CONSTANT:
        return 0.1;
    case SWP__HARD_ZERO:
        return 0.0;
    case SWP__HARD_TICKS:
        return (double)(int64_t)(walk * 2.0) * 0.5;
    case SWP__HARD_COINS:
        return unit < 0.5 ? 0.0 : 1.0;
    case SWP__HARD_ALTERNATING:
        return i % 2 == 0 ? 100.0 : 101.0;
    case SWP__HARD_FLAT_NOISE:
        return 100.0 + (unit - 0.5) * 2e-13;
    case SWP__HARD_STALE:
        return i > 0 && unit < 0.5 ? previous : walk;
    case SWP__HARD_STEPS:
        return 100.0 + (double)(i / 70 % 5);
    case SWP__HARD_RAMP:
        return 1.0 + 0.25 * (double)i;
    case SWP__HARD_SIGNS:
        return unit - 0.5;
    case SWP__HARD_JUMPS:
        return i / 150 % 2 == 0 ? walk : walk * 1e6;
    case SWP__HARD_NAN_HOLES:
        return rare ? (double)NAN : walk;
    case SWP__HARD_INF_HOLES:
        return !rare ? walk : unit < 0.4 ? (double)INFINITY : unit < 0.8 ? -(double)INFINITY : (double)NAN;
    case SWP__HARD_HUGE:
        return walk * 1e300;
    case SWP__HARD_OVERFLOW:
        return walk * 1e305;
    case SWP__HARD_TINY:
        return walk * 1e-302;
    case SWP__HARD_SUBNORMAL:
        return walk * 1e-312;
    case SWP__HARD_MIXED:
        return ldexp(walk, (int)swp__random_between(random, -60, 60));
    case SWP__HARD_BITS:
        return any_bits(random);
    default:
        return walk;
    }
}

void swp__hard_fill(double *close, int64_t bars_count, swp__hard kind, swp__random *random)
{
    double walk = 100.0, previous = 0.0;
    for (int64_t i = 0; i < bars_count; i++) {
        walk += walk * 0.01 * (swp__random_unit(random) - 0.5);
        close[i] = previous = close_of(kind, i, walk, previous, random);
    }
}

swp_params swp__hard_combo(swp__random *random, int64_t longest)
{
    swp_params c;
    if (swp__random_between(random, 0, 1) == 0 &&
        swp_params_from_length(swp__random_between(random, 1, longest), &c, NULL) == SWP_OK) {
        return c;
    }
    int64_t *lengths[] = {&c.half, &c.full, &c.smooth, &c.third, &c.mid, &c.p};
    for (int i = 0; i < 6; i++) {
        int64_t most = swp__random_between(random, 0, 2) == 0 ? longest : 1 + longest / 8;
        *lengths[i] = swp__random_between(random, 1, most);
    }
    return c;
}
