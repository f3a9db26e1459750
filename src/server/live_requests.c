/* LIVE_OPEN, LIVE_PUSH, LIVE_CLOSE, SNAPSHOT, RESTORE: the sessions of a connection.
 *
 * Pushes run on the server's thread, at once where they are short, else a slice at a time between the others' turns: a push
 * never waits for a sweep, and nobody waits for a long push. Requests that name one session stand in its queue, the one in
 * the works first. Only a warm-up is the pool's: it is a sweep. */
#include "server/requests.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "base/error.h"
#include "base/host.h"
#include "engine/series.h"

#define SLICE_NS 50e3 /* of work before the others have their turn */

struct swp__session {
    swp__session *next; /* of the connection */
    uint32_t id;
    swp_live *live;
    swp__call *first; /* requests that name it, in the order they came in */
};

_Static_assert(sizeof(swp__wire_state) == sizeof(swp_live_state) &&
                   offsetof(swp__wire_state, trades) == offsetof(swp_live_state, trades),
               "states go out as they are");

/* ---- the sessions of a connection ---- */

static swp__session *find_session(const swp__connection *c, uint32_t id)
{
    for (swp__session *s = c->sessions; s != NULL; s = s->next) {
        if (s->id == id) {
            return s;
        }
    }
    return NULL;
}

static swp_status check_room(const swp__connection *c, swp_error *error)
{
    uint64_t limit = c->server->options.limits.max_sessions;
    if (c->sessions_count >= limit) {
        return swp__fail_limit(error, limit, (uint64_t)c->sessions_count + 1,
                               "%" PRIu32 " live sessions are open on this connection: max-sessions is %" PRIu64,
                               c->sessions_count, limit);
    }
    return SWP_OK;
}

/* Takes the session over on success. */
static swp_status add_session(swp__connection *c, swp_live *live, uint32_t *id, swp_error *error)
{
    swp_status status = check_room(c, error); /* others may have been opened while this one warmed up */
    if (status != SWP_OK) {
        return status;
    }
    swp__session *session = swp__alloc(&c->server->allocator, 1, sizeof *session);
    if (session == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for a live session");
    }
    do {
        c->sessions_numbered++;
    } while (c->sessions_numbered == 0 || find_session(c, c->sessions_numbered) != NULL);
    *session = (swp__session){.next = c->sessions, .id = c->sessions_numbered, .live = live};
    c->sessions = session;
    c->sessions_count++;
    *id = session->id;
    return SWP_OK;
}

static void remove_session(swp__connection *c, swp__session *session)
{
    swp__session **link = &c->sessions;
    while (*link != session) {
        link = &(*link)->next;
    }
    *link = session->next;
    c->sessions_count--;
    swp_live_free(session->live);
    swp__free(&c->server->allocator, session, 1, sizeof *session);
}

void swp__connection_end_sessions(swp__connection *c)
{
    while (c->sessions != NULL) {
        remove_session(c, c->sessions);
    }
}

static void enqueue(swp__session *session, swp__call *call)
{
    swp__call **link = &session->first;
    while (*link != NULL) {
        link = &(*link)->session_next;
    }
    *link = call;
    call->session = session;
}

void swp__live_forget(swp__call *call)
{
    swp_live_free(call->push.copy);
    swp_live_free(call->live);
    swp__session *session = call->session;
    if (session != NULL) {
        swp__call **link = &session->first;
        while (*link != call) {
            link = &(*link)->session_next;
        }
        *link = call->session_next;
        call->session = NULL;
    }
}

uint64_t swp__live_combos(const swp__call *call)
{
    return call->session != NULL ? swp_live_combos_count(call->session->live) : 0;
}

/* ---- answers ---- */

static swp_status make_states(swp__call *call, const swp_live *live, uint64_t bars_count, bool positions, swp_error *error)
{
    uint64_t combos = swp_live_combos_count(live), limit = call->connection->server->options.limits.max_frame;
    uint64_t size = UINT64_MAX;
    uint64_t head = SWP__WIRE_HEADER_SIZE + sizeof(swp__wire_session);
    if (!swp__wire_live_reply_size(combos, bars_count, positions, &size) || size > limit - head) {
        return swp__fail_limit(error, limit, size,
                               "an answer for %" PRIu64 " combos is larger than a frame (max-frame %" PRIu64 ")", combos,
                               limit);
    }
    swp_status status = swp__call_alloc(call, (size_t)size, "the states", &call->result, error);
    if (status == SWP_OK) {
        call->result_size = (size_t)size;
        if (positions) {
            memset((char *)call->result + size - 8, 0, 8); /* the padding */
        }
    }
    return status;
}

static void answer_result(swp__call *call)
{
    swp__call_answer(call, &(swp__wire_reply){0}, call->result, call->result_size);
}

/* A new session, and its states. */
static swp_status answer_session(swp__call *call, swp_error *error)
{
    swp_live *live = call->live;
    uint32_t id = 0;
    swp_status status = make_states(call, live, 0, false, error);
    if (status == SWP_OK) {
        status = add_session(call->connection, live, &id, error);
    }
    if (status != SWP_OK) {
        return status;
    }
    call->live = NULL;
    swp_live_states(live, call->result);
    swp__wire_reply reply = {.session = {.session = id}};
    swp__call_answer(call, &reply, call->result, call->result_size);
    return SWP_OK;
}

/* ---- opening ---- */

swp_status swp__run_live_open(swp__call *call, swp_error *error)
{
    swp__connection *c = call->connection;
    const swp__wire_live_open *open = &call->request.live_open;
    swp_sweep_request sweep;
    swp__scope *scope;
    swp_status status = swp__wire_decode_sweep(&call->request, call->tail, &sweep, error);
    if (status == SWP_OK && open->handle != 0) {
        status = swp__connection_scope(c, &scope, error);
        status = status == SWP_OK ? swp__store_take(scope, open->handle, &call->held, error) : status;
    }
    if (status != SWP_OK) {
        return status;
    }
    const swp_live_request request = {.params = sweep.grid.rows,
                                      .combos_count = sweep.grid.combos_count,
                                      .fee = sweep.fee,
                                      .entry = sweep.entry,
                                      .allow = open->policy,
                                      .kernel = sweep.kernel};
    status = swp__live_open(c->server->engine, &request, call->held, &call->live, error);
    status = status == SWP_OK ? check_room(c, error) : status; /* before a warm-up is swept */
    if (status != SWP_OK || call->held == NULL) {
        return status != SWP_OK ? status : answer_session(call, error);
    }
    return swp__call_sweep(call, call->held, &sweep, NULL, 0, false, error);
}

static bool warm_on(swp__call *call)
{
    swp_error error;
    if (!swp__live_warm(call->live, call->held->close, call->held->bars_count, SLICE_NS)) {
        return false;
    }
    if (answer_session(call, &error) != SWP_OK) {
        swp__call_fail(call, &error);
    }
    return true;
}

void swp__live_warmed(swp__call *call)
{
    if (!warm_on(call)) {
        swp__server_work_later(call->connection->server, call);
    }
}

swp_status swp__run_restore(swp__call *call, swp_error *error)
{
    swp_status status = check_room(call->connection, error);
    if (status == SWP_OK) {
        status = swp_live_restore(call->connection->server->engine, call->tail, call->tail_size, &call->live, error);
    }
    return status == SWP_OK ? answer_session(call, error) : status;
}

/* ---- requests that name a session ---- */

static void end_push(swp__call *call)
{
    swp__push_end(call->session->live, &call->push, call->result);
    answer_result(call);
}

/* True: answered; false: work is left. */
static swp_status begin_push(swp__call *call, bool *answered, swp_error *error)
{
    const swp__wire_live_push *wire = &call->request.live_push;
    swp_live *live = call->session->live;
    bool positions = (call->request.flags & SWP__FLAG_LIVE_PUSH_POSITIONS) != 0;
    swp_status status = make_states(call, live, wire->n_bars, positions, error);
    if (status != SWP_OK) {
        return status;
    }
    char *states_end = (char *)call->result + swp_live_combos_count(live) * sizeof(swp_live_state);
    call->push = (swp__push){.expected_bars = wire->expected_bars,
                             .close = call->tail, /* the first column */
                             .bars_count = wire->n_bars,
                             .fingerprint = swp__fingerprint_of(call->tail, call->tail_size),
                             .peeks = (call->request.flags & SWP__FLAG_LIVE_PUSH_PEEK) != 0,
                             .positions = positions ? (int8_t *)(void *)states_end : NULL};
    status = swp__push_begin(live, &call->push, error);
    if (status == SWP_OK) {
        *answered = swp__push_work(live, &call->push, SLICE_NS);
        if (*answered) {
            end_push(call);
        }
    }
    return status;
}

static swp_status take_snapshot(swp__call *call, swp_error *error)
{
    const swp_live *live = call->session->live;
    size_t size = swp_live_snapshot(live, NULL, 0);
    swp_status status = swp__call_alloc(call, size, "the snapshot", &call->result, error);
    if (status == SWP_OK) {
        call->result_size = swp_live_snapshot(live, call->result, size);
        answer_result(call);
    }
    return status;
}

static swp_status close_session(swp__call *call, swp_error *error)
{
    swp_status status = make_states(call, call->session->live, 0, false, error);
    if (status == SWP_OK) {
        swp_live_states(call->session->live, call->result);
        answer_result(call);
    }
    return status;
}

static uint32_t session_of(const swp__call *call)
{
    return call->frame.opcode == SWP__OP_LIVE_PUSH ? call->request.live_push.session : call->request.session.session;
}

static void fail_not_found(swp__call *call)
{
    swp_error error;
    (void)swp__fail(&error, SWP_NOT_FOUND, SWP_AT_NONE,
                    "no live session %" PRIu32 " on this connection: it was closed, or its connection ended", session_of(call));
    swp__call_fail(call, &error);
}

/* The session ends, and with it what waits for it. */
static void end_session(swp__session *session, swp__connection *c)
{
    while (session->first != NULL) {
        swp__call *call = session->first;
        session->first = call->session_next;
        call->session = NULL;
        fail_not_found(call);
    }
    remove_session(c, session);
}

/* The first in the queue has been answered: the others until one has work left. */
static void serve_queue(swp__session *session, swp__connection *c)
{
    while (session->first != NULL) {
        swp__call *call = session->first;
        swp_error error;
        bool answered = true, closes = call->frame.opcode == SWP__OP_LIVE_CLOSE;
        swp_status status = call->frame.opcode == SWP__OP_LIVE_PUSH ? begin_push(call, &answered, &error)
                            : closes                                ? close_session(call, &error)
                                                                    : take_snapshot(call, &error);
        if (status != SWP_OK) {
            swp__call_fail(call, &error);
        } else if (!answered) {
            swp__server_work_later(c->server, call);
            return;
        }
        session->first = call->session_next;
        call->session = NULL;
        if (status == SWP_OK && closes) {
            end_session(session, c);
            return;
        }
    }
}

swp_status swp__run_in_session(swp__call *call, swp_error *error)
{
    (void)error;
    swp__session *session = find_session(call->connection, session_of(call));
    if (session == NULL) {
        fail_not_found(call);
        return SWP_OK;
    }
    bool waits = session->first != NULL;
    enqueue(session, call);
    if (!waits) {
        serve_queue(session, call->connection);
    }
    return SWP_OK;
}

bool swp__live_go_on(swp__call *call)
{
    swp__session *session = call->session;
    swp__connection *c = call->connection;
    if (session == NULL) {
        return warm_on(call);
    }
    if (!swp__push_work(session->live, &call->push, SLICE_NS)) {
        return false;
    }
    end_push(call);
    session->first = call->session_next;
    call->session = NULL;
    serve_queue(session, c);
    return true;
}
