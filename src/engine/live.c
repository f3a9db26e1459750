/* Live sessions: one block of memory each, and pushes that change all of it or nothing. */
#include "engine/live.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/fpenv.h"
#include "base/host.h"
#include "engine/rows.h"
#include "engine/series.h"
#include "engine/sweep.h"

/* ---- sizes ---- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int compare_lengths(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void lengths_of(const int64_t *row, int64_t lengths[SWP__LIVE_AVERAGES])
{
    const int64_t of_closes[SWP__LIVE_AVERAGES] = {row[0], row[1], row[3], row[4], row[5]};
    memcpy(lengths, of_closes, sizeof of_closes);
}

/* The distinct lengths of averages of closes, rising. */
static size_t distinct_windows(const int64_t *rows, uint64_t combos_count, int64_t *windows)
{
    size_t all = 0, kept = 0;
    for (uint64_t i = 0; i < combos_count; i++) {
        lengths_of(rows + i * SWP_PARAMS_COUNT, windows + all);
        all += SWP__LIVE_AVERAGES;
    }
    qsort(windows, all, sizeof *windows, compare_lengths);
    for (size_t i = 0; i < all; i++) {
        if (kept == 0 || windows[i] != windows[kept - 1]) {
            windows[kept++] = windows[i];
        }
    }
    return kept;
}

static size_t round_up_64(size_t size)
{
    return (size + 63) / 64 * 64;
}

/* Values of all histories, twice each; UINT64_MAX when that is beyond 60 bits. */
static uint64_t history_values(const int64_t *rows, uint64_t combos_count, int64_t longest)
{
    uint64_t values = 2 * (uint64_t)longest;
    for (uint64_t i = 0; i < combos_count; i++) {
        values += 2 * (uint64_t)(rows[i * SWP_PARAMS_COUNT + 2] + rows[i * SWP_PARAMS_COUNT + 5]);
        if (values >> 57 != 0) {
            return UINT64_MAX;
        }
    }
    return values;
}

static size_t fixed_size(uint64_t combos_count, size_t windows_count)
{
    return round_up_64(sizeof(swp_live)) + round_up_64(windows_count * sizeof(int64_t)) +
           round_up_64(windows_count * sizeof(double)) + round_up_64(combos_count * sizeof(swp__live_combo)) +
           2 * round_up_64(combos_count * sizeof(swp__trade_state));
}

/* ---- memory ---- */

static swp_status reserve(swp_engine *engine, size_t bytes, swp_error *error)
{
    swp_status status = SWP_OK;
    pthread_mutex_lock(&engine->lock);
    uint64_t limit = engine->limits.max_live_memory, used = engine->counters.live_bytes;
    if (used > limit || bytes > limit - used) {
        status = swp__fail_limit(error, limit, used + bytes,
                                 "live session: needs %zu bytes, live sessions use %" PRIu64 " of max-live-memory %" PRIu64,
                                 bytes, used, limit);
    } else {
        engine->counters.live_bytes += bytes;
        engine->counters.live_sessions++;
    }
    pthread_mutex_unlock(&engine->lock);
    return status;
}

static void unreserve(swp_engine *engine, size_t bytes)
{
    pthread_mutex_lock(&engine->lock);
    engine->counters.live_bytes -= bytes;
    engine->counters.live_sessions--;
    if (engine->counters.live_sessions == 0) {
        pthread_cond_broadcast(&engine->work_ready); /* workers that have stepped back end */
    }
    pthread_mutex_unlock(&engine->lock);
}

static swp_status new_block(swp_engine *engine, size_t bytes, void **block, swp_error *error)
{
    swp_status status = reserve(engine, bytes, error);
    if (status != SWP_OK) {
        return status;
    }
    *block = swp__alloc(&engine->allocator, bytes, 1);
    if (*block == NULL) {
        unreserve(engine, bytes);
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "live session: no memory for %zu bytes", bytes);
    }
    return SWP_OK;
}

void swp_live_free(swp_live *live)
{
    if (live == NULL) {
        return;
    }
    swp_engine *engine = live->engine;
    size_t bytes = live->block_size;
    swp__free(&engine->allocator, live, bytes, 1);
    unreserve(engine, bytes);
}

static void *take(char **at, size_t size)
{
    void *here = *at;
    *at += round_up_64(size);
    return here;
}

static void lay_out_history(swp__history *history, int64_t length, double **values)
{
    *history = (swp__history){.values = *values, .length = length};
    *values += 2 * length;
    swp__history_clear(history);
}

static uint32_t index_of(const int64_t *windows, size_t windows_count, int64_t length)
{
    const int64_t *found = bsearch(&length, windows, windows_count, sizeof *windows, compare_lengths);
    return (uint32_t)(found - windows);
}

static void lay_out_combo(swp_live *live, uint64_t i, const int64_t *row, double **values)
{
    swp__live_bars *bars = &live->bars;
    swp__live_combo *c = &bars->combos[i];
    c->params = (swp_params){row[0], row[1], row[2], row[3], row[4], row[5]};
    int64_t lengths[SWP__LIVE_AVERAGES];
    lengths_of(row, lengths);
    for (size_t k = 0; k < SWP__LIVE_AVERAGES; k++) {
        c->average[k] = index_of(bars->windows, bars->windows_count, lengths[k]);
    }
    lay_out_history(&c->hma_input, c->params.smooth, values);
    lay_out_history(&c->hma3_input, c->params.p, values);
    swp__trade_state_init(&bars->states[i]);
}

static swp_live *lay_out(char *at, size_t size, swp_engine *engine, const int64_t *rows, uint64_t combos_count,
                         const int64_t *windows, size_t windows_count)
{
    swp_live *live = take(&at, sizeof *live);
    *live = (swp_live){.engine = engine, .warm_next = -1, .block_size = size};
    swp__live_bars *bars = &live->bars;
    bars->combos_count = combos_count;
    bars->windows_count = windows_count;
    int64_t *kept = take(&at, windows_count * sizeof *windows);
    memcpy(kept, windows, windows_count * sizeof *windows);
    bars->windows = kept;
    bars->averages = take(&at, windows_count * sizeof(double));
    bars->combos = take(&at, combos_count * sizeof *bars->combos);
    bars->states = take(&at, combos_count * sizeof *bars->states);
    live->kept = take(&at, combos_count * sizeof *live->kept);
    double *values = (double *)(void *)at;
    lay_out_history(&bars->closes, windows[windows_count - 1], &values);
    for (uint64_t i = 0; i < combos_count; i++) {
        lay_out_combo(live, i, rows + i * SWP_PARAMS_COUNT, &values);
    }
    return live;
}

swp_status swp__live_make(swp_engine *engine, const int64_t *rows, uint64_t combos_count, const swp__exec *exec, uint32_t allow,
                          swp_live **live, swp_error *error)
{
    size_t windows_room = combos_count * SWP__LIVE_AVERAGES;
    int64_t *windows = swp__alloc(&engine->allocator, windows_room, sizeof *windows);
    if (windows == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "live session: no memory for %" PRIu64 " combos", combos_count);
    }
    size_t windows_count = distinct_windows(rows, combos_count, windows);
    uint64_t values = history_values(rows, combos_count, windows[windows_count - 1]);
    void *block = NULL;
    swp_status status;
    if (values == UINT64_MAX) {
        status = swp__fail_limit(error, engine->limits.max_live_memory, UINT64_MAX, "live session: windows beyond 2^57 values");
    } else {
        size_t size = fixed_size(combos_count, windows_count) + values * sizeof(double);
        status = new_block(engine, size, &block, error);
        if (status == SWP_OK) {
            *live = lay_out(block, size, engine, rows, combos_count, windows, windows_count);
            (*live)->bars.exec = *exec;
            (*live)->allow = allow;
        }
    }
    swp__free(&engine->allocator, windows, windows_room, sizeof *windows);
    return status;
}

/* ---- opening ---- */

swp_sweep_request swp__live_as_sweep(const swp_live_request *request)
{
    return (swp_sweep_request){
        .grid = {.form = SWP_GRID_ROWS, .combos_count = request->combos_count, .rows = request->params},
        .fee = request->fee,
        .entry = request->entry,
        .kernel = request->kernel,
    };
}

swp_status swp__live_check(const swp_live_request *request, swp_error *error)
{
    const swp_sweep_request as_sweep = swp__live_as_sweep(request);
    swp_status status = swp__sweep_check(&as_sweep, 1, error);
    if (status == SWP_OK && (request->allow & ~(uint32_t)SWP_ALLOW_ALL) != 0) {
        status = swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE,
                           "live session: allow is %" PRIu32 ", expected a sum of 1, 2 and 4", request->allow);
    }
    if (status == SWP_OK && request->combos_count > SWP_PARAM_MAX) {
        status = swp__fail_limit(error, SWP_PARAM_MAX, request->combos_count,
                                 "live session: %" PRIu64 " combos, at most 2^31-1", request->combos_count);
    }
    return status;
}

swp_status swp__live_open(swp_engine *engine, const swp_live_request *request, const swp_series *warm_up, swp_live **live,
                          swp_error *error)
{
    swp_status status = swp__live_check(request, error);
    status = status == SWP_OK ? swp__engine_check_process(engine, error) : status;
    if (status == SWP_OK && warm_up != NULL && (warm_up->seen.needs & ~request->allow) != 0) { /* which bar it is */
        swp__closes_seen seen = {0};
        status = swp__closes_judge(warm_up->close, warm_up->bars_count, 0, request->allow, &seen, error);
    }
    if (status == SWP_OK) {
        const swp__exec exec = {.fee = request->fee, .entry = request->entry};
        status = swp__live_make(engine, request->params, request->combos_count, &exec, request->allow, live, error);
    }
    if (status == SWP_OK) {
        pthread_mutex_lock(&engine->lock);
        engine->counters.live_opened++;
        pthread_mutex_unlock(&engine->lock);
    }
    return status;
}

swp__trade_state *swp__live_warm_states(swp_live *live)
{
    return live->bars.states;
}

/* Bars whose second-level inputs are still needed. */
static int64_t longest_second(const swp__live_bars *bars)
{
    int64_t longest = 1;
    for (size_t i = 0; i < bars->combos_count; i++) {
        longest = larger(longest, larger(bars->combos[i].params.smooth, bars->combos[i].params.p));
    }
    return longest;
}

bool swp__live_warm(swp_live *live, const double *close, uint64_t bars_count, double budget_ns)
{
    swp__live_bars *bars = &live->bars;
    int64_t end = (int64_t)bars_count, feed_from = larger(0, end - longest_second(bars));
    if (live->warm_next < 0) {
        live->warm_next = feed_from;
        for (int64_t bar = larger(0, feed_from - bars->closes.length); bar < feed_from; bar++) {
            swp__history_push(&bars->closes, close[bar]);
        }
    }
    uint64_t saved = swp__fpenv_enter();
    double step_ns = swp__live_step_ns(bars);
    for (double spent = 0.0; live->warm_next < end && spent < budget_ns; spent += step_ns) {
        swp__live_feed(bars, close[live->warm_next++]);
    }
    swp__fpenv_leave(saved);
    bars->bars_count = live->warm_next;
    return live->warm_next == end;
}

/* All of the warm-up at once, on the calling thread and the pool. */
static swp_status warm(swp_live *live, const swp_series *series, const swp_live_request *request, swp_error *error)
{
    const swp_sweep_request sweep = swp__live_as_sweep(request);
    swp_status status = swp__sweep_states(live->engine, series, &sweep, live->bars.states, error);
    if (status == SWP_OK) {
        (void)swp__live_warm(live, series->close, series->bars_count, INFINITY);
    }
    return status;
}

swp_status swp_live_new(swp_engine *engine, const swp_live_request *request, const swp_series *warm_up, swp_live **live,
                        swp_error *error)
{
    if (engine == NULL || request == NULL || live == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, engine == NULL ? 1 : request == NULL ? 2 : 4, "live session: NULL pointer");
    }
    swp_live *made;
    swp_status status = swp__live_open(engine, request, warm_up, &made, error);
    if (status == SWP_OK && warm_up != NULL) {
        status = warm(made, warm_up, request, error);
        if (status != SWP_OK) {
            swp_live_free(made);
        }
    }
    if (status == SWP_OK) {
        *live = made;
    }
    return status;
}

/* ---- states ---- */

static void write_states(const swp__live_bars *bars, int64_t bars_seen, swp_live_state *states)
{
    for (size_t i = 0; i < bars->combos_count; i++) {
        const swp__trade_state *s = &bars->states[i];
        states[i] = (swp_live_state){bars_seen, s->position, swp__canonical(s->entry), swp__canonical(s->pnl), s->trades};
    }
}

static void write_positions(const swp__live_bars *bars, int8_t *positions)
{
    for (size_t i = 0; i < bars->combos_count; i++) {
        positions[i] = (int8_t)bars->states[i].position;
    }
}

void swp_live_states(const swp_live *live, swp_live_state *states)
{
    write_states(&live->bars, live->bars.bars_count, states);
}

uint64_t swp_live_combos_count(const swp_live *live)
{
    return live->bars.combos_count;
}

uint64_t swp_live_bars_count(const swp_live *live)
{
    return (uint64_t)live->bars.bars_count;
}

/* ---- pushing ---- */

static bool is_repeat(const swp_live *live, const swp__push *push)
{
    uint64_t count = swp_live_bars_count(live);
    return live->has_push && push->bars_count > 0 && push->expected_bars == live->push_expected &&
           push->bars_count == count - live->push_expected && swp__fingerprint_equal(push->fingerprint, live->push_fingerprint);
}

static swp_status fail_stale(const swp_live *live, const swp__push *push, const char *why, swp_error *error)
{
    uint64_t count = swp_live_bars_count(live);
    swp_status status =
        swp__fail(error, SWP_STALE, SWP_AT_NONE, "live session has had %" PRIu64 " bars, the push expects %" PRIu64 "%s", count,
                  push->expected_bars, why);
    if (error != NULL) {
        error->a = push->expected_bars;
        error->b = count;
    }
    return status;
}

/* Does it continue the session, or is it the last push once more? */
static swp_status check_place(const swp_live *live, swp__push *push, swp_error *error)
{
    push->repeats = false;
    if (push->expected_bars == SWP_LIVE_ANY || push->expected_bars == swp_live_bars_count(live)) {
        return SWP_OK;
    }
    if (push->peeks || !is_repeat(live, push)) {
        return fail_stale(live, push, "", error);
    }
    if (push->positions != NULL && push->bars_count > 1) {
        return fail_stale(live, push, ": it was applied, but positions of several bars are not kept", error);
    }
    push->repeats = true;
    return SWP_OK;
}

static void rebase(void *pointer, ptrdiff_t by)
{
    char *at;
    memcpy(&at, pointer, sizeof at);
    at += by;
    memcpy(pointer, &at, sizeof at);
}

static swp_status copy_session(const swp_live *live, swp_live **copied, swp_error *error)
{
    void *block;
    swp_status status = new_block(live->engine, live->block_size, &block, error);
    if (status != SWP_OK) {
        return status;
    }
    memcpy(block, live, live->block_size);
    swp_live *copy = block;
    ptrdiff_t by = (char *)block - (const char *)live;
    rebase(&copy->bars.closes.values, by);
    rebase(&copy->bars.windows, by);
    rebase(&copy->bars.averages, by);
    rebase(&copy->bars.combos, by);
    rebase(&copy->bars.states, by);
    rebase(&copy->kept, by);
    for (size_t i = 0; i < copy->bars.combos_count; i++) {
        rebase(&copy->bars.combos[i].hma_input.values, by);
        rebase(&copy->bars.combos[i].hma3_input.values, by);
    }
    *copied = copy;
    return SWP_OK;
}

swp_status swp__push_begin(swp_live *live, swp__push *push, swp_error *error)
{
    swp__closes_seen seen = {0};
    push->done = 0;
    push->copy = NULL;
    swp_status status = check_place(live, push, error);
    if (status == SWP_OK && !push->repeats) {
        status = swp__closes_judge(push->close, push->bars_count, 0, live->allow, &seen, error);
    }
    if (status == SWP_OK && push->peeks && push->bars_count > 1) {
        status = copy_session(live, &push->copy, error);
    }
    return status;
}

static void step_all(swp__live_bars *bars, swp__push *push, double budget_ns)
{
    double step_ns = swp__live_step_ns(bars);
    for (double spent = 0.0; push->done < push->bars_count && spent < budget_ns; spent += step_ns) {
        swp__live_step(bars, push->close[push->done]);
        if (push->positions != NULL) {
            write_positions(bars, push->positions + push->done * bars->combos_count);
        }
        push->done++;
    }
}

bool swp__push_work(swp_live *live, swp__push *push, double budget_ns)
{
    if (push->repeats) {
        push->done = push->bars_count;
    }
    if (push->done == push->bars_count) {
        return true;
    }
    uint64_t saved = swp__fpenv_enter();
    if (push->peeks && push->copy == NULL) {
        memcpy(live->kept, live->bars.states, live->bars.combos_count * sizeof *live->kept);
        swp__live_look(&live->bars, push->close[0]);
        push->done = 1;
    } else {
        step_all(push->copy != NULL ? &push->copy->bars : &live->bars, push, budget_ns);
    }
    swp__fpenv_leave(saved);
    return push->done == push->bars_count;
}

static void remember(swp_live *live, const swp__push *push)
{
    live->has_push = true;
    live->push_expected = swp_live_bars_count(live) - push->bars_count;
    live->push_fingerprint = push->fingerprint;
    __atomic_fetch_add(&live->engine->counters.live_bars, push->bars_count, __ATOMIC_RELAXED);
}

/* The states of a bar that was only looked at, and the ones before it again. */
static void end_look(swp_live *live, const swp__push *push, swp_live_state *states)
{
    swp__live_bars *bars = &live->bars;
    write_states(bars, bars->bars_count + 1, states);
    if (push->positions != NULL) {
        write_positions(bars, push->positions);
    }
    memcpy(bars->states, live->kept, bars->combos_count * sizeof *bars->states);
}

void swp__push_end(swp_live *live, swp__push *push, swp_live_state *states)
{
    assert(push->done == push->bars_count);
    if (push->copy != NULL) {
        swp_live_states(push->copy, states);
        swp_live_free(push->copy);
        push->copy = NULL;
    } else if (push->peeks && push->bars_count > 0) {
        end_look(live, push, states);
    } else {
        swp_live_states(live, states);
        if (push->repeats && push->positions != NULL) {
            write_positions(&live->bars, push->positions);
        } else if (!push->repeats && push->bars_count > 0) {
            remember(live, push);
        }
    }
}

static swp_status run_push(swp_live *live, swp__push *push, swp_live_state *states, swp_error *error)
{
    bool lacks_close = push->close == NULL && push->bars_count > 0;
    if (live == NULL || states == NULL || lacks_close) {
        uint64_t close_at = push->peeks ? 2 : 3, at = live == NULL ? 1 : lacks_close ? close_at : close_at + 2;
        return swp__fail(error, SWP_BAD_PARAM, at, "live session: NULL pointer");
    }
    swp_status status = swp__push_begin(live, push, error);
    if (status == SWP_OK) {
        (void)swp__push_work(live, push, INFINITY);
        swp__push_end(live, push, states);
    }
    return status;
}

swp_status swp_live_push(swp_live *live, uint64_t expected_bars, const double *close, uint64_t bars_count,
                         swp_live_state *states, int8_t *positions, swp_error *error)
{
    swp__push push = {
        .expected_bars = expected_bars,
        .close = close,
        .bars_count = bars_count,
        .positions = positions,
    };
    if (close != NULL) {
        push.fingerprint = swp__fingerprint_of(close, bars_count * sizeof *close);
    }
    return run_push(live, &push, states, error);
}

swp_status swp_live_peek(swp_live *live, const double *close, uint64_t bars_count, swp_live_state *states, int8_t *positions,
                         swp_error *error)
{
    swp__push push = {
        .expected_bars = SWP_LIVE_ANY,
        .close = close,
        .bars_count = bars_count,
        .peeks = true,
        .positions = positions,
    };
    return run_push(live, &push, states, error);
}
