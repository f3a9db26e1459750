/* Uploads: a series in parts of any size and order, some wrong at first, some never sent. */
#include "simulation/client_inside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static uint64_t bars_of(const swp__client *c, const swp__upload *u)
{
    return c->world->model->bars_count[u->series];
}

static void forget(swp__upload *u)
{
    free(u->bars);
    *u = (swp__upload){0};
}

void swp__uploads_forget(swp__client *c)
{
    for (size_t i = 0; i < SWP__CLIENT_UPLOADS; i++) {
        forget(&c->uploads[i]);
    }
}

/* Those the server may count. */
static uint64_t count_uploads(const swp__client *c)
{
    uint64_t count = 0;
    for (size_t i = 0; i < SWP__CLIENT_UPLOADS; i++) {
        count += c->uploads[i].state != SWP__UPLOAD_NONE ? 1 : 0;
    }
    return count;
}

/* Those it must count: neither beginning nor ending. */
static uint64_t count_open(const swp__client *c)
{
    uint64_t count = 0;
    for (size_t i = 0; i < SWP__CLIENT_UPLOADS; i++) {
        count += c->uploads[i].state == SWP__UPLOAD_OPEN ? 1 : 0;
    }
    return count;
}

/* ---- beginning ---- */

static void hear_begin(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    (void)tail;
    swp__upload *u = &c->uploads[a->slot];
    swp__client_check(a->expected != SWP_LIMIT, a, "one more upload than max-uploads");
    u->state = SWP__UPLOAD_OPEN;
    u->number = reply->upload.upload;
    for (size_t i = 0; i < SWP__CLIENT_UPLOADS; i++) {
        swp__client_check(i == a->slot || c->uploads[i].number != u->number, a, "two uploads of one number");
    }
}

static bool is_fair_begin(const swp__client *c, const swp__asked *a, const swp__wire_reply *reply)
{
    const swp__world *world = c->world;
    bool too_many = reply->error.a == world->max_uploads && a->uploads_count > world->max_uploads;
    bool too_much = world->memory_is_tight && reply->error.a == world->max_memory && reply->error.b > reply->error.a;
    return reply->status == SWP_LIMIT && (too_many || too_much);
}

static void begin_refused(swp__client *c, swp__asked *a, const swp__wire_reply *reply)
{
    (void)reply;
    c->world->seen.uploads_refused++;
    forget(&c->uploads[a->slot]);
}

static void begin(swp__client *c, size_t slot)
{
    static const swp__kind kind = {
        .name = "LOAD_BEGIN", .is_new_work = true, .hear = hear_begin, .is_fair = is_fair_begin, .refused = begin_refused};
    swp__wire_out out;
    swp__upload *u = &c->uploads[slot];
    swp__asked *a = swp__client_ask(c, &kind);
    a->slot = slot;
    a->expected = count_open(c) >= c->world->max_uploads ? SWP_LIMIT : SWP_OK;
    u->state = SWP__UPLOAD_BEGINS;
    u->series = swp__client_draw(c, SWP__MODEL_SERIES);
    u->columns = SWP__COLUMN_CLOSE | (swp__client_once_in(c, 3) ? (uint32_t)SWP__COLUMN_VOLUME : 0);
    u->bars = calloc(2, bars_of(c, u));
    assert(u->bars != NULL);
    a->uploads_count = count_uploads(c);
    a->request.shape = (swp__wire_shape){.n_bars = bars_of(c, u), .columns = u->columns};
    swp__client_start(a, SWP__OP_LOAD_BEGIN, &out);
    swp__client_finish_request(c, a, &out);
}

/* ---- parts ---- */

static void hear_part(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    (void)reply;
    (void)tail;
    swp__upload *u = &c->uploads[a->slot];
    swp__client_check(a->expected == SWP_OK, a, "a part of no upload, column or bar");
    memset(u->bars + a->column * bars_of(c, u) + a->first, a->is_wrong ? SWP__PART_WRONG : SWP__PART_RIGHT, a->count);
    u->parts--;
}

static bool is_fair_part(const swp__client *c, const swp__asked *a, const swp__wire_reply *reply)
{
    (void)c;
    return a->expected != SWP_OK && reply->status == a->expected && reply->error.at == SWP_AT_NONE;
}

static void part_refused(swp__client *c, swp__asked *a, const swp__wire_reply *reply)
{
    (void)reply;
    c->uploads[a->slot].parts--;
}

static const swp__kind part_kind = {.name = "LOAD_PART", .hear = hear_part, .is_fair = is_fair_part, .refused = part_refused};

static void send_part(swp__client *c, swp__asked *a)
{
    swp__wire_out out;
    const double *close = c->world->model->feed + a->first;
    static const double wrong[4096] = {0}; /* no close may be 0 */
    assert(a->request.load_part.n_bars <= sizeof wrong / sizeof *wrong);
    swp__client_start(a, SWP__OP_LOAD_PART, &out);
    swp__wire_append(&out, a->is_wrong ? wrong : close, a->request.load_part.n_bars * sizeof(double));
    swp__client_finish_request(c, a, &out);
    c->uploads[a->slot].parts++;
}

/* Bars that are missing, mostly; of any number; wrong closes now and then, to be sent again. */
static void part(swp__client *c, size_t slot)
{
    swp__upload *u = &c->uploads[slot];
    swp__asked *a = swp__client_ask(c, &part_kind);
    uint64_t bars = bars_of(c, u);
    a->slot = slot;
    a->column = u->columns != SWP__COLUMN_CLOSE && swp__client_once_in(c, 2) ? 1 : 0;
    a->is_wrong = a->column == 0 && swp__client_once_in(c, 12);
    const uint8_t *missing = memchr(u->bars + a->column * bars, SWP__PART_MISSING, bars);
    a->first = missing != NULL && !swp__client_once_in(c, 4) ? (uint64_t)(missing - (u->bars + a->column * bars))
                                                             : swp__client_draw(c, bars);
    a->count = swp__client_once_in(c, 2) ? bars - a->first : 1 + swp__client_draw(c, bars - a->first);
    a->request.load_part = (swp__wire_load_part){.upload = u->number,
                                                 .column = a->column == 0 ? SWP__COLUMN_CLOSE : SWP__COLUMN_VOLUME,
                                                 .first_bar = a->first,
                                                 .n_bars = a->count};
    send_part(c, a);
}

/* Of an upload that is none, a column it has not, or bars behind its end. */
static void part_that_fits_nowhere(swp__client *c, size_t slot)
{
    swp__upload *u = &c->uploads[slot];
    swp__asked *a = swp__client_ask(c, &part_kind);
    a->slot = slot;
    a->expected = SWP_BAD_PARAM;
    a->request.load_part = (swp__wire_load_part){.upload = u->number, .column = SWP__COLUMN_CLOSE, .n_bars = 1};
    switch (swp__client_draw(c, 3)) {
    case 0:
        a->expected = SWP_NOT_FOUND;
        a->request.load_part.upload = SWP__CLIENT_NO_HANDLE;
        break;
    case 1:
        a->request.load_part.column = SWP__COLUMN_HIGH;
        break;
    default:
        a->request.load_part.first_bar = bars_of(c, u) - swp__client_draw(c, 2);
        a->request.load_part.n_bars = 2;
        break;
    }
    send_part(c, a);
}

/* ---- ending ---- */

/* What a commit of this must be answered. */
static void judge(const swp__client *c, const swp__upload *u, swp__asked *a)
{
    uint64_t bars = bars_of(c, u);
    const uint8_t *volume = u->bars + bars;
    const uint8_t *missing = memchr(u->bars, SWP__PART_MISSING, bars), *wrong = memchr(u->bars, SWP__PART_WRONG, bars);
    const uint8_t *lacking = u->columns != SWP__COLUMN_CLOSE ? memchr(volume, SWP__PART_MISSING, bars) : NULL;
    bool is_whole = missing == NULL && lacking == NULL;
    const uint8_t *at = !is_whole ? (missing != NULL ? missing : u->bars + (lacking - volume)) : wrong;
    a->expected = at != NULL ? SWP_BAD_PARAM : SWP_OK;
    a->expected_at = at != NULL ? (uint64_t)(at - u->bars) : 0;
    a->is_wrong = is_whole && wrong != NULL; /* then the upload is gone */
}

static void hear_commit(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    (void)tail;
    swp__client_check(a->expected == SWP_OK, a, "an upload that is not whole, or not right, became a series");
    swp__client_hear_series(c, a, reply, c->uploads[a->slot].columns);
    forget(&c->uploads[a->slot]);
    c->world->seen.uploads++;
}

static bool is_fair_commit(const swp__client *c, const swp__asked *a, const swp__wire_reply *reply)
{
    (void)c;
    return a->expected == SWP_BAD_PARAM && reply->status == SWP_BAD_PARAM && reply->error.at == a->expected_at;
}

/* NO_MEMORY comes from making the series: the upload is gone, as after closes that are refused. */
static void commit_refused(swp__client *c, swp__asked *a, const swp__wire_reply *reply)
{
    swp__upload *u = &c->uploads[a->slot];
    c->world->seen.uploads_refused += reply->status == SWP_BAD_PARAM ? 1 : 0;
    if (a->is_wrong || reply->status == SWP_NO_MEMORY) {
        forget(u);
    } else {
        u->state = SWP__UPLOAD_OPEN;
    }
}

static void commit(swp__client *c, size_t slot)
{
    static const swp__kind kind = {
        .name = "LOAD_COMMIT", .hear = hear_commit, .is_fair = is_fair_commit, .refused = commit_refused};
    swp__wire_out out;
    swp__upload *u = &c->uploads[slot];
    swp__asked *a = swp__client_ask(c, &kind);
    a->slot = slot;
    a->series = u->series;
    judge(c, u, a);
    u->state = SWP__UPLOAD_ENDS;
    if (u->columns == SWP__COLUMN_CLOSE) {
        swp__client_note_loaded(c, u->series);
    }
    a->request.upload.upload = u->number;
    swp__client_start(a, SWP__OP_LOAD_COMMIT, &out);
    swp__client_finish_request(c, a, &out);
}

static void hear_abandon(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    (void)reply;
    (void)tail;
    forget(&c->uploads[a->slot]);
}

static void abandon_refused(swp__client *c, swp__asked *a, const swp__wire_reply *reply)
{
    (void)reply;
    c->uploads[a->slot].state = SWP__UPLOAD_OPEN;
}

static void abandon(swp__client *c, size_t slot)
{
    static const swp__kind kind = {.name = "DROP of an upload", .hear = hear_abandon, .refused = abandon_refused};
    swp__wire_out out;
    swp__asked *a = swp__client_ask(c, &kind);
    a->slot = slot;
    c->uploads[slot].state = SWP__UPLOAD_ENDS;
    a->request.handle.handle = c->uploads[slot].number;
    swp__client_start(a, SWP__OP_DROP, &out);
    swp__client_finish_request(c, a, &out);
}

static bool lacks_bars(const swp__client *c, const swp__upload *u)
{
    uint64_t bars = bars_of(c, u);
    bool lacks_volume = u->columns != SWP__COLUMN_CLOSE && memchr(u->bars + bars, SWP__PART_MISSING, bars) != NULL;
    return lacks_volume || memchr(u->bars, SWP__PART_MISSING, bars) != NULL;
}

void swp__ask_upload(swp__client *c)
{
    size_t slot = swp__client_draw(c, SWP__CLIENT_UPLOADS);
    const swp__upload *u = &c->uploads[slot];
    if (u->state == SWP__UPLOAD_NONE && (count_uploads(c) < c->world->max_uploads || swp__client_once_in(c, 20))) {
        begin(c, slot);
    } else if (u->state == SWP__UPLOAD_OPEN && swp__client_once_in(c, 30)) {
        part_that_fits_nowhere(c, slot);
    } else if (u->state == SWP__UPLOAD_OPEN && u->parts == 0 && swp__client_once_in(c, 40)) {
        abandon(c, slot);
    } else if (u->state == SWP__UPLOAD_OPEN && u->parts == 0 && (!lacks_bars(c, u) || swp__client_once_in(c, 20))) {
        commit(c, slot);
    } else if (u->state == SWP__UPLOAD_OPEN) {
        part(c, slot);
    }
}
