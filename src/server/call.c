/* One request from its first byte to the last byte of its answer. */
#include "server/internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "base/host.h"

/* ---- memory ---- */

static swp__call *take_call(swp__server *server)
{
    swp__call *call = server->free_calls;
    if (call == NULL) {
        return swp__alloc(&server->allocator, 1, sizeof *call);
    }
    server->free_calls = call->next;
    server->free_calls_count--;
    return call;
}

static void give_call(swp__server *server, swp__call *call)
{
    if (server->free_calls_count == SWP__CALLS_KEPT) {
        swp__free(&server->allocator, call, 1, sizeof *call);
        return;
    }
    call->next = server->free_calls;
    server->free_calls = call;
    server->free_calls_count++;
}

void swp__calls_fini(swp__server *server)
{
    while (server->free_calls_count > 0) {
        swp__call *call = take_call(server);
        swp__free(&server->allocator, call, 1, sizeof *call);
    }
}

static void init_outgoing(swp__outgoing *outgoing, swp__call *call, swp__outgoing_kind kind)
{
    outgoing->call = call;
    outgoing->kind = kind;
    outgoing->posted = outgoing->queued = false;
    outgoing->block = NULL;
}

swp__call *swp__call_new(swp__connection *c)
{
    swp__call *call = take_call(c->server);
    if (call == NULL) {
        return NULL;
    }
    memset(call, 0, offsetof(swp__call, final));
    init_outgoing(&call->final, call, SWP__FINAL);
    init_outgoing(&call->progress, call, SWP__PROGRESS);
    call->connection = c;
    call->next = c->calls;
    if (call->next != NULL) {
        call->next->previous = call;
    }
    c->calls = call;
    c->calls_count++;
    return call;
}

swp_status swp__call_alloc(swp__call *call, size_t size, const char *what, void **block, swp_error *error)
{
    swp__server *server = call->connection->server;
    if (size <= SWP__SMALL_SIZE && !call->small_taken) {
        call->small_taken = true;
        *block = call->small;
        return SWP_OK;
    }
    size = size > 0 ? size : 1;
    uint64_t limit = server->options.limits.max_buffers;
    if (size > limit || server->buffer_bytes > limit - size) {
        return swp__fail_limit(error, limit, size,
                               "%zu bytes for %s: max-buffers is %" PRIu64 ", of which %" PRIu64 " are in use", size, what,
                               limit, server->buffer_bytes);
    }
    *block = swp__alloc(&server->allocator, size, 1);
    if (*block == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for %s: %zu bytes", what, size);
    }
    server->buffer_bytes += size;
    return SWP_OK;
}

static void free_block(swp__call *call, void *block, size_t size)
{
    swp__server *server = call->connection->server;
    if (block == NULL || block == call->small) {
        return;
    }
    size = size > 0 ? size : 1;
    server->buffer_bytes -= size;
    swp__free(&server->allocator, block, size, 1);
}

void swp__call_count(swp__call *call)
{
    call->counted = true;
    call->connection->in_flight++;
}

/* No longer one of the requests in flight. */
static void discount(swp__call *call)
{
    if (call->counted) {
        call->counted = false;
        call->connection->in_flight--;
    }
}

static void leave_list(swp__call *call)
{
    swp__connection *c = call->connection;
    if (call->previous != NULL) {
        call->previous->next = call->next;
    } else {
        c->calls = call->next;
    }
    if (call->next != NULL) {
        call->next->previous = call->previous;
    }
    c->calls_count--;
}

void swp__call_free(swp__call *call)
{
    swp__server *server = call->connection->server;
    discount(call);
    swp__sweep_free(call->sweep);
    if (call->trades.room > 0) {
        swp__trade_list_free(&call->trades);
    }
    swp_series_free(call->series);
    if (call->held != NULL) {
        swp__store_give(server->options.store, call->held);
    }
    if (call->load != NULL) {
        swp__load_free(call->load);
    }
    swp__server_forget_work(server, call);
    swp__live_forget(call);
    free_block(call, call->tail, call->tail_size);
    free_block(call, call->second, call->second_size);
    free_block(call, call->result, call->result_size);
    swp__free(&server->allocator, call->blocks, call->blocks_count, sizeof *call->blocks);
    leave_list(call);
    give_call(server, call);
}

/* ---- answers ---- */

static void answered(swp__call *call)
{
    call->answered = true;
    discount(call);
    swp__connection_send(call->connection, &call->final);
    for (swp__call *cancel = call->cancels, *next; cancel != NULL; cancel = next) {
        next = cancel->waiting;
        cancel->connection->cancels_count--;
        swp__call_answer(cancel, &(swp__wire_reply){0}, NULL, 0);
    }
    call->cancels = NULL;
}

void swp__call_incident(const swp__call *call, swp_error *error, const char *format, ...)
{
    const swp__connection *c = call->connection;
    uint64_t number = ++c->server->incidents;
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    swp__log_line(c->server->log, SWP__LOG_ERROR, "internal error %" PRIu64 ": connection %" PRIu64 ", request %" PRIu32 ": %s",
                  number, c->number, call->frame.id, text);
    (void)swp__fail(error, SWP_INTERNAL, SWP_AT_NONE, "internal error %" PRIu64 ": the server's log says more", number);
}

void swp__call_fail(swp__call *call, const swp_error *error)
{
    bool is_ours = error->status > SWP_MORE && error->status < SWP_TIMED_OUT; /* others never travel */
    if (!is_ours) {
        swp__call_incident(call, &call->error, "it would be answered %s: %s", swp_status_name(error->status), error->message);
    } else if (error != &call->error) {
        call->error = *error;
    }
    call->connection->server->counters.requests_failed++;
    swp__wire_encode_error(call->frame.opcode, call->frame.id, &call->error, &call->final.out);
    if (swp__wire_finish(&call->final.out, UINT64_MAX, NULL) != SWP_OK) {
        swp__connection_drop(call->connection, "an error that cannot be framed");
        return;
    }
    answered(call);
}

/* A reply of another length would end its client's connection, and be taken for other numbers by a careless one. */
static swp_status check_answer(const swp__call *call, const swp__wire_reply *reply, swp_error *error)
{
    swp_error why;
    uint64_t combos = swp__live_combos(call);
    swp_status status = swp__wire_check_reply(reply, &call->request, combos, &why);
    if (status != SWP_OK) {
        swp__call_incident(call, error, "its answer is not as long as it must be: %s", why.message);
    }
    return status;
}

void swp__call_answer(swp__call *call, swp__wire_reply *reply, const void *tail, size_t tail_size)
{
    swp_error error;
    reply->opcode = call->frame.opcode;
    reply->status = SWP_OK;
    reply->id = call->frame.id;
    reply->tail_size = tail_size;
    swp_status status = check_answer(call, reply, &error);
    if (status == SWP_OK) {
        swp__wire_encode_reply(reply, &call->final.out);
        swp__wire_append(&call->final.out, tail, tail_size);
        status = swp__wire_finish(&call->final.out, call->connection->server->options.limits.max_frame, &error);
    }
    if (status != SWP_OK) {
        swp__call_fail(call, &error);
        return;
    }
    answered(call);
}

void swp__call_answer_v1(swp__call *call, const void *first, size_t first_size, const void *second, size_t second_size)
{
    swp__wire_encode_v1_reply(&call->final.out);
    swp__wire_append(&call->final.out, first, first_size);
    swp__wire_append(&call->final.out, second, second_size);
    if (swp__wire_finish(&call->final.out, UINT64_MAX, NULL) != SWP_OK) {
        swp__connection_drop(call->connection, "a reply that cannot be framed");
        return;
    }
    answered(call);
}

/* ---- sweeps ---- */

/* From a thread of the engine. Each is in the list once at most. */
static void post(swp__outgoing *outgoing)
{
    swp__server *server = outgoing->call->connection->server;
    pthread_mutex_lock(&server->posted_lock);
    outgoing->next = NULL;
    if (server->posted_first == NULL) {
        server->posted_first = outgoing;
    } else {
        server->posted_last->next = outgoing;
    }
    server->posted_last = outgoing;
    __atomic_store_n(&server->posted_some, 1, __ATOMIC_SEQ_CST); /* before `sleeping` is read: see wait_for_events */
    bool sleeping = __atomic_load_n(&server->sleeping, __ATOMIC_SEQ_CST) != 0;
    swp__poller *poller = server->poller;
    pthread_mutex_unlock(&server->posted_lock);
    if (sleeping) {
        swp__poller_wake(poller);
    }
}

static void sweep_done(void *context, swp_status status)
{
    swp__call *call = context;
    call->status = status;
    post(&call->final);
}

static void sweep_block(void *context, swp__block *block)
{
    swp__call *call = context;
    for (uint32_t i = 0; i < call->blocks_count; i++) {
        swp__outgoing *o = &call->blocks[i];
        if (!__atomic_exchange_n(&o->posted, true, __ATOMIC_ACQUIRE)) {
            o->block = block;
            post(o);
            return;
        }
    }
    __builtin_trap(); /* the engine has no more blocks out than it has places */
}

static void sweep_trade(void *context, const swp__trade *trade)
{
    swp__call *call = context;
    swp__trade_list_add(&call->trades, trade);
}

static void sweep_progress(void *context, uint64_t combos_done, uint64_t combos_count)
{
    (void)combos_done;
    (void)combos_count;
    swp__call *call = context;
    if (!__atomic_exchange_n(&call->progress.posted, true, __ATOMIC_ACQUIRE)) {
        post(&call->progress);
    }
}

/* Is this the only connection that asks for sweeps, and the engine at rest? Then a unit on our own thread delays nobody
 * and saves waking another one. Not beside live sessions, whose bars come when they come. */
static bool may_run_inline(swp__call *call)
{
    swp__server *server = call->connection->server;
    if (server->last_caller != call->connection) {
        server->other_caller_ns = server->last_caller != NULL ? server->now_ns : 0;
        server->last_caller = call->connection;
    }
    bool alone = server->other_caller_ns == 0 || server->now_ns - server->other_caller_ns > 10000000;
    bool has_live = __atomic_load_n(&server->engine->counters.live_sessions, __ATOMIC_RELAXED) > 0;
    return server->options.may_run_inline && alone && !has_live && server->running == 0 && server->turn_first == NULL;
}

static bool make_blocks(swp__call *call)
{
    swp__server *server = call->connection->server;
    uint32_t count = (uint32_t)server->engine->limits.max_blocks;
    call->blocks = swp__alloc(&server->allocator, count, sizeof *call->blocks);
    if (call->blocks == NULL) {
        return false;
    }
    call->blocks_count = count;
    for (uint32_t i = 0; i < count; i++) {
        init_outgoing(&call->blocks[i], call, SWP__BLOCK);
    }
    return true;
}

swp_status swp__call_sweep(swp__call *call, const swp_series *series, swp_sweep_request *request,
                           const swp_sweep_result *result, uint64_t block_columns, bool progress, swp_error *error)
{
    swp__server *server = call->connection->server;
    swp__listener listener = {.done = sweep_done, .context = call, .caller_helps = may_run_inline(call)};
    if (call->frame.opcode == SWP__OP_TRADES) {
        call->trades.allocator = &server->allocator;
        listener.trade = sweep_trade;
    } else if (call->frame.opcode == SWP__OP_LIVE_OPEN) {
        listener.states = swp__live_warm_states(call->live);
    } else if (result == NULL) {
        if (!make_blocks(call)) {
            return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for the sweep's blocks");
        }
        listener.block = sweep_block;
        listener.columns = block_columns;
    }
    if (request->kernel == SWP_KERNEL_AUTO) {
        request->kernel = (swp_kernel)server->options.kernel;
    }
    if (progress) {
        request->progress = sweep_progress;
        request->progress_context = call;
    }
    swp_status status = swp__sweep_start(server->engine, series, request, result, &listener, &call->sweep, error);
    if (status == SWP_OK) {
        call->running = true;
        server->running++;
    }
    return status;
}

static void send_more(swp__outgoing *o, uint64_t kind, uint64_t first, uint64_t count, const void *tail, size_t tail_size)
{
    swp__call *call = o->call;
    swp__wire_reply reply = {.opcode = call->frame.opcode,
                             .status = SWP_MORE,
                             .id = call->frame.id,
                             .more = {.kind = kind, .first = first, .count = count}};
    swp__wire_encode_reply(&reply, &o->out);
    swp__wire_append(&o->out, tail, tail_size);
    if (swp__wire_finish(&o->out, UINT64_MAX, NULL) == SWP_OK) {
        swp__connection_send(call->connection, o);
    }
}

static void progress_posted(swp__outgoing *o)
{
    swp__call *call = o->call;
    uint64_t count = 0, done = call->sweep != NULL ? swp__sweep_progress(call->sweep, &count) : 0;
    if (!swp__stream_is_open(&call->connection->stream) || o->queued || count == 0) {
        __atomic_store_n(&o->posted, false, __ATOMIC_RELEASE);
        return;
    }
    send_more(o, SWP__MORE_PROGRESS, done, count, NULL, 0);
}

static void block_posted(swp__outgoing *o)
{
    if (!swp__stream_is_open(&o->call->connection->stream)) {
        swp__outgoing_sent(o);
        return;
    }
    send_more(o, SWP__MORE_BLOCK, o->block->first_combo, o->block->combos_count, o->block->columns, o->block->size_bytes);
}

static void done_posted(swp__call *call)
{
    call->running = false;
    call->connection->server->running--;
    if (!swp__stream_is_open(&call->connection->stream)) {
        swp__call_free(call);
    } else if (call->connection->version == 1) {
        swp__v1_done(call);
    } else {
        swp__v2_done(call);
    }
}

void swp__call_posted(swp__outgoing *o)
{
    switch (o->kind) {
    case SWP__FINAL:
        done_posted(o->call);
        break;
    case SWP__PROGRESS:
        progress_posted(o);
        break;
    case SWP__BLOCK:
        block_posted(o);
        break;
    }
}

void swp__outgoing_sent(swp__outgoing *o)
{
    swp__block *block = o->block;
    o->queued = false;
    switch (o->kind) {
    case SWP__FINAL:
        swp__call_free(o->call);
        break;
    case SWP__PROGRESS:
        __atomic_store_n(&o->posted, false, __ATOMIC_RELEASE);
        break;
    case SWP__BLOCK:
        __atomic_store_n(&o->posted, false, __ATOMIC_RELEASE); /* a free place before there can be a new block */
        swp__block_release(block);
        break;
    }
}
