#include "support/host.h"
#include "support/test.h"
#include "engine/engine.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static swp_engine *new_engine(uint32_t threads)
{
    swp_engine *engine;
    assert_int_equal(swp_engine_new(&(swp_engine_options){.threads = threads}, &engine, NULL), SWP_OK);
    return engine;
}

static swp_series *new_series(swp_engine *engine, const double *close, uint64_t bars_count)
{
    swp_series *series;
    assert_int_equal(swp_series_new(engine, close, bars_count, SWP_ALLOW_ALL, SWP_BORROW, &series, NULL), SWP_OK);
    return series;
}

static void fill_lengths(int64_t (*rows)[SWP_PARAMS_COUNT], int64_t count, int64_t from)
{
    for (int64_t i = 0; i < count; i++) {
        assert_int_equal(swp_params_from_length(from + i, (swp_params *)rows[i], NULL), SWP_OK);
    }
}

/* With the strict kernel, which is slow: these tests count units. */
static swp_sweep_request rows_request(const int64_t *rows, uint64_t combos_count)
{
    return (swp_sweep_request){
        .grid = {.form = SWP_GRID_ROWS, .combos_count = combos_count, .rows = rows}, .fee = 0.09, .kernel = SWP_KERNEL_STRICT};
}

/* ---- the specification once more, short and slow, over the bars of one window ---- */

typedef struct expected {
    double pnl, entry, last, open_pnl;
    int64_t trades, first_bar, side, entry_bar;
} expected;

static double wma_at(const double *x, int64_t i, int64_t m)
{
    double sum = 0.0;
    for (int64_t k = 0; k < m; k++) {
        sum += (i - m + 1 + k < 0 ? (double)NAN : x[i - m + 1 + k]) * (double)(k + 1);
    }
    return sum / ((double)m * (double)(m + 1) / 2.0);
}

static void hulls(const double *close, int64_t n, const swp_params *c, double *hma, double *hma3)
{
    double *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b);
    for (int64_t i = 0; i < n; i++) {
        a[i] = 2.0 * wma_at(close, i, c->half) - wma_at(close, i, c->full);
        b[i] = 3.0 * wma_at(close, i, c->third) - wma_at(close, i, c->mid) - wma_at(close, i, c->p);
    }
    for (int64_t i = 0; i < n; i++) {
        hma[i] = wma_at(a, i, c->smooth);
        hma3[i] = wma_at(b, i, c->p);
    }
    free(a);
    free(b);
}

static expected by_hand(const double *all, const swp_window *w, const swp_params *c, double fee, swp_entry entry)
{
    int64_t n = (int64_t)(w->end - w->warm), armed = 0;
    const double *close = all + w->warm;
    double *hma = malloc((size_t)n * sizeof *hma), *hma3 = malloc((size_t)n * sizeof *hma3);
    expected e = {.first_bar = -1, .entry_bar = -1};
    hulls(close, n, c, hma, hma3);
    for (int64_t i = (int64_t)(w->begin - w->warm); i < n; i++) {
        if (isnan(hma[i]) || isnan(hma3[i])) {
            continue;
        }
        e.first_bar = e.first_bar < 0 ? i + (int64_t)w->warm : e.first_bar;
        int64_t s = hma3[i] > hma[i] ? 1 : hma3[i] < hma[i] ? -1 : 0;
        if (s == 0 || s == e.side) {
            continue;
        }
        if (entry == SWP_ENTRY_CROSS && e.side == 0) {
            if (armed == 0) {
                armed = s;
            }
            if (armed == s) {
                continue;
            }
        }
        if (e.side != 0) {
            e.pnl += (double)e.side * (close[i] - e.entry) / e.entry * 100.0 - fee;
            e.trades++;
        }
        e.side = s;
        e.entry = close[i];
        e.entry_bar = i + (int64_t)w->warm;
    }
    for (int64_t i = n - 1; e.side != 0 && i >= 0; i--) {
        if (!isnan(close[i])) {
            e.last = close[i];
            e.open_pnl = (double)e.side * (e.last - e.entry) / e.entry * 100.0;
            break;
        }
    }
    free(hma);
    free(hma3);
    return e;
}

enum { WIDE = 64 }; /* rows of the results below */

typedef struct columns {
    double pnl[WIDE], entry[WIDE], last[WIDE], open_pnl[WIDE];
    int64_t trades[WIDE], first_bar[WIDE], side[WIDE], entry_bar[WIDE];
    uint8_t finished[WIDE];
} columns;

static swp_sweep_result result_of(columns *c)
{
    return (swp_sweep_result){.pnl = c->pnl,
                              .trades = c->trades,
                              .first_bar = c->first_bar,
                              .open_side = c->side,
                              .open_entry_bar = c->entry_bar,
                              .open_entry = c->entry,
                              .open_last = c->last,
                              .open_pnl = c->open_pnl,
                              .finished = c->finished};
}

static void assert_row(const columns *c, size_t row, const expected *e)
{
    assert_bits_equal(c->pnl[row], e->pnl);
    assert_int_equal(c->trades[row], e->trades);
    assert_int_equal(c->first_bar[row], e->first_bar);
    assert_int_equal(c->side[row], e->side);
    assert_int_equal(c->entry_bar[row], e->entry_bar);
    assert_bits_equal(c->entry[row], e->entry);
    assert_bits_equal(c->last[row], e->last);
    assert_bits_equal(c->open_pnl[row], e->open_pnl);
    assert_int_equal(c->finished[row], 1);
}

/* ---- numbers ---- */

TEST(results_are_in_input_order_and_the_same_for_any_thread_count)
{
    enum { BARS = 20000, COMBOS = 40 };
    static double close[BARS];
    int64_t rows[COMBOS][SWP_PARAMS_COUNT];
    double pnl[3][COMBOS];
    int64_t trades[3][COMBOS];
    swp__test_walk(close, BARS, 1);
    for (int64_t i = 0; i < COMBOS; i++) {
        assert_int_equal(swp_params_from_length(COMBOS - i, (swp_params *)rows[i], NULL), SWP_OK);
    }
    const uint32_t threads[] = {1, 2, 7};
    for (size_t t = 0; t < 3; t++) {
        swp_engine *engine = new_engine(threads[t]);
        swp_series *series = new_series(engine, close, BARS);
        swp_sweep_request request = rows_request(rows[0], COMBOS);
        assert_int_equal(swp_sweep(engine, series, &request, &(swp_sweep_result){.pnl = pnl[t], .trades = trades[t]}, NULL),
                         SWP_OK);
        swp_series_free(series);
        swp_engine_free(engine);
    }
    for (size_t i = 0; i < COMBOS; i++) {
        assert_bits_equal(pnl[1][i], pnl[0][i]);
        assert_bits_equal(pnl[2][i], pnl[0][i]);
        assert_int_equal(trades[1][i], trades[0][i]);
        assert_int_equal(trades[2][i], trades[0][i]);
    }
    assert_true(trades[0][COMBOS - 6] > trades[0][0]); /* length 6 reverses more often than length 40 */
}

TEST(sweep_windows_trade_their_bars_only_and_number_them_from_the_series_start)
{
    enum { BARS = 700, COMBOS = 8 };
    double close[BARS];
    int64_t rows[COMBOS][SWP_PARAMS_COUNT];
    swp__test_walk(close, BARS, 2);
    close[300] = close[301] = (double)NAN;
    close[599] = close[699] = (double)NAN;
    fill_lengths(rows, COMBOS, 2);
    const swp_window windows[] = {{0, 0, BARS}, {100, 100, 300}, {100, 150, 600}, {0, 699, 700}, {5, 10, 11}, {301, 301, 302}};
    enum { WINDOWS = sizeof windows / sizeof windows[0] };
    _Static_assert(WINDOWS * COMBOS <= WIDE, "rows");
    swp_engine *engine = new_engine(2);
    swp_series *series = new_series(engine, close, BARS);
    for (int i = 0; swp_kernel_name((swp_kernel)(i / 2)) != NULL; i++) {
        swp_sweep_request request = rows_request(rows[0], COMBOS);
        request.windows = windows;
        request.windows_count = WINDOWS;
        request.entry = (swp_entry)(i % 2);
        request.kernel = (swp_kernel)(i / 2);
        columns c;
        swp_sweep_result result = result_of(&c);
        assert_int_equal(swp_sweep(engine, series, &request, &result, NULL), SWP_OK);
        for (size_t row = 0; row < WINDOWS * COMBOS; row++) {
            swp_params combo = swp_grid_at(&request.grid, row % COMBOS);
            expected e = by_hand(close, &windows[row / COMBOS], &combo, 0.09, request.entry);
            assert_row(&c, row, &e);
        }
        assert_true(c.trades[0] > 10 && c.trades[2 * COMBOS] > 10);
        assert_true(c.first_bar[3 * COMBOS] == -1 || c.first_bar[3 * COMBOS] == 699);
    }
    swp_series_free(series);
    swp_engine_free(engine);
}

TEST(sweep_values_an_open_trade_at_the_last_number_without_fee)
{
    const double close[] = {10, 11, 12, 13, 14, 15, 18, 24, (double)NAN};
    const int64_t row[] = {1, 2, 1, 1, 1, 2};
    swp_engine *engine = new_engine(1);
    swp_series *series = new_series(engine, close, 9);
    expected e = by_hand(close, &(swp_window){0, 0, 9}, (const swp_params *)row, 0.09, SWP_ENTRY_FIRST);
    for (int kernel = 0; swp_kernel_name((swp_kernel)kernel) != NULL; kernel++) {
        swp_sweep_request request = rows_request(row, 1);
        request.kernel = (swp_kernel)kernel;
        columns c;
        swp_sweep_result result = result_of(&c);
        assert_int_equal(swp_sweep(engine, series, &request, &result, NULL), SWP_OK);
        assert_row(&c, 0, &e);
        assert_true(c.side[0] != 0);
        assert_bits_equal(c.last[0], 24.0);
        assert_bits_equal(c.open_pnl[0], (double)c.side[0] * (24.0 - c.entry[0]) / c.entry[0] * 100.0);
    }
    swp_series_free(series);
    swp_engine_free(engine);
}

TEST(sweep_combos_too_short_for_the_series_never_trade_and_change_no_other)
{
    enum { BARS = 100, COMBOS = 3 };
    double close[BARS];
    int64_t rows[COMBOS][SWP_PARAMS_COUNT];
    swp__test_walk(close, BARS, 3);
    const int64_t lengths[COMBOS] = {3, 101, 30};
    for (size_t i = 0; i < COMBOS; i++) {
        assert_int_equal(swp_params_from_length(lengths[i], (swp_params *)rows[i], NULL), SWP_OK);
    }
    rows[1][1] = SWP_PARAM_MAX;
    swp_engine *engine = new_engine(1);
    swp_series *series = new_series(engine, close, BARS);
    const expected nothing = {.first_bar = -1, .entry_bar = -1};
    for (int kernel = 0; swp_kernel_name((swp_kernel)kernel) != NULL; kernel++) {
        swp_sweep_request request = rows_request(rows[0], COMBOS);
        request.kernel = (swp_kernel)kernel;
        columns c;
        swp_sweep_result result = result_of(&c);
        assert_int_equal(swp_sweep(engine, series, &request, &result, NULL), SWP_OK);
        assert_row(&c, 1, &nothing);
        for (size_t i = 0; i < COMBOS; i += 2) {
            expected e = by_hand(close, &(swp_window){0, 0, BARS}, (const swp_params *)rows[i], 0.09, SWP_ENTRY_FIRST);
            assert_row(&c, i, &e);
        }
    }
    swp_series_free(series);
    swp_engine_free(engine);
}

/* ---- cancel, progress, threads ---- */

typedef struct cancel_at {
    swp_cancel *cancel;
    uint64_t read;
} cancel_at;

static void cancel_on_read(void *context, uint64_t reads_count)
{
    const cancel_at *when = context;
    if (reads_count == when->read) {
        swp_cancel_request(when->cancel);
    }
}

static size_t count_finished(const columns *c, size_t rows_count)
{
    size_t count = 0;
    for (size_t i = 0; i < rows_count; i++) {
        count += c->finished[i];
    }
    return count;
}

TEST(sweep_cancelled_on_the_way_leaves_whole_rows_and_zeros)
{
    enum { BARS = 30000, COMBOS = 40 };
    static double close[BARS];
    int64_t rows[COMBOS][SWP_PARAMS_COUNT];
    swp__test_walk(close, BARS, 4);
    fill_lengths(rows, COMBOS, 10);
    columns whole, part;
    swp_sweep_result whole_result = result_of(&whole), part_result = result_of(&part);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        swp_cancel cancel = {0};
        cancel_at when = {&cancel, 41}; /* a unit reads the clock twice */
        swp__test_clock clock = {.on_read = cancel_on_read, .context = &when};
        swp_clock clock_of = swp__test_clock_of(&clock);
        swp_engine *engine;
        assert_int_equal(swp_engine_new(&(swp_engine_options){.threads = threads, .clock = &clock_of}, &engine, NULL), SWP_OK);
        swp_series *series = new_series(engine, close, BARS);
        swp_sweep_request request = rows_request(rows[0], COMBOS);
        request.cancel = &cancel;
        swp_error error;
        memset(&part, 7, sizeof part);
        assert_int_equal(swp_sweep(engine, series, &request, &part_result, &error), SWP_CANCELLED);
        assert_string_equal(error.message, "sweep: cancelled");
        request.cancel = NULL;
        assert_int_equal(swp_sweep(engine, series, &request, &whole_result, NULL), SWP_OK);
        size_t finished = count_finished(&part, COMBOS);
        assert_true(finished > 0 && finished < COMBOS);
        for (size_t i = 0; i < COMBOS; i++) {
            bool in = part.finished[i] == 1;
            assert_bits_equal(part.pnl[i], in ? whole.pnl[i] : 0.0);
            assert_int_equal(part.trades[i], in ? whole.trades[i] : 0);
            assert_int_equal(part.first_bar[i], in ? whole.first_bar[i] : 0);
            assert_int_equal(part.entry_bar[i], in ? whole.entry_bar[i] : 0);
        }
        swp_series_free(series);
        swp_engine_free(engine);
    }
}

TEST(sweep_cancelled_before_it_starts_does_nothing)
{
    const double close[] = {1, 2, 3};
    const int64_t row[] = {1, 1, 1, 1, 1, 1};
    swp_cancel cancel = {0};
    swp_cancel_request(&cancel);
    swp_engine *engine = new_engine(2);
    swp_series *series = new_series(engine, close, 3);
    swp_sweep_request request = rows_request(row, 1);
    request.cancel = &cancel;
    columns c;
    swp_sweep_result result = result_of(&c);
    assert_int_equal(swp_sweep(engine, series, &request, &result, NULL), SWP_CANCELLED);
    assert_int_equal(c.finished[0], 0);
    swp_series_free(series);
    swp_engine_free(engine);
}

typedef struct heard {
    uint64_t calls, last, total;
    pthread_t thread;
} heard;

static void hear_progress(void *context, uint64_t combos_done, uint64_t combos_count)
{
    heard *h = context;
    assert_true(combos_done >= h->last);
    assert_true(pthread_equal(h->thread, pthread_self()));
    h->calls++;
    h->last = combos_done;
    h->total = combos_count;
}

TEST(sweep_reports_progress_on_the_calling_thread_ten_times_a_second_and_at_the_end)
{
    enum { BARS = 20000, COMBOS = 30 };
    static double close[BARS];
    int64_t rows[COMBOS][SWP_PARAMS_COUNT];
    swp__test_walk(close, BARS, 5);
    fill_lengths(rows, COMBOS, 10);
    swp__test_clock clock = {.step_ns = 10000000};
    swp_clock clock_of = swp__test_clock_of(&clock);
    swp_engine *engine;
    assert_int_equal(swp_engine_new(&(swp_engine_options){.threads = 2, .clock = &clock_of}, &engine, NULL), SWP_OK);
    swp_series *series = new_series(engine, close, BARS);
    heard h = {.thread = pthread_self()};
    swp_sweep_request request = rows_request(rows[0], COMBOS);
    request.windows = (const swp_window[]){{0, 0, BARS}, {0, 10, 20}};
    request.windows_count = 2;
    request.progress = hear_progress;
    request.progress_context = &h;
    columns c;
    swp_sweep_result result = result_of(&c);
    assert_int_equal(swp_sweep(engine, series, &request, &result, NULL), SWP_OK);
    assert_int_equal(h.last, 2 * COMBOS);
    assert_int_equal(h.total, 2 * COMBOS);
    assert_true(h.calls > 2 && h.calls <= clock.now_ns / 100000000 + 1);
    swp_series_free(series);
    swp_engine_free(engine);
}

TEST(sweep_max_threads_one_starts_no_thread)
{
    enum { BARS = 20000, COMBOS = 30 };
    static double close[BARS];
    int64_t rows[COMBOS][SWP_PARAMS_COUNT];
    swp__test_walk(close, BARS, 6);
    fill_lengths(rows, COMBOS, 10);
    swp_engine *engine = new_engine(4);
    swp_series *series = new_series(engine, close, BARS);
    swp_sweep_request request = rows_request(rows[0], COMBOS);
    columns c;
    swp_sweep_result result = result_of(&c);
    request.max_threads = 1;
    assert_int_equal(swp_sweep(engine, series, &request, &result, NULL), SWP_OK);
    assert_int_equal(swp__engine_count(engine).workers, 0);
    request.max_threads = 3;
    assert_int_equal(swp_sweep(engine, series, &request, &result, NULL), SWP_OK);
    assert_int_equal(swp__engine_count(engine).workers, 2); /* the caller is the third */
    swp_series_free(series);
    swp_engine_free(engine);
}

typedef struct asker {
    swp_engine *engine;
    const swp_series *series;
    int64_t length;
    const columns *expected; /* of lengths 2..33 */
    int wrong;
} asker;

static void *ask_many_times(void *argument)
{
    asker *a = argument;
    int64_t rows[2][SWP_PARAMS_COUNT];
    for (int i = 0; i < 200; i++) {
        int64_t length = 2 + (a->length + i) % 31;
        if (swp_params_from_length(length, (swp_params *)rows[0], NULL) != SWP_OK ||
            swp_params_from_length(length + 1, (swp_params *)rows[1], NULL) != SWP_OK) {
            a->wrong++;
        }
        swp_sweep_request request = rows_request(rows[0], 2);
        double pnl[2];
        int64_t trades[2];
        swp_sweep_result result = {.pnl = pnl, .trades = trades};
        swp_status status = swp_sweep(a->engine, a->series, &request, &result, NULL);
        for (int64_t j = 0; j < 2; j++) {
            bool right = status == SWP_OK && trades[j] == a->expected->trades[length + j - 2] &&
                         memcmp(&pnl[j], &a->expected->pnl[length + j - 2], sizeof *pnl) == 0;
            a->wrong += right ? 0 : 1;
        }
    }
    return NULL;
}

TEST(sweeps_of_eight_threads_at_once_each_get_their_own_answer)
{
    enum { BARS = 3000, LENGTHS = 32, ASKERS = 8 };
    double close[BARS];
    int64_t rows[LENGTHS][SWP_PARAMS_COUNT];
    swp__test_walk(close, BARS, 7);
    fill_lengths(rows, LENGTHS, 2);
    swp_engine *engine = new_engine(3);
    swp_series *series = new_series(engine, close, BARS);
    swp_sweep_request request = rows_request(rows[0], LENGTHS);
    columns all;
    swp_sweep_result result = result_of(&all);
    assert_int_equal(swp_sweep(engine, series, &request, &result, NULL), SWP_OK);
    asker askers[ASKERS];
    pthread_t threads[ASKERS];
    for (int i = 0; i < ASKERS; i++) {
        askers[i] = (asker){engine, series, 5 * i, &all, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, ask_many_times, &askers[i]), 0);
    }
    for (int i = 0; i < ASKERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(askers[i].wrong, 0);
    }
    swp_series_free(series);
    swp_engine_free(engine);
}

/* ---- memory ---- */

typedef struct allocs_seen {
    const swp__test_memory *memory;
    atomic_uint_fast64_t fewest, most; /* at the units' beginnings and ends */
} allocs_seen;

static void see_allocs_on_read(void *context, uint64_t reads_count)
{
    allocs_seen *seen = context;
    uint64_t now = seen->memory->allocs_count;
    seen->most = now > seen->most ? now : seen->most;
    seen->fewest = reads_count == 1 || now < seen->fewest ? now : seen->fewest;
}

TEST(sweep_allocates_once_before_it_starts_whatever_the_number_of_combos)
{
    enum { BARS = 50 };
    double close[BARS];
    swp__test_walk(close, BARS, 8);
    int64_t lengths[1000], ones[] = {1};
    for (int64_t i = 0; i < 1000; i++) {
        lengths[i] = i + 1;
    }
    swp__test_memory memory = {0};
    swp_allocator allocator = swp__test_allocator(&memory);
    allocs_seen seen = {.memory = &memory};
    swp__test_clock clock = {.on_read = see_allocs_on_read, .context = &seen};
    swp_clock clock_of = swp__test_clock_of(&clock);
    swp_engine_options options = {.threads = 2, .allocator = &allocator, .clock = &clock_of};
    swp_engine *engine;
    assert_int_equal(swp_engine_new(&options, &engine, NULL), SWP_OK);
    swp_series *series = new_series(engine, close, BARS);
    swp_sweep_request request = {.grid = {.form = SWP_GRID_AXES,
                                          .combos_count = 100000,
                                          .axes = {lengths, lengths, ones, ones, ones, ones},
                                          .axis_counts = {1000, 100, 1, 1, 1, 1}},
                                 .kernel = SWP_KERNEL_STRICT};
    static int64_t trades[100000];
    assert_int_equal(swp_sweep(engine, series, &request, &(swp_sweep_result){.trades = trades}, NULL), SWP_OK);
    assert_int_equal(memory.allocs_count, 4); /* engine, workers, series, sweep */
    assert_int_equal(seen.fewest, 4);
    assert_int_equal(seen.most, 4);
    assert_true(memory.peak_bytes < 200000);
    swp_series_free(series);
    swp_engine_free(engine);
    assert_int_equal(memory.live_count, 0);
    assert_int_equal(memory.live_bytes, 0);
}

/* One small sweep from nothing; the first call that fails. */
static swp_status make_and_sweep(const swp_allocator *allocator, double *pnl)
{
    const double close[] = {10, 11, 9, 12, 8, 13, 7, 14};
    const int64_t row[] = {1, 2, 1, 1, 1, 2};
    swp_engine *engine = NULL;
    swp_series *series = NULL;
    swp_sweep_request request = rows_request(row, 1);
    swp_status status = swp_engine_new(&(swp_engine_options){.threads = 2, .allocator = allocator}, &engine, NULL);
    if (status == SWP_OK) {
        status = swp_series_new(engine, close, 8, 0, SWP_COPY, &series, NULL);
    }
    if (status == SWP_OK) {
        status = swp_sweep(engine, series, &request, &(swp_sweep_result){.pnl = pnl}, NULL);
    }
    swp_series_free(series);
    swp_engine_free(engine);
    return status;
}

TEST(sweep_answers_no_memory_for_each_allocation_that_fails_and_leaks_nothing)
{
    double pnl = 0.5;
    for (uint64_t nth = 1;; nth++) {
        swp__test_memory memory = {.fail_at = nth};
        swp_allocator allocator = swp__test_allocator(&memory);
        swp_status status = make_and_sweep(&allocator, &pnl);
        assert_int_equal(memory.live_count, 0);
        if (status == SWP_OK) {
            assert_int_equal(nth, 6); /* engine, workers, series, closes, sweep */
            break;
        }
        assert_int_equal(status, SWP_NO_MEMORY);
        assert_bits_equal(pnl, 0.5);
    }
    assert_true(fabs(pnl - 0.5) > 0.0);
}

/* ---- refusals ---- */

static void assert_refused(swp_engine *engine, const swp_series *series, const swp_sweep_request *request, swp_status status,
                           uint64_t at, const char *message)
{
    double pnl = 0.5;
    swp_error error;
    assert_int_equal(swp_sweep(engine, series, request, &(swp_sweep_result){.pnl = &pnl}, &error), status);
    assert_int_equal(error.status, status);
    assert_int_equal(error.at, at);
    assert_string_equal(error.message, message);
    assert_bits_equal(pnl, 0.5);
}

TEST(sweep_refuses_in_the_stated_order_and_names_the_place)
{
    const double close[] = {1, 2, 3, 4, 5};
    int64_t row[] = {1, 2, 1, 1, 1, 0};
    swp_window windows[] = {{0, 0, 5}, {3, 2, 5}};
    swp_engine *engine = new_engine(1);
    swp_series *series = new_series(engine, close, 5);
    swp_sweep_request r = {.grid = {.form = (swp_grid_form)3},
                           .fee = (double)NAN,
                           .entry = (swp_entry)2,
                           .kernel = (swp_kernel)99,
                           .windows_count = 2};
    assert_refused(NULL, NULL, NULL, SWP_BAD_PARAM, 1, "sweep: NULL pointer");
    assert_refused(engine, NULL, NULL, SWP_BAD_PARAM, 2, "sweep: NULL pointer");
    assert_refused(engine, series, NULL, SWP_BAD_PARAM, 3, "sweep: NULL pointer");
    swp_error error;
    assert_int_equal(swp_sweep(engine, series, &r, NULL, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 4);
    assert_refused(engine, series, &r, SWP_BAD_PARAM, 3, "sweep: 2 windows at a NULL pointer");
    r.windows = windows;
    assert_refused(engine, series, &r, SWP_BAD_PARAM, SWP_AT_NONE, "combos: form 3 is not 0..2");
    r.grid.form = SWP_GRID_ROWS;
    assert_refused(engine, series, &r, SWP_BAD_PARAM, SWP_AT_NONE, "combos: none given");
    r.grid.combos_count = 1;
    assert_refused(engine, series, &r, SWP_BAD_PARAM, SWP_AT_NONE, "combos: NULL pointer to a list of form 0");
    r.grid.rows = row;
    assert_refused(engine, series, &r, SWP_BAD_PARAM, 5, "combo 0: p is 0, expected 1..2147483647");
    row[5] = 1;
    assert_refused(engine, series, &r, SWP_BAD_PARAM, SWP_AT_NONE, "fee is NaN, expected -100..100 percentage points");
    r.fee = nextafter(100.0, 101.0);
    assert_refused(engine, series, &r, SWP_BAD_PARAM, SWP_AT_NONE,
                   "fee is 100.00000000000001, expected -100..100 percentage points");
    r.fee = 100.0;
    assert_refused(engine, series, &r, SWP_BAD_PARAM, SWP_AT_NONE, "entry is 2, expected 0 (first) or 1 (cross)");
    r.entry = SWP_ENTRY_CROSS;
    assert_refused(engine, series, &r, SWP_BAD_PARAM, SWP_AT_NONE, "kernel 99 is not known");
    r.kernel = SWP_KERNEL_STRICT;
    assert_refused(engine, series, &r, SWP_BAD_PARAM, 1,
                   "window 1: warm 3, begin 2, end 5, expected warm <= begin < end <= 5 bars");
    windows[1] = (swp_window){2, 5, 5};
    assert_refused(engine, series, &r, SWP_BAD_PARAM, 1,
                   "window 1: warm 2, begin 5, end 5, expected warm <= begin < end <= 5 bars");
    windows[1] = (swp_window){2, 4, 6};
    assert_refused(engine, series, &r, SWP_BAD_PARAM, 1,
                   "window 1: warm 2, begin 4, end 6, expected warm <= begin < end <= 5 bars");
    windows[1] = (swp_window){4, 4, 5};
    double pnl[2];
    assert_int_equal(swp_sweep(engine, series, &r, &(swp_sweep_result){.pnl = pnl}, NULL), SWP_OK);
    swp_series_free(series);
    swp_engine_free(engine);
}

TEST(sweep_refuses_more_than_2_to_the_40_results)
{
    const double close[] = {1, 2};
    static int64_t lists[2][1 << 20], one[] = {1}, two[] = {1, 1};
    for (size_t i = 0; i < 1 << 20; i++) {
        lists[0][i] = lists[1][i] = 1;
    }
    swp_cancel cancel = {0};
    swp_cancel_request(&cancel);
    swp_sweep_request r = {.grid = {.form = SWP_GRID_AXES,
                                    .combos_count = UINT64_C(1) << 40,
                                    .axes = {lists[0], lists[1], one, one, one, one},
                                    .axis_counts = {1 << 20, 1 << 20, 1, 1, 1, 1}},
                           .cancel = &cancel};
    swp_engine *engine = new_engine(1);
    swp_series *series = new_series(engine, close, 2);
    assert_int_equal(swp_sweep(engine, series, &r, &(swp_sweep_result){.pnl = NULL}, NULL), SWP_CANCELLED);
    r.grid.axes[2] = two;
    r.grid.axis_counts[2] = 2;
    r.grid.combos_count *= 2;
    swp_error error;
    assert_int_equal(swp_sweep(engine, series, &r, &(swp_sweep_result){.pnl = NULL}, &error), SWP_LIMIT);
    assert_int_equal(error.a, UINT64_C(1) << 40);
    assert_int_equal(error.b, UINT64_C(1) << 41);
    swp_series_free(series);
    swp_engine_free(engine);
}

TEST(engine_refuses_more_than_1024_threads)
{
    swp_engine *engine = NULL;
    swp_error error;
    assert_int_equal(swp_engine_new(&(swp_engine_options){.threads = 1025}, &engine, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 1);
    assert_int_equal(swp_engine_new(NULL, NULL, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 2);
    assert_int_equal(swp_engine_new(&(swp_engine_options){.threads = 1024}, &engine, &error), SWP_OK);
    assert_int_equal(swp_engine_threads(engine), 1024);
    swp_engine_free(engine);
    swp_engine_free(NULL);
}

/* ---- processes and threads that are not there ---- */

static void assert_child_ends_well(pid_t child)
{
    int status;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(engine_in_a_forked_child_answers_wrong_process_and_can_be_freed)
{
    enum { BARS = 20000, COMBOS = 20 };
    static double close[BARS];
    int64_t rows[COMBOS][SWP_PARAMS_COUNT];
    swp__test_walk(close, BARS, 9);
    fill_lengths(rows, COMBOS, 10);
    swp_engine *engine = new_engine(2);
    swp_series *series = new_series(engine, close, BARS);
    swp_sweep_request request = rows_request(rows[0], COMBOS);
    columns c;
    swp_sweep_result result = result_of(&c);
    assert_int_equal(swp_sweep(engine, series, &request, &result, NULL), SWP_OK); /* a worker runs */
    pid_t child = fork();
    if (child == 0) {
        bool right = swp_sweep(engine, series, &request, &result, NULL) == SWP_WRONG_PROCESS;
        swp_series_free(series);
        swp_engine_free(engine);
        _exit(right ? 0 : 1);
    }
    assert_child_ends_well(child);
    assert_int_equal(swp_sweep(engine, series, &request, &result, NULL), SWP_OK);
    swp_series_free(series);
    swp_engine_free(engine);
}

/* This process may start no thread from here on. */
static bool forbid_threads(void)
{
    const struct rlimit none = {0, 0};
    return (geteuid() != 0 || setuid(65534) == 0) && setrlimit(RLIMIT_NPROC, &none) == 0;
}

static void *do_nothing(void *argument)
{
    return argument;
}

static int sweep_without_threads(void)
{
    enum { BARS = 20000, COMBOS = 20, CANNOT_TELL = 77 };
    static double close[BARS];
    int64_t rows[COMBOS][SWP_PARAMS_COUNT];
    pthread_t thread;
    if (!forbid_threads() || pthread_create(&thread, NULL, do_nothing, NULL) == 0) {
        return CANNOT_TELL;
    }
    swp__test_walk(close, BARS, 10);
    fill_lengths(rows, COMBOS, 10);
    swp_engine *engine = new_engine(4);
    swp_series *series = new_series(engine, close, BARS);
    swp_sweep_request request = rows_request(rows[0], COMBOS);
    columns c;
    swp_sweep_result result = result_of(&c);
    swp_status status = swp_sweep(engine, series, &request, &result, NULL);
    bool right = status == SWP_OK && count_finished(&c, COMBOS) == COMBOS && swp__engine_count(engine).workers == 0;
    swp_series_free(series);
    swp_engine_free(engine);
    return right ? 0 : 1;
}

TEST(sweep_runs_on_its_caller_alone_when_no_thread_can_be_started)
{
    pid_t child = fork();
    if (child == 0) {
        _exit(sweep_without_threads());
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        SKIP("threads cannot be forbidden here");
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}
