/* The certified kernel against the strict one, bit for bit, for every instruction set. */
#include "support/test.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/fpenv.h"
#include "kernel/hma_cross_certified.h"
#include "kernel/hma_cross_exact.h"
#include "support/each_isa.h"
#include "support/hard_series.h"

enum { BARS_MAX = 6000, COMBOS_MAX = 40 };

/* The AVX-512 source with its four operations emulated: certify_filter_emulated.c. */
extern const swp__filter_ops swp__filter_ops_eight_lanes;
extern const swp__sign_ops swp__sign_ops_eight_lanes;
extern const swp__kernel swp__hma_cross_exact_eight_lanes;
SWP__CERTIFIED_KERNEL(eight_lanes, swp__filter_ops_eight_lanes, swp__sign_ops_eight_lanes, swp__hma_cross_exact_eight_lanes,
                      1.0)

/* The portable loops, with a bound that is proved for short windows only: longer ones are found exactly. */
static swp__filter_ops short_proof;
SWP__CERTIFIED_KERNEL(short_proof, short_proof, swp__sign_ops_c, swp__hma_cross_exact_c, 1.0)

static const swp__kernel *kernel_of(swp__variant variant)
{
    switch (variant) {
    case SWP__VARIANT_C:
        return &swp__hma_cross_certified_c;
#if defined(__x86_64__)
    case SWP__VARIANT_AVX2:
        return &swp__hma_cross_certified_avx2;
    case SWP__VARIANT_AVX512:
        return &swp__hma_cross_certified_avx512;
#endif
    default:
        return &swp__hma_cross_certified_eight_lanes;
    }
}

static void *new_scratch(const swp__kernel *kernel, int64_t bars_count, const swp_params *combos, size_t combos_count)
{
    swp_params largest = combos[0];
    for (size_t i = 0; i < combos_count; i++) {
        int64_t *most = &largest.half;
        const int64_t *values = &combos[i].half;
        for (size_t j = 0; j < SWP_PARAMS_COUNT; j++) {
            most[j] = values[j] > most[j] ? values[j] : most[j];
        }
    }
    return aligned_alloc(64, kernel->scratch_size(bars_count, &largest, combos_count));
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

/* Walks the slice in ranges of a random number of quanta, or of words. */
static void run_in_parts(const swp__kernel *kernel, const swp__slice *slice, const swp__exec *exec, const swp_params *combos,
                         size_t combos_count, swp__random *random, swp__trade_state *states)
{
    void *scratch = new_scratch(kernel, slice->bars_count, combos, combos_count);
    swp__signs words = new_words(slice->bars_count, combos_count);
    assert_non_null(scratch);
    for (size_t i = 0; i < combos_count; i++) {
        swp__trade_state_init(&states[i]);
    }
    if (kernel->prepare != NULL) {
        kernel->prepare(slice, combos, combos_count, scratch);
    }
    bool by_words = swp__random_between(random, 0, 3) == 0;
    int64_t quantum = by_words ? 64 : kernel->quantum_bars(slice, combos, combos_count);
    for (int64_t from = 0, to; from < slice->bars_count; from = to) {
        to = from + quantum * swp__random_between(random, 1, by_words ? 40 : 3);
        to = to < slice->bars_count ? to : slice->bars_count;
        swp__walk(kernel, slice, exec, combos, combos_count, from, to, &words, states, scratch);
    }
    free_words(&words);
    free(scratch);
}

static void assert_states_equal(const swp__trade_state *a, const swp__trade_state *b)
{
    assert_int_equal(a->trades, b->trades);
    assert_int_equal(a->position, b->position);
    assert_int_equal(a->armed, b->armed);
    assert_int_equal(a->entry_bar, b->entry_bar);
    assert_int_equal(a->first_bar, b->first_bar);
    assert_bits_equal(a->entry, b->entry);
    assert_bits_equal(a->pnl, b->pnl);
}

static void assert_equals_strict(const swp__kernel *kernel, const swp__slice *slice, const swp__exec *exec,
                                 const swp_params *combos, size_t combos_count, swp__random *random)
{
    static swp__trade_state got[COMBOS_MAX];
    run_in_parts(kernel, slice, exec, combos, combos_count, random, got);
    for (size_t i = 0; i < combos_count; i++) {
        swp__trade_state expected;
        run_in_parts(&swp__hma_cross_strict, slice, exec, &combos[i], 1, random, &expected);
        assert_states_equal(&got[i], &expected);
    }
}

/* Combos that fit the slice; some twice; in one of three draws of few averages, as in the product of two lists. */
static size_t draw_combos(swp__random *random, int64_t bars_count, int64_t longest, swp_params *combos)
{
    bool alone = swp__random_between(random, 0, 3) == 0;
    size_t count = 0, wanted = alone ? 1 : (size_t)swp__random_between(random, 1, COMBOS_MAX);
    size_t kinds = swp__random_between(random, 0, 2) == 0 ? (size_t)swp__random_between(random, 1, 5) : COMBOS_MAX;
    swp_params hma[COMBOS_MAX], hma3[COMBOS_MAX];
    for (size_t i = 0; i < kinds; i++) {
        hma[i] = swp__hard_combo(random, longest);
        hma3[i] = swp__hard_combo(random, longest);
    }
    for (size_t tries = 0; tries < 10 * wanted && count < wanted; tries++) {
        const swp_params *a = &hma[swp__random_between(random, 0, (int64_t)kinds - 1)];
        const swp_params *b = &hma3[swp__random_between(random, 0, (int64_t)kinds - 1)];
        combos[count] = (swp_params){a->half, a->full, a->smooth, b->third, b->mid, b->p};
        count += swp_params_bars_needed(&combos[count]) <= bars_count ? 1 : 0;
    }
    return count;
}

/* Any number, and those around the borders of words and superblocks. */
static int64_t draw_bars(const swp__kernel *kernel, int round, swp__random *random)
{
    const swp__slice longest = {.bars_count = BARS_MAX};
    const swp_params c = {1, 2, 1, 1, 1, 1};
    switch (round % 8) {
    case 0:
    case 4:
        return 64 * swp__random_between(random, 1, BARS_MAX / 64 - 1) + swp__random_between(random, -1, 1);
    case 1:
    case 5:
        return swp__random_between(random, 1, 700);
    case 2:
        return kernel->quantum_bars(&longest, &c, 1) + swp__random_between(random, -1, 1);
    default:
        return swp__random_between(random, 1, BARS_MAX);
    }
}

/* Returns how many pairs of a series and a combo it was. */
static int64_t fuzz(const swp__kernel *kernel, uint64_t seed, int rounds)
{
    static double close[BARS_MAX];
    swp_params combos[COMBOS_MAX];
    swp__random random = {seed};
    uint64_t saved = swp__fpenv_enter();
    int64_t pairs = 0;
    for (int round = 0; round < rounds; round++) {
        int64_t bars = draw_bars(kernel, round, &random);
        swp__hard_fill(close, bars, (swp__hard)(round % SWP__HARD_COUNT), &random);
        int64_t longest = swp__random_between(&random, 1, round % 5 == 0 ? 400 : 40);
        size_t count = draw_combos(&random, bars, round % 100 == 7 ? 2500 : longest, combos);
        count = round % 100 == 7 && count > 3 ? 3 : count;
        if (count == 0) {
            continue;
        }
        int64_t trade_from = swp__random_between(&random, 0, 2) == 0 ? swp__random_between(&random, 0, bars - 1) : 0;
        swp__slice slice = {.close = close, .bars_count = bars, .trade_from = trade_from};
        swp__exec exec = {.fee = 0.09, .entry = swp__random_between(&random, 0, 1) == 0 ? SWP_ENTRY_FIRST : SWP_ENTRY_CROSS};
        assert_equals_strict(kernel, &slice, &exec, combos, count, &random);
        pairs += (int64_t)count;
    }
    swp__fpenv_leave(saved);
    return pairs;
}

/* More than 10,000 pairs of a series and a combo over the sets that any machine has (c, eight lanes) and AVX2. SWEEPD_FUZZ_ROUNDS
 * makes it longer: `make test-million`. A round is one series with up to 40 combos. */
TEST_EACH_ISA(certified_is_strict_for_hard_series_and_any_combos)
{
    const char *rounds = getenv("SWEEPD_FUZZ_ROUNDS");
    const char *seed = getenv("SWEEPD_FUZZ_SEED");
    int count = rounds != NULL ? atoi(rounds) : 320;
    int64_t pairs = fuzz(kernel_of(variant), seed != NULL ? strtoull(seed, NULL, 10) : 1, count);
    print_message("# %lld pairs of a series and a combo\n", (long long)pairs);
    assert_true(count < 320 || pairs > 3400);
}

TEST(windows_beyond_the_proof_are_found_exactly)
{
    short_proof = swp__filter_ops_c;
    short_proof.rows_max = 2048 + 60;
    assert_true(fuzz(&swp__hma_cross_certified_short_proof, 3, 200) > 2000);
}

/* Doubtful bars of one combo over a block, by the portable loops. */
static int64_t count_doubts(const swp__slice *slice, const swp_params *c)
{
    enum { ROWS = 2048, LEAD = 300, LANES = 2 };
    static double arrays[3][(LEAD + 2 + ROWS) * LANES] __attribute__((aligned(64)));
    static uint64_t down[ROWS / 64 * LANES], doubt[ROWS / 64 * LANES];
    double *row0[3];
    for (int i = 0; i < 3; i++) {
        row0[i] = arrays[i] + (LEAD + 2) * LANES;
    }
    double unit = swp__triangle(c->p) * swp__triangle(c->p);
    const swp__certify_rows rows = {LEAD + ROWS, LEAD + ROWS};
    swp__certify_bound hma = swp__certify_hma_bound(c, &rows, unit), hma3 = swp__certify_hma3_bound(c, &rows, unit);
    swp__filter_combo combo = {.params = *c,
                               .hma = swp__hma_weights_of(c, unit),
                               .hma3 = swp__hma3_weights_of(c, unit),
                               .unit = unit,
                               .bound = {hma.range + hma3.range, hma.level + hma3.level}};
    swp__filter_block block = {.from = 1024, .rows = ROWS, .lead = LEAD, .sums = row0[0]};
    const swp__filter_ops *ops = &swp__filter_ops_c;
    assert_true(
        ops->load(slice, &block, &(swp__filter_smooth){c->smooth, (c->half > c->full ? c->half : c->full) - 1, row0[1]}));
    if (!ops->signs(&block, &combo, row0[1], row0[2], down, doubt)) {
        return 0;
    }
    int64_t count = 0;
    for (size_t w = 0; w < ROWS / 64 * LANES; w++) {
        count += __builtin_popcountll(doubt[w]);
    }
    return count;
}

/* Else every other test here could pass by evaluating everything exactly. */
TEST(a_walk_is_certain_almost_everywhere)
{
    static double close[BARS_MAX];
    swp__random random = {9};
    swp__hard_fill(close, BARS_MAX, SWP__HARD_WALK, &random);
    swp__slice slice = {.close = close, .bars_count = BARS_MAX};
    int64_t doubts = 0;
    for (int64_t length = 4; length <= 200; length += 2) {
        swp_params c;
        assert_int_equal(swp_params_from_length(length, &c, NULL), SWP_OK);
        doubts += count_doubts(&slice, &c);
    }
    assert_in_range(doubts, 0, 20); /* of 400,000 */
}

TEST(scratch_of_a_full_batch_is_bounded)
{
    const swp_params study = {100, 200, 14, 33, 50, 100}, long_windows = {2000, 4000, 63, 667, 1000, 2000};
    const swp__kernel *kernels[] = {&swp__hma_cross_certified_c, &swp__hma_cross_certified_eight_lanes};
    for (size_t i = 0; i < 2; i++) {
        assert_in_range(kernels[i]->scratch_size(150000, &study, 1), 1, (size_t)1 << 20);
        assert_in_range(kernels[i]->scratch_size(150000, &study, 80), 1, (size_t)4 << 20);
        assert_in_range(kernels[i]->scratch_size(15000000, &long_windows, SWP__BATCH_MAX), 1, (size_t)8 << 20);
    }
}
