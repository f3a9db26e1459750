/* Live sessions: opened, pushed, looked at, repeated, saved and restored. After every answer the states are those of a sweep
 * over the bars so far. */
#include "simulation/client_inside.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PUSH_MOST = 13 };

void swp__sessions_forget(swp__client *c)
{
    memset(c->sessions, 0, sizeof c->sessions);
}

void swp__saved_free(swp__client *c)
{
    for (size_t i = 0; i < SWP__CLIENT_SAVED; i++) {
        free(c->saved[i].bytes);
    }
}

/* Those the server may count. */
static uint64_t count_sessions(const swp__client *c)
{
    uint64_t count = 0;
    for (size_t i = 0; i < SWP__CLIENT_SESSIONS; i++) {
        count += c->sessions[i].state != SWP__SESSION_NONE ? 1 : 0;
    }
    return count;
}

static uint64_t count_open(const swp__client *c)
{
    uint64_t count = 0;
    for (size_t i = 0; i < SWP__CLIENT_SESSIONS; i++) {
        count += c->sessions[i].state == SWP__SESSION_OPEN ? 1 : 0;
    }
    return count;
}

static void check_states(const swp__client *c, const swp__asked *a, size_t grid, uint64_t bars, const uint8_t *tail)
{
    const swp_live_state *states = swp__model_states(c->world->model, grid, bars);
    swp__client_check(states != NULL, a, "a number of bars nobody pushed");
    swp__client_check(memcmp(tail, states, c->world->model->rows_count[grid] * sizeof *states) == 0, a,
                      "states are not the sweep's over the bars so far");
}

static bool is_too_much(const swp__client *c, const swp__wire_reply *reply)
{
    const swp__world *world = c->world;
    return reply->status == SWP_LIMIT && world->memory_is_tight && reply->error.a == world->max_live_memory &&
           reply->error.b > reply->error.a;
}

/* ---- opening and restoring ---- */

/* The session of a reply. */
static void opened(swp__client *c, swp__asked *a, const swp__wire_reply *reply)
{
    swp__session_model *s = &c->sessions[a->slot];
    swp__client_check(a->expected != SWP_LIMIT, a, "one more session than max-sessions");
    s->state = SWP__SESSION_OPEN;
    s->id = reply->session.session;
    for (size_t i = 0; i < SWP__CLIENT_SESSIONS; i++) {
        bool is_other =
            i != a->slot && (c->sessions[i].state == SWP__SESSION_OPEN || c->sessions[i].state == SWP__SESSION_CLOSES);
        swp__client_check(!is_other || c->sessions[i].id != s->id, a, "two sessions of one number");
    }
}

static void not_opened(swp__client *c, swp__asked *a, const swp__wire_reply *reply)
{
    (void)reply;
    c->sessions[a->slot] = (swp__session_model){0};
}

/* One with a warm-up is counted when that is done: others may have been opened meanwhile. */
static void count_all(swp__client *c)
{
    uint64_t count = count_sessions(c);
    for (swp__asked *a = c->first; a != NULL; a = a->next) {
        a->sessions_count = a->sessions_count < count ? count : a->sessions_count;
    }
}

static bool is_too_many(const swp__client *c, const swp__asked *a, const swp__wire_reply *reply)
{
    return reply->status == SWP_LIMIT && reply->error.a == c->world->max_sessions && a->sessions_count > c->world->max_sessions;
}

static swp__asked *ask_session(swp__client *c, const swp__kind *kind, size_t slot, size_t grid)
{
    swp__asked *a = swp__client_ask(c, kind);
    a->slot = slot;
    a->grid = grid;
    a->expected = count_open(c) >= c->world->max_sessions ? SWP_LIMIT : SWP_OK;
    c->sessions[slot] = (swp__session_model){.state = SWP__SESSION_OPENS, .grid = grid};
    count_all(c);
    return a;
}

static void hear_open(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    swp__session_model *s = &c->sessions[a->slot];
    opened(c, a, reply);
    swp__client_check(a->request.live_open.handle == 0 || a->whole_handle, a, "a session over a handle that is none");
    s->bars = s->hoped = a->request.live_open.handle != 0 ? c->world->model->bars_count[a->series] : 0;
    check_states(c, a, a->grid, s->bars, tail);
}

static bool is_fair_open(const swp__client *c, const swp__asked *a, const swp__wire_reply *reply)
{
    bool bad_handle = a->request.live_open.handle != 0 && swp__client_is_bad_handle(c, a, reply);
    return bad_handle || is_too_many(c, a, reply) || is_too_much(c, reply);
}

static void open_session(swp__client *c, size_t slot)
{
    static const swp__kind kind = {.name = "LIVE_OPEN",
                                   .is_new_work = true,
                                   .may_be_cancelled = true,
                                   .hear = hear_open,
                                   .is_fair = is_fair_open,
                                   .refused = not_opened};
    const swp__model *model = c->world->model;
    swp__wire_out out;
    size_t grid = swp__client_draw(c, swp__client_once_in(c, 4) ? SWP__MODEL_GRIDS : SWP__MODEL_LIVE_GRIDS);
    bool is_warm = grid >= SWP__MODEL_LIVE_GRIDS || swp__client_once_in(c, 2);
    swp__asked *a = ask_session(c, &kind, slot, grid);
    uint64_t handle = is_warm ? swp__client_use_handle(c, a, swp__client_random_handle(c)) : 0;
    swp_sweep_request sweep = {
        .grid = {.form = SWP_GRID_ROWS, .combos_count = model->rows_count[grid], .rows = model->rows[grid]}, .fee = 0.09};
    a->request = (swp__wire_request){.opcode = SWP__OP_LIVE_OPEN, .id = a->id, .live_open = {.handle = handle}};
    swp__wire_encode_sweep(&a->request, &sweep, &out);
    swp__client_finish_request(c, a, &out);
}

static void hear_restore(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    swp__session_model *s = &c->sessions[a->slot];
    opened(c, a, reply);
    swp__client_check(!a->is_damaged, a, "a damaged snapshot became a session");
    swp__client_check(reply->tail_size == c->world->model->rows_count[a->grid] * sizeof(swp_live_state), a,
                      "another number of combos");
    s->bars = s->hoped = a->count;
    s->last_first = a->last_first;
    s->last_count = a->last_count;
    check_states(c, a, a->grid, s->bars, tail);
    c->world->seen.restores++;
}

static bool is_fair_restore(const swp__client *c, const swp__asked *a, const swp__wire_reply *reply)
{
    bool is_refused = reply->status == SWP_BAD_PARAM || reply->status == SWP_UNKNOWN;
    return (a->is_damaged && is_refused) || is_too_many(c, a, reply) || is_too_much(c, reply);
}

static void restore(swp__client *c, size_t slot, const swp__saved *saved)
{
    static const swp__kind kind = {
        .name = "RESTORE", .is_new_work = true, .hear = hear_restore, .is_fair = is_fair_restore, .refused = not_opened};
    swp__wire_out out;
    swp__asked *a = ask_session(c, &kind, slot, saved->grid);
    a->bytes = malloc(saved->size);
    assert(a->bytes != NULL);
    memcpy(a->bytes, saved->bytes, saved->size);
    a->is_damaged = swp__client_once_in(c, 8);
    if (a->is_damaged) {
        a->bytes[swp__client_draw(c, saved->size)] ^= (uint8_t)(1U << swp__client_draw(c, 8));
    }
    a->count = saved->bars;
    a->last_first = saved->last_first;
    a->last_count = saved->last_count;
    swp__client_start(a, SWP__OP_RESTORE, &out);
    swp__wire_append(&out, a->bytes, saved->size);
    swp__client_finish_request(c, a, &out);
}

/* ---- requests that name a session ---- */

static swp__asked *ask_of_session(swp__client *c, const swp__kind *kind, size_t slot)
{
    swp__session_model *s = &c->sessions[slot];
    swp__asked *a = swp__client_ask(c, kind);
    a->slot = slot;
    a->grid = s->grid;
    a->session_combos = c->world->model->rows_count[s->grid];
    s->outstanding++;
    return a;
}

/* Answered, well or not: without others in between what is hoped for is what there is. */
static void heard(swp__session_model *s)
{
    s->outstanding--;
    s->hoped = s->outstanding == 0 ? s->bars : s->hoped;
}

static void of_session_refused(swp__client *c, swp__asked *a, const swp__wire_reply *reply)
{
    c->world->seen.stale += reply->status == SWP_STALE ? 1 : 0;
    heard(&c->sessions[a->slot]);
}

/* Behind a LIVE_CLOSE that was answered. */
static bool is_closed(const swp__client *c, const swp__asked *a, const swp__wire_reply *reply)
{
    return reply->status == SWP_NOT_FOUND && c->sessions[a->slot].state == SWP__SESSION_NONE;
}

/* ---- pushing ---- */

static void check_positions(const swp__client *c, const swp__asked *a, uint64_t first, const uint8_t *positions)
{
    uint64_t rows = c->world->model->rows_count[a->grid];
    for (uint64_t i = 0; i < a->count; i++) {
        const swp_live_state *states = swp__model_states(c->world->model, a->grid, first + i + 1);
        for (uint64_t row = 0; row < rows; row++) {
            swp__client_check((int8_t)positions[i * rows + row] == states[row].position, a, "another position");
        }
    }
}

static void hear_push(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    (void)reply;
    swp__session_model *s = &c->sessions[a->slot];
    bool is_known = a->repeats && s->bars == a->first + a->count;
    swp__client_check(s->state != SWP__SESSION_NONE, a, "a session that is closed took bars");
    swp__client_check(a->expected == SWP_OK, a, "a push that had to be refused was taken");
    swp__client_check(s->bars == a->first || is_known, a, "a push that does not continue the session was taken");
    check_states(c, a, a->grid, a->first + a->count, tail);
    if (a->wants_positions) {
        check_positions(c, a, a->first, tail + a->session_combos * sizeof(swp_live_state));
    }
    s->bars = a->peeks ? s->bars : a->first + a->count;
    c->world->seen.pushes += a->peeks || is_known ? 0 : 1;
    c->world->seen.repeats += is_known ? 1 : 0;
    c->world->seen.peeks += a->peeks ? 1 : 0;
    heard(s);
}

/* Another count than the session's, which is told; a bar that is refused; or the session is closed. */
static bool is_fair_push(const swp__client *c, const swp__asked *a, const swp__wire_reply *reply)
{
    const swp__session_model *s = &c->sessions[a->slot];
    uint64_t expected_bars = a->request.live_push.expected_bars;
    if (reply->status == SWP_STALE) {
        bool is_known = a->repeats && s->bars == a->first + a->count && !(a->wants_positions && a->count > 1);
        return expected_bars != UINT64_MAX && expected_bars != s->bars && !is_known && reply->error.a == expected_bars &&
               reply->error.b == s->bars;
    }
    if (reply->status == SWP_BAD_PARAM) {
        return a->expected == SWP_BAD_PARAM && reply->error.at == a->expected_at;
    }
    return is_closed(c, a, reply) || (a->peeks && is_too_much(c, reply));
}

static const swp__kind push_kind = {
    .name = "LIVE_PUSH", .hear = hear_push, .is_fair = is_fair_push, .refused = of_session_refused};

/* Bars [a->first, + a->count) of the feed; one of them bad where BAD_PARAM is expected. */
static void send_push(swp__client *c, swp__asked *a, uint64_t expected_bars)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY, 0.0, -1.0};
    double close[PUSH_MOST];
    swp__wire_out out;
    memcpy(close, c->world->model->feed + a->first, a->count * sizeof *close);
    if (a->expected == SWP_BAD_PARAM) {
        a->expected_at = swp__client_draw(c, a->count);
        close[a->expected_at] = bad[swp__client_draw(c, sizeof bad / sizeof *bad)];
    }
    a->request = (swp__wire_request){.opcode = SWP__OP_LIVE_PUSH,
                                     .flags = (uint8_t)((a->wants_positions ? SWP__FLAG_LIVE_PUSH_POSITIONS : 0) |
                                                        (a->peeks ? SWP__FLAG_LIVE_PUSH_PEEK : 0)),
                                     .id = a->id,
                                     .live_push = {.session = c->sessions[a->slot].id,
                                                   .n_bars = (uint32_t)a->count,
                                                   .columns = SWP__COLUMN_CLOSE,
                                                   .expected_bars = expected_bars}};
    swp__wire_encode_request(&a->request, &out);
    swp__wire_append(&out, close, a->count * sizeof *close);
    swp__client_finish_request(c, a, &out);
}

/* How many bars may follow, so that the states after each are known. */
static uint64_t room_for(const swp__session_model *s, uint64_t bars)
{
    uint64_t most = s->grid < SWP__MODEL_LIVE_GRIDS && bars < SWP__MODEL_LIVE_BARS ? SWP__MODEL_LIVE_BARS - bars : 0;
    return most < PUSH_MOST ? most : PUSH_MOST;
}

static void push(swp__client *c, size_t slot)
{
    swp__session_model *s = &c->sessions[slot];
    swp__asked *a = ask_of_session(c, &push_kind, slot);
    uint64_t room = room_for(s, s->hoped);
    a->first = s->hoped;
    a->count = room > 0 && !swp__client_once_in(c, 20) ? 1 + swp__client_draw(c, swp__client_once_in(c, 2) ? 1 : room) : 0;
    a->peeks = swp__client_once_in(c, 4);
    a->wants_positions = swp__client_once_in(c, 4);
    a->expected = a->count > 0 && swp__client_once_in(c, 25) ? SWP_BAD_PARAM : SWP_OK;
    bool is_sure = s->outstanding == 1; /* this one */
    if (!a->peeks && a->expected == SWP_OK && a->count > 0) {
        s->hoped += a->count;
        s->last_first = a->first;
        s->last_count = a->count;
    }
    send_push(c, a, is_sure && swp__client_once_in(c, 4) ? UINT64_MAX : a->first);
}

/* As after a time-out: the last push once more. */
static void repeat(swp__client *c, size_t slot)
{
    swp__session_model *s = &c->sessions[slot];
    swp__asked *a = ask_of_session(c, &push_kind, slot);
    a->repeats = true;
    a->first = s->last_first;
    a->count = s->last_count;
    a->wants_positions = swp__client_once_in(c, 4);
    s->hoped = a->first + a->count;
    send_push(c, a, a->first);
}

/* Of a client that counts otherwise. */
static void push_out_of_place(swp__client *c, size_t slot)
{
    swp__session_model *s = &c->sessions[slot];
    swp__asked *a = ask_of_session(c, &push_kind, slot);
    a->first = s->hoped;
    a->count = room_for(s, s->hoped) > 0 ? 1 : 0;
    a->peeks = swp__client_once_in(c, 3);
    a->expected = SWP_STALE;
    send_push(c, a, s->hoped + 1 + swp__client_draw(c, 5));
}

/* ---- saving and closing ---- */

static void hear_snapshot(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    swp__session_model *s = &c->sessions[a->slot];
    swp__saved *saved = &c->saved[swp__client_draw(c, SWP__CLIENT_SAVED)];
    swp__client_check(s->state != SWP__SESSION_NONE, a, "a snapshot of a session that is closed");
    bool is_last = s->last_count > 0 && s->last_first + s->last_count == s->bars; /* and not one that was refused since */
    free(saved->bytes);
    *saved = (swp__saved){.bytes = malloc(reply->tail_size),
                          .size = reply->tail_size,
                          .grid = s->grid,
                          .bars = s->bars,
                          .last_first = is_last ? s->last_first : 0,
                          .last_count = is_last ? s->last_count : 0};
    assert(saved->bytes != NULL);
    memcpy(saved->bytes, tail, saved->size);
    heard(s);
}

static void hear_close(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    (void)reply;
    swp__session_model *s = &c->sessions[a->slot];
    swp__client_check(s->state != SWP__SESSION_NONE, a, "a session was closed twice");
    check_states(c, a, a->grid, s->bars, tail);
    heard(s);
    s->state = SWP__SESSION_NONE;
}

static void close_refused(swp__client *c, swp__asked *a, const swp__wire_reply *reply)
{
    swp__session_model *s = &c->sessions[a->slot];
    of_session_refused(c, a, reply);
    s->state = s->state == SWP__SESSION_CLOSES ? SWP__SESSION_OPEN : s->state;
}

static const swp__kind snapshot_kind = {
    .name = "SNAPSHOT", .hear = hear_snapshot, .is_fair = is_closed, .refused = of_session_refused};
static const swp__kind close_kind = {.name = "LIVE_CLOSE", .hear = hear_close, .is_fair = is_closed, .refused = close_refused};

static void name_session(swp__client *c, size_t slot, const swp__kind *kind, uint8_t opcode)
{
    swp__wire_out out;
    swp__asked *a = ask_of_session(c, kind, slot);
    a->request.session.session = c->sessions[slot].id;
    swp__client_start(a, opcode, &out);
    swp__client_finish_request(c, a, &out);
}

/* Often with a push behind it, which comes too late. */
static void close_session(swp__client *c, size_t slot)
{
    name_session(c, slot, &close_kind, SWP__OP_LIVE_CLOSE);
    c->sessions[slot].state = SWP__SESSION_CLOSES;
    if (swp__client_once_in(c, 3)) {
        push(c, slot);
    }
}

void swp__ask_session(swp__client *c)
{
    size_t slot = swp__client_draw(c, SWP__CLIENT_SESSIONS);
    const swp__session_model *s = &c->sessions[slot];
    const swp__saved *saved = &c->saved[swp__client_draw(c, SWP__CLIENT_SAVED)];
    bool is_free = s->state == SWP__SESSION_NONE && s->outstanding == 0;
    bool may_repeat = s->last_count > 0 && (s->hoped == s->last_first + s->last_count || s->hoped == s->last_first);
    if (is_free && count_sessions(c) >= c->world->max_sessions && !swp__client_once_in(c, 20)) {
        return;
    }
    if (is_free && saved->bytes != NULL && swp__client_once_in(c, 2)) {
        restore(c, slot, saved);
    } else if (is_free) {
        open_session(c, slot);
    } else if (s->state != SWP__SESSION_OPEN) {
        return;
    } else if (may_repeat && swp__client_once_in(c, 5)) {
        repeat(c, slot);
    } else if (swp__client_once_in(c, 25)) {
        push_out_of_place(c, slot);
    } else if (swp__client_once_in(c, 8)) {
        name_session(c, slot, &snapshot_kind, SWP__OP_SNAPSHOT);
    } else if (swp__client_once_in(c, 15)) {
        close_session(c, slot);
    } else {
        push(c, slot);
    }
}
