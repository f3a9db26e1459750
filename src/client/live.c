/* Live sessions: on a connection a number that ends with it, inproc: the engine's own. */
#include <inttypes.h>
#include <string.h>
#include "base/error.h"
#include "base/host.h"
#include "client/internal.h"
#include "engine/live.h"

struct swp_client_live {
    swp_client *client;
    swp_client_live *next, *previous; /* in client->lives */
    uint64_t combos_count, bars_count;
    swp_live *local;     /* inproc: */
    uint32_t session;    /* elsewhere: on the connection */
    uint64_t generation; /* of it */
    bool lost;           /* that connection has ended */
};

_Static_assert(sizeof(swp_live_state) == sizeof(swp__wire_state), "states are read as they come");

/* ---- the client's own list ---- */

static swp_client_live *new_live(swp_client *c, swp_error *error)
{
    swp_client_live *live = swp__alloc(&c->allocator, 1, sizeof *live);
    if (live == NULL) {
        (void)swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "live session: no memory");
        return NULL;
    }
    *live = (swp_client_live){.client = c};
    return live;
}

static void link_live(swp_client *c, swp_client_live *live)
{
    pthread_mutex_lock(&c->lock);
    live->next = c->lives;
    if (live->next != NULL) {
        live->next->previous = live;
    }
    c->lives = live;
    pthread_mutex_unlock(&c->lock);
}

static void unlink_live(swp_client *c, swp_client_live *live)
{
    pthread_mutex_lock(&c->lock);
    *(live->previous != NULL ? &live->previous->next : &c->lives) = live->next;
    if (live->next != NULL) {
        live->next->previous = live->previous;
    }
    pthread_mutex_unlock(&c->lock);
}

void swp__lives_free_all(swp_client *c, bool with_sessions)
{
    for (swp_client_live *live = c->lives, *next; live != NULL; live = next) {
        next = live->next;
        if (with_sessions) {
            swp_live_free(live->local);
        }
        swp__free(&c->allocator, live, 1, sizeof *live);
    }
    c->lives = NULL;
}

/* `status` is that of the call that made it. */
static swp_status finish_made(swp_client *c, swp_client_live *made, swp_status status, swp_client_live **live)
{
    if (status != SWP_OK) {
        swp__free(&c->allocator, made, 1, sizeof *made);
        return status;
    }
    link_live(c, made);
    *live = made;
    return SWP_OK;
}

/* ---- opening ---- */

static swp_pending call_of(swp_client *c, uint8_t opcode, uint32_t timeout_ms)
{
    return (swp_pending){.client = c, .deadline_ns = swp__client_deadline(c, timeout_ms), .request = {.opcode = opcode}};
}

static void take_session(swp_client_live *live, const swp_pending *p, const swp_live_state *first)
{
    live->session = p->reply.session.session;
    live->generation = p->generation;
    live->bars_count = (uint64_t)first->bars_seen;
}

static swp_status open_remote(swp_client_live *live, swp_client_series *warm_up, const swp_live_request *request,
                              uint32_t timeout_ms, swp_live_state *states, swp_error *error)
{
    swp_client *c = live->client;
    swp_pending p = call_of(c, SWP__OP_LIVE_OPEN, timeout_ms);
    p.request.live_open.policy = request->allow;
    p.sink = (swp__sink){.kind = SWP__SINK_BYTES, .bytes = (char *)states, .size = request->combos_count * sizeof *states};
    const swp_sweep_request sweep = swp__live_as_sweep(request);
    swp__ask ask = {
        .series = warm_up, .handle_at = offsetof(swp__wire_live_open, handle), .sweep = &sweep, .caller_waits = true};
    swp_status status = swp__client_call(c, &p, &ask, error);
    if (status == SWP_OK) {
        take_session(live, &p, states);
    }
    return status;
}

static swp_status open_local(swp_client_live *live, const swp_client_series *warm_up, const swp_live_request *request,
                             swp_live_state *states, swp_error *error)
{
    swp_status status = swp__local_live_open(live->client, warm_up, request, &live->local, error);
    if (status == SWP_OK) {
        live->bars_count = swp_live_bars_count(live->local);
        swp_live_states(live->local, states);
    }
    return status;
}

swp_status swp_client_live_open(swp_client *c, swp_client_series *warm_up, const swp_live_request *request, uint32_t timeout_ms,
                                swp_client_live **live, swp_live_state *states, swp_error *error)
{
    if (c == NULL || request == NULL || live == NULL || states == NULL) {
        return swp__fail(error, SWP_BAD_PARAM,
                         c == NULL         ? 1
                         : request == NULL ? 3
                         : live == NULL    ? 5
                                           : 6,
                         "live session: NULL pointer");
    }
    swp_status status = swp__client_check(c, error);
    status = status == SWP_OK ? swp__live_check(request, error) : status;
    if (status != SWP_OK) {
        return status;
    }
    swp_client_live *made = new_live(c, error);
    if (made == NULL) {
        return SWP_NO_MEMORY;
    }
    made->combos_count = request->combos_count;
    status = c->local != NULL ? open_local(made, warm_up, request, states, error)
                              : open_remote(made, warm_up, request, timeout_ms, states, error);
    return finish_made(c, made, status, live);
}

static swp_status restore_remote(swp_client_live *live, const void *bytes, size_t size, uint32_t timeout_ms, swp_error *error)
{
    swp_client *c = live->client;
    swp_pending p = call_of(c, SWP__OP_RESTORE, timeout_ms);
    p.sink = (swp__sink){.kind = SWP__SINK_OWNED};
    swp__ask ask = {.tail = {{(void *)(uintptr_t)bytes, size}}, .tail_count = 1};
    swp_status status = swp__client_call(c, &p, &ask, error);
    if (status == SWP_OK) {
        live->combos_count = p.sink.size / sizeof(swp_live_state);
        take_session(live, &p, (const swp_live_state *)(const void *)p.sink.bytes);
        swp__owned_free(&c->allocator, p.sink.bytes);
    }
    return status;
}

static swp_status restore_local(swp_client_live *live, const void *bytes, size_t size, swp_error *error)
{
    swp_status status = swp_live_restore(swp__local_engine(live->client), bytes, size, &live->local, error);
    if (status == SWP_OK) {
        live->combos_count = swp_live_combos_count(live->local);
        live->bars_count = swp_live_bars_count(live->local);
    }
    return status;
}

swp_status swp_client_live_restore(swp_client *c, const void *bytes, size_t size, uint32_t timeout_ms, swp_client_live **live,
                                   swp_error *error)
{
    if (c == NULL || bytes == NULL || live == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, c == NULL ? 1 : bytes == NULL ? 2 : 5, "live session: NULL pointer");
    }
    swp_status status = swp__client_check(c, error);
    if (status != SWP_OK) {
        return status;
    }
    swp_client_live *made = new_live(c, error);
    if (made == NULL) {
        return SWP_NO_MEMORY;
    }
    status = c->local != NULL ? restore_local(made, bytes, size, error) : restore_remote(made, bytes, size, timeout_ms, error);
    return finish_made(c, made, status, live);
}

uint64_t swp_client_live_combos_count(const swp_client_live *live)
{
    return live->combos_count;
}

uint64_t swp_client_live_bars_count(const swp_client_live *live)
{
    return live->bars_count;
}

/* ---- calls on a session ---- */

static swp_status fail_lost(const swp_client_live *live, swp_error *error)
{
    return swp__fail(error, SWP_CLOSED, SWP_AT_NONE,
                     "%.80s: the live session is lost: it ended with its connection after at least %" PRIu64
                     " bars; restore a snapshot of it, or open it again with a warm-up",
                     live->client->url, live->bars_count);
}

/* A call on the connection that the session lives on; where that is gone, so is the session. */
static swp_status call_session(swp_client_live *live, swp_pending *p, swp__ask *ask, swp_error *error)
{
    if (live->lost) {
        return fail_lost(live, error);
    }
    p->combos_count = live->combos_count;
    ask->generation = live->generation;
    swp_status status = swp__client_call(live->client, p, ask, error);
    if (status == SWP_CLOSED || status == SWP_REFUSED) {
        live->lost = true;
        return fail_lost(live, error);
    }
    return status;
}

typedef struct push_args {
    uint64_t expected_bars;
    const double *close;
    uint64_t bars_count;
    bool peeks;
} push_args;

static swp_status push_remote(swp_client_live *live, const push_args *args, uint32_t timeout_ms, swp_live_state *states,
                              int8_t *positions, swp_error *error)
{
    swp_client *c = live->client;
    size_t states_size = live->combos_count * sizeof *states;
    swp_pending p = call_of(c, SWP__OP_LIVE_PUSH, timeout_ms);
    p.request.flags =
        (uint8_t)((args->peeks ? SWP__FLAG_LIVE_PUSH_PEEK : 0) | (positions != NULL ? SWP__FLAG_LIVE_PUSH_POSITIONS : 0));
    p.request.live_push = (swp__wire_live_push){.session = live->session,
                                                .n_bars = (uint32_t)args->bars_count,
                                                .columns = SWP__COLUMN_CLOSE,
                                                .expected_bars = args->expected_bars};
    p.sink = positions != NULL ? (swp__sink){.kind = SWP__SINK_OWNED}
                               : (swp__sink){.kind = SWP__SINK_BYTES, .bytes = (char *)states, .size = states_size};
    swp__ask ask = {.tail = {{(void *)(uintptr_t)args->close, args->bars_count * sizeof(double)}}, .tail_count = 1};
    swp_status status = call_session(live, &p, &ask, error);
    if (status == SWP_OK && positions != NULL) {
        memcpy(states, p.sink.bytes, states_size);
        memcpy(positions, p.sink.bytes + states_size, live->combos_count * args->bars_count);
        swp__owned_free(&c->allocator, p.sink.bytes);
    }
    return status;
}

static swp_status push(swp_client_live *live, const push_args *args, uint32_t timeout_ms, swp_live_state *states,
                       int8_t *positions, swp_error *error)
{
    if (live == NULL || states == NULL || (args->close == NULL && args->bars_count > 0)) {
        return swp__fail(error, SWP_BAD_PARAM,
                         live == NULL     ? 1
                         : states == NULL ? (args->peeks ? 5 : 6)
                         : args->peeks    ? 2
                                          : 3,
                         "live session: NULL pointer");
    }
    swp_status status = swp__client_check(live->client, error);
    if (status == SWP_OK && args->bars_count > UINT32_MAX) {
        status = swp__fail_limit(error, UINT32_MAX, args->bars_count, "live session: %" PRIu64 " bars, at most 2^32-1 a push",
                                 args->bars_count);
    }
    if (status != SWP_OK) {
        return status;
    }
    if (live->local == NULL) {
        status = push_remote(live, args, timeout_ms, states, positions, error);
    } else if (args->peeks) {
        status = swp_live_peek(live->local, args->close, args->bars_count, states, positions, error);
    } else {
        status = swp_live_push(live->local, args->expected_bars, args->close, args->bars_count, states, positions, error);
    }
    if (status == SWP_OK && !args->peeks) {
        live->bars_count = (uint64_t)states[0].bars_seen;
    }
    return status;
}

swp_status swp_client_live_push(swp_client_live *live, uint64_t expected_bars, const double *close, uint64_t bars_count,
                                uint32_t timeout_ms, swp_live_state *states, int8_t *positions, swp_error *error)
{
    const push_args args = {.expected_bars = expected_bars, .close = close, .bars_count = bars_count};
    return push(live, &args, timeout_ms, states, positions, error);
}

swp_status swp_client_live_peek(swp_client_live *live, const double *close, uint64_t bars_count, uint32_t timeout_ms,
                                swp_live_state *states, int8_t *positions, swp_error *error)
{
    const push_args args = {.expected_bars = SWP_LIVE_ANY, .close = close, .bars_count = bars_count, .peeks = true};
    return push(live, &args, timeout_ms, states, positions, error);
}

static swp_status snapshot_local(swp_client_live *live, swp__sink *sink, swp_error *error)
{
    size_t size = swp_live_snapshot(live->local, NULL, 0);
    if (!swp__sink_begin(sink, &live->client->allocator, size, 0, 0)) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for a snapshot of %zu bytes", size);
    }
    (void)swp_live_snapshot(live->local, sink->bytes, size);
    return SWP_OK;
}

swp_status swp_client_live_snapshot(swp_client_live *live, uint32_t timeout_ms, void **bytes, size_t *size, swp_error *error)
{
    if (live == NULL || bytes == NULL || size == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, live == NULL ? 1 : bytes == NULL ? 3 : 4, "live session: NULL pointer");
    }
    swp_status status = swp__client_check(live->client, error);
    if (status != SWP_OK) {
        return status;
    }
    swp_pending p = call_of(live->client, SWP__OP_SNAPSHOT, timeout_ms);
    p.request.session.session = live->session;
    p.sink = (swp__sink){.kind = SWP__SINK_OWNED};
    status = live->local != NULL ? snapshot_local(live, &p.sink, error) : call_session(live, &p, &(swp__ask){0}, error);
    if (status == SWP_OK) {
        *bytes = p.sink.bytes;
        *size = p.sink.size;
    }
    return status;
}

void swp_client_snapshot_free(swp_client *c, void *bytes)
{
    swp__owned_free(&c->allocator, bytes);
}

/* The final states are not asked for again: LIVE_CLOSE's answer goes nowhere. */
static swp_status close_remote(swp_client_live *live, uint32_t timeout_ms, swp_error *error)
{
    swp_pending p = call_of(live->client, SWP__OP_LIVE_CLOSE, timeout_ms);
    p.request.session.session = live->session;
    p.sink = (swp__sink){.kind = SWP__SINK_OWNED};
    swp_status status = call_session(live, &p, &(swp__ask){0}, error);
    if (status == SWP_OK) {
        swp__owned_free(&live->client->allocator, p.sink.bytes);
    }
    return status == SWP_CLOSED ? SWP_OK : status;
}

swp_status swp_client_live_close(swp_client_live *live, uint32_t timeout_ms, swp_error *error)
{
    if (live == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, 1, "live session: NULL pointer");
    }
    swp_client *c = live->client;
    swp_status status = swp__client_check(c, error);
    if (status != SWP_OK) {
        return status; /* a forked child: it goes with the client */
    }
    if (live->local != NULL) {
        swp_live_free(live->local);
    } else if (!live->lost) {
        status = close_remote(live, timeout_ms, error);
    }
    unlink_live(c, live);
    swp__free(&c->allocator, live, 1, sizeof *live);
    return status;
}
