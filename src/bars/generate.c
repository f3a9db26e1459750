/* One table of shapes. Each stands for a kind of series that a fast kernel may find hard: no differences, differences
 * near the rounding noise, long flats, holes, ends of the number range, and changes of magnitude. */
#include "bars/generate.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "bars/normal.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "base/number.h"

enum {
    REGIME_BARS = 500, /* trend-chop: bars of a trend, then of a chop */
    STEP_BARS = 1000,  /* steps: bars at one price */
    HOLES_MAX = 100,   /* nan-holes, inf-holes */
};

/* close = start * exp(cumulative sum of sigma * z); leaves the stream where it is for what a shape draws beside. */
static swp__pcg64 walk(const swp__generate_options *options, double start, double *close)
{
    swp__pcg64 pcg;
    swp__pcg64_init(&pcg, options->seed);
    double sum = 0.0;
    for (uint64_t i = 0; i < options->bars_count; i++) {
        sum += options->sigma * swp__normal_next(&pcg);
        close[i] = start * exp(sum);
    }
    return pcg;
}

static void randwalk(const swp__generate_options *options, double *close)
{
    walk(options, options->start, close);
}

static void constant(const swp__generate_options *options, double *close)
{
    for (uint64_t i = 0; i < options->bars_count; i++) {
        close[i] = options->start;
    }
}

/* The walk on a grid of prices, one tick at least. 1/tick must be what is exact: 0.01 is no double, 100 is. */
static void walk_on_grid(const swp__generate_options *options, double ticks_per_unit, double *close)
{
    walk(options, options->start, close);
    for (uint64_t i = 0; i < options->bars_count; i++) {
        close[i] = fmax(1.0, rint(close[i] * ticks_per_unit)) / ticks_per_unit;
    }
}

static void tick_grid(const swp__generate_options *options, double *close)
{
    walk_on_grid(options, 100.0, close);
}

static void tick_half(const swp__generate_options *options, double *close)
{
    walk_on_grid(options, 2.0, close);
}

static void tick_five(const swp__generate_options *options, double *close)
{
    walk_on_grid(options, 0.2, close);
    for (uint64_t i = 0; i < options->bars_count; i++) {
        close[i] = rint(close[i]);
    }
}

/* Up, sideways around the price reached, down, sideways. */
static void trend_chop(const swp__generate_options *options, double *close)
{
    static const double drifts[] = {0.3, 0.0, -0.3, 0.0}; /* sigmas a bar */
    swp__pcg64 pcg;
    swp__pcg64_init(&pcg, options->seed);
    double sum = 0.0, anchor = 0.0;
    for (uint64_t i = 0; i < options->bars_count; i++) {
        double drift = drifts[i / REGIME_BARS % 4];
        anchor = i % REGIME_BARS == 0 ? sum : anchor;
        double pull = drift == 0.0 ? 0.25 * (anchor - sum) : drift * options->sigma;
        sum += pull + options->sigma * swp__normal_next(&pcg);
        close[i] = options->start * exp(sum);
    }
}

/* Holes at one random bar of each of `holes` equal stretches; at most a tenth of a short series. */
static void walk_with_holes(const swp__generate_options *options, double even, double odd, double *close)
{
    swp__pcg64 pcg = walk(options, options->start, close);
    uint64_t tenth = options->bars_count / 10u;
    uint64_t holes = tenth < HOLES_MAX ? tenth : HOLES_MAX;
    for (uint64_t i = 0; i < holes; i++) {
        uint64_t stretch = options->bars_count / holes;
        close[i * stretch + swp__pcg64_next(&pcg) % stretch] = i % 2u == 0 ? even : odd;
    }
}

static void nan_holes(const swp__generate_options *options, double *close)
{
    walk_with_holes(options, (double)NAN, (double)NAN, close);
}

static void inf_holes(const swp__generate_options *options, double *close)
{
    walk_with_holes(options, HUGE_VAL, -HUGE_VAL, close);
}

static void flat_noise(const swp__generate_options *options, double *close)
{
    swp__pcg64 pcg;
    swp__pcg64_init(&pcg, options->seed);
    for (uint64_t i = 0; i < options->bars_count; i++) {
        close[i] = options->start + options->start * 1e-15 * swp__normal_next(&pcg);
    }
}

static void steps(const swp__generate_options *options, double *close)
{
    walk(options, options->start, close);
    for (uint64_t i = 0; i < options->bars_count; i++) {
        close[i] = close[i - i % STEP_BARS];
    }
}

static void stale(const swp__generate_options *options, double *close)
{
    swp__pcg64 pcg = walk(options, options->start, close);
    for (uint64_t i = 1; i < options->bars_count; i++) {
        close[i] = swp__uniform_next(&pcg) < 0.5 ? close[i - 1] : close[i];
    }
}

static void linear_ramp(const swp__generate_options *options, double *close)
{
    for (uint64_t i = 0; i < options->bars_count; i++) {
        close[i] = options->start + 0.01 * (double)i;
    }
}

static void alternating(const swp__generate_options *options, double *close)
{
    for (uint64_t i = 0; i < options->bars_count; i++) {
        close[i] = options->start + (double)(i % 2u);
    }
}

static void coin_flips(const swp__generate_options *options, double *close)
{
    swp__pcg64 pcg;
    swp__pcg64_init(&pcg, options->seed);
    for (uint64_t i = 0; i < options->bars_count; i++) {
        close[i] = options->start + (double)(swp__pcg64_next(&pcg) >> 63);
    }
}

static void walk_with_jump(const swp__generate_options *options, double factor, double *close)
{
    walk(options, options->start, close);
    for (uint64_t i = options->bars_count / 2u; i < options->bars_count; i++) {
        close[i] *= factor;
    }
}

static void jump_up(const swp__generate_options *options, double *close)
{
    walk_with_jump(options, 1e6, close);
}

static void jump_down(const swp__generate_options *options, double *close)
{
    walk_with_jump(options, 1e-6, close);
}

static void huge(const swp__generate_options *options, double *close)
{
    walk(options, 1e300, close);
}

static void overflow(const swp__generate_options *options, double *close)
{
    walk(options, 1e305, close);
}

static void tiny(const swp__generate_options *options, double *close)
{
    walk(options, 1e-300, close);
}

static void subnormal(const swp__generate_options *options, double *close)
{
    walk(options, 1e-310, close);
}

static void magnitudes(const swp__generate_options *options, double *close)
{
    swp__pcg64 pcg = walk(options, options->start, close);
    for (uint64_t i = 0; i < options->bars_count; i++) {
        close[i] = ldexp(close[i], (int)(swp__pcg64_next(&pcg) % 121u) - 60);
    }
}

/* The table: name, one line for --help, function. */
#define SHAPES(ROW)                                                                                                            \
    ROW("randwalk", "geometric random walk: the study's series", randwalk)                                                     \
    ROW("constant", "one price throughout", constant)                                                                          \
    ROW("tick-grid", "the walk rounded to ticks of 0.01", tick_grid)                                                           \
    ROW("trend-chop", "500 bars up, 500 sideways, 500 down, 500 sideways, again", trend_chop)                                  \
    ROW("nan-holes", "the walk with 100 bars NaN (a tenth of a short series)", nan_holes)                                      \
    ROW("inf-holes", "the walk with 100 bars infinite, of either sign", inf_holes)                                             \
    ROW("flat-noise", "one price with noise of 1e-15 of it (1e-13 at 100)", flat_noise)                                        \
    ROW("tick-half", "the walk rounded to ticks of 0.5", tick_half)                                                            \
    ROW("tick-five", "the walk rounded to ticks of 5: long flats", tick_five)                                                  \
    ROW("steps", "the walk seen every 1000 bars and held between", steps)                                                      \
    ROW("stale", "the walk with half of the bars repeating the one before", stale)                                             \
    ROW("linear-ramp", "up by 0.01 a bar", linear_ramp)                                                                        \
    ROW("alternating", "start, start + 1, start, ...: as many reversals as can be", alternating)                               \
    ROW("coin-flips", "start or start + 1 at random", coin_flips)                                                              \
    ROW("jump-up", "the walk, a million times higher from the middle on", jump_up)                                             \
    ROW("jump-down", "the walk, a million times lower from the middle on", jump_down)                                          \
    ROW("huge", "the walk at 1e300", huge)                                                                                     \
    ROW("overflow", "the walk at 1e305, where averages overflow", overflow)                                                    \
    ROW("tiny", "the walk at 1e-300", tiny)                                                                                    \
    ROW("subnormal", "the walk at 1e-310, below the normal doubles", subnormal)                                                \
    ROW("magnitudes", "the walk, each bar times a power of two from 2^-60 to 2^60", magnitudes)

#define NAME(name, about, fill) name,
#define ABOUT(name, about, fill) about,
#define FILL(name, about, fill) fill,
const char *const swp__generate_shapes[] = {SHAPES(NAME) NULL};
const char *const swp__generate_shape_abouts[] = {SHAPES(ABOUT) NULL};
static void (*const fills[])(const swp__generate_options *options, double *close) = {SHAPES(FILL)};

static swp_status fail_unknown(const char *name, swp_error *error)
{
    char names[sizeof error->message];
    size_t length = 0;
    for (size_t i = 0; swp__generate_shapes[i] != NULL && length < sizeof names; i++) {
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i > 0 ? ", " : "", swp__generate_shapes[i]);
    }
    return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "shape \"%.40s\" is not one of %s", name, names);
}

swp_status swp__generate(const swp__generate_options *options, double *close, swp_error *error)
{
    size_t shape = 0;
    while (swp__generate_shapes[shape] != NULL && strcmp(swp__generate_shapes[shape], options->shape) != 0) {
        shape++;
    }
    if (swp__generate_shapes[shape] == NULL) {
        return fail_unknown(options->shape, error);
    }
    if (options->bars_count == 0) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "bars: 0, expected at least 1");
    }
    if (!isfinite(options->sigma) || !isfinite(options->start)) {
        bool sigma = !isfinite(options->sigma);
        char text[SWP__NUMBER_SIZE];
        swp__number_format(sigma ? options->sigma : options->start, text);
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "%s: %s, expected a finite number", sigma ? "sigma" : "start",
                         text);
    }
    uint64_t fpenv = swp__fpenv_enter();
    fills[shape](options, close);
    swp__fpenv_leave(fpenv);
    return SWP_OK;
}
