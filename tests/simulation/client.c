#include "simulation/client_inside.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { READ_SIZE = 4096 };

/* ---- small things ---- */

static void note(swp__world *world, uint64_t value)
{
    world->trace = (world->trace ^ value) * UINT64_C(0x100000001B3);
}

void swp__client_check(bool condition, const swp__asked *a, const char *what)
{
    if (!condition) {
        swp__simulation_fail("request %" PRIu32 " (%s): %s", a->id, a->kind->name, what);
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

void swp__client_queue_bytes(swp__client *c, const void *bytes, size_t size)
{
    append(&c->out, &c->out_size, &c->out_capacity, bytes, size);
    c->queued_bytes += size;
}

/* ---- requests that wait for their answers ---- */

swp__asked *swp__client_ask(swp__client *c, const swp__kind *kind)
{
    swp__asked *a = calloc(1, sizeof *a);
    assert(a != NULL);
    a->kind = kind;
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

void swp__client_start(swp__asked *a, uint8_t opcode, swp__wire_out *out)
{
    a->request.opcode = opcode;
    a->request.id = a->id;
    swp__wire_encode_request(&a->request, out);
}

void swp__client_finish_request(swp__client *c, swp__asked *a, swp__wire_out *out)
{
    swp_status status = swp__wire_finish(out, UINT32_MAX, NULL);
    assert(status == SWP_OK);
    uint8_t *bytes = malloc(out->size);
    assert(bytes != NULL);
    swp__wire_copy(out, bytes);
    swp__client_queue_bytes(c, bytes, out->size);
    free(bytes);
    a->ends_at = c->queued_bytes;
}

swp__asked *swp__client_find(const swp__client *c, uint32_t id)
{
    swp__asked *a = c->first;
    while (a != NULL && a->id != id) {
        a = a->next;
    }
    return a;
}

static void answered(swp__client *c, swp__asked *a)
{
    swp__asked **link = &c->first, *before = NULL;
    while (*link != a) {
        before = *link;
        link = &before->next;
    }
    *link = a->next;
    if (c->last == a) {
        c->last = before;
    }
    c->outstanding -= a->not_due ? 0 : 1;
    free(a->bytes);
    free(a->seen);
    free(a);
}

/* ---- life ---- */

bool swp__client_connect(swp__client *c)
{
    assert(c->closed && c->first == NULL);
    swp__line *line = swp__net_connect(c->world->net);
    if (line == NULL) {
        return false;
    }
    c->line = line;
    c->life = c->world->life;
    c->shut = c->closed = c->greeted = c->garbage = false;
    c->lazy = swp__client_once_in(c, 6);
    c->taste = (unsigned)swp__client_draw(c, 4);
    return true;
}

swp__client *swp__client_new(swp__world *world, int version)
{
    swp__client *c = calloc(1, sizeof *c);
    assert(c != NULL);
    c->world = world;
    c->version = version;
    c->closed = true;
    if (!swp__client_connect(c)) {
        free(c);
        return NULL;
    }
    return c;
}

/* What goes with a connection, on this side. */
static void close_line(swp__client *c)
{
    swp__net_close(c->line);
    c->closed = true;
    while (c->first != NULL) {
        answered(c, c->first);
    }
    for (size_t i = 0; i < SWP__CLIENT_HANDLES; i++) {
        if (c->handles[i] != 0) {
            c->old_handle = c->handles[i];
            c->old_life = c->life;
        }
        c->handles[i] = 0;
    }
    c->outstanding = c->drops = c->loaded = 0;
    c->out_size = c->in_size = 0;
    c->queued_bytes = c->sent_bytes = 0;
    swp__uploads_forget(c);
    swp__sessions_forget(c);
}

void swp__client_free(swp__client *c)
{
    if (!c->closed) {
        close_line(c);
    }
    swp__saved_free(c);
    free(c->out);
    free(c->in);
    free(c);
}

/* ---- asking ---- */

/* What no server can go on after. */
static void send_garbage(swp__client *c)
{
    uint8_t bytes[64] = {0};
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)swp__random_next(c->world->random);
    }
    uint32_t length = swp__client_once_in(c, 2) ? UINT32_MAX : 3;
    memcpy(bytes, &length, sizeof length);
    swp__client_queue_bytes(c, bytes, sizeof bytes);
    c->garbage = true;
}

static void ask_something(swp__client *c)
{
    static void (*const asks[])(swp__client *) = {swp__ask_sweep, swp__ask_upload, swp__ask_session, swp__ask_request};
    uint64_t most = c->world->max_in_flight + (swp__client_once_in(c, 16) ? 2 : 0); /* too many now and then */
    if (c->outstanding >= most || c->shut || c->garbage || c->out_size > 200000) {
        return;
    }
    if (swp__client_once_in(c, 400)) {
        send_garbage(c);
    } else if (c->version == 1) {
        swp__ask_v1(c);
    } else {
        asks[swp__client_once_in(c, 2) ? c->taste : swp__client_draw(c, 4)](c);
    }
}

/* ---- hearing ---- */

static bool may_have_drained(const swp__client *c)
{
    return c->life == c->world->life ? c->world->draining : (c->world->lives_drained >> c->life & 1) != 0;
}

/* May a request end so? */
static bool is_fair(const swp__client *c, const swp__asked *a, const swp__wire_reply *reply)
{
    const swp__world *world = c->world;
    bool is_own = a->kind->is_fair != NULL && a->kind->is_fair(c, a, reply);
    switch (reply->status) {
    case SWP_LIMIT:
        return is_own ||
               (reply->error.a == world->max_in_flight && c->outstanding + (a->not_due ? 1 : 0) > world->max_in_flight);
    case SWP_SHUTTING_DOWN:
        return a->kind->is_new_work && may_have_drained(c);
    case SWP_CANCELLED:
        return a->kind->may_be_cancelled && a->cancelled;
    case SWP_NO_MEMORY:
        return world->memory_may_fail;
    case SWP_BAD_FRAME:
    case SWP_UNKNOWN:
        return is_own || a->kind->is_bad;
    default:
        return is_own;
    }
}

static void hear_refusal(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *text)
{
    if (!is_fair(c, a, reply)) {
        swp__simulation_fail("request %" PRIu32 " (%s) was answered %s, with %" PRIu32 " outstanding: %.*s", a->id,
                             a->kind->name, swp_status_name((swp_status)reply->status), c->outstanding, (int)reply->tail_size,
                             (const char *)text);
    }
    c->world->seen.refused++;
    c->world->seen.cancelled += reply->status == SWP_CANCELLED ? 1 : 0;
    c->world->seen.limits += reply->status == SWP_LIMIT && reply->error.a != c->world->max_in_flight ? 1 : 0;
    if (a->kind->refused != NULL) {
        a->kind->refused(c, a, reply);
    }
}

static void hear_reply(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail)
{
    swp__client_check(!a->not_due || reply->status > SWP_MORE, a, "was not sent whole, and answered");
    if (reply->status == SWP_MORE) {
        swp__client_check(a->kind->hear_more != NULL, a, "a frame that is not the last");
        a->kind->hear_more(c, a, reply, tail);
        return;
    }
    if (reply->status != SWP_OK) {
        hear_refusal(c, a, reply, tail);
    } else {
        swp__client_check(a->kind->hear != NULL, a, "was answered OK");
        a->kind->hear(c, a, reply, tail);
    }
    answered(c, a);
}

/* An error about the connection, which ends it. */
static void hear_verdict(swp__client *c, const swp__wire_frame *frame)
{
    if (frame->opcode != 0) {
        swp__simulation_fail("a reply to request %" PRIu32 ", which is not outstanding", frame->id);
    }
    if (!c->garbage && frame->status != SWP_BUSY && frame->status != SWP_NO_MEMORY) {
        swp__simulation_fail("the connection was refused: %s", swp_status_name((swp_status)frame->status));
    }
    c->garbage = true;
}

static void hear_frame(swp__client *c, const uint8_t *body, uint32_t body_size)
{
    swp_error error;
    swp__wire_frame frame;
    swp__wire_reply reply;
    if (swp__wire_decode_reply_header(body_size, body, &frame, &error) != SWP_OK) {
        swp__simulation_fail("a reply that is none: %s", error.message);
    }
    note(c->world, (uint64_t)frame.id << 32 | (uint64_t)frame.opcode << 8 | frame.status);
    note(c->world, swp__fingerprint_of(body, frame.opcode == SWP__OP_STATS ? 8 : body_size).low);
    c->world->seen.replies++;
    swp__asked *a = frame.opcode != 0 ? swp__client_find(c, frame.id) : NULL;
    if (a == NULL) {
        hear_verdict(c, &frame);
        return;
    }
    if (a->kind->is_bad) { /* it has an opcode that no request has */
        reply = (swp__wire_reply){.status = frame.status, .tail_size = 0};
        memcpy(&reply.error, body + SWP__WIRE_HEADER_SIZE, sizeof reply.error);
    } else if (swp__wire_decode_reply(&frame, &a->request, a->session_combos, body + SWP__WIRE_HEADER_SIZE, &reply, &error) !=
               SWP_OK) {
        swp__simulation_fail("reply to request %" PRIu32 " (%s): %s", frame.id, a->kind->name, error.message);
    }
    hear_reply(c, a, &reply, body + SWP__WIRE_HEADER_SIZE + frame.fixed_size);
}

static void hear_version_1(swp__client *c, const uint8_t *body, uint32_t body_size)
{
    bool refused = body_size > 8 && (body[1] == SWP_BUSY || body[1] == SWP_NO_MEMORY);
    if (!c->greeted && body_size > 0 && body[0] == 0x80 && (refused || c->garbage)) {
        c->garbage = true; /* the one frame of version 2 that a version 1 client may see; it ends now */
        return;
    }
    c->greeted = true;
    if (c->first == NULL) {
        swp__simulation_fail("a version 1 reply to nothing");
    }
    swp__hear_v1(c, c->first, body, body_size);
    note(c->world, swp__fingerprint_of(body, body_size).low);
    c->world->seen.replies++;
    answered(c, c->first);
}

/* A connection may only end by its own doing, when it was slow, or when the server ends. */
static void hear_end(swp__client *c)
{
    const swp__world *world = c->world;
    c->world->seen.connections_lost++;
    bool is_fault = c->garbage || world->draining || world->memory_may_fail || world->jumps > 0 || c->life != world->life;
    if (!is_fault && !(c->shut && c->outstanding == 0 && c->out_size == 0)) {
        swp__simulation_fail("a connection ended that gave no reason: %" PRIu32 " outstanding, shut %d", c->outstanding,
                             c->shut);
    }
    close_line(c);
}

static void hear(swp__client *c)
{
    uint8_t bytes[READ_SIZE];
    int64_t got = swp__net_recv(c->line, bytes, 1 + swp__client_draw(c, READ_SIZE));
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
        assert(body != NULL);
        memcpy(body, c->in + at, body_size);
        if (c->version == 1) {
            hear_version_1(c, body, body_size);
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
    size_t most = swp__client_once_in(c, 3) ? 1 + swp__client_draw(c, 100) : c->out_size;
    size_t sent = swp__net_send(c->line, c->out, most < c->out_size ? most : c->out_size);
    memmove(c->out, c->out + sent, c->out_size - sent);
    c->out_size -= sent;
    c->sent_bytes += sent;
}

/* Asks nothing more, in the middle of a frame, perhaps. */
static void shut(swp__client *c)
{
    swp__net_shut(c->line);
    c->shut = true;
    c->garbage = c->garbage || c->out_size > 0;
    c->out_size = 0;
    for (swp__asked *a = c->first; a != NULL; a = a->next) {
        if (a->ends_at > c->sent_bytes) {
            a->not_due = true;
            c->outstanding--;
        }
    }
}

void swp__client_act(swp__client *c)
{
    if (c->closed) {
        return;
    }
    uint64_t what = swp__client_draw(c, 100);
    if (what < 30) {
        ask_something(c);
    } else if (what < 65) {
        send_some(c);
    } else if (what < 99 || !swp__client_once_in(c, 3)) {
        if (!c->lazy || swp__client_once_in(c, 40)) {
            hear(c);
        }
    } else if (!c->shut && swp__client_once_in(c, 2)) {
        shut(c);
    } else if (!c->shut) {
        close_line(c);
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
