/* Sign words against the scalar rule and against plain scalar averages, for every instruction set. */
#include "support/test.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "kernel/sign_words.h"
#include "support/each_isa.h"
#include "support/hard_series.h"

/* The eight-lane code, split by the compiler for the machine at hand. */
#define SWP_LANES 8
#define OPS swp__sign_ops_eight_lanes
extern const swp__sign_ops swp__sign_ops_eight_lanes;
#include "kernel/sign_words.inc"

static const swp__sign_ops *ops_of(swp__variant variant)
{
    return variant == SWP__VARIANT_EIGHT_LANES ? &swp__sign_ops_eight_lanes : swp__sign_ops_get((swp__isa)variant);
}

enum { BARS_MAX = 3000, COMBOS_MAX = 9, STRIDE = BARS_MAX / SWP__WORD_BARS + 2 };

/* Signs as they come: runs of one side, ties between, all kinds of density. */
static void fill_signs(uint64_t *up, uint64_t *down, size_t words, swp__random *random)
{
    int64_t turn = swp__random_between(random, 1, 40), tie = swp__random_between(random, 0, 3);
    bool rising = swp__random_between(random, 0, 1) == 0;
    for (size_t w = 0; w < words; w++) {
        up[w] = down[w] = 0;
        for (int bit = 0; bit < SWP__WORD_BARS; bit++) {
            rising ^= swp__random_between(random, 1, turn) == 1;
            if (swp__random_between(random, 0, 3) >= tie) {
                (rising ? up : down)[w] |= UINT64_C(1) << bit;
            }
        }
    }
}

static void trade_scalar(const swp__slice *slice, const swp__exec *exec, int64_t from, int64_t to, const uint64_t *up,
                         const uint64_t *down, swp__trade_state *state)
{
    int64_t first_word = from / SWP__WORD_BARS;
    for (int64_t bar = from < slice->trade_from ? slice->trade_from : from; bar < to; bar++) {
        int64_t w = bar / SWP__WORD_BARS - first_word, bit = bar % SWP__WORD_BARS;
        if ((up[w] >> bit & 1) != 0) {
            swp__trade_bar(state, exec, bar, +1, slice->close[bar]);
        } else if ((down[w] >> bit & 1) != 0) {
            swp__trade_bar(state, exec, bar, -1, slice->close[bar]);
        }
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

TEST_EACH_ISA(trade_words_are_trade_bar_for_any_signs_closes_ranges_and_entry_rules)
{
    static double close[BARS_MAX];
    static uint64_t up[COMBOS_MAX][STRIDE], down[COMBOS_MAX][STRIDE];
    swp__random random = {1};
    for (int round = 0; round < 400; round++) {
        int64_t bars = swp__random_between(&random, 1, BARS_MAX);
        size_t combos = (size_t)swp__random_between(&random, 1, COMBOS_MAX);
        swp__hard_fill(close, bars, (swp__hard)(round % SWP__HARD_COUNT), &random);
        swp__slice slice = {.close = close, .bars_count = bars};
        slice.trade_from = swp__random_between(&random, 0, 2) == 0 ? swp__random_between(&random, 0, bars) : 0;
        swp__exec exec = {.fee = 0.09, .entry = round % 2 == 0 ? SWP_ENTRY_FIRST : SWP_ENTRY_CROSS};
        swp__trade_state got[COMBOS_MAX], expected[COMBOS_MAX];
        for (size_t i = 0; i < combos; i++) {
            fill_signs(up[i], down[i], STRIDE, &random);
            swp__trade_state_init(&got[i]);
            swp__trade_state_init(&expected[i]);
        }
        for (int64_t from = 0, to; from < bars; from = to) {
            to = swp__random_between(&random, from + 1, bars);
            int64_t w = from / SWP__WORD_BARS;
            ops_of(variant)->trade_words(&slice, &exec, from, to, combos, &up[0][w], &down[0][w], STRIDE, got);
            for (size_t i = 0; i < combos; i++) {
                trade_scalar(&slice, &exec, from, to, &up[i][w], &down[i][w], &expected[i]);
                assert_states_equal(&got[i], &expected[i]);
            }
        }
    }
}

/* One bar in the specification's words: a second opinion, not shared with any kernel. */
static double plain_wma(const double *x, int64_t i, int64_t m)
{
    double sum = 0.0;
    for (int64_t k = 0; k < m; k++) {
        sum += x[i - m + 1 + k] * (double)(k + 1);
    }
    return i < m - 1 ? (double)NAN : sum / (double)(m * (m + 1) / 2);
}

static void plain_averages(const double *close, int64_t bars, const swp_params *c, double *hma, double *hma3)
{
    static double a[BARS_MAX], b[BARS_MAX];
    for (int64_t i = 0; i < bars; i++) {
        double half = i < c->half - 1 ? (double)NAN : plain_wma(close, i, c->half);
        double full = i < c->full - 1 ? (double)NAN : plain_wma(close, i, c->full);
        double third = i < c->third - 1 ? (double)NAN : plain_wma(close, i, c->third);
        double mid = i < c->mid - 1 ? (double)NAN : plain_wma(close, i, c->mid);
        double p = i < c->p - 1 ? (double)NAN : plain_wma(close, i, c->p);
        a[i] = 2.0 * half - full;
        b[i] = 3.0 * third - mid - p;
        hma[i] = i < c->smooth - 1 ? (double)NAN : plain_wma(a, i, c->smooth);
        hma3[i] = i < c->p - 1 ? (double)NAN : plain_wma(b, i, c->p);
    }
}

/* The closes in memory of their own, so that a sanitizer sees any read outside them. */
static double *exact_copy(const double *close, int64_t bars)
{
    double *copy = malloc((size_t)bars * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, close, (size_t)bars * sizeof *copy);
    return copy;
}

static int compare_lengths(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* A table for one combo, some other lengths and bars [from, from + count). */
static swp__exact_table new_table(const swp_params *c, int64_t from, int64_t count)
{
    int64_t all[] = {c->half, c->full, c->third, c->mid, c->p, 1, 17, 64};
    int64_t *lengths = malloc(sizeof all);
    qsort(all, 8, sizeof all[0], compare_lengths);
    size_t distinct = 0;
    for (size_t i = 0; i < 8; i++) {
        if (i == 0 || all[i] != all[i - 1]) {
            lengths[distinct++] = all[i];
        }
    }
    int64_t before = (c->smooth > c->p ? c->smooth : c->p) - 1;
    swp__exact_table t = {
        .lengths = lengths, .lengths_count = distinct, .first_bar = from - before, .bars_count = before + count};
    t.stride = swp__exact_table_stride(t.bars_count);
    t.averages = malloc(distinct * t.stride * sizeof(double));
    t.closes = malloc(swp__exact_table_closes(lengths[distinct - 1], t.bars_count) * sizeof(double));
    return t;
}

static size_t row_of(const swp__exact_table *t, int64_t length)
{
    size_t row = 0;
    while (t->lengths[row] != length) {
        row++;
    }
    return row;
}

static void free_table(const swp__exact_table *t)
{
    free((void *)(uintptr_t)t->lengths);
    free(t->averages);
    free(t->closes);
}

TEST_EACH_ISA(exact_word_is_the_strict_order_for_any_bars_of_any_combo)
{
    static double close[BARS_MAX], hma[BARS_MAX], hma3[BARS_MAX];
    swp__random random = {2};
    for (int round = 0; round < 300; round++) {
        int64_t bars = swp__random_between(&random, 1, 400);
        swp__hard_fill(close, bars, (swp__hard)(round % SWP__HARD_COUNT), &random);
        swp_params combo = swp__hard_combo(&random, swp__random_between(&random, 1, 120));
        plain_averages(close, bars, &combo, hma, hma3);
        double *copy = exact_copy(close, bars);
        swp__slice slice = {.close = copy, .bars_count = bars};
        void *scratch = aligned_alloc(64, swp__exact_word_scratch_size(&combo));
        assert_non_null(scratch);
        for (int64_t from = 0, count; from < bars; from += count) {
            int64_t most = bars - from < SWP__WORD_BARS ? bars - from : SWP__WORD_BARS;
            count = swp__random_between(&random, 0, 1) == 0 ? most : swp__random_between(&random, 1, most);
            swp__exact_table table = new_table(&combo, from, count);
            ops_of(variant)->fill_table(&slice, &table);
            const swp__exact_table *choice = round % 2 == 0 ? &table : NULL;
            swp__exact_rows rows = {row_of(&table, combo.half), row_of(&table, combo.full), row_of(&table, combo.third),
                                    row_of(&table, combo.mid), row_of(&table, combo.p)};
            swp__sign_word word = ops_of(variant)->exact_word(&slice, &combo, from, count, choice, &rows, scratch);
            free_table(&table);
            swp__sign_word expected = {0};
            for (int64_t i = 0; i < count; i++) {
                double a = hma[from + i], b = hma3[from + i];
                expected.up |= (uint64_t)(b > a) << i;
                expected.down |= (uint64_t)(b < a) << i;
                expected.valid |= (uint64_t)(!isnan(a) && !isnan(b)) << i;
            }
            assert_int_equal(word.up, expected.up);
            assert_int_equal(word.down, expected.down);
            assert_int_equal(word.valid, expected.valid);
        }
        free(scratch);
        free(copy);
    }
}

TEST(the_first_valid_bar_is_the_first_valid_bit_from_trade_from_on)
{
    swp__slice slice = {.bars_count = 200, .trade_from = 70};
    swp__trade_state s;
    swp__trade_state_init(&s);
    swp__mark_valid(&slice, 0, ~UINT64_C(0), &s);
    assert_int_equal(s.first_bar, -1);
    swp__mark_valid(&slice, 64, UINT64_C(0x30), &s);
    assert_int_equal(s.first_bar, -1); /* bars 68 and 69 */
    swp__mark_valid(&slice, 64, UINT64_C(0xf0), &s);
    assert_int_equal(s.first_bar, 70);
    swp__mark_valid(&slice, 0, ~UINT64_C(0), &s);
    assert_int_equal(s.first_bar, 70);
}
