#include <string.h>
#include "base/host.h"
#include "client/internal.h"
#include "support/test.h"

enum { WINDOWS = 3, COMBOS = 7, CELLS = WINDOWS * COMBOS };

static double pnl[CELLS];
static int64_t trades[CELLS];

static swp__sink rows_sink(void)
{
    uint64_t columns;
    swp_sweep_result result = {.pnl = pnl, .trades = trades};
    swp__sink sink = swp__sink_of_rows(&result, WINDOWS, COMBOS, &columns);
    assert_int_equal(columns, SWP__RESULT_PNL | SWP__RESULT_TRADES);
    memset(pnl, 0, sizeof pnl);
    memset(trades, 0, sizeof trades);
    return sink;
}

/* Fills a block of combos [first, first + count) with 1, 2, 3 ..., `step` bytes at a time. */
static void fill(swp__sink *sink, uint64_t first, uint64_t count, size_t step)
{
    int64_t block[2 * CELLS];
    for (size_t i = 0; i < 2 * CELLS; i++) {
        block[i] = (int64_t)i + 1;
    }
    size_t size = 2 * WINDOWS * count * 8, at = 0;
    assert_true(swp__sink_begin(sink, &swp__system_allocator, size, first, count));
    while (at < size) {
        struct iovec runs[2];
        int runs_count = swp__sink_runs(sink, runs, 2);
        size_t left = step < size - at ? step : size - at, taken = 0;
        for (int i = 0; i < runs_count && taken < left; i++) {
            size_t part = left - taken < runs[i].iov_len ? left - taken : runs[i].iov_len;
            memcpy(runs[i].iov_base, (char *)block + at + taken, part);
            taken += part;
        }
        swp__sink_advance(sink, taken);
        at += taken;
    }
    struct iovec none;
    assert_int_equal(swp__sink_runs(sink, &none, 1), 0);
}

TEST(sink_puts_a_block_of_combos_where_its_window_and_column_say)
{
    static const size_t steps[] = {1, 3, 8, 13, 100000};
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
        swp__sink sink = rows_sink();
        fill(&sink, 2, 3, steps[s]);
        for (int64_t w = 0; w < WINDOWS; w++) {
            for (int64_t i = 0; i < COMBOS; i++) {
                bool inside = i >= 2 && i < 5;
                int64_t first = w * 3 + (i - 2) + 1; /* in the pnl column; trades come behind all windows of it */
                int64_t got;
                memcpy(&got, &pnl[w * COMBOS + i], sizeof got);
                assert_int_equal(got, inside ? first : 0);
                assert_int_equal(trades[w * COMBOS + i], inside ? first + WINDOWS * 3 : 0);
            }
        }
    }
}

TEST(sink_of_all_combos_is_one_run_a_column)
{
    swp__sink sink = rows_sink();
    struct iovec runs[8];
    assert_true(swp__sink_begin(&sink, &swp__system_allocator, sizeof pnl + sizeof trades, 0, COMBOS));
    assert_int_equal(swp__sink_runs(&sink, runs, 8), 2);
    assert_ptr_equal(runs[0].iov_base, pnl);
    assert_int_equal(runs[1].iov_len, sizeof trades);
}

TEST(sink_that_owns_its_bytes_ends_them_with_a_nul)
{
    swp__sink sink = {.kind = SWP__SINK_OWNED};
    struct iovec run;
    assert_true(swp__sink_begin(&sink, &swp__system_allocator, 3, 0, 0));
    assert_int_equal(swp__sink_runs(&sink, &run, 1), 1);
    memcpy(run.iov_base, "abc", 3);
    assert_string_equal(sink.bytes, "abc");
    swp__sink_free(&sink, &swp__system_allocator);
    assert_null(sink.bytes);
}
