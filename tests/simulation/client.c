#include "simulation/client.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "support/host.h"

enum {
    HANDLES_MAX = 8,
    ECHO_MAX = 3000,
    READ_SIZE = 4096,
};

typedef enum kind { ECHO, LOAD, SWEEP, TRADES, LIVE, CANCEL, DROP, STATS, BAD, FIND, V1_SWEEP, V1_ECHO } kind;

typedef struct asked {
    struct asked *next;
    kind kind;
    uint32_t id;
    uint64_t ends_at; /* bytes of the stream, when it is sent whole */
    swp__wire_request request;
    uint8_t *bytes; /* ECHO: what comes back */
    size_t size;
    size_t series, grid;
    bool not_due;      /* never sent whole: an early refusal may come, an answer not */
    bool whole_handle; /* the handle was good when it was asked */
    bool cancelled;
    uint32_t target;   /* CANCEL */
    bool target_known; /* and outstanding when it was asked */
    bool wants_blocks, wants_progress;
    uint8_t *seen; /* blocks: combos that have come */
    uint64_t seen_count, progress_done;
} asked;

struct swp__client {
    swp__world *world;
    swp__line *line;
    int version;
    uint32_t next_id;
    uint8_t *out;
    size_t out_size, out_capacity;
    uint64_t queued_bytes, sent_bytes;
    uint8_t *in;
    size_t in_size, in_capacity;
    asked *first, *last;
    uint32_t outstanding;
    uint64_t handles[HANDLES_MAX]; /* 0: free */
    size_t handle_series[HANDLES_MAX];
    bool shut, closed, ended;
    bool lazy;    /* does not read for long: may be closed for it */
    bool greeted; /* version 1: something was answered */
    bool garbage; /* sent what ends the connection */
};

/* ---- the model ---- */

void swp__model_init(swp__model *model)
{
    static const uint64_t bars[SWP__MODEL_SERIES] = {1, 40, 500, 3000}, rows[SWP__MODEL_GRIDS] = {1, 2, 9, 40, 300};
    swp__random random = {7};
    swp_engine *engine;
    swp_series *series;
    swp_status status = swp_engine_new(&(swp_engine_options){.threads = 1}, &engine, NULL);
    for (size_t g = 0; g < SWP__MODEL_GRIDS && status == SWP_OK; g++) {
        model->rows_count[g] = rows[g];
        model->rows[g] = malloc(rows[g] * sizeof(swp_params));
        for (uint64_t i = 0; i < rows[g] * SWP_PARAMS_COUNT; i++) {
            model->rows[g][i] = 1 + (int64_t)swp__random_below(&random, 30);
        }
    }
    for (size_t s = 0; s < SWP__MODEL_SERIES && status == SWP_OK; s++) {
        model->bars_count[s] = bars[s];
        model->close[s] = malloc(bars[s] * sizeof(double));
        swp__test_walk(model->close[s], bars[s], s + 1);
        status = swp_series_new(engine, model->close[s], bars[s], 0, SWP_BORROW, &series, NULL);
        for (size_t g = 0; g < SWP__MODEL_GRIDS && status == SWP_OK; g++) {
            model->pnl[s][g] = malloc(rows[g] * sizeof(double));
            model->trades[s][g] = malloc(rows[g] * sizeof(int64_t));
            swp_sweep_request request = {.grid = {.form = SWP_GRID_ROWS, .combos_count = rows[g], .rows = model->rows[g]},
                                         .fee = 0.09,
                                         .kernel = SWP_KERNEL_STRICT};
            swp_sweep_result result = {.pnl = model->pnl[s][g], .trades = model->trades[s][g]};
            status = swp_sweep(engine, series, &request, &result, NULL);
        }
        swp_series_free(series);
    }
    assert(status == SWP_OK);
    swp_engine_free(engine);
}

void swp__model_fini(swp__model *model)
{
    for (size_t g = 0; g < SWP__MODEL_GRIDS; g++) {
        free(model->rows[g]);
    }
    for (size_t s = 0; s < SWP__MODEL_SERIES; s++) {
        free(model->close[s]);
        for (size_t g = 0; g < SWP__MODEL_GRIDS; g++) {
            free(model->pnl[s][g]);
            free(model->trades[s][g]);
        }
    }
}

/* ---- small things ---- */

static void note(swp__world *world, uint64_t value)
{
    world->trace = (world->trace ^ value) * UINT64_C(0x100000001B3);
}

static void check(bool condition, const asked *a, const char *what)
{
    if (!condition) {
        swp__simulation_fail("request %u (kind %d): %s", a->id, (int)a->kind, what);
    }
}

static void append(uint8_t **bytes, size_t *size, size_t *capacity, const void *more, size_t more_size)
{
    if (*size + more_size > *capacity) {
        *capacity = 2 * (*size + more_size);
        *bytes = realloc(*bytes, *capacity);
        assert(*bytes != NULL);
    }
    if (more_size > 0) {
        memcpy(*bytes + *size, more, more_size);
    }
    *size += more_size;
}

static void queue_bytes(swp__client *c, const void *bytes, size_t size)
{
    append(&c->out, &c->out_size, &c->out_capacity, bytes, size);
    c->queued_bytes += size;
}

static void queue_frame(swp__client *c, swp__wire_out *out)
{
    swp_status status = swp__wire_finish(out, UINT32_MAX, NULL);
    assert(status == SWP_OK);
    uint8_t *bytes = malloc(out->size);
    assert(bytes != NULL);
    swp__wire_copy(out, bytes);
    queue_bytes(c, bytes, out->size);
    free(bytes);
}

static asked *ask(swp__client *c, kind what)
{
    asked *a = calloc(1, sizeof *a);
    assert(a != NULL);
    a->kind = what;
    a->id = ++c->next_id;
    if (c->last != NULL) {
        c->last->next = a;
    } else {
        c->first = a;
    }
    c->last = a;
    c->outstanding++;
    return a;
}

static void free_asked(asked *a)
{
    free(a->bytes);
    free(a->seen);
    free(a);
}

static asked *find(const swp__client *c, uint32_t id)
{
    asked *a = c->first;
    while (a != NULL && a->id != id) {
        a = a->next;
    }
    return a;
}

static void answered(swp__client *c, asked *a)
{
    asked **link = &c->first, *before = NULL;
    while (*link != a) {
        before = *link;
        link = &before->next;
    }
    *link = a->next;
    if (c->last == a) {
        c->last = before;
    }
    c->outstanding -= a->not_due ? 0 : 1;
    free_asked(a);
}

swp__client *swp__client_new(swp__world *world, int version)
{
    swp__line *line = swp__net_connect(world->net);
    if (line == NULL) {
        return NULL;
    }
    swp__client *c = calloc(1, sizeof *c);
    assert(c != NULL);
    c->world = world;
    c->line = line;
    c->version = version;
    c->lazy = swp__random_once_in(world->random, 6);
    return c;
}

void swp__client_free(swp__client *c)
{
    if (!c->closed) {
        swp__net_close(c->line);
    }
    while (c->first != NULL) {
        answered(c, c->first);
    }
    free(c->out);
    free(c->in);
    free(c);
}

/* ---- asking ---- */

static void finish_request(swp__client *c, asked *a, swp__wire_out *out)
{
    queue_frame(c, out);
    a->ends_at = c->queued_bytes;
}

static void random_bytes(swp__client *c, asked *a)
{
    a->size = swp__random_below(c->world->random, ECHO_MAX);
    a->bytes = malloc(a->size + 1);
    assert(a->bytes != NULL);
    for (size_t i = 0; i < a->size; i++) {
        a->bytes[i] = (uint8_t)swp__random_next(c->world->random);
    }
}

static void start(asked *a, uint8_t opcode, swp__wire_out *out)
{
    a->request.opcode = opcode;
    a->request.id = a->id;
    swp__wire_encode_request(&a->request, out);
}

static void ask_echo(swp__client *c)
{
    swp__wire_out out;
    asked *a = ask(c, ECHO);
    random_bytes(c, a);
    start(a, SWP__OP_ECHO, &out);
    swp__wire_append(&out, a->bytes, a->size);
    a->request.tail_size = a->size;
    finish_request(c, a, &out);
}

static void ask_load(swp__client *c)
{
    const swp__model *model = c->world->model;
    swp__wire_out out;
    asked *a = ask(c, LOAD);
    a->series = swp__random_below(c->world->random, SWP__MODEL_SERIES);
    uint64_t bars = model->bars_count[a->series];
    a->request.shape = (swp__wire_shape){.n_bars = bars, .columns = SWP__COLUMN_CLOSE};
    start(a, SWP__OP_LOAD, &out);
    swp__wire_append(&out, model->close[a->series], bars * sizeof(double));
    finish_request(c, a, &out);
}

static void ask_find(swp__client *c)
{
    const swp__model *model = c->world->model;
    swp__wire_out out;
    asked *a = ask(c, FIND);
    a->series = swp__random_below(c->world->random, SWP__MODEL_SERIES);
    uint64_t bars = model->bars_count[a->series];
    a->request.find = (swp__wire_find){.fingerprint = swp__fingerprint_of(model->close[a->series], bars * sizeof(double)),
                                       .n_bars = bars,
                                       .columns = SWP__COLUMN_CLOSE};
    start(a, SWP__OP_FIND, &out);
    finish_request(c, a, &out);
}

/* Mostly a good one. */
static size_t random_handle(swp__client *c)
{
    size_t slot = swp__random_below(c->world->random, HANDLES_MAX);
    for (size_t i = 0; i < HANDLES_MAX && c->handles[slot] == 0 && !swp__random_once_in(c->world->random, 50); i++) {
        slot = (slot + 1) % HANDLES_MAX;
    }
    return slot;
}

static void ask_sweep(swp__client *c)
{
    const swp__model *model = c->world->model;
    swp__random *random = c->world->random;
    swp__wire_out out;
    size_t slot = random_handle(c);
    asked *a = ask(c, SWEEP);
    a->whole_handle = c->handles[slot] != 0;
    a->series = c->handle_series[slot];
    a->grid = swp__random_below(random, SWP__MODEL_GRIDS);
    a->wants_blocks = swp__random_once_in(random, 3);
    a->wants_progress = swp__random_once_in(random, 3);
    a->seen = calloc(1, SWP__MODEL_ROWS_MAX);
    swp_sweep_request sweep = {
        .grid = {.form = SWP_GRID_ROWS, .combos_count = model->rows_count[a->grid], .rows = model->rows[a->grid]}, .fee = 0.09};
    a->request = (swp__wire_request){
        .opcode = SWP__OP_SWEEP,
        .flags = (uint8_t)((a->wants_progress ? SWP__FLAG_SWEEP_PROGRESS : 0) | (a->wants_blocks ? SWP__FLAG_SWEEP_BLOCKS : 0)),
        .id = a->id,
        .sweep = {.handle = a->whole_handle ? c->handles[slot] : 12345, .columns = SWP__RESULT_PNL | SWP__RESULT_TRADES}};
    swp__wire_encode_sweep(&a->request, &sweep, &out);
    finish_request(c, a, &out);
}

/* One combo: grid 0. */
static void ask_trades(swp__client *c)
{
    const swp__model *model = c->world->model;
    swp__wire_out out;
    size_t slot = random_handle(c);
    asked *a = ask(c, TRADES);
    a->whole_handle = c->handles[slot] != 0;
    a->series = c->handle_series[slot];
    swp_sweep_request sweep = {.grid = {.form = SWP_GRID_ROWS, .combos_count = 1, .rows = model->rows[0]}, .fee = 0.09};
    a->request = (swp__wire_request){
        .opcode = SWP__OP_TRADES, .id = a->id, .sweep = {.handle = a->whole_handle ? c->handles[slot] : 12345}};
    swp__wire_encode_sweep(&a->request, &sweep, &out);
    finish_request(c, a, &out);
}

/* A session with a series as its warm-up: its states are the sweep's. */
static void ask_live(swp__client *c)
{
    const swp__model *model = c->world->model;
    swp__wire_out out;
    size_t slot = random_handle(c);
    asked *a = ask(c, LIVE);
    a->whole_handle = c->handles[slot] != 0;
    a->series = c->handle_series[slot];
    a->grid = swp__random_below(c->world->random, SWP__MODEL_GRIDS);
    swp_sweep_request sweep = {
        .grid = {.form = SWP_GRID_ROWS, .combos_count = model->rows_count[a->grid], .rows = model->rows[a->grid]}, .fee = 0.09};
    a->request = (swp__wire_request){
        .opcode = SWP__OP_LIVE_OPEN, .id = a->id, .live_open = {.handle = a->whole_handle ? c->handles[slot] : 12345}};
    swp__wire_encode_sweep(&a->request, &sweep, &out);
    finish_request(c, a, &out);
}

static void ask_cancel(swp__client *c)
{
    swp__wire_out out;
    uint32_t back = (uint32_t)swp__random_below(c->world->random, 4);
    uint32_t target = c->next_id > back ? c->next_id - back : 1;
    asked *about = find(c, target), *a = ask(c, CANCEL);
    a->target = target;
    a->target_known = about != NULL;
    if (about != NULL) {
        about->cancelled = true;
    }
    a->request.cancel.request_id = target;
    start(a, SWP__OP_CANCEL, &out);
    finish_request(c, a, &out);
}

static void ask_drop(swp__client *c)
{
    swp__wire_out out;
    size_t slot = random_handle(c);
    asked *a = ask(c, DROP);
    a->whole_handle = c->handles[slot] != 0;
    a->request.handle.handle = a->whole_handle ? c->handles[slot] : 12345;
    c->handles[slot] = 0;
    start(a, SWP__OP_DROP, &out);
    finish_request(c, a, &out);
}

static void ask_stats(swp__client *c)
{
    swp__wire_out out;
    asked *a = ask(c, STATS);
    start(a, SWP__OP_STATS, &out);
    finish_request(c, a, &out);
}

/* A frame that is refused and leaves the stream in order. */
static void ask_bad(swp__client *c)
{
    swp__random *random = c->world->random;
    asked *a = ask(c, BAD);
    uint8_t frame[64] = {0};
    uint32_t body_size = (uint32_t)(8 + swp__random_below(random, 40));
    memcpy(frame, &body_size, sizeof body_size);
    memcpy(frame + 8, &a->id, sizeof a->id);
    switch (swp__random_below(random, 3)) {
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
    queue_bytes(c, frame, 4 + body_size);
    a->ends_at = c->queued_bytes;
}

/* What no server can go on after. */
static void send_garbage(swp__client *c)
{
    uint8_t bytes[64] = {0};
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)swp__random_next(c->world->random);
    }
    uint32_t length = swp__random_once_in(c->world->random, 2) ? UINT32_MAX : 3;
    memcpy(bytes, &length, sizeof length);
    queue_bytes(c, bytes, sizeof bytes);
    c->garbage = true;
}

static void ask_v1(swp__client *c)
{
    const swp__model *model = c->world->model;
    swp__wire_out out;
    bool is_echo = swp__random_once_in(c->world->random, 2);
    asked *a = ask(c, is_echo ? V1_ECHO : V1_SWEEP);
    a->series = swp__random_below(c->world->random, SWP__MODEL_SERIES);
    a->grid = swp__random_below(c->world->random, SWP__MODEL_GRIDS);
    swp__wire_v1 v1 = {.opcode = is_echo ? SWP__OP_V1_ECHO : SWP__OP_V1_SWEEP,
                       .n_bars = (uint32_t)model->bars_count[a->series],
                       .n_combos = is_echo ? 0 : (uint32_t)model->rows_count[a->grid]};
    swp__wire_encode_v1(&v1, &out);
    swp__wire_append(&out, model->close[a->series], v1.n_bars * sizeof(double));
    swp__wire_append(&out, model->rows[a->grid], v1.n_combos * sizeof(swp_params));
    finish_request(c, a, &out);
}

static void ask_something(swp__client *c)
{
    if (c->outstanding > c->world->max_in_flight + 1 || c->shut || c->garbage || c->out_size > 200000) {
        return;
    }
    if (swp__random_once_in(c->world->random, 400)) {
        send_garbage(c);
        return;
    }
    if (c->version == 1) {
        ask_v1(c);
        return;
    }
    static void (*const asks[])(swp__client * c) = {ask_echo,   ask_load, ask_sweep, ask_sweep, ask_sweep,  ask_sweep, ask_find,
                                                    ask_cancel, ask_drop, ask_stats, ask_bad,   ask_trades, ask_live};
    asks[swp__random_below(c->world->random, sizeof asks / sizeof *asks)](c);
}

/* ---- hearing ---- */

static void check_results(const asked *a, const swp__model *model, const uint8_t *tail, uint64_t first, uint64_t count)
{
    check(memcmp(tail, model->pnl[a->series][a->grid] + first, count * 8) == 0, a, "pnl is not the reference's");
    check(memcmp(tail + count * 8, model->trades[a->series][a->grid] + first, count * 8) == 0, a,
          "trades are not the reference's");
}

static void hear_more(swp__client *c, asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    const swp__model *model = c->world->model;
    uint64_t combos = model->rows_count[a->grid];
    if (reply->more.kind == SWP__MORE_PROGRESS) {
        check(a->wants_progress, a, "progress was not asked for");
        check(reply->more.count == combos && reply->more.first <= combos && reply->more.first >= a->progress_done, a,
              "progress falls or has another total");
        a->progress_done = reply->more.first;
        return;
    }
    check(a->wants_blocks && reply->more.first + reply->more.count <= combos, a, "a block out of place");
    for (uint64_t i = 0; i < reply->more.count; i++) {
        check(!a->seen[reply->more.first + i], a, "a combo came twice");
        a->seen[reply->more.first + i] = 1;
    }
    a->seen_count += reply->more.count;
    check_results(a, model, tail, reply->more.first, reply->more.count);
}

static void hear_sweep(swp__client *c, asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    uint64_t combos = c->world->model->rows_count[a->grid];
    check(a->whole_handle, a, "a sweep over a handle that is none");
    if (a->wants_blocks) {
        check(a->seen_count == combos && reply->tail_size == 0, a, "OK before all blocks");
    } else {
        check_results(a, c->world->model, tail, 0, combos);
    }
    c->world->sweeps_right++;
}

/* The closed ones, and perhaps one that is open. */
static void hear_trades(const swp__client *c, const asked *a, const swp__wire_reply *reply)
{
    uint64_t closed = (uint64_t)c->world->model->trades[a->series][0][0];
    check(a->whole_handle, a, "trades over a handle that is none");
    check(reply->trades.n_trades == closed || reply->trades.n_trades == closed + 1, a, "another number of trades");
}

static void hear_live(const swp__client *c, const asked *a, const uint8_t *tail)
{
    const swp__model *model = c->world->model;
    check(a->whole_handle, a, "a session over a handle that is none");
    for (uint64_t i = 0; i < model->rows_count[a->grid]; i++) {
        swp__wire_state state;
        memcpy(&state, tail + i * sizeof state, sizeof state);
        check(state.bars_seen == (int64_t)model->bars_count[a->series] &&
                  state.trades == model->trades[a->series][a->grid][i] &&
                  memcmp(&state.pnl, &model->pnl[a->series][a->grid][i], sizeof state.pnl) == 0,
              a, "another state than the sweep's");
    }
}

static void hear_series(swp__client *c, asked *a, const swp__wire_reply *reply)
{
    const swp__model *model = c->world->model;
    check(reply->series.n_bars == model->bars_count[a->series], a, "another series");
    for (size_t i = 0; i < HANDLES_MAX; i++) {
        if (c->handles[i] == 0) {
            c->handles[i] = reply->series.handle;
            c->handle_series[i] = a->series;
            return;
        }
    }
}

/* May a request end so? */
static bool is_fair(const swp__client *c, const asked *a, uint8_t status)
{
    const swp__world *world = c->world;
    switch (status) {
    case SWP_LIMIT:
        return c->outstanding + (a->not_due ? 1 : 0) > world->max_in_flight;
    case SWP_SHUTTING_DOWN:
        return world->draining && (a->kind == LOAD || a->kind == SWEEP || a->kind == TRADES || a->kind == LIVE);
    case SWP_CANCELLED:
        return (a->kind == SWEEP || a->kind == TRADES || a->kind == LIVE) && a->cancelled;
    case SWP_NOT_FOUND:
        return a->kind == FIND ||
               ((a->kind == SWEEP || a->kind == TRADES || a->kind == LIVE || a->kind == DROP) && !a->whole_handle);
    case SWP_NO_MEMORY:
        return world->memory_may_fail;
    case SWP_BAD_FRAME:
    case SWP_UNKNOWN:
        return a->kind == BAD;
    default:
        return false;
    }
}

static void check_error(swp__client *c, asked *a, const swp__wire_reply *reply, const uint8_t *text)
{
    if (!is_fair(c, a, reply->status)) {
        swp__simulation_fail("request %u (kind %d) was answered %s, with %u outstanding: %.*s", a->id, (int)a->kind,
                             swp_status_name((swp_status)reply->status), c->outstanding, (int)reply->tail_size,
                             (const char *)text);
    }
    c->world->refused++;
    c->world->cancelled += reply->status == SWP_CANCELLED ? 1 : 0;
}

static void hear_final(swp__client *c, asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    if (a->kind == CANCEL && a->target_known && reply->status == SWP_OK) {
        check(find(c, a->target) == NULL || find(c, a->target)->kind != SWEEP, a, "answered before what it cancels");
    }
    if (reply->status != SWP_OK) {
        check_error(c, a, reply, tail);
        return;
    }
    switch (a->kind) {
    case ECHO:
        check(reply->tail_size == a->size && memcmp(tail, a->bytes, a->size) == 0, a, "other bytes came back");
        break;
    case SWEEP:
        hear_sweep(c, a, reply, tail);
        break;
    case TRADES:
        hear_trades(c, a, reply);
        break;
    case LIVE:
        hear_live(c, a, tail);
        break;
    case LOAD:
    case FIND:
        hear_series(c, a, reply);
        break;
    case STATS:
        check(reply->tail_size > 100, a, "a short page");
        break;
    case CANCEL:
    case DROP:
        break;
    default:
        check(false, a, "was answered OK");
    }
}

static void hear_frame(swp__client *c, const uint8_t *body, uint32_t body_size)
{
    swp_error error;
    swp__wire_frame frame;
    swp__wire_reply reply;
    if (swp__wire_decode_reply_header(body_size, body, &frame, &error) != SWP_OK) {
        swp__simulation_fail("a reply that is none: %s", error.message);
    }
    asked *a = find(c, frame.id);
    if (a == NULL && frame.opcode != 0) {
        swp__simulation_fail("a reply to request %u, which is not outstanding", frame.id);
    }
    if (swp__wire_decode_reply(&frame, a != NULL && a->kind != BAD ? &a->request : NULL, 0, body + SWP__WIRE_HEADER_SIZE,
                               &reply, &error) != SWP_OK &&
        (a == NULL || a->kind != BAD)) {
        swp__simulation_fail("reply to request %u: %s", frame.id, error.message);
    }
    note(c->world, (uint64_t)frame.id << 32 | (uint64_t)frame.opcode << 8 | frame.status);
    note(c->world, swp__fingerprint_of(body, frame.opcode == SWP__OP_STATS ? 8 : body_size).low);
    c->world->replies++;
    if (a == NULL) {
        if (!c->garbage && !(frame.status == SWP_BUSY || frame.status == SWP_NO_MEMORY)) {
            swp__simulation_fail("the connection was refused: %s", swp_status_name((swp_status)frame.status));
        }
        c->garbage = true; /* it ends now */
        return;
    }
    const uint8_t *tail = body + SWP__WIRE_HEADER_SIZE + frame.fixed_size;
    check(!a->not_due || (frame.status != SWP_OK && frame.status != SWP_MORE), a, "was not sent whole, and answered");
    if (a->kind == BAD) {
        check(is_fair(c, a, frame.status), a, "a bad frame was taken for a good one");
        answered(c, a);
    } else if (frame.status == SWP_MORE) {
        hear_more(c, a, &reply, tail);
    } else {
        hear_final(c, a, &reply, tail);
        answered(c, a);
    }
}

static void hear_v1(swp__client *c, const uint8_t *body, uint32_t body_size)
{
    const swp__model *model = c->world->model;
    asked *a = c->first;
    bool refused = body_size > 8 && (body[1] == SWP_BUSY || body[1] == SWP_NO_MEMORY);
    if (!c->greeted && body[0] == 0x80 && (refused || c->garbage)) {
        c->garbage = true; /* the one frame of version 2 that a version 1 client may see; it ends now */
        return;
    }
    c->greeted = true;
    if (a == NULL) {
        swp__simulation_fail("a version 1 reply to nothing");
    }
    if (a->kind == V1_ECHO) {
        uint64_t size = model->bars_count[a->series] * sizeof(double);
        check(body_size == size && memcmp(body, model->close[a->series], size) == 0, a, "other closes came back");
    } else {
        check(body_size == 16 * model->rows_count[a->grid], a, "another number of results");
        check_results(a, model, body, 0, model->rows_count[a->grid]);
        c->world->sweeps_right++;
    }
    note(c->world, swp__fingerprint_of(body, body_size).low);
    c->world->replies++;
    answered(c, a);
}

/* A connection may only end by its own doing, when it was slow, or when the server ends. */
static void hear_end(swp__client *c)
{
    const swp__world *world = c->world;
    c->ended = true;
    c->world->connections_lost++;
    bool is_fault = c->garbage || world->draining || world->memory_may_fail || world->jumps > 0;
    if (!is_fault && !(c->shut && c->outstanding == 0 && c->out_size == 0)) {
        swp__simulation_fail("a connection ended that gave no reason: %u outstanding, shut %d", c->outstanding, c->shut);
    }
    swp__net_close(c->line);
    c->closed = true;
}

static void hear(swp__client *c)
{
    uint8_t bytes[READ_SIZE];
    int64_t got = swp__net_recv(c->line, bytes, 1 + swp__random_below(c->world->random, READ_SIZE));
    if (got < 0) {
        hear_end(c);
        return;
    }
    append(&c->in, &c->in_size, &c->in_capacity, bytes, (size_t)got);
    size_t at = 0;
    uint32_t body_size;
    while (c->in_size - at >= sizeof body_size) {
        memcpy(&body_size, c->in + at, sizeof body_size);
        if (c->in_size - at - sizeof body_size < body_size) {
            break;
        }
        at += sizeof body_size;
        uint8_t *body = malloc(body_size + 64); /* of its own, so that a sanitizer sees what reads past it */
        memcpy(body, c->in + at, body_size);
        if (c->version == 1) {
            hear_v1(c, body, body_size);
        } else {
            hear_frame(c, body, body_size);
        }
        free(body);
        at += body_size;
    }
    if (at > 0) {
        memmove(c->in, c->in + at, c->in_size - at);
        c->in_size -= at;
    }
}

/* ---- acting ---- */

static void send_some(swp__client *c)
{
    if (c->out_size == 0 || c->shut) {
        return;
    }
    size_t most = swp__random_once_in(c->world->random, 3) ? 1 + swp__random_below(c->world->random, 100) : c->out_size;
    size_t sent = swp__net_send(c->line, c->out, most < c->out_size ? most : c->out_size);
    memmove(c->out, c->out + sent, c->out_size - sent);
    c->out_size -= sent;
    c->sent_bytes += sent;
}

static void leave(swp__client *c)
{
    if (swp__random_once_in(c->world->random, 2)) {
        swp__net_shut(c->line);
        c->shut = true;
        c->garbage = c->garbage || c->out_size > 0; /* in the middle of a frame, perhaps */
        c->out_size = 0;
        for (asked *a = c->first; a != NULL; a = a->next) {
            if (a->ends_at > c->sent_bytes) {
                a->not_due = true;
                c->outstanding--;
            }
        }
    } else {
        swp__net_close(c->line);
        c->closed = true;
    }
}

void swp__client_act(swp__client *c)
{
    if (c->closed) {
        return;
    }
    uint64_t what = swp__random_below(c->world->random, 100);
    if (what < 30) {
        ask_something(c);
    } else if (what < 65) {
        send_some(c);
    } else if (what < 99 || !swp__random_once_in(c->world->random, 3)) {
        if (!c->lazy || swp__random_once_in(c->world->random, 40)) {
            hear(c);
        }
    } else if (!c->shut) {
        leave(c);
    }
}

bool swp__client_finish(swp__client *c)
{
    if (c->closed) {
        return false;
    }
    if (c->out_size > 0 && !c->shut) {
        send_some(c);
    } else if (!c->shut && c->outstanding == 0) {
        swp__net_shut(c->line);
        c->shut = true;
    }
    hear(c);
    return !c->closed;
}

bool swp__client_is_over(const swp__client *c)
{
    return c->closed;
}
