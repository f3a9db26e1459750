/* Series, sweeps, and the small calls; version 1. */
#include "simulation/client_inside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ECHO_MAX = 3000 };

/* ---- the small calls ---- */

static void hear_nothing(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    (void)c;
    (void)a;
    (void)reply;
    (void)tail;
}

static void hear_echo(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    (void)c;
    swp__client_check(reply->tail_size == a->size && memcmp(tail, a->bytes, a->size) == 0, a, "other bytes came back");
}

static void ask_echo(swp__client *c)
{
    static const swp__kind echo = {.name = "ECHO", .hear = hear_echo};
    swp__wire_out out;
    swp__asked *a = swp__client_ask(c, &echo);
    a->size = swp__client_draw(c, ECHO_MAX);
    a->bytes = malloc(a->size + 1);
    assert(a->bytes != NULL);
    for (size_t i = 0; i < a->size; i++) {
        a->bytes[i] = (uint8_t)swp__random_next(c->world->random);
    }
    swp__client_start(a, SWP__OP_ECHO, &out);
    swp__wire_append(&out, a->bytes, a->size);
    a->request.tail_size = a->size;
    swp__client_finish_request(c, a, &out);
}

static void hear_stats(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    (void)c;
    (void)tail;
    swp__client_check(reply->tail_size > 100, a, "a short page");
}

static void ask_stats(swp__client *c)
{
    static const swp__kind stats = {.name = "STATS", .hear = hear_stats};
    swp__wire_out out;
    swp__asked *a = swp__client_ask(c, &stats);
    swp__client_start(a, SWP__OP_STATS, &out);
    swp__client_finish_request(c, a, &out);
}

/* A frame that is refused and leaves the stream in order. */
static void ask_bad(swp__client *c)
{
    static const swp__kind bad = {.name = "a bad frame", .is_bad = true};
    swp__asked *a = swp__client_ask(c, &bad);
    uint8_t frame[64] = {0};
    uint32_t body_size = (uint32_t)(8 + swp__client_draw(c, 40));
    memcpy(frame, &body_size, sizeof body_size);
    memcpy(frame + 8, &a->id, sizeof a->id);
    switch (swp__client_draw(c, 3)) {
    case 0:
        frame[4] = 0x7E; /* no such opcode */
        break;
    case 1:
        frame[4] = SWP__OP_ECHO;
        frame[5] = 0x80; /* no such flag */
        break;
    default:
        frame[4] = SWP__OP_DROP;
        frame[6] = 1; /* reserved */
        break;
    }
    swp__client_queue_bytes(c, frame, 4 + body_size);
    a->ends_at = c->queued_bytes;
}

static void hear_cancel(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    (void)reply;
    (void)tail;
    const swp__asked *about = a->target_known ? swp__client_find(c, a->target) : NULL;
    swp__client_check(about == NULL || !about->kind->holds_cancel, a, "answered before what it cancels");
}

static void ask_cancel(swp__client *c)
{
    static const swp__kind cancel = {.name = "CANCEL", .hear = hear_cancel};
    swp__wire_out out;
    uint32_t back = (uint32_t)swp__client_draw(c, 4);
    uint32_t target = c->next_id > back ? c->next_id - back : 1;
    swp__asked *about = swp__client_find(c, target), *a = swp__client_ask(c, &cancel);
    a->target = target;
    a->target_known = about != NULL;
    if (about != NULL) {
        about->cancelled = true;
    }
    a->request.cancel.request_id = target;
    swp__client_start(a, SWP__OP_CANCEL, &out);
    swp__client_finish_request(c, a, &out);
}

/* ---- series ---- */

static uint32_t *loaded_by(swp__client *c)
{
    uint32_t user = swp__line_user(c->line);
    return user > 0 ? &c->world->loaded[user] : &c->loaded;
}

void swp__client_note_loaded(swp__client *c, size_t series)
{
    if (c->life == c->world->life) {
        *loaded_by(c) |= UINT32_C(1) << series;
    }
}

/* LIMIT of the store: only where memory is tight, and with the two numbers. */
static bool is_fair_load(const swp__client *c, const swp__asked *a, const swp__wire_reply *reply)
{
    (void)a;
    return reply->status == SWP_LIMIT && c->world->memory_is_tight && reply->error.a == c->world->max_memory &&
           reply->error.b > reply->error.a;
}

void swp__client_hear_series(swp__client *c, swp__asked *a, const swp__wire_reply *reply, uint32_t columns)
{
    const swp__model *model = c->world->model;
    uint64_t bars = model->bars_count[a->series];
    swp__client_check(reply->series.n_bars == bars && reply->series.first == model->feed[0] &&
                          reply->series.last == model->feed[bars - 1],
                      a, "another series");
    swp__client_check(
        (columns != SWP__COLUMN_CLOSE || swp__fingerprint_equal(reply->series.fingerprint, model->fingerprint[a->series])), a,
        "another fingerprint");
    for (size_t i = 0; i < SWP__CLIENT_HANDLES; i++) {
        if (c->handles[i] == 0) {
            c->handles[i] = reply->series.handle;
            c->handle_series[i] = a->series;
            c->handle_columns[i] = columns;
            return;
        }
    }
}

static void hear_load(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    (void)tail;
    swp__client_hear_series(c, a, reply, SWP__COLUMN_CLOSE);
    c->world->seen.sent_again += c->old_handle != 0 ? 1 : 0;
}

static void ask_load(swp__client *c)
{
    static const swp__kind load = {.name = "LOAD", .is_new_work = true, .hear = hear_load, .is_fair = is_fair_load};
    const swp__model *model = c->world->model;
    swp__wire_out out;
    swp__asked *a = swp__client_ask(c, &load);
    a->series = swp__client_draw(c, SWP__MODEL_SERIES);
    uint64_t bars = model->bars_count[a->series];
    swp__client_note_loaded(c, a->series);
    a->request.shape = (swp__wire_shape){.n_bars = bars, .columns = SWP__COLUMN_CLOSE};
    swp__client_start(a, SWP__OP_LOAD, &out);
    swp__wire_append(&out, model->close[a->series], bars * sizeof(double));
    swp__client_finish_request(c, a, &out);
}

/* Found is only what the same user has sent, or may have. */
static void hear_find(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    (void)tail;
    bool may_be_there = c->life != c->world->life || (*loaded_by(c) >> a->series & 1) != 0;
    swp__client_check(may_be_there, a, "found what this user has never sent");
    swp__client_hear_series(c, a, reply, SWP__COLUMN_CLOSE);
    c->world->seen.found_again += c->old_handle != 0 ? 1 : 0;
}

static bool is_fair_find(const swp__client *c, const swp__asked *a, const swp__wire_reply *reply)
{
    (void)c;
    return reply->status == SWP_NOT_FOUND && !a->must_find;
}

/* With its closes alone, as FIND asks for it. */
static bool uses_series(const swp__client *c, size_t series)
{
    for (size_t i = 0; i < SWP__CLIENT_HANDLES; i++) {
        if (c->handles[i] != 0 && c->handle_series[i] == series && c->handle_columns[i] == SWP__COLUMN_CLOSE) {
            return true;
        }
    }
    return false;
}

static void ask_find(swp__client *c)
{
    static const swp__kind find = {.name = "FIND", .hear = hear_find, .is_fair = is_fair_find};
    const swp__model *model = c->world->model;
    swp__wire_out out;
    swp__asked *a = swp__client_ask(c, &find);
    a->series = swp__client_draw(c, SWP__MODEL_SERIES);
    a->must_find = c->drops == 0 && uses_series(c, a->series);
    a->request.find = (swp__wire_find){
        .fingerprint = model->fingerprint[a->series], .n_bars = model->bars_count[a->series], .columns = SWP__COLUMN_CLOSE};
    swp__client_start(a, SWP__OP_FIND, &out);
    swp__client_finish_request(c, a, &out);
}

size_t swp__client_random_handle(swp__client *c)
{
    size_t slot = swp__client_draw(c, SWP__CLIENT_HANDLES);
    for (size_t i = 0; i < SWP__CLIENT_HANDLES && c->handles[slot] == 0 && !swp__client_once_in(c, 50); i++) {
        slot = (slot + 1) % SWP__CLIENT_HANDLES;
    }
    return slot;
}

uint64_t swp__client_use_handle(swp__client *c, swp__asked *a, size_t slot)
{
    a->whole_handle = c->handles[slot] != 0;
    a->series = c->handle_series[slot];
    bool is_old = c->old_handle != 0 && c->old_life != c->life;
    return a->whole_handle ? c->handles[slot] : is_old ? c->old_handle : SWP__CLIENT_NO_HANDLE;
}

bool swp__client_is_bad_handle(const swp__client *c, const swp__asked *a, const swp__wire_reply *reply)
{
    (void)c;
    return reply->status == SWP_NOT_FOUND && !a->whole_handle;
}

static void hear_drop(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    (void)reply;
    (void)tail;
    c->drops--;
    swp__client_check(a->whole_handle, a, "dropped a handle that is none");
}

static void drop_refused(swp__client *c, swp__asked *a, const swp__wire_reply *reply)
{
    (void)a;
    (void)reply;
    c->drops--;
}

static void ask_drop(swp__client *c)
{
    static const swp__kind drop = {
        .name = "DROP", .hear = hear_drop, .is_fair = swp__client_is_bad_handle, .refused = drop_refused};
    swp__wire_out out;
    size_t slot = swp__client_random_handle(c);
    swp__asked *a = swp__client_ask(c, &drop);
    a->request.handle.handle = swp__client_use_handle(c, a, slot);
    c->handles[slot] = 0;
    c->drops++;
    swp__client_start(a, SWP__OP_DROP, &out);
    swp__client_finish_request(c, a, &out);
}

void swp__ask_request(swp__client *c)
{
    static void (*const asks[])(swp__client *) = {ask_echo,   ask_load,  ask_load, ask_find, ask_find,
                                                  ask_cancel, ask_stats, ask_bad,  ask_drop};
    asks[swp__client_draw(c, sizeof asks / sizeof *asks)](c);
}

/* ---- sweeps ---- */

static void check_results(const swp__client *c, const swp__asked *a, const uint8_t *tail, uint64_t first, uint64_t count)
{
    const swp__model *model = c->world->model;
    swp__client_check(memcmp(tail, model->pnl[a->series][a->grid] + first, count * 8) == 0, a, "pnl is not the reference's");
    swp__client_check(memcmp(tail + count * 8, model->trades[a->series][a->grid] + first, count * 8) == 0, a,
                      "trades are not the reference's");
}

static void hear_more(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    uint64_t combos = c->world->model->rows_count[a->grid];
    if (reply->more.kind == SWP__MORE_PROGRESS) {
        swp__client_check(a->wants_progress, a, "progress was not asked for");
        swp__client_check(reply->more.count == combos && reply->more.first <= combos && reply->more.first >= a->progress_done,
                          a, "progress falls or has another total");
        a->progress_done = reply->more.first;
        return;
    }
    swp__client_check(a->wants_blocks && reply->more.first + reply->more.count <= combos, a, "a block out of place");
    for (uint64_t i = 0; i < reply->more.count; i++) {
        swp__client_check(!a->seen[reply->more.first + i], a, "a combo came twice");
        a->seen[reply->more.first + i] = 1;
    }
    a->seen_count += reply->more.count;
    check_results(c, a, tail, reply->more.first, reply->more.count);
}

static void hear_sweep(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    uint64_t combos = c->world->model->rows_count[a->grid];
    swp__client_check(a->whole_handle, a, "a sweep over a handle that is none");
    if (a->wants_blocks) {
        swp__client_check(a->seen_count == combos && reply->tail_size == 0, a, "OK before all blocks");
    } else {
        check_results(c, a, tail, 0, combos);
    }
    c->world->seen.sweeps_right++;
}

static swp_sweep_request sweep_over(const swp__model *model, size_t grid)
{
    return (swp_sweep_request){
        .grid = {.form = SWP_GRID_ROWS, .combos_count = model->rows_count[grid], .rows = model->rows[grid]}, .fee = 0.09};
}

static void ask_rows(swp__client *c)
{
    static const swp__kind sweep_kind = {.name = "SWEEP",
                                         .is_new_work = true,
                                         .may_be_cancelled = true,
                                         .holds_cancel = true,
                                         .hear = hear_sweep,
                                         .hear_more = hear_more,
                                         .is_fair = swp__client_is_bad_handle};
    swp__wire_out out;
    swp__asked *a = swp__client_ask(c, &sweep_kind);
    uint64_t handle = swp__client_use_handle(c, a, swp__client_random_handle(c));
    a->grid = swp__client_draw(c, SWP__MODEL_GRIDS);
    a->wants_blocks = swp__client_once_in(c, 3);
    a->wants_progress = swp__client_once_in(c, 3);
    a->seen = calloc(1, SWP__MODEL_ROWS_MAX);
    swp_sweep_request sweep = sweep_over(c->world->model, a->grid);
    a->request = (swp__wire_request){
        .opcode = SWP__OP_SWEEP,
        .flags = (uint8_t)((a->wants_progress ? SWP__FLAG_SWEEP_PROGRESS : 0) | (a->wants_blocks ? SWP__FLAG_SWEEP_BLOCKS : 0)),
        .id = a->id,
        .sweep = {.handle = handle, .columns = SWP__RESULT_PNL | SWP__RESULT_TRADES}};
    swp__wire_encode_sweep(&a->request, &sweep, &out);
    swp__client_finish_request(c, a, &out);
}

/* The closed ones, and perhaps one that is open. */
static void hear_trades(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    (void)tail;
    uint64_t closed = (uint64_t)c->world->model->trades[a->series][0][0];
    swp__client_check(a->whole_handle, a, "trades over a handle that is none");
    swp__client_check(reply->trades.n_trades == closed || reply->trades.n_trades == closed + 1, a, "another number of trades");
}

/* One combo: grid 0. */
static void ask_trades(swp__client *c)
{
    static const swp__kind trades = {.name = "TRADES",
                                     .is_new_work = true,
                                     .may_be_cancelled = true,
                                     .holds_cancel = true,
                                     .hear = hear_trades,
                                     .is_fair = swp__client_is_bad_handle};
    swp__wire_out out;
    swp__asked *a = swp__client_ask(c, &trades);
    uint64_t handle = swp__client_use_handle(c, a, swp__client_random_handle(c));
    swp_sweep_request sweep = sweep_over(c->world->model, 0);
    a->request = (swp__wire_request){.opcode = SWP__OP_TRADES, .id = a->id, .sweep = {.handle = handle}};
    swp__wire_encode_sweep(&a->request, &sweep, &out);
    swp__client_finish_request(c, a, &out);
}

void swp__ask_sweep(swp__client *c)
{
    if (swp__client_once_in(c, 6)) {
        ask_trades(c);
    } else if (swp__client_once_in(c, 6)) {
        ask_cancel(c);
    } else {
        ask_rows(c);
    }
}

/* ---- version 1 ---- */

static const swp__kind v1_sweep = {.name = "a version 1 sweep", .hear = hear_nothing};
static const swp__kind v1_echo = {.name = "a version 1 echo", .hear = hear_nothing};

void swp__ask_v1(swp__client *c)
{
    const swp__model *model = c->world->model;
    swp__wire_out out;
    bool is_echo = swp__client_once_in(c, 2);
    swp__asked *a = swp__client_ask(c, is_echo ? &v1_echo : &v1_sweep);
    a->series = swp__client_draw(c, SWP__MODEL_SERIES);
    a->grid = swp__client_draw(c, SWP__MODEL_GRIDS);
    swp__wire_v1 v1 = {.opcode = is_echo ? SWP__OP_V1_ECHO : SWP__OP_V1_SWEEP,
                       .n_bars = (uint32_t)model->bars_count[a->series],
                       .n_combos = is_echo ? 0 : (uint32_t)model->rows_count[a->grid]};
    swp__wire_encode_v1(&v1, &out);
    swp__wire_append(&out, model->close[a->series], v1.n_bars * sizeof(double));
    swp__wire_append(&out, model->rows[a->grid], v1.n_combos * sizeof(swp_params));
    swp__client_finish_request(c, a, &out);
}

void swp__hear_v1(swp__client *c, swp__asked *a, const uint8_t *body, uint32_t body_size)
{
    const swp__model *model = c->world->model;
    if (a->kind == &v1_echo) {
        uint64_t size = model->bars_count[a->series] * sizeof(double);
        swp__client_check(body_size == size && memcmp(body, model->close[a->series], size) == 0, a, "other closes came back");
    } else {
        swp__client_check(body_size == 16 * model->rows_count[a->grid], a, "another number of results");
        check_results(c, a, body, 0, model->rows_count[a->grid]);
        c->world->seen.sweeps_right++;
    }
}
