/* One suite over every door: what a client promises holds, and the numbers are those of swp_sweep in this process, bit for bit. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "support/host.h"
#include "support/service.h"
#include "support/test.h"
#include "swp/client.h"

enum { BARS = 3000, COMBOS = 40, WINDOWS = 3, ROWS = WINDOWS * COMBOS };

static double close_of_bars[BARS];
static int64_t rows[COMBOS * 6];
static const swp_window windows[WINDOWS] = {{0, 0, BARS}, {100, 500, 2000}, {0, 1500, 1501}};

/* ---- the truth ---- */

typedef struct results {
    double pnl[ROWS], open_entry[ROWS], open_last[ROWS], open_pnl[ROWS];
    int64_t trades[ROWS], first_bar[ROWS], open_side[ROWS], open_entry_bar[ROWS];
    uint8_t finished[ROWS];
} results;

static swp_sweep_result arrays_of(results *r)
{
    return (swp_sweep_result){.pnl = r->pnl,
                              .trades = r->trades,
                              .first_bar = r->first_bar,
                              .open_side = r->open_side,
                              .open_entry_bar = r->open_entry_bar,
                              .open_entry = r->open_entry,
                              .open_last = r->open_last,
                              .open_pnl = r->open_pnl,
                              .finished = r->finished};
}

static void make_input(void)
{
    swp__test_walk(close_of_bars, BARS, 7);
    for (int64_t i = 0; i < COMBOS; i++) {
        assert_int_equal(swp_params_from_length(2 + 3 * i, (swp_params *)(void *)(rows + 6 * i), NULL), SWP_OK);
    }
}

static swp_sweep_request request_of_rows(void)
{
    return (swp_sweep_request){
        .grid = {.combos_count = COMBOS, .rows = rows}, .fee = 0.09, .windows = windows, .windows_count = WINDOWS};
}

static void sweep_here(const swp_sweep_request *request, results *expected)
{
    swp_engine *engine;
    swp_series *series;
    swp_sweep_result arrays = arrays_of(expected);
    memset(expected, 0, sizeof *expected);
    assert_int_equal(swp_engine_new(NULL, &engine, NULL), SWP_OK);
    assert_int_equal(swp_series_new(engine, close_of_bars, BARS, 0, SWP_BORROW, &series, NULL), SWP_OK);
    assert_int_equal(swp_sweep(engine, series, request, &arrays, NULL), SWP_OK);
    swp_series_free(series);
    swp_engine_free(engine);
}

/* ---- a client of the door ---- */

typedef struct door {
    service *service;
    swp_client *client;
    swp_client_series *series;
} door;

static door open_door(const char *scheme, uint32_t threads, uint64_t max_frame)
{
    door d = {.service = service_start(scheme, threads, max_frame)};
    swp_error error;
    swp_client_options options = {.timeout_ms = 60000, .threads = threads};
    swp_columns columns = {.bars_count = BARS, .close = close_of_bars};
    make_input();
    if (swp_client_open(service_url(d.service), &options, &d.client, &error) != SWP_OK ||
        swp_client_load(d.client, &columns, 0, SWP_KEEP_BORROWED, 0, &d.series, &error) != SWP_OK) {
        fail_msg("%s", error.message);
    }
    return d;
}

static void close_door(door *d)
{
    assert_int_equal(swp_client_drop(d->client, d->series, 0, NULL), SWP_OK);
    swp_client_close(d->client);
    service_stop(d->service);
}

static void assert_sweeps_to(door *d, const swp_sweep_request *request, const results *expected)
{
    static results got;
    swp_error error;
    swp_sweep_result arrays = arrays_of(&got);
    memset(&got, 0xee, sizeof got);
    if (swp_client_sweep(d->client, d->series, request, &arrays, 0, &error) != SWP_OK) {
        fail_msg("%s", error.message);
    }
    size_t used = request->grid.combos_count * (request->windows_count > 0 ? request->windows_count : 1);
    const char *a = (const char *)&got, *b = (const char *)expected;
    for (size_t column = 0; column < 8; column++) {
        assert_memory_equal(a + column * ROWS * 8, b + column * ROWS * 8, used * 8);
    }
    assert_memory_equal(got.finished, expected->finished, used);
}

/* ---- what holds on each ---- */

static void check_numbers(const char *scheme)
{
    static const uint32_t threads[] = {1, 2, 8};
    static const swp_kernel kernels[] = {SWP_KERNEL_AUTO, SWP_KERNEL_STRICT, SWP_KERNEL_STRICT_CHECKED, SWP_KERNEL_EXACT,
                                         SWP_KERNEL_CERTIFIED};
    static results expected;
    for (size_t t = 0; t < 3; t++) {
        door d = open_door(scheme, threads[t], 0);
        swp_sweep_request request = request_of_rows();
        sweep_here(&request, &expected);
        for (size_t k = 0; k < 5; k++) {
            swp_cancel never = {0};
            request.kernel = kernels[k];
            request.cancel = NULL;
            assert_sweeps_to(&d, &request, &expected);
            request.cancel = &never; /* in blocks */
            assert_sweeps_to(&d, &request, &expected);
        }
        close_door(&d);
    }
}

static void check_grids(const char *scheme)
{
    static results expected;
    static const int64_t triples[] = {2, 4, 2, 3, 9, 3, 8, 20, 4}, triples3[] = {1, 2, 4, 3, 5, 10};
    static const int64_t axis[] = {2, 5};
    door d = open_door(scheme, 2, 0);
    swp_sweep_request request = {
        .grid = {.form = SWP_GRID_PAIRS, .combos_count = 6, .hma = triples, .hma_count = 3, .hma3 = triples3, .hma3_count = 2},
        .fee = -1.5,
        .entry = SWP_ENTRY_CROSS};
    sweep_here(&request, &expected);
    assert_sweeps_to(&d, &request, &expected);
    request.grid = (swp_grid){.form = SWP_GRID_AXES, .combos_count = 8};
    for (size_t i = 0; i < SWP_PARAMS_COUNT; i++) {
        request.grid.axes[i] = axis;
        request.grid.axis_counts[i] = i < 3 ? 2 : 1;
    }
    sweep_here(&request, &expected);
    assert_sweeps_to(&d, &request, &expected);
    close_door(&d);
}

static void check_small_frames(const char *scheme)
{
    static results expected;
    door d = open_door(scheme, 2, 4096); /* the series in parts, the results in blocks */
    swp_sweep_request request = request_of_rows();
    sweep_here(&request, &expected);
    for (size_t i = 0; i < COMBOS; i += 20) { /* requests fit, replies do not */
        static results part;
        swp_sweep_result arrays = arrays_of(&part);
        swp_sweep_request some = request;
        some.grid.rows = rows + 6 * i;
        some.grid.combos_count = 20;
        assert_int_equal(swp_client_sweep(d.client, d.series, &some, &arrays, 0, NULL), SWP_OK);
        for (size_t w = 0; w < WINDOWS; w++) {
            assert_memory_equal(part.pnl + w * 20, expected.pnl + w * COMBOS + i, 20 * 8);
            assert_memory_equal(part.open_side + w * 20, expected.open_side + w * COMBOS + i, 20 * 8);
        }
    }
    close_door(&d);
}

static void count_progress(void *context, uint64_t combos_done, uint64_t combos_count)
{
    uint64_t *last = context;
    assert_true(combos_done >= *last);
    assert_int_equal(combos_count, COMBOS);
    *last = combos_done;
}

static void check_progress(const char *scheme)
{
    static results expected;
    uint64_t last = 0;
    door d = open_door(scheme, 2, 0);
    swp_sweep_request request = request_of_rows();
    sweep_here(&request, &expected);
    request.progress = count_progress;
    request.progress_context = &last;
    assert_sweeps_to(&d, &request, &expected);
    assert_int_equal(last, COMBOS);
    close_door(&d);
}

static void check_statuses(const char *scheme)
{
    static results untouched;
    swp_error error;
    door d = open_door(scheme, 1, 0);
    swp_sweep_result arrays = arrays_of(&untouched);
    swp_client_series *other;
    memset(&untouched, 0x55, sizeof untouched);
    double nan_close[] = {1, 2, 0.0 / 0.0, 4}, times[] = {1, 2, 3, 4};
    int64_t falling[] = {1, 5, 5, 6};
    swp_columns columns = {.bars_count = 4, .close = nan_close};
    assert_int_equal(swp_client_load(d.client, &columns, 0, SWP_KEEP_NOTHING, 0, &other, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 2);
    columns = (swp_columns){.bars_count = 4, .close = times, .time_ns = falling};
    assert_int_equal(swp_client_load(d.client, &columns, 0, SWP_KEEP_NOTHING, 0, &other, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 2);
    columns = (swp_columns){.bars_count = 4, .close = times};
    assert_int_equal(swp_client_find(d.client, &columns, 0, SWP_KEEP_NOTHING, 0, &other, &error), SWP_NOT_FOUND);
    assert_int_equal(swp_client_open_series(d.client, "nobody", 0, &other, &error), SWP_NOT_FOUND);
    swp_sweep_request request = request_of_rows();
    request.fee = 101;
    assert_int_equal(swp_client_sweep(d.client, d.series, &request, &arrays, 0, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, SWP_AT_NONE);
    swp_window beyond[] = {{0, 0, 5}, {0, 5, BARS + 1}};
    request = request_of_rows();
    request.windows = beyond;
    request.windows_count = 2;
    assert_int_equal(swp_client_sweep(d.client, d.series, &request, &arrays, 0, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 1);
    for (size_t i = 0; i < sizeof untouched; i++) {
        assert_int_equal(((const uint8_t *)&untouched)[i], 0x55);
    }
    close_door(&d);
}

static void check_series(const char *scheme)
{
    static results expected;
    door d = open_door(scheme, 1, 0);
    swp_client_series *found, *named;
    swp_series_info info = swp_client_series_info(d.series);
    assert_true(info.fingerprint_known);
    assert_int_equal(info.bars_count, BARS);
    assert_true(info.first == close_of_bars[0] && info.last == close_of_bars[BARS - 1]);
    swp_columns columns = {.bars_count = BARS, .close = close_of_bars};
    assert_int_equal(swp_client_find(d.client, &columns, 0, SWP_KEEP_NOTHING, 0, &found, NULL), SWP_OK);
    assert_int_equal(swp_client_name_series(d.client, found, "walk", 0, NULL), SWP_OK);
    assert_int_equal(swp_client_open_series(d.client, "walk", 0, &named, NULL), SWP_OK);
    assert_memory_equal(swp_client_series_info(named).fingerprint, info.fingerprint, 16);
    assert_int_equal(swp_client_hash(d.client, named, 0, NULL), SWP_OK);
    char *text;
    assert_int_equal(swp_client_list(d.client, 0, &text, NULL), SWP_OK);
    assert_non_null(strstr(text, "\"walk\""));
    swp_client_text_free(d.client, text);
    assert_int_equal(swp_client_stats(d.client, 0, &text, NULL), SWP_OK);
    assert_non_null(strstr(text, "sweepd_series_loaded_total 1\n"));
    swp_client_text_free(d.client, text);
    assert_int_equal(swp_client_strategies(d.client, 0, &text, NULL), SWP_OK);
    assert_non_null(strstr(text, "\"hma-cross\""));
    swp_client_text_free(d.client, text);
    swp_client_series *first = d.series;
    d.series = named; /* opened by name it sweeps to the same */
    swp_sweep_request request = request_of_rows();
    sweep_here(&request, &expected);
    assert_sweeps_to(&d, &request, &expected);
    d.series = first;
    assert_int_equal(swp_client_drop(d.client, named, 0, NULL), SWP_OK);
    assert_int_equal(swp_client_drop(d.client, found, 0, NULL), SWP_OK);
    close_door(&d);
}

static void check_trades(const char *scheme)
{
    door d = open_door(scheme, 2, 0);
    static results expected;
    swp_sweep_request all = request_of_rows();
    all.windows_count = 0;
    sweep_here(&all, &expected);
    for (size_t i = 0; i < COMBOS; i += 7) {
        swp_trades trades;
        swp_error error;
        swp_sweep_request request = {.grid = {.combos_count = 1, .rows = rows + 6 * i}, .fee = 0.09};
        if (swp_client_trades(d.client, d.series, &request, 0, &trades, &error) != SWP_OK) {
            fail_msg("%s", error.message);
        }
        double pnl = 0;
        uint64_t closed = trades.count > 0 && trades.exit_bar[trades.count - 1] < 0 ? trades.count - 1 : trades.count;
        for (uint64_t t = 0; t < closed; t++) {
            pnl += trades.pnl[t];
            assert_true(trades.entry_bar[t] < trades.exit_bar[t]);
            assert_true(trades.entry[t] == close_of_bars[trades.entry_bar[t]]);
            assert_true(trades.exit[t] == close_of_bars[trades.exit_bar[t]]);
        }
        assert_int_equal(closed, expected.trades[i]);
        assert_bits_equal(pnl, expected.pnl[i]);
        if (closed < trades.count) {
            assert_int_equal(trades.side[closed], expected.open_side[i]);
            assert_bits_equal(trades.pnl[closed], expected.open_pnl[i]);
        }
        swp_trades_free(d.client, &trades);
    }
    close_door(&d);
}

static void check_echo(const char *scheme)
{
    enum { LARGE = 3000000 };
    static uint8_t bytes[LARGE], reply[LARGE];
    door d = open_door(scheme, 1, 0);
    for (size_t i = 0; i < LARGE; i++) {
        bytes[i] = (uint8_t)(i * 2654435761u >> 11);
    }
    static const size_t sizes[] = {0, 1, 8, 16371, 16372, 16373, 16384, 100000, LARGE};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        memset(reply, 0, LARGE);
        assert_int_equal(swp_client_echo(d.client, bytes, sizes[s], reply, 0, NULL), SWP_OK);
        assert_memory_equal(bytes, reply, sizes[s]);
    }
    close_door(&d);
}

/* ---- many at once ---- */

static void check_pipelining(const char *scheme)
{
    enum { CALLS = 200 }; /* more than max_in_flight */
    static results expected, got[CALLS];
    swp_pending *pending[CALLS];
    door d = open_door(scheme, 2, 0);
    swp_sweep_request request = request_of_rows();
    sweep_here(&request, &expected);
    for (size_t i = 0; i < CALLS; i++) {
        swp_sweep_result arrays = arrays_of(&got[i]);
        assert_int_equal(swp_client_submit_sweep(d.client, d.series, &request, &arrays, 0, &pending[i], NULL), SWP_OK);
    }
    for (size_t i = 0; i < CALLS; i++) {
        size_t last_first = i % 2 == 0 ? i / 2 : CALLS - 1 - i / 2;
        assert_int_equal(swp_pending_wait(pending[last_first], NULL), SWP_OK);
        assert_memory_equal(&got[last_first], &expected, sizeof expected);
    }
    close_door(&d);
}

typedef struct sweeper {
    door *door;
    const results *expected;
    size_t number, wrong;
} sweeper;

static void *sweep_often(void *context)
{
    sweeper *me = context;
    for (size_t i = 0; i < 200; i++) {
        double pnl = 0;
        int64_t trades = -1;
        size_t combo = (me->number * 31 + i) % COMBOS;
        swp_sweep_request request = {.grid = {.combos_count = 1, .rows = rows + 6 * combo}, .fee = 0.09};
        swp_sweep_result result = {.pnl = &pnl, .trades = &trades};
        bool right = swp_client_sweep(me->door->client, me->door->series, &request, &result, 0, NULL) == SWP_OK &&
                     memcmp(&pnl, &me->expected->pnl[combo], sizeof pnl) == 0 && trades == me->expected->trades[combo];
        me->wrong += right ? 0 : 1;
    }
    return NULL;
}

/* B44: eight threads, two hundred sweeps each, one client. */
static void check_threads(const char *scheme)
{
    enum { THREADS = 8 };
    static results expected;
    pthread_t threads[THREADS];
    sweeper sweepers[THREADS];
    door d = open_door(scheme, 2, 0);
    swp_sweep_request request = request_of_rows();
    request.windows_count = 0;
    sweep_here(&request, &expected);
    for (size_t i = 0; i < THREADS; i++) {
        sweepers[i] = (sweeper){&d, &expected, i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, sweep_often, &sweepers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(sweepers[i].wrong, 0);
    }
    close_door(&d);
}

/* ---- ends ---- */

enum { LONG_COMBOS = 4000 };

/* Hours of work. */
static swp_sweep_request long_request(int64_t *long_rows)
{
    for (int64_t i = 0; i < LONG_COMBOS; i++) {
        assert_int_equal(swp_params_from_length(500 + i % 2000, (swp_params *)(void *)(long_rows + 6 * i), NULL), SWP_OK);
    }
    return (swp_sweep_request){
        .grid = {.combos_count = LONG_COMBOS, .rows = long_rows}, .fee = 0.09, .kernel = SWP_KERNEL_STRICT_CHECKED};
}

static void cancel_soon(void *context, uint64_t combos_done, uint64_t combos_count)
{
    if (combos_done > 0 && combos_done < combos_count) {
        swp_cancel_request(context);
    }
}

static void check_cancel(const char *scheme)
{
    static int64_t long_rows[LONG_COMBOS * 6], trades[LONG_COMBOS];
    static double pnl[LONG_COMBOS];
    static uint8_t finished[LONG_COMBOS];
    door d = open_door(scheme, 2, 0);
    swp_cancel cancel = {0};
    swp_sweep_request request = long_request(long_rows);
    request.cancel = &cancel;
    request.progress = cancel_soon;
    request.progress_context = &cancel;
    swp_sweep_result result = {.pnl = pnl, .trades = trades, .finished = finished};
    memset(trades, 0xee, sizeof trades);
    memset(pnl, 0xee, sizeof pnl);
    assert_int_equal(swp_client_sweep(d.client, d.series, &request, &result, 0, NULL), SWP_CANCELLED);
    size_t finished_count = 0;
    for (size_t i = 0; i < LONG_COMBOS; i++) {
        finished_count += finished[i];
        if (!finished[i]) {
            assert_true(trades[i] == 0 && pnl[i] == 0.0);
        }
    }
    assert_in_range(finished_count, 0, LONG_COMBOS - 1);
    swp_pending *pending;
    request.cancel = NULL;
    request.progress = NULL;
    assert_int_equal(swp_client_submit_sweep(d.client, d.series, &request, &result, 0, &pending, NULL), SWP_OK);
    assert_false(swp_pending_is_done(pending));
    swp_pending_cancel(pending);
    assert_int_equal(swp_pending_wait(pending, NULL), SWP_CANCELLED);
    close_door(&d);
}

static void check_timeout(const char *scheme)
{
    static int64_t long_rows[LONG_COMBOS * 6];
    static double pnl[LONG_COMBOS];
    static results expected;
    door d = open_door(scheme, 2, 0);
    swp_sweep_request request = long_request(long_rows);
    swp_sweep_result result = {.pnl = pnl};
    assert_int_equal(swp_client_sweep(d.client, d.series, &request, &result, 20, NULL), SWP_TIMED_OUT);
    request = request_of_rows(); /* the same client, the same series */
    sweep_here(&request, &expected);
    assert_sweeps_to(&d, &request, &expected);
    close_door(&d);
}

/* ---- buffers ---- */

static swp_client_series *load_buffer(door *d, swp_series_buffer *buffer, uint32_t allow)
{
    swp_error error;
    swp_client_series *series;
    if (swp_client_load_buffer(d->client, buffer, allow, 0, &series, &error) != SWP_OK) {
        fail_msg("%s", error.message);
    }
    return series;
}

static bool is_handed_over(const char *scheme)
{
    return strcmp(scheme, "unix:") == 0 || strcmp(scheme, "shm:") == 0;
}

/* Written after it was loaded, and freed: what was loaded stays what it was. */
static void check_buffer(const char *scheme)
{
    static results expected;
    swp_series_buffer *buffer;
    door d = open_door(scheme, 2, 0);
    swp_sweep_request request = request_of_rows();
    sweep_here(&request, &expected);
    assert_int_equal(swp_series_buffer_new(BARS, &buffer, NULL), SWP_OK);
    double *close = swp_series_buffer_close(buffer);
    assert_true(close[0] == 0.0 && close[BARS - 1] == 0.0);
    memcpy(close, close_of_bars, sizeof close_of_bars);
    swp_client_drop(d.client, d.series, 0, NULL);
    d.series = load_buffer(&d, buffer, 0);
    assert_int_equal(swp_client_series_info(d.series).bars_count, BARS);
    assert_true(swp_client_series_info(d.series).fingerprint_known != is_handed_over(scheme));
    assert_true(swp_series_buffer_close(buffer) == close);
    assert_memory_equal(close, close_of_bars, sizeof close_of_bars);
    for (size_t i = 0; i < BARS; i++) {
        close[i] = 1.0;
    }
    assert_sweeps_to(&d, &request, &expected);
    assert_int_equal(swp_client_hash(d.client, d.series, 0, NULL), SWP_OK);
    assert_true(swp_client_series_info(d.series).fingerprint_known);

    swp_client_series *again = load_buffer(&d, buffer, 0); /* now with what was written since */
    assert_int_equal(swp_client_hash(d.client, again, 0, NULL), SWP_OK);
    assert_true(swp_client_series_info(again).first == 1.0);
    assert_int_equal(swp_client_drop(d.client, again, 0, NULL), SWP_OK);
    swp_series_buffer_free(buffer);
    assert_sweeps_to(&d, &request, &expected);
    close_door(&d);
}

/* Handed over, a close is judged when it is used; else when it is loaded. */
static void check_buffer_refusals(const char *scheme)
{
    swp_error error;
    swp_series_buffer *buffer;
    swp_client_series *series = NULL;
    door d = open_door(scheme, 1, 0);
    assert_int_equal(swp_series_buffer_new(0, &buffer, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 1);
    assert_int_equal(swp_series_buffer_new(UINT64_MAX / 16, &buffer, NULL), SWP_NO_MEMORY);
    assert_int_equal(swp_series_buffer_new(BARS, &buffer, NULL), SWP_OK);
    memcpy(swp_series_buffer_close(buffer), close_of_bars, sizeof close_of_bars);
    swp_series_buffer_close(buffer)[7] = -1.0;
    assert_int_equal(swp_client_load_buffer(d.client, buffer, 8, 0, &series, &error), SWP_BAD_PARAM);
    assert_non_null(strstr(error.message, "allow is 8"));
    swp_status status = swp_client_load_buffer(d.client, buffer, 0, 0, &series, &error);
    assert_int_equal(status, is_handed_over(scheme) ? SWP_OK : SWP_BAD_PARAM);
    status = series != NULL ? swp_client_hash(d.client, series, 0, &error) : status;
    assert_int_equal(status, SWP_BAD_PARAM);
    assert_int_equal(error.at, 7);
    if (series != NULL) {
        assert_int_equal(swp_client_drop(d.client, series, 0, NULL), SWP_OK);
    }
    swp_series_buffer_free(buffer);
    close_door(&d);
}

/* A child has the memory too, and could write there: then it is copied. */
static void check_buffer_of_a_parent(const char *scheme)
{
    int gate[2];
    char byte;
    swp_series_buffer *buffer;
    door d = open_door(scheme, 1, 0);
    assert_int_equal(pipe(gate), 0);
    assert_int_equal(swp_series_buffer_new(BARS, &buffer, NULL), SWP_OK);
    memcpy(swp_series_buffer_close(buffer), close_of_bars, sizeof close_of_bars);
    pid_t child = fork();
    if (child == 0) {
        close(gate[1]);
        _exit(read(gate[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(gate[0]);
    swp_client_series *series = load_buffer(&d, buffer, 0);
    assert_true(swp_client_series_info(series).fingerprint_known); /* it went as any other does */
    close(gate[1]);
    waitpid(child, NULL, 0);
    assert_int_equal(swp_client_drop(d.client, series, 0, NULL), SWP_OK);
    swp_series_buffer_free(buffer);
    close_door(&d);
}

/* The first call may find the connection ended: then it says so, once. */
static swp_status sweep_one(door *d, swp_client_series *series, double *pnl, swp_error *error)
{
    swp_sweep_request request = {.grid = {.combos_count = 1, .rows = rows}, .fee = 0.09};
    swp_sweep_result result = {.pnl = pnl};
    swp_status status = swp_client_sweep(d->client, series, &request, &result, 0, error);
    return status == SWP_CLOSED ? swp_client_sweep(d->client, series, &request, &result, 0, error) : status;
}

static void check_restart(const char *scheme)
{
    double before, after;
    swp_error error;
    swp_client_series *free_one;
    door d = open_door(scheme, 1, 0);
    swp_columns columns = {.bars_count = BARS / 2, .close = close_of_bars};
    assert_int_equal(swp_client_load(d.client, &columns, 0, SWP_KEEP_NOTHING, 0, &free_one, NULL), SWP_OK);
    assert_int_equal(sweep_one(&d, d.series, &before, &error), SWP_OK);
    for (int i = 0; i < 3; i++) {
        service_restart(d.service);
        assert_int_equal(sweep_one(&d, d.series, &after, &error), SWP_OK); /* kept: sent again */
        assert_bits_equal(after, before);
        assert_int_equal(sweep_one(&d, free_one, &after, &error), SWP_NOT_FOUND);
        assert_non_null(strstr(error.message, "SWP_KEEP_BORROWED"));
    }
    assert_int_equal(swp_client_drop(d.client, free_one, 0, NULL), SWP_OK);
    close_door(&d);
}

/* Its fingerprint is not known: it cannot be found again. */
static void check_lost_buffer(const char *scheme)
{
    double pnl;
    swp_error error;
    swp_series_buffer *buffer;
    door d = open_door(scheme, 1, 0);
    assert_int_equal(swp_series_buffer_new(BARS, &buffer, NULL), SWP_OK);
    memcpy(swp_series_buffer_close(buffer), close_of_bars, sizeof close_of_bars);
    swp_client_series *series = load_buffer(&d, buffer, 0);
    service_restart(d.service);
    assert_int_equal(sweep_one(&d, series, &pnl, &error), SWP_NOT_FOUND);
    assert_int_equal(swp_client_drop(d.client, series, 0, NULL), SWP_OK);
    swp_series_buffer_free(buffer);
    close_door(&d);
}

static void check_fork(const char *scheme)
{
    static results expected;
    door d = open_door(scheme, 1, 0);
    swp_sweep_request request = request_of_rows();
    sweep_here(&request, &expected);
    pid_t child = fork();
    if (child == 0) {
        char byte = 1;
        char *text;
        double pnl[ROWS];
        swp_sweep_result result = {.pnl = pnl};
        bool told = swp_client_echo(d.client, &byte, 1, &byte, 0, NULL) == SWP_WRONG_PROCESS &&
                    swp_client_stats(d.client, 0, &text, NULL) == SWP_WRONG_PROCESS &&
                    swp_client_sweep(d.client, d.series, &request, &result, 0, NULL) == SWP_WRONG_PROCESS;
        swp_client_close(d.client);
        _exit(told ? 0 : 1);
    }
    int ended;
    waitpid(child, &ended, 0);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    assert_sweeps_to(&d, &request, &expected);
    close_door(&d);
}

/* ---- live sessions ---- */

static const swp_live_request live_request = {.params = rows, .combos_count = COMBOS, .fee = 0.09, .entry = SWP_ENTRY_CROSS};

/* Of a sweep over the first bars_count bars, in this process. */
static void states_here(uint64_t bars_count, swp_live_state states[COMBOS])
{
    static results r;
    const swp_window window = {0, 0, bars_count};
    swp_sweep_request request = request_of_rows();
    request.entry = SWP_ENTRY_CROSS;
    request.windows = &window;
    request.windows_count = 1;
    sweep_here(&request, &r);
    for (size_t i = 0; i < COMBOS; i++) {
        states[i] = (swp_live_state){(int64_t)bars_count, r.open_side[i], r.open_entry[i], r.pnl[i], r.trades[i]};
    }
}

static swp_client_live *open_live(door *d, uint64_t warm_bars)
{
    swp_client_series *warm_up = NULL;
    swp_client_live *live;
    swp_live_state states[COMBOS], right[COMBOS];
    swp_error error;
    const swp_columns columns = {.bars_count = warm_bars, .close = close_of_bars};
    if (warm_bars > 0) {
        assert_int_equal(swp_client_load(d->client, &columns, 0, SWP_KEEP_NOTHING, 0, &warm_up, NULL), SWP_OK);
    }
    if (swp_client_live_open(d->client, warm_up, &live_request, 0, &live, states, &error) != SWP_OK) {
        fail_msg("%s", error.message);
    }
    if (warm_bars > 0) {
        states_here(warm_bars, right);
        assert_memory_equal(states, right, sizeof states);
        assert_int_equal(swp_client_drop(d->client, warm_up, 0, NULL), SWP_OK);
    }
    assert_int_equal(swp_client_live_bars_count(live), warm_bars);
    return live;
}

static void check_live(const char *scheme)
{
    static const uint64_t steps[] = {1, 2, 3, 5, 7, 13, 100, BARS};
    swp_live_state states[COMBOS], right[COMBOS], peeked[COMBOS];
    static int8_t positions[BARS * COMBOS];
    door d = open_door(scheme, 2, 0);
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
        uint64_t split = s % 3 * 700 + s, end = split + 40 * steps[s] < BARS ? split + 40 * steps[s] : BARS;
        swp_client_live *live = open_live(&d, split);
        for (uint64_t at = split; at < end;) {
            uint64_t count = steps[s] < end - at ? steps[s] : end - at;
            const double *close = close_of_bars + at;
            assert_int_equal(swp_client_live_peek(live, close, count, 0, peeked, NULL, NULL), SWP_OK);
            assert_int_equal(swp_client_live_push(live, at, close, count, 0, states, positions, NULL), SWP_OK);
            assert_memory_equal(states, peeked, sizeof states);
            at += count;
            for (size_t i = 0; i < COMBOS; i++) {
                assert_int_equal(positions[(count - 1) * COMBOS + i], states[i].position);
            }
        }
        states_here(end, right);
        assert_memory_equal(states, right, sizeof states);
        assert_int_equal(swp_client_live_close(live, 0, NULL), SWP_OK);
    }
    close_door(&d);
}

static void check_live_statuses(const char *scheme)
{
    swp_live_state states[COMBOS], again[COMBOS];
    swp_error error;
    door d = open_door(scheme, 1, 0);
    swp_client_live *live = open_live(&d, 500), *none;
    assert_int_equal(swp_client_live_push(live, 500, close_of_bars + 500, 3, 0, states, NULL, NULL), SWP_OK);
    assert_int_equal(swp_client_live_push(live, 500, close_of_bars + 500, 3, 0, again, NULL, NULL), SWP_OK);
    assert_memory_equal(states, again, sizeof states);
    assert_int_equal(swp_client_live_push(live, 500, close_of_bars + 501, 3, 0, again, NULL, &error), SWP_STALE);
    assert_true(error.a == 500 && error.b == 503);
    const double bad[] = {100.0, -1.0};
    assert_int_equal(swp_client_live_push(live, 503, bad, 2, 0, again, NULL, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 1);
    assert_int_equal(swp_client_live_push(live, SWP_LIVE_ANY, NULL, 0, 0, again, NULL, NULL), SWP_OK);
    assert_memory_equal(states, again, sizeof states);
    swp_live_request request = live_request;
    request.fee = 101.0;
    assert_int_equal(swp_client_live_open(d.client, NULL, &request, 0, &none, again, &error), SWP_BAD_PARAM);
    request.fee = 0.0;
    request.params = NULL;
    assert_int_equal(swp_client_live_open(d.client, NULL, &request, 0, &none, again, &error), SWP_BAD_PARAM);
    assert_int_equal(swp_client_live_restore(d.client, bad, sizeof bad, 0, &none, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, sizeof bad);
    assert_int_equal(swp_client_live_close(live, 0, NULL), SWP_OK);
    close_door(&d);
}

static void check_live_snapshot(const char *scheme)
{
    swp_live_state states[COMBOS], right[COMBOS];
    void *bytes;
    size_t size;
    door d = open_door(scheme, 1, 0), other = open_door("inproc:", 1, 0);
    swp_client_live *live = open_live(&d, 500), *restored;
    assert_int_equal(swp_client_live_push(live, 500, close_of_bars + 500, 7, 0, states, NULL, NULL), SWP_OK);
    assert_int_equal(swp_client_live_snapshot(live, 0, &bytes, &size, NULL), SWP_OK);
    swp_client *clients[] = {d.client, other.client};
    states_here(607, right);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(swp_client_live_restore(clients[i], bytes, size, 0, &restored, NULL), SWP_OK);
        assert_int_equal(swp_client_live_combos_count(restored), COMBOS);
        assert_int_equal(swp_client_live_bars_count(restored), 507);
        assert_int_equal(swp_client_live_push(restored, 507, close_of_bars + 507, 100, 0, states, NULL, NULL), SWP_OK);
        assert_memory_equal(states, right, sizeof states);
    } /* what was not closed goes with the client */
    swp_client_snapshot_free(d.client, bytes);
    close_door(&d);
    close_door(&other);
}

static void check_live_restart(const char *scheme)
{
    swp_live_state states[COMBOS], right[COMBOS];
    void *bytes;
    size_t size;
    swp_error error;
    door d = open_door(scheme, 1, 0);
    swp_client_live *live = open_live(&d, 500), *restored;
    assert_int_equal(swp_client_live_snapshot(live, 0, &bytes, &size, NULL), SWP_OK);
    service_restart(d.service);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(swp_client_live_push(live, 500, close_of_bars + 500, 1, 0, states, NULL, &error), SWP_CLOSED);
        assert_non_null(strstr(error.message, "live session is lost"));
        assert_non_null(strstr(error.message, "restore"));
    }
    assert_int_equal(swp_client_live_restore(d.client, bytes, size, 0, &restored, NULL), SWP_OK);
    assert_int_equal(swp_client_live_push(restored, 500, close_of_bars + 500, 1, 0, states, NULL, NULL), SWP_OK);
    states_here(501, right);
    assert_memory_equal(states, right, sizeof states);
    swp_client_snapshot_free(d.client, bytes);
    assert_int_equal(swp_client_live_close(live, 0, NULL), SWP_OK);
    close_door(&d);
}

#define DOOR_TESTS(name, scheme)                                                                                               \
    TEST(name##_numbers_are_those_of_this_process_for_every_thread_count_and_kernel)                                           \
    {                                                                                                                          \
        check_numbers(scheme);                                                                                                 \
    }                                                                                                                          \
    TEST(name##_grids_of_lists_are_not_expanded_on_the_way)                                                                    \
    {                                                                                                                          \
        check_grids(scheme);                                                                                                   \
    }                                                                                                                          \
    TEST(name##_progress_rises_to_the_end)                                                                                     \
    {                                                                                                                          \
        check_progress(scheme);                                                                                                \
    }                                                                                                                          \
    TEST(name##_refuses_with_the_same_statuses_and_places)                                                                     \
    {                                                                                                                          \
        check_statuses(scheme);                                                                                                \
    }                                                                                                                          \
    TEST(name##_series_are_found_named_and_opened)                                                                             \
    {                                                                                                                          \
        check_series(scheme);                                                                                                  \
    }                                                                                                                          \
    TEST(name##_trades_add_up_to_the_sweep)                                                                                    \
    {                                                                                                                          \
        check_trades(scheme);                                                                                                  \
    }                                                                                                                          \
    TEST(name##_echo_of_any_size_comes_back)                                                                                   \
    {                                                                                                                          \
        check_echo(scheme);                                                                                                    \
    }                                                                                                                          \
    TEST(name##_calls_submitted_ahead_each_get_their_own_result)                                                               \
    {                                                                                                                          \
        check_pipelining(scheme);                                                                                              \
    }                                                                                                                          \
    TEST(name##_eight_threads_with_two_hundred_sweeps_each_get_their_own)                                                      \
    {                                                                                                                          \
        check_threads(scheme);                                                                                                 \
    }                                                                                                                          \
    TEST(name##_cancel_keeps_what_is_whole)                                                                                    \
    {                                                                                                                          \
        check_cancel(scheme);                                                                                                  \
    }                                                                                                                          \
    TEST(name##_time_out_gives_up_one_call_and_no_more)                                                                        \
    {                                                                                                                          \
        check_timeout(scheme);                                                                                                 \
    }                                                                                                                          \
    TEST(name##_buffers_are_loaded_as_they_were_and_may_be_written_after)                                                      \
    {                                                                                                                          \
        check_buffer(scheme);                                                                                                  \
    }                                                                                                                          \
    TEST(name##_buffers_are_refused_where_they_must_be)                                                                        \
    {                                                                                                                          \
        check_buffer_refusals(scheme);                                                                                         \
    }                                                                                                                          \
    TEST(name##_forked_child_is_told_so)                                                                                       \
    {                                                                                                                          \
        check_fork(scheme);                                                                                                    \
    }                                                                                                                          \
    TEST(name##_live_equals_batch_at_every_step_size)                                                                          \
    {                                                                                                                          \
        check_live(scheme);                                                                                                    \
    }                                                                                                                          \
    TEST(name##_live_refuses_with_the_same_statuses_and_places)                                                                \
    {                                                                                                                          \
        check_live_statuses(scheme);                                                                                           \
    }                                                                                                                          \
    TEST(name##_live_snapshot_goes_on_here_and_elsewhere)                                                                      \
    {                                                                                                                          \
        check_live_snapshot(scheme);                                                                                           \
    }

#define RESTART_TEST(name, scheme)                                                                                             \
    TEST(name##_restart_under_a_live_client_costs_one_call_and_what_was_not_kept)                                              \
    {                                                                                                                          \
        check_restart(scheme);                                                                                                 \
    }                                                                                                                          \
    TEST(name##_restart_loses_live_sessions_and_says_how_to_restore_them)                                                      \
    {                                                                                                                          \
        check_live_restart(scheme);                                                                                            \
    }

RESTART_TEST(unix, "unix:")
RESTART_TEST(tcp, "tcp:")
RESTART_TEST(shm, "shm:")
RESTART_TEST(spawn, "spawn:")

DOOR_TESTS(unix, "unix:")
DOOR_TESTS(tcp, "tcp:")
DOOR_TESTS(shm, "shm:")
DOOR_TESTS(spawn, "spawn:")
DOOR_TESTS(inproc, "inproc:")

TEST(unix_frames_smaller_than_series_and_results)
{
    check_small_frames("unix:");
}
TEST(shm_frames_smaller_than_series_and_results)
{
    check_small_frames("shm:");
}
TEST(tcp_frames_smaller_than_series_and_results)
{
    check_small_frames("tcp:");
}
TEST(unix_a_buffer_that_a_child_could_write_to_is_copied)
{
    check_buffer_of_a_parent("unix:");
}
TEST(unix_a_buffer_is_lost_with_the_connection)
{
    check_lost_buffer("unix:");
}
TEST(shm_a_buffer_is_lost_with_the_connection)
{
    check_lost_buffer("shm:");
}

/* From 16 MiB on a series goes by memfd: found out, judged and found again as any other. */
TEST(unix_a_large_series_is_judged_and_found_as_a_small_one)
{
    enum { LARGE = 3 << 20 };
    double *close = malloc(LARGE * sizeof *close);
    swp_error error;
    swp_client_series *series, *again;
    door d = open_door("unix:", 1, 0);
    swp__test_walk(close, LARGE, 11);
    swp_columns columns = {.bars_count = LARGE, .close = close};
    assert_int_equal(swp_client_load(d.client, &columns, 0, SWP_KEEP_NOTHING, 0, &series, NULL), SWP_OK);
    swp_series_info info = swp_client_series_info(series);
    assert_true(info.fingerprint_known && info.bars_count == LARGE);
    assert_bits_equal(info.last, close[LARGE - 1]);
    assert_int_equal(swp_client_find(d.client, &columns, 0, SWP_KEEP_NOTHING, 0, &again, NULL), SWP_OK);
    assert_memory_equal(swp_client_series_info(again).fingerprint, info.fingerprint, sizeof info.fingerprint);
    assert_int_equal(swp_client_drop(d.client, series, 0, NULL), SWP_OK);
    assert_int_equal(swp_client_drop(d.client, again, 0, NULL), SWP_OK);
    close[LARGE - 5] = -1.0;
    assert_int_equal(swp_client_load(d.client, &columns, 0, SWP_KEEP_NOTHING, 0, &series, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, LARGE - 5);
    free(close);
    close_door(&d);
}
