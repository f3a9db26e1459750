/* Series and combos that break kernels: ties, tick grids, holes, extreme magnitudes. Made without libm, so that they are the
 * same everywhere. */
#ifndef SWP_TESTS_SUPPORT_HARD_SERIES_H
#define SWP_TESTS_SUPPORT_HARD_SERIES_H

#include <stdint.h>
#include "swp/strategy.h"

typedef struct swp__random {
    uint64_t state; /* any value is a seed */
} swp__random;

uint64_t swp__random_u64(swp__random *random);
int64_t swp__random_between(swp__random *random, int64_t low, int64_t high); /* both included */
double swp__random_unit(swp__random *random);                                /* [0, 1) */

typedef enum swp__hard {
    SWP__HARD_WALK,
    SWP__HARD_CONSTANT,
    SWP__HARD_ZERO,
    SWP__HARD_TICKS,       /* a walk on a coarse grid: many ties */
    SWP__HARD_COINS,       /* 0 or 1 */
    SWP__HARD_ALTERNATING, /* 100, 101, 100, ... */
    SWP__HARD_FLAT_NOISE,  /* a constant with noise of 1e-13 */
    SWP__HARD_STALE,       /* a walk that stands still half of the time */
    SWP__HARD_STEPS,
    SWP__HARD_RAMP,
    SWP__HARD_SIGNS, /* positive and negative, around zero */
    SWP__HARD_JUMPS, /* by 1e6 and back */
    SWP__HARD_NAN_HOLES,
    SWP__HARD_INF_HOLES, /* infinities of both signs and NaN */
    SWP__HARD_HUGE,      /* 1e300: sums of long windows overflow or nearly do */
    SWP__HARD_OVERFLOW,  /* 1e307: they do */
    SWP__HARD_TINY,      /* 1e-300 */
    SWP__HARD_SUBNORMAL,
    SWP__HARD_MIXED, /* 2^-60 .. 2^60 from bar to bar */
    SWP__HARD_BITS,  /* any bit pattern of a double */
    SWP__HARD_COUNT
} swp__hard;

const char *swp__hard_name(swp__hard kind);
void swp__hard_fill(double *close, int64_t bars_count, swp__hard kind, swp__random *random);

/* Any shape: lengths 1..longest in any order, half of the time those of a convenience length. */
swp_params swp__hard_combo(swp__random *random, int64_t longest);

#endif
