/* Chains whose signs are found by many threads: the same numbers, the stated memory, an end at any moment. */
#include "support/hard_series.h"
#include "support/host.h"
#include "support/test.h"
#include "engine/turns.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BARS = 60000, COMBOS = 70, WINDOWS = 2, ROWS = COMBOS * WINDOWS };

typedef struct numbers {
    double pnl[ROWS], entry[ROWS], last[ROWS], open_pnl[ROWS];
    int64_t trades[ROWS], first_bar[ROWS], side[ROWS], entry_bar[ROWS];
} numbers;

static double close_of[BARS];
static int64_t rows_of[COMBOS][SWP_PARAMS_COUNT];
static const swp_window windows_of[WINDOWS] = {{0, 0, BARS}, {1000, 5555, BARS - 3}};

static void fill_inputs(swp__hard kind, uint64_t seed)
{
    swp__random random = {seed};
    swp__hard_fill(close_of, BARS, kind, &random);
    for (int i = 0; i < COMBOS; i++) {
        swp_params combo = swp__hard_combo(&random, 120);
        memcpy(rows_of[i], &combo, sizeof combo);
    }
}

static swp_engine *new_engine(uint32_t threads, const swp_allocator *allocator)
{
    swp_engine_options options = {.threads = threads, .allocator = allocator};
    swp_engine *engine;
    assert_int_equal(swp_engine_new(&options, &engine, NULL), SWP_OK);
    return engine;
}

static swp_series *new_series(swp_engine *engine)
{
    swp_series *series;
    assert_int_equal(swp_series_new(engine, close_of, BARS, SWP_ALLOW_ALL, SWP_BORROW, &series, NULL), SWP_OK);
    return series;
}

static swp_sweep_request request_of(swp_kernel kernel, uint64_t combos, swp_entry entry)
{
    return (swp_sweep_request){.grid = {.form = SWP_GRID_ROWS, .combos_count = combos, .rows = rows_of[0]},
                               .fee = 0.09,
                               .entry = entry,
                               .kernel = kernel,
                               .windows = windows_of,
                               .windows_count = WINDOWS};
}

static swp_sweep_result result_of(numbers *n)
{
    return (swp_sweep_result){.pnl = n->pnl,
                              .trades = n->trades,
                              .first_bar = n->first_bar,
                              .open_side = n->side,
                              .open_entry_bar = n->entry_bar,
                              .open_entry = n->entry,
                              .open_last = n->last,
                              .open_pnl = n->open_pnl};
}

static void sweep(uint32_t threads, const swp_sweep_request *request, numbers *n)
{
    swp_engine *engine = new_engine(threads, NULL);
    swp_series *series = new_series(engine);
    memset(n, 0, sizeof *n);
    swp_sweep_result result = result_of(n);
    assert_int_equal(swp_sweep(engine, series, request, &result, NULL), SWP_OK);
    swp_series_free(series);
    swp_engine_free(engine);
}

TEST(threads_that_share_a_chain_give_what_one_thread_gives)
{
    static numbers one, many;
    const swp__hard kinds[] = {SWP__HARD_WALK, SWP__HARD_TICKS, SWP__HARD_NAN_HOLES, SWP__HARD_INF_HOLES, SWP__HARD_STALE};
    const uint64_t combos[] = {COMBOS, 1, 3};
    const swp_kernel kernels[] = {SWP_KERNEL_EXACT, SWP_KERNEL_CERTIFIED};
    for (size_t i = 0; i < 9; i++) {
        fill_inputs(kinds[i % 5], i);
        swp_sweep_request request = request_of(kernels[i % 2], combos[i / 3], i % 2 == 0 ? SWP_ENTRY_FIRST : SWP_ENTRY_CROSS);
        sweep(1, &request, &one);
        for (uint32_t threads = 2; threads <= 8; threads += 3) {
            sweep(threads, &request, &many);
            assert_memory_equal(&many, &one, sizeof one); /* NaN is one NaN in results */
        }
    }
}

TEST(a_shared_chain_gives_what_the_strict_kernel_gives)
{
    static numbers strict, exact;
    fill_inputs(SWP__HARD_NAN_HOLES, 99);
    swp_sweep_request request = request_of(SWP_KERNEL_STRICT, 2, SWP_ENTRY_FIRST);
    sweep(1, &request, &strict);
    request.kernel = SWP_KERNEL_EXACT;
    sweep(4, &request, &exact);
    assert_memory_equal(&exact, &strict, sizeof exact);
}

/* What docs/decisions/0009 and 0011 state: for each thread, a bounded scratch, a chain, and 1.2 MiB of sign words. */
static void assert_allocates_once_and_what_is_stated(swp_kernel kernel)
{
    swp__test_memory memory = {0};
    swp_allocator allocator = swp__test_allocator(&memory);
    static numbers n;
    fill_inputs(SWP__HARD_WALK, 5);
    swp_engine *engine = new_engine(4, &allocator);
    swp_series *series = new_series(engine);
    swp_sweep_request request = request_of(kernel, COMBOS, SWP_ENTRY_FIRST);
    swp_sweep_result result = result_of(&n);
    uint64_t before = memory.live_bytes;
    assert_int_equal(swp_sweep(engine, series, &request, &result, NULL), SWP_OK);
    assert_int_equal(memory.allocs_count, 4); /* engine, workers, series, sweep */
    assert_true(memory.peak_bytes - before < 4 * ((4 << 20) + (1 << 20) + 256 * 1024));
    swp_series_free(series);
    swp_engine_free(engine);
    assert_int_equal(memory.live_count, 0);
}

TEST(a_sweep_with_signs_allocates_once_and_what_is_stated)
{
    assert_allocates_once_and_what_is_stated(SWP_KERNEL_EXACT);
    assert_allocates_once_and_what_is_stated(SWP_KERNEL_CERTIFIED);
}

typedef struct ended {
    atomic_int calls;
    swp_status status;
} ended;

static void hear_end(void *context, swp_status status)
{
    ended *e = context;
    e->status = status;
    e->calls++;
}

static uint32_t slots_of(swp_engine *engine, const swp_series *series, swp_kernel kernel)
{
    swp_sweep_request request = request_of(kernel, 1, SWP_ENTRY_FIRST);
    request.windows_count = 0;
    request.windows = NULL;
    static numbers n;
    swp_sweep_result result = result_of(&n);
    ended e = {0};
    swp__listener listener = {.done = hear_end, .context = &e};
    swp__sweep *started;
    assert_int_equal(swp__sweep_start(engine, series, &request, &result, &listener, &started, NULL), SWP_OK);
    uint32_t slots = started->slots_count;
    while (e.calls == 0) {
        assert_true(swp__engine_step(engine));
    }
    swp__sweep_free(started);
    return slots;
}

TEST(one_combo_is_shared_by_as_many_threads_as_it_has_milliseconds)
{
    fill_inputs(SWP__HARD_WALK, 4);
    for (int i = 0; i < SWP_PARAMS_COUNT; i++) {
        rows_of[0][i] = 1000;
    }
    swp_engine *engine;
    swp_engine_options options = {.threads = 3};
    assert_int_equal(swp__engine_new(&options, NULL, true, &engine, NULL), SWP_OK);
    swp_series *series = new_series(engine);
    assert_int_equal(slots_of(engine, series, SWP_KERNEL_EXACT), 3);
    assert_int_equal(slots_of(engine, series, SWP_KERNEL_STRICT), 1); /* walks: one chain, one thread */
    swp_series_free(series);
    swp_engine_free(engine);
}

TEST(a_sweep_cancelled_while_threads_share_its_chain_ends_once)
{
    fill_inputs(SWP__HARD_WALK, 3);
    swp_engine *engine = new_engine(4, NULL);
    swp_series *series = new_series(engine);
    swp_sweep_request request = request_of(SWP_KERNEL_EXACT, COMBOS, SWP_ENTRY_FIRST);
    static numbers n;
    swp_sweep_result result = result_of(&n);
    for (int i = 0; i < 60; i++) {
        ended e = {0};
        swp__listener listener = {.done = hear_end, .context = &e};
        swp__sweep *started;
        assert_int_equal(swp__sweep_start(engine, series, &request, &result, &listener, &started, NULL), SWP_OK);
        usleep((unsigned)(i * 150));
        swp__sweep_cancel(started);
        while (e.calls == 0) {
            usleep(50);
        }
        assert_true(e.status == SWP_CANCELLED || e.status == SWP_OK);
        swp__sweep_free(started);
        assert_int_equal(e.calls, 1);
    }
    swp_series_free(series);
    swp_engine_free(engine);
}
