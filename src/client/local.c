/* inproc: the ask goes to an engine and a store in this process. The same checks were made before, and the same modules answer
 * as behind a server, so statuses, places and numbers are the same. Waiting threads lend a hand. */
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include "base/error.h"
#include "base/fork.h"
#include "base/host.h"
#include "client/internal.h"
#include "engine/stats.h"
#include "engine/store.h"
#include "engine/strategies.h"
#include "swp/version.h"

#define LOOK_NS UINT64_C(10000000)      /* while there is a flag that wakes nobody, or progress to tell */
#define UNUSED_MAX (UINT64_C(64) << 20) /* bytes kept of series that were dropped, for who finds or loads them again */
#define PROGRESS_NS UINT64_C(100000000) /* between two reports */

struct swp__local {
    swp_engine *engine;
    swp__store *store;
    swp__scope *scope;
    pthread_mutex_t scope_lock; /* a scope is one thread's at a time */
};

/* ---- opening ---- */

static const swp__identity ours = {.low = 1};

static void take_server_info(swp_client *c)
{
    swp__limits limits = swp__limits_most();
    swp__fingerprint numbers = swp__numbers_id();
    c->server = (swp_server_info){.max_body = UINT64_MAX,
                                  .max_memory = limits.max_memory,
                                  .max_combos = limits.max_combos,
                                  .threads = swp_engine_threads(c->local->engine),
                                  .max_in_flight = UINT32_MAX};
    memcpy(c->server.numbers_id, &numbers, sizeof numbers);
    memcpy(c->server.version, swp_version(), strlen(swp_version()) + 1);
}

swp_status swp__local_open(swp_client *c, swp_error *error)
{
    uint32_t epoch;
    if (getrandom(&epoch, sizeof epoch, GRND_NONBLOCK) != (ssize_t)sizeof epoch) {
        epoch = (uint32_t)swp__now_ns(&c->clock);
    }
    swp__local *local = swp__alloc(&c->allocator, 1, sizeof *local);
    if (local == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "client: no memory");
    }
    *local = (swp__local){.engine = NULL};
    pthread_mutex_init(&local->scope_lock, NULL);
    c->local = local;
    swp_engine_options options = {.threads = c->threads, .allocator = &c->allocator, .clock = &c->clock};
    swp_status status = swp_engine_new(&options, &local->engine, error);
    status = status == SWP_OK ? swp__store_new(local->engine, epoch, &local->store, error) : status;
    status = status == SWP_OK ? swp__scope_new(local->store, ours, &local->scope, error) : status;
    if (status == SWP_OK) {
        take_server_info(c);
    }
    return status;
}

/* In a forked child, locks of the store may be held for ever: its memory stays. */
void swp__local_close(swp_client *c)
{
    swp__local *local = c->local;
    if (c->fork_count == swp__fork_count()) {
        swp__scope_free(local->scope);
        swp__store_free(local->store);
        swp_engine_free(local->engine);
        pthread_mutex_destroy(&local->scope_lock);
    }
    swp__free(&c->allocator, local, 1, sizeof *local);
}

/* ---- series ---- */

static void tell_series(swp_pending *p, const swp__series_info *info)
{
    p->reply.series = (swp__wire_series){
        .handle = info->handle,
        .fingerprint = info->fingerprint,
        .known = (info->is_fingerprinted ? SWP__KNOWN_FINGERPRINT : 0) | (info->is_counted ? SWP__KNOWN_N_NAN : 0),
        .n_bars = info->bars_count,
        .n_nan = info->nan_count,
        .first = info->first,
        .last = info->last,
    };
}

static void copy_columns(swp__load *load, uint32_t columns, const struct iovec *spans)
{
    uint64_t bytes = 0;
    for (uint32_t bit = 0; bit < SWP__COLUMNS_COUNT; bit++) {
        if ((columns >> bit & 1) != 0) {
            memcpy(swp__load_column(load, UINT32_C(1) << bit), spans->iov_base, spans->iov_len);
            bytes += spans->iov_len;
            spans++;
        }
    }
    swp__load_ready(load, bytes);
}

static swp_status load(swp__local *local, const swp_pending *p, const swp__ask *ask, swp__series_info *info, swp_error *error)
{
    swp__load *load;
    const swp__wire_shape *asked = &p->request.shape;
    swp__shape shape = {.bars_count = asked->n_bars, .columns = asked->columns, .policy = asked->policy};
    swp_status status = swp__load_new(local->scope, &shape, &load, error);
    if (status == SWP_OK) {
        copy_columns(load, asked->columns, ask->tail);
        status = swp__load_commit(load, info, error);
    }
    return status;
}

static swp_status find(swp__local *local, const swp_pending *p, swp__series_info *info, swp_error *error)
{
    const swp__wire_find *asked = &p->request.find;
    swp__shape shape = {.bars_count = asked->n_bars, .columns = asked->columns, .policy = asked->policy};
    return swp__scope_find(local->scope, asked->fingerprint, &shape, info, error);
}

static swp_status run_series(swp__local *local, swp_pending *p, const swp__ask *ask, swp_error *error)
{
    swp__series_info info;
    swp_status status;
    const char *name = ask->tail[0].iov_base;
    size_t name_size = ask->tail[0].iov_len;
    switch (p->request.opcode) {
    case SWP__OP_LOAD:
        status = load(local, p, ask, &info, error);
        break;
    case SWP__OP_FIND:
        status = find(local, p, &info, error);
        break;
    case SWP__OP_OPEN:
        status = swp__scope_open(local->scope, name, name_size, &info, error);
        break;
    case SWP__OP_HASH:
        status = swp__scope_hash(local->scope, ask->series->handle, &info, error);
        break;
    case SWP__OP_NAME:
        return swp__scope_name(local->scope, ask->series->handle, name, name_size, error);
    default:
        status = swp__scope_drop(local->scope, p->request.handle.handle, error);
        swp__store_trim(local->store, UNUSED_MAX);
        return status;
    }
    if (status == SWP_OK) {
        tell_series(p, &info);
    }
    return status;
}

/* ---- texts ---- */

static size_t write_text(swp__local *local, uint8_t opcode, char *text, size_t size)
{
    switch (opcode) {
    case SWP__OP_LIST:
        return swp__scope_list(local->scope, text, size);
    case SWP__OP_STATS:
        return swp__stats_text(local->engine, local->store, text, size);
    default:
        return swp__strategies_text(text, size);
    }
}

static swp_status run_text(swp_client *c, swp_pending *p, swp_error *error)
{
    size_t size = 0, needed = write_text(c->local, p->request.opcode, NULL, 0);
    while (size < needed) { /* it may grow between two looks */
        size = needed;
        if (!swp__sink_begin(&p->sink, &c->allocator, size, 0, 0)) {
            return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for a text of %zu bytes", size);
        }
        needed = write_text(c->local, p->request.opcode, p->sink.bytes, size);
    }
    p->sink.bytes[needed] = '\0';
    return SWP_OK;
}

/* ---- sweeps ---- */

static void sweep_done(void *context, swp_status status)
{
    swp_pending *p = context;
    swp_client *c = p->client;
    pthread_mutex_lock(&c->lock);
    p->status = status;
    if (status != SWP_OK) {
        (void)swp__fail(&p->error, status, SWP_AT_NONE, "sweep: cancelled");
    }
    p->done = true;
    pthread_cond_signal(&p->woken);
    pthread_mutex_unlock(&c->lock);
}

static void keep_trade(void *context, const swp__trade *trade)
{
    swp_pending *p = context;
    swp__trade_list_add(&p->trades, trade);
}

static swp_status start_sweep(swp_client *c, swp_pending *p, const swp__ask *ask, swp_error *error)
{
    swp__local *local = c->local;
    pthread_mutex_lock(&local->scope_lock);
    swp_status status = swp__store_take(local->scope, ask->series->handle, &p->held, error);
    pthread_mutex_unlock(&local->scope_lock);
    if (status != SWP_OK) {
        return status;
    }
    swp_sweep_request request = *ask->sweep;
    request.progress = NULL; /* told by the waiting thread */
    swp__listener listener = {.done = sweep_done, .context = p, .caller_helps = ask->caller_waits};
    if (p->request.opcode == SWP__OP_TRADES) {
        listener.trade = keep_trade;
        p->trades.allocator = &c->allocator;
    }
    swp__cond_init(&p->woken);
    status = swp__sweep_start(local->engine, p->held, &request, &p->result, &listener, &p->sweep, error);
    if (status != SWP_OK) {
        pthread_cond_destroy(&p->woken);
        swp__store_give(local->store, p->held);
    }
    return status;
}

static void tell_progress(swp_pending *p, uint64_t done)
{
    if (p->progress != NULL && done != p->combos_told) {
        p->combos_told = done;
        p->progress(p->progress_context, done, p->combos_count);
    }
}

/* Lends a hand, or sleeps where there is nothing to do. True: the sweep is done. */
static bool work_a_while(swp_client *c, swp_pending *p, uint64_t until_ns)
{
    bool worked = !__atomic_load_n(&p->done, __ATOMIC_ACQUIRE) && swp__engine_step(c->local->engine);
    pthread_mutex_lock(&c->lock);
    if (!p->done && !worked) {
        swp__cond_wait(c, &p->woken, until_ns);
    }
    bool done = p->done;
    pthread_mutex_unlock(&c->lock);
    return done;
}

/* Whether it is to end early, for which reason. */
static bool must_end(const swp_pending *p, uint64_t now, bool *timed_out)
{
    *timed_out = *timed_out || now >= p->deadline_ns;
    bool flagged = p->cancel != NULL && __atomic_load_n(&p->cancel->requested, __ATOMIC_RELAXED) != 0;
    return *timed_out || flagged || __atomic_load_n(&p->cancel_wanted, __ATOMIC_RELAXED);
}

static void wait_for_sweep(swp_client *c, swp_pending *p)
{
    bool looks = p->cancel != NULL || p->progress != NULL, timed_out = false;
    uint64_t now = swp__now_ns(&c->clock), told_ns = now, rows;
    while (!work_a_while(c, p, looks || timed_out ? now + LOOK_NS : p->deadline_ns)) {
        now = swp__now_ns(&c->clock);
        if (must_end(p, now, &timed_out)) {
            swp__sweep_cancel(p->sweep);
        }
        if (now - told_ns >= PROGRESS_NS) {
            told_ns = now;
            tell_progress(p, swp__sweep_progress(p->sweep, &rows) / p->windows_count);
        }
    }
    if (timed_out && p->status == SWP_CANCELLED) {
        p->status = swp__timed_out(c, &p->error);
    } else if (p->status == SWP_OK) {
        tell_progress(p, p->combos_count);
    }
}

static void tell_trades(swp_client *c, swp_pending *p)
{
    uint64_t size = p->trades.count * SWP__TRADE_BYTES;
    if (p->status == SWP_OK && (p->trades.no_memory || !swp__sink_begin(&p->sink, &c->allocator, size, 0, 0))) {
        p->status = swp__fail(&p->error, SWP_NO_MEMORY, SWP_AT_NONE, "trades: no memory for %zu", p->trades.count);
    }
    if (p->status == SWP_OK) {
        swp__trade_list_write(&p->trades, p->sink.bytes);
        p->reply.trades.n_trades = p->trades.count;
    }
    swp__trade_list_free(&p->trades);
}

/* ---- live sessions ---- */

swp_engine *swp__local_engine(swp_client *c)
{
    return c->local->engine;
}

swp_status swp__local_live_open(swp_client *c, const swp_client_series *warm_up, const swp_live_request *request,
                                swp_live **live, swp_error *error)
{
    swp__local *local = c->local;
    const swp_series *held = NULL;
    swp_status status = SWP_OK;
    if (warm_up != NULL) {
        pthread_mutex_lock(&local->scope_lock);
        status = swp__store_take(local->scope, warm_up->handle, &held, error);
        pthread_mutex_unlock(&local->scope_lock);
    }
    if (status == SWP_OK) {
        status = swp_live_new(local->engine, request, held, live, error);
    }
    if (held != NULL) {
        swp__store_give(local->store, held);
    }
    return status;
}

/* ---- the door ---- */

static bool is_sweep(const swp_pending *p)
{
    return p->request.opcode == SWP__OP_SWEEP || p->request.opcode == SWP__OP_TRADES;
}

static swp_status run(swp_client *c, swp_pending *p, const swp__ask *ask, swp_error *error)
{
    switch (p->request.opcode) {
    case SWP__OP_STATS:
    case SWP__OP_LIST:
    case SWP__OP_STRATEGIES:
        return run_text(c, p, error);
    default:
        return run_series(c->local, p, ask, error);
    }
}

swp_status swp__local_start(swp_client *c, swp_pending *p, const swp__ask *ask, swp_error *error)
{
    p->generation = c->generation;
    if (is_sweep(p)) {
        return start_sweep(c, p, ask, error);
    }
    swp_status status = SWP_OK;
    if (p->request.opcode == SWP__OP_ECHO) {
        memmove(p->sink.bytes, ask->tail[0].iov_base, ask->tail[0].iov_len);
    } else {
        pthread_mutex_lock(&c->local->scope_lock);
        status = run(c, p, ask, error);
        pthread_mutex_unlock(&c->local->scope_lock);
    }
    p->done = status == SWP_OK;
    return status;
}

void swp__local_finish(swp_client *c, swp_pending *p)
{
    if (!is_sweep(p)) {
        return;
    }
    wait_for_sweep(c, p);
    if (p->request.opcode == SWP__OP_TRADES) {
        tell_trades(c, p);
    }
    swp__sweep_free(p->sweep);
    swp__store_give(c->local->store, p->held);
    pthread_cond_destroy(&p->woken);
}
