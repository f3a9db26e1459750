/* The exact kernel against the strict one, to the bit, for every instruction set. */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "kernel/hma_cross.h"
#include "kernel/hma_cross_exact.h"
#include "support/each_isa.h"
#include "support/hard_series.h"

extern const swp__sign_ops swp__sign_ops_eight_lanes;
extern const swp__kernel swp__hma_cross_exact_eight_lanes;
#define SWP_LANES 8
#define OPS swp__sign_ops_eight_lanes
#define KERNEL swp__hma_cross_exact_eight_lanes
#include "kernel/hma_cross_exact.inc"

static const swp__kernel *kernel_of(swp__variant variant)
{
    switch (variant) {
#if defined(__x86_64__)
    case SWP__VARIANT_AVX2:
        return &swp__hma_cross_exact_avx2;
    case SWP__VARIANT_AVX512:
        return &swp__hma_cross_exact_avx512;
#endif
    case SWP__VARIANT_EIGHT_LANES:
        return &swp__hma_cross_exact_eight_lanes;
    default:
        return &swp__hma_cross_exact_c;
    }
}

enum { BARS_MAX = 20000, COMBOS_MAX = 40 };

static void *new_scratch(const swp__kernel *kernel, const swp__slice *slice, const swp_params *combos, size_t combos_count)
{
    swp_params largest = combos[0];
    for (size_t i = 1; i < combos_count; i++) {
        int64_t *most = &largest.half;
        for (int j = 0; j < SWP_PARAMS_COUNT; j++) {
            const int64_t *values = &combos[i].half;
            most[j] = most[j] > values[j] ? most[j] : values[j];
        }
    }
    size_t size = kernel->scratch_size(slice->bars_count, &largest, combos_count);
    assert_int_equal(size % 64, 0);
    void *scratch = aligned_alloc(64, size);
    assert_non_null(scratch);
    memset(scratch, 0x55, size);
    return scratch;
}

static swp__signs new_words(int64_t bars, size_t combos_count)
{
    swp__signs words = {.stride = (size_t)(bars + 63) / 64};
    words.up = malloc(combos_count * words.stride * sizeof *words.up);
    words.down = malloc(combos_count * words.stride * sizeof *words.down);
    words.first_valid = malloc(combos_count * sizeof *words.first_valid);
    assert_true(words.up != NULL && words.down != NULL && words.first_valid != NULL);
    return words;
}

static void free_words(const swp__signs *words)
{
    free(words->up);
    free(words->down);
    free(words->first_valid);
}

/* Carries the states over the whole slice, `step` bars at a time. */
static void run_whole(const swp__kernel *kernel, const swp__slice *slice, const swp__exec *exec, const swp_params *combos,
                      size_t combos_count, int64_t step, swp__trade_state *states)
{
    for (size_t first = 0; first < combos_count; first += kernel->batch) {
        size_t count = combos_count - first < kernel->batch ? combos_count - first : kernel->batch;
        void *scratch = new_scratch(kernel, slice, combos + first, count);
        swp__signs words = new_words(step, count);
        if (kernel->prepare != NULL) {
            kernel->prepare(slice, combos + first, count, scratch);
        }
        for (size_t i = 0; i < count; i++) {
            swp__trade_state_init(&states[first + i]);
        }
        for (int64_t from = 0, to; from < slice->bars_count; from = to) {
            to = slice->bars_count - from < step ? slice->bars_count : from + step;
            swp__walk(kernel, slice, exec, combos + first, count, from, to, &words, states + first, scratch);
        }
        free_words(&words);
        free(scratch);
    }
}

static void assert_states_equal(const swp__trade_state *a, const swp__trade_state *b)
{
    assert_int_equal(a->position, b->position);
    assert_int_equal(a->armed, b->armed);
    assert_int_equal(a->entry_bar, b->entry_bar);
    assert_int_equal(a->first_bar, b->first_bar);
    assert_int_equal(a->trades, b->trades);
    assert_bits_equal(a->entry, b->entry);
    assert_bits_equal(a->pnl, b->pnl);
}

/* Combos that the slice has bars enough for. */
static size_t random_combos(swp_params *combos, size_t most, int64_t bars, swp__random *random)
{
    int64_t longest = swp__random_between(random, 1, bars < 250 ? bars : 250);
    size_t wanted = (size_t)swp__random_between(random, 1, (int64_t)most), count = 0;
    for (int tries = 0; count < wanted && tries < 1000; tries++) {
        combos[count] = swp__hard_combo(random, longest);
        if (count > 0 && swp__random_between(random, 0, 2) == 0) { /* shares an HMA with the one before */
            combos[count].half = combos[count - 1].half;
            combos[count].full = combos[count - 1].full;
            combos[count].smooth = combos[count - 1].smooth;
        }
        count += swp_params_bars_needed(&combos[count]) <= bars ? 1 : 0;
    }
    return count;
}

static int64_t random_bars(swp__random *random)
{
    int64_t near_a_word = 64 * swp__random_between(random, 1, 40) + swp__random_between(random, -1, 1);
    int64_t near_a_quantum = 4096 * swp__random_between(random, 1, 3) + swp__random_between(random, -2, 2);
    switch (swp__random_between(random, 0, 9)) {
    case 0:
        return near_a_quantum;
    case 1:
    case 2:
        return swp__random_between(random, 1, 64);
    default:
        return near_a_word;
    }
}

static void check_equals_strict(const swp__kernel *kernel, const swp__slice *slice, swp_entry entry, const swp_params *combos,
                                size_t count, int64_t step)
{
    static swp__trade_state got[COMBOS_MAX], expected[COMBOS_MAX];
    swp__exec exec = {.fee = 0.09, .entry = entry};
    run_whole(kernel, slice, &exec, combos, count, step, got);
    run_whole(&swp__hma_cross_strict, slice, &exec, combos, count, slice->bars_count, expected);
    for (size_t i = 0; i < count; i++) {
        assert_states_equal(&got[i], &expected[i]);
    }
}

/* A copy in memory of its own: a sanitizer sees any read outside it. */
static double *copy_of(const double *close, int64_t bars)
{
    double *copy = malloc((size_t)bars * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, close, (size_t)bars * sizeof *copy);
    return copy;
}

TEST_EACH_ISA(exact_equals_strict_on_hard_series_of_any_length_with_any_combos)
{
    static double close[BARS_MAX];
    swp__random random = {7};
    for (int round = 0; round < 25 * SWP__HARD_COUNT; round++) {
        int64_t bars = random_bars(&random);
        swp_params combos[COMBOS_MAX];
        size_t count = random_combos(combos, bars > 3000 ? 4 : COMBOS_MAX, bars, &random);
        swp__hard_fill(close, bars, (swp__hard)(round % SWP__HARD_COUNT), &random);
        double *copy = copy_of(close, bars);
        int64_t trade_from = swp__random_between(&random, 0, 1) == 0 ? 0 : swp__random_between(&random, 0, bars - 1);
        check_equals_strict(kernel_of(variant), &(swp__slice){.close = copy, .bars_count = bars, .trade_from = trade_from},
                            round % 3 == 0 ? SWP_ENTRY_CROSS : SWP_ENTRY_FIRST, combos, count,
                            64 * swp__random_between(&random, 1, bars / 64 + 1));
        free(copy);
    }
}

TEST_EACH_ISA(exact_equals_strict_where_lengths_reach_the_whole_series)
{
    enum { BARS = 1500 };
    static double close[BARS];
    swp__random random = {8};
    for (int round = 0; round < SWP__HARD_COUNT; round++) {
        swp__hard_fill(close, BARS, (swp__hard)round, &random);
        const swp_params combos[] = {
            {BARS, 1, 1, 1, 1, 1},     {1, 1, BARS, 1, 1, 1}, {1, 1, 1, BARS, 1, 1},    {1, 1, 1, 1, BARS, 1},
            {1, 1, 1, 1, 1, BARS / 2}, {1, 1, 1, 1, 1, 1},    {700, 600, 800, 3, 2, 1}, {1, 2, 3, 500, 900, 600},
        };
        check_equals_strict(kernel_of(variant), &(swp__slice){.close = close, .bars_count = BARS}, SWP_ENTRY_FIRST, combos, 8,
                            64 * (round % 24 + 1));
    }
}

TEST_EACH_ISA(signs_of_a_range_are_the_same_in_any_order_and_say_nothing_of_bars_behind_it)
{
    enum { BARS = 1000, STEP = 192 };
    double close[BARS];
    swp__random random = {9};
    swp__hard_fill(close, BARS, SWP__HARD_WALK, &random);
    const swp__kernel *kernel = kernel_of(variant);
    const swp_params combo = {100, 200, 14, 33, 50, 100}; /* valid from bar 212 on */
    const swp__slice slice = {.close = close, .bars_count = BARS};
    void *scratch = new_scratch(kernel, &slice, &combo, 1);
    swp__signs whole = new_words(BARS, 1), part = new_words(STEP, 1);
    kernel->prepare(&slice, &combo, 1, scratch);
    kernel->signs(&slice, &combo, 1, 0, BARS, &whole, scratch);
    assert_int_equal(whole.first_valid[0], 212);
    for (int64_t from = BARS / STEP * STEP; from >= 0; from -= STEP) {
        int64_t to = from + STEP < BARS ? from + STEP : BARS;
        kernel->signs(&slice, &combo, 1, from, to, &part, scratch);
        assert_int_equal(part.first_valid[0], from == 0 ? -1 : from > 212 ? from : 212);
        for (int64_t bar = from; bar < to; bar += 64) {
            uint64_t mask = swp__word_mask(bar, from, to);
            assert_int_equal(part.up[(bar - from) / 64] & mask, whole.up[bar / 64] & mask);
            assert_int_equal(part.down[(bar - from) / 64] & mask, whole.down[bar / 64] & mask);
        }
    }
    free_words(&whole);
    free_words(&part);
    free(scratch);
}

TEST_EACH_ISA(exact_leaves_a_range_that_nobody_wants)
{
    enum { BARS = 640, LAST_WORD = BARS / 64 - 1 };
    const uint64_t untouched = 0xAAAAAAAAAAAAAAAAu;
    double close[BARS];
    swp__random random = {9};
    swp__hard_fill(close, BARS, SWP__HARD_WALK, &random);
    const swp__kernel *kernel = kernel_of(variant);
    const swp_params combo = {3, 6, 2, 1, 2, 3};
    for (int which = 0; which < 3; which++) { /* neither flag, one, the other */
        int flags[] = {which == 1, which == 2};
        swp__slice slice = {.close = close, .bars_count = BARS, .unwanted = {&flags[0], &flags[1]}};
        void *scratch = new_scratch(kernel, &slice, &combo, 1);
        swp__signs signs = new_words(BARS, 1);
        signs.up[LAST_WORD] = untouched;
        kernel->prepare(&slice, &combo, 1, scratch);
        kernel->signs(&slice, &combo, 1, 0, BARS, &signs, scratch);
        assert_int_equal(signs.up[LAST_WORD] == untouched, which != 0);
        free_words(&signs);
        free(scratch);
    }
}

/* Sums whose quotient is as near to the middle between two doubles as can be, and random ones: the eight-lane code here has
 * no fused operation, the others' is checked by the tests above. */
TEST(dividing_by_a_reciprocal_is_dividing)
{
    swp__random random = {10};
    for (int round = 0; round < 300000; round++) {
        int64_t n = swp__random_between(&random, 1, SWP__RECIPROCAL_LENGTH_MAX);
        double d = (double)(n * (n + 1) / 2);
        double quotient = ldexp(1.0 + swp__random_unit(&random), (int)swp__random_between(&random, -400, 800));
        double half_ulp = (nextafter(quotient, INFINITY) - quotient) / 2.0;
        double middle = fma(quotient, d, half_ulp * d);
        vec sums;
        for (int lane = 0; lane < SWP_LANES; lane++) {
            double sum = lane % 2 == 0 ? middle : ldexp(swp__random_unit(&random) - 0.5, lane * 20);
            sums[lane] = lane < 4 ? sum : nextafter(sum, lane < 6 ? 0.0 : INFINITY);
        }
        vec quotients = divide_by_reciprocal(sums, splat(d), splat(1.0 / d));
        for (int lane = 0; lane < SWP_LANES; lane++) {
            assert_bits_equal(quotients[lane], sums[lane] / d);
        }
    }
    vec special = {0.0, (double)NAN, 1.0, -1.0, 0x1p-500, 0x1p900, -0x1p-552, 3.0};
    vec quotients = divide_by_reciprocal(special, splat(3.0), splat(1.0 / 3.0));
    for (int lane = 0; lane < SWP_LANES; lane++) {
        assert_bits_equal(quotients[lane], special[lane] / 3.0);
    }
}

TEST(reciprocals_are_for_closes_that_keep_clear_of_overflow_and_underflow)
{
    const swp__exact_plan plan = {.longest = SWP__RECIPROCAL_LENGTH_MAX, .longest_smooth = 1};
    const swp__exact_plan longer = {.longest = SWP__RECIPROCAL_LENGTH_MAX + 1, .longest_smooth = 1};
    const double tame[] = {0.0, -0.0, (double)NAN, 0x1p-500, -0x1p-500, 0x1p900, -0x1p900};
    const double wild[] = {0x0.8p-500, 0x1.1p900, -0x1.1p900, (double)INFINITY, -(double)INFINITY, 0x1p-1074};
    assert_true(swp__exact_is_tame(&plan, tame, 0, 7));
    assert_false(swp__exact_is_tame(&longer, tame, 0, 7));
    for (int64_t i = 0; i < 6; i++) {
        assert_false(swp__exact_is_tame(&plan, wild, i, i + 1));
    }
}
