/* One peer: its bytes become frames, its frames become calls, and what they answer leaves in order.
 *
 * Reading: where it is not known what comes next, bytes go to the server's read buffer and are taken apart from there.
 * Once a frame's fixed part is in, its arrays have a place, and the rest is read straight into them; the read buffer is
 * the last piece of such a read, so that the next frame's start comes along.
 *
 *     head (length, header, fixed part) ──> targets (the call's arrays, or a series' columns) ──> run
 *                                     └──> skip (a refused body) */
#include "server/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "base/host.h"

#define PEER_LINES_NS UINT64_C(10000000000) /* in which ... */
enum { PEER_LINES = 50 };                   /* ... so many lines about peers' faults are written */

swp__connection *swp__connection_open(swp__server *server, const swp__stream *stream, const swp__peer *peer)
{
    swp__connection *c = swp__alloc(&server->allocator, 1, sizeof *c);
    if (c == NULL) {
        return NULL;
    }
    *c = (swp__connection){
        .server = server,
        .number = ++server->connections_numbered,
        .stream = *stream,
        .peer = *peer,
        .authorised = server->options.token == NULL,
        .writable = true,
        .head_wanted = SWP__WIRE_LENGTH_SIZE,
        .moved_ns = server->now_ns,
    };
    if (swp__poller_add_stream(server->poller, &c->stream, c) != 0) {
        swp__free(&server->allocator, c, 1, sizeof *c);
        return NULL;
    }
    c->next = server->connections;
    if (c->next != NULL) {
        c->next->previous = c;
    }
    server->connections = c;
    server->connections_count++;
    server->counters.connections_accepted++;
    if (server->options.limits.idle_timeout_ms > 0) {
        swp__connection_watch(c);
    }
    return c;
}

void swp__log_peer(swp__connection *c, const char *format, ...)
{
    uint64_t suppressed;
    if (!swp__log_allowed(&c->server->peer_limiter, c->server->now_ns, PEER_LINES_NS, PEER_LINES, &suppressed)) {
        return;
    }
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (suppressed > 0) {
        swp__log_line(c->server->log, SWP__LOG_WARNING, "%" PRIu64 " lines about peers were left out", suppressed);
    }
    swp__log_line(c->server->log, SWP__LOG_WARNING, "connection %" PRIu64 ": %s", c->number, text);
}

void swp__connection_wants_turn(swp__connection *c)
{
    swp__server *server = c->server;
    if (c->in_turn || !swp__stream_is_open(&c->stream)) {
        return;
    }
    c->in_turn = true;
    c->turn_round = server->round;
    c->turn_next = NULL;
    if (server->turn_first == NULL) {
        server->turn_first = c;
    } else {
        server->turn_last->turn_next = c;
    }
    server->turn_last = c;
}

void swp__connection_watch(swp__connection *c)
{
    swp__server *server = c->server;
    uint64_t soon = server->now_ns + SWP__LOOK_NS;
    if (server->look_ns > soon) {
        server->look_ns = soon;
    }
}

/* ---- reading ---- */

static uint64_t waiting_bytes(const swp__connection *c)
{
    return c->out_bytes + c->calls_count * sizeof(swp__call);
}

/* Version 1 answers one request before it looks at the next. */
static bool must_wait(const swp__connection *c)
{
    return c->version == 1 && c->in_flight > 0;
}

static void set_wants_output(swp__connection *c, bool wanted)
{
    if (c->wants_output != wanted) {
        c->wants_output = wanted;
        swp__poller_want_output(c->server->poller, &c->stream, c, wanted);
    }
}

/* Would it be read if something came? */
static bool is_listened_to(const swp__connection *c)
{
    return swp__stream_is_open(&c->stream) && !c->ended && !c->closing && c->stash_size == 0 && !must_wait(c) &&
           waiting_bytes(c) < c->server->options.limits.max_waiting;
}

static bool may_read(const swp__connection *c)
{
    return (c->readable || (c->shm != NULL && swp__shm_has_input(c->shm))) && is_listened_to(c);
}

bool swp__connection_has_input(const swp__connection *c)
{
    return swp__shm_has_input(c->shm) && is_listened_to(c);
}

void swp__connection_share(swp__connection *c, swp__shm *shm)
{
    swp__shm_attach(shm, &c->stream);
    c->shm = shm;
    set_wants_output(c, false); /* room in the ring is told of by a wake */
    swp__server_watch(c->server, c);
}

static bool in_frame(const swp__connection *c)
{
    return c->head_size > 0 || c->target_left > 0 || c->skip_left > 0;
}

static void refuse_length(swp__connection *c, const swp_error *error)
{
    if (c->version == 2) {
        swp__v2_refuse(c, &(swp__wire_frame){0}, error);
    }
    swp__log_peer(c, "closed: %s", error->message);
    c->failed = true;
    swp__connection_finish(c);
}

/* The opcode of the first frame settles what is spoken. */
static void choose_version(swp__connection *c)
{
    uint8_t opcode = c->head[SWP__WIRE_LENGTH_SIZE];
    c->version = swp__wire_version_of(opcode);
    if (c->version == 1 && !c->authorised) {
        swp__log_peer(c, "closed: it speaks version 1, which cannot bring the token that is asked for");
    } else if (c->version == 0) {
        swp__log_peer(c, "closed: its first opcode is 0x%02x, of neither version", opcode);
    } else {
        return;
    }
    c->failed = true;
    swp__connection_finish(c);
}

/* Length and version are in the head. */
static void accept_length(swp__connection *c)
{
    swp_error error;
    uint32_t body_size;
    swp_status status = swp__wire_decode_length(c->version, c->head, c->server->options.limits.max_frame, &body_size, &error);
    if (status != SWP_OK) {
        refuse_length(c, &error);
        return;
    }
    c->body_size = body_size;
    c->head_wanted = c->version == 1 ? SWP__WIRE_LENGTH_SIZE + SWP__WIRE_V1_FIXED_SIZE : SWP__WIRE_PAYLOAD_AT;
}

void swp__connection_skip_body(swp__connection *c)
{
    c->skip_left = c->body_size - (c->head_size - SWP__WIRE_LENGTH_SIZE);
    c->head_size = 0;
    c->head_wanted = SWP__WIRE_LENGTH_SIZE;
}

static void accept_header(swp__connection *c)
{
    swp_error error;
    swp_status status = swp__wire_decode_request_header(c->body_size, c->head + SWP__WIRE_LENGTH_SIZE, &c->frame, &error);
    if (status != SWP_OK) {
        swp__v2_refuse(c, &c->frame, &error);
        swp__connection_skip_body(c);
        return;
    }
    c->head_wanted = SWP__WIRE_PAYLOAD_AT + c->frame.fixed_size;
}

static void run(swp__connection *c)
{
    swp__call *call = c->reading;
    c->reading = NULL;
    c->server->counters.requests++;
    if (c->version == 1) {
        swp__v1_run(call);
    } else {
        swp__v2_run(call);
    }
}

static void begin_frame(swp__connection *c)
{
    c->target = c->targets_count = 0;
    c->pace_in = (swp__pace){.since_ns = c->server->now_ns};
    if (c->version == 1) {
        swp__v1_begin(c);
    } else {
        swp__v2_begin(c);
    }
    if (c->reading == NULL) {
        if (!c->closing) {
            swp__connection_skip_body(c);
        }
        return;
    }
    c->head_size = 0;
    c->head_wanted = SWP__WIRE_LENGTH_SIZE;
    for (int i = 0; i < c->targets_count; i++) {
        c->target_left += c->targets[i].iov_len;
    }
    if (c->target_left == 0) {
        run(c);
    }
}

/* The head has what was wanted of it: want more, or begin. */
static void head_step(swp__connection *c)
{
    if (c->head_size == SWP__WIRE_LENGTH_SIZE && c->version == 0) {
        c->head_wanted = SWP__WIRE_LENGTH_SIZE + 1;
        static const uint8_t nothing[SWP__WIRE_LENGTH_SIZE];
        if (memcmp(c->head, nothing, sizeof nothing) == 0) {
            swp__log_peer(c, "closed: its first frame is empty");
            c->failed = true;
            swp__connection_finish(c);
        }
        return;
    }
    if (c->version == 0) {
        choose_version(c);
    }
    if (c->closing) {
        return;
    }
    if (c->head_size <= SWP__WIRE_LENGTH_SIZE + 1) {
        accept_length(c);
    } else if (c->version == 2 && c->head_size == SWP__WIRE_PAYLOAD_AT) {
        accept_header(c);
    }
    if (!c->closing && c->head_size == c->head_wanted) {
        begin_frame(c);
    }
}

static size_t take_head(swp__connection *c, const uint8_t *bytes, size_t size)
{
    size_t wanted = c->head_wanted - c->head_size;
    size = size < wanted ? size : wanted;
    memcpy(c->head + c->head_size, bytes, size);
    c->head_size += (uint32_t)size;
    if (c->head_size == c->head_wanted) {
        head_step(c);
    }
    return size;
}

static void targets_filled(swp__connection *c, size_t size)
{
    c->target += swp__iovecs_advance(c->targets + c->target, c->targets_count - c->target, size);
    c->target_left -= size;
    if (c->reading->load != NULL) {
        swp__load_arrived(c->reading, c->reading->request.tail_size - c->target_left, size);
    }
    if (c->target_left == 0) {
        run(c);
    }
}

static size_t take_targets(swp__connection *c, const uint8_t *bytes, size_t size)
{
    struct iovec *target = &c->targets[c->target];
    size = size < target->iov_len ? size : target->iov_len;
    memcpy(target->iov_base, bytes, size);
    targets_filled(c, size);
    return size;
}

static size_t take_skip(swp__connection *c, size_t size)
{
    size = size < c->skip_left ? size : (size_t)c->skip_left;
    c->skip_left -= size;
    return size;
}

/* Keeps what a version 1 peer sent ahead. */
static void stash(swp__connection *c, const uint8_t *bytes, size_t size)
{
    if (c->stash == NULL) {
        c->stash = swp__alloc(&c->server->allocator, SWP__READ_SIZE, 1);
    }
    if (c->stash == NULL) {
        swp__connection_drop(c, "no memory");
        return;
    }
    memmove(c->stash, bytes, size);
    c->stash_size = size;
}

static void consume(swp__connection *c, const uint8_t *bytes, size_t size)
{
    bool was_shared = c->shm != NULL;
    while (size > 0 && !c->closing && swp__stream_is_open(&c->stream)) {
        if (must_wait(c)) {
            stash(c, bytes, size);
            return;
        }
        size_t taken = c->skip_left > 0     ? take_skip(c, size)
                       : c->target_left > 0 ? take_targets(c, bytes, size)
                                            : take_head(c, bytes, size);
        bytes += taken;
        size -= taken;
        if (c->shm != NULL && !was_shared && size > 0) {
            swp__log_peer(c, "closed: it sent more behind SHM_OPEN before it had the answer");
            swp__connection_drop(c, "bytes behind SHM_OPEN");
        }
    }
}

static void consume_stash(swp__connection *c)
{
    if (c->stash_size > 0 && !must_wait(c)) {
        size_t size = c->stash_size;
        c->stash_size = 0;
        consume(c, c->stash, size);
    }
}

static void reached_end(swp__connection *c)
{
    c->ended = true;
    if (in_frame(c)) {
        swp__log_peer(c, "its stream ended inside a frame");
        c->failed = true;
    }
}

static void drop_failed(swp__connection *c, int failure)
{
    if (failure == EPROTO) {
        swp__log_peer(c, "closed: what it wrote to shared memory, or to the socket beside it, cannot be");
    }
    swp__connection_drop(c, strerror(failure));
}

/* One read; false: there is nothing more to read just now. */
static bool read_once(swp__connection *c, size_t *read_bytes)
{
    swp__server *server = c->server;
    struct iovec pieces[SWP__TARGETS_MAX + 1];
    int count = 0;
    size_t asked = SWP__READ_SIZE, direct = (size_t)c->target_left;
    for (int i = c->target; direct > 0 && i < c->targets_count; i++) {
        pieces[count++] = c->targets[i];
        asked += c->targets[i].iov_len;
    }
    pieces[count++] = (struct iovec){server->read_buffer, SWP__READ_SIZE};
    uint8_t fds_before = c->stream.fds_count;
    ssize_t got = swp__stream_recv(&c->stream, pieces, count);
    if (got == -EAGAIN) {
        c->readable = false;
        return false;
    }
    if (got <= 0) {
        if (got < 0) {
            drop_failed(c, (int)-got);
        } else {
            reached_end(c);
        }
        return false;
    }
    size_t size = (size_t)got;
    c->moved_ns = server->now_ns;
    c->pace_in.bytes += size;
    server->counters.bytes_in += size;
    *read_bytes += size;
    /* Fewer than asked for: that was all. A descriptor, though, ends a read early, and so does the mark of the end. */
    if (size < asked && fds_before == c->stream.fds_count && !c->stream.fds_cut && !c->end_seen) {
        c->readable = false;
    }
    size_t into_targets = size < direct ? size : direct;
    if (into_targets > 0) {
        targets_filled(c, into_targets);
    }
    consume(c, server->read_buffer, size - into_targets);
    return true;
}

/* Whether the peer owes bytes is what `runs` says: only then is it timed. */
static void keep_pace(swp__pace *pace, bool runs, uint64_t now_ns)
{
    if (!runs || pace->since_ns == 0) {
        *pace = (swp__pace){.since_ns = runs ? now_ns : 0};
    }
}

static void read_turn(swp__connection *c)
{
    size_t read_bytes = 0;
    consume_stash(c);
    while (may_read(c) && read_bytes < SWP__READ_TURN && read_once(c, &read_bytes)) {
    }
    if (swp__stream_is_open(&c->stream) && !in_frame(c) && c->shm == NULL) {
        swp__stream_drop_fds(&c->stream); /* no frame asked for them; with shared memory they come before their frames */
    }
    keep_pace(&c->pace_in, in_frame(c), c->server->now_ns);
    c->server->expects_bytes = c->server->expects_bytes || (read_bytes > 0 && c->target_left > 0);
}

/* ---- writing ---- */

void swp__connection_send(swp__connection *c, swp__outgoing *outgoing)
{
    outgoing->next = NULL;
    outgoing->part = 0;
    outgoing->queued = true;
    if (c->out_first == NULL) {
        c->out_first = outgoing;
        c->moved_ns = c->server->now_ns; /* from now on it is the peer's turn to move */
    } else {
        c->out_last->next = outgoing;
    }
    c->out_last = outgoing;
    c->out_bytes += outgoing->out.size;
    swp__connection_wants_turn(c);
}

static int gather(const swp__connection *c, struct iovec *pieces)
{
    int count = 0;
    for (swp__outgoing *o = c->out_first; o != NULL; o = o->next) {
        for (int i = o->part; i < (int)o->out.parts_count; i++) {
            if (count == SWP__IOVECS_MAX) {
                return count;
            }
            pieces[count++] = o->out.parts[i];
        }
    }
    return count;
}

/* Takes what has left out of the queue. */
static void sent(swp__connection *c, size_t size)
{
    c->out_bytes -= size;
    c->pace_out.bytes += size;
    while (c->out_first != NULL) {
        swp__outgoing *o = c->out_first;
        size_t left = 0;
        for (int i = o->part; i < (int)o->out.parts_count; i++) {
            left += o->out.parts[i].iov_len;
        }
        if (size < left) {
            o->part += swp__iovecs_advance(o->out.parts + o->part, (int)o->out.parts_count - o->part, size);
            return;
        }
        size -= left;
        c->out_first = o->next;
        swp__outgoing_sent(o);
    }
}

/* False: the peer takes no more just now. */
static bool write_once(swp__connection *c)
{
    struct iovec pieces[SWP__IOVECS_MAX];
    int count = gather(c, pieces);
    size_t asked = 0;
    for (int i = 0; i < count; i++) {
        asked += pieces[i].iov_len;
    }
    ssize_t done = swp__stream_send(&c->stream, pieces, count, NULL);
    if (done < 0 && done != -EAGAIN) {
        drop_failed(c, (int)-done);
        return false;
    }
    if (done > 0) {
        c->moved_ns = c->server->now_ns;
        c->server->counters.bytes_out += (uint64_t)done;
        sent(c, (size_t)done);
    }
    return done > 0 && (size_t)done == asked;
}

static void write_turn(swp__connection *c)
{
    while (c->out_first != NULL && c->writable) {
        if (!write_once(c)) {
            c->writable = false;
        }
        if (!swp__stream_is_open(&c->stream)) {
            return;
        }
    }
    keep_pace(&c->pace_out, c->out_first != NULL, c->server->now_ns);
    set_wants_output(c, c->out_first != NULL && c->shm == NULL);
}

/* ---- the whole ---- */

/* Shared memory: its ring is looked at from now on, and what the socket was told of is taken, even if nothing else is read. */
static void catch_up(swp__connection *c)
{
    if (!c->is_watched) {
        swp__server_watch(c->server, c);
    }
    int failure = swp__shm_catch_up(&c->stream);
    if (failure != 0) {
        drop_failed(c, -failure);
    }
}

/* Everything it asked for is answered and has left, or never will be. */
static bool is_over(const swp__connection *c)
{
    uint32_t half_read = c->reading != NULL ? 1 : 0;
    return (c->closing || c->ended) && c->out_first == NULL && c->calls_count == half_read && c->stash_size == 0;
}

static bool has_more_to_do(const swp__connection *c)
{
    return may_read(c) || (c->stash_size > 0 && !must_wait(c)) || (c->out_first != NULL && c->writable);
}

void swp__connection_turn(swp__connection *c)
{
    if (c->shm != NULL) {
        catch_up(c);
    }
    if (swp__stream_is_open(&c->stream)) {
        read_turn(c);
        swp__server_take_posted(c->server); /* of sweeps that ran inline: their replies leave now */
    }
    if (swp__stream_is_open(&c->stream)) {
        c->writable = c->writable || (c->shm != NULL && swp__shm_was_woken(c->shm));
        write_turn(c);
    }
    if (swp__stream_is_open(&c->stream) && is_over(c)) {
        swp__connection_drop(c, NULL);
    }
    c->in_turn = false;
    if (!swp__stream_is_open(&c->stream)) {
        return;
    }
    if (has_more_to_do(c)) {
        swp__connection_wants_turn(c);
    }
    if (c->out_first != NULL || in_frame(c)) {
        swp__connection_watch(c);
    }
}

void swp__connection_finish(swp__connection *c)
{
    c->closing = true;
    swp__connection_wants_turn(c);
}

static void leave_turns(swp__connection *c)
{
    swp__server *server = c->server;
    if (!c->in_turn) {
        return;
    }
    swp__connection **link = &server->turn_first, *before = NULL;
    while (*link != NULL && *link != c) {
        before = *link;
        link = &before->turn_next;
    }
    if (*link == c) {
        *link = c->turn_next;
        if (server->turn_last == c) {
            server->turn_last = before;
        }
    }
    c->in_turn = false;
}

static void drop_calls(swp__connection *c)
{
    while (c->out_first != NULL) {
        swp__outgoing *o = c->out_first;
        c->out_first = o->next;
        swp__outgoing_sent(o);
    }
    swp__call *next;
    for (swp__call *call = c->calls; call != NULL; call = next) {
        next = call->next;
        if (call->running) {
            swp__sweep_cancel(call->sweep);
        } else {
            swp__call_free(call);
        }
    }
}

void swp__connection_drop(swp__connection *c, const char *why)
{
    swp__server *server = c->server;
    if (!swp__stream_is_open(&c->stream)) {
        return;
    }
    if (why != NULL) {
        c->failed = true;
        swp__log_line(server->log, SWP__LOG_DEBUG, "connection %" PRIu64 ": closed: %s", c->number, why);
    }
    swp__poller_remove_stream(server->poller, &c->stream, c);
    if (c->shm != NULL) {
        swp__server_forget_watched(server, c);
        server->buffer_bytes -= c->shm_bytes;
        c->shm = NULL; /* it goes with the stream */
    }
    if (c->out_first != NULL) {
        swp__stream_abort(&c->stream);
    } else {
        swp__stream_close(&c->stream);
    }
    leave_turns(c);
    c->reading = NULL;
    c->target_left = c->skip_left = c->stash_size = 0;
    drop_calls(c);
    swp__connection_end_sessions(c);
    swp__scope_free(c->scope);
    c->scope = NULL;
    swp__server_lost(server, c);
}

/* ---- time ---- */

static void lower(uint64_t *next_ns, uint64_t ns)
{
    *next_ns = ns < *next_ns ? ns : *next_ns;
}

static bool is_too_slow(swp__pace *pace, const swp__server_limits *limits, uint64_t now_ns)
{
    uint64_t passed_ns = now_ns - pace->since_ns;
    if (pace->since_ns == 0 || passed_ns < limits->slow_window_ms * 1000000) {
        return false;
    }
    double rate = (double)pace->bytes * 1e9 / (double)passed_ns;
    *pace = (swp__pace){.since_ns = now_ns};
    return rate < (double)limits->slow_rate;
}

static const char *verdict(swp__connection *c, uint64_t *next_ns)
{
    const swp__server_limits *limits = &c->server->options.limits;
    uint64_t now = c->server->now_ns, quiet = now - c->moved_ns;
    bool waits = c->out_first != NULL, sends = in_frame(c) && is_listened_to(c);
    keep_pace(&c->pace_in, sends, now);
    if (waits || sends) {
        if (quiet >= limits->stall_timeout_ms * 1000000) {
            return waits ? "it takes no bytes of a reply that waits" : "it stopped inside a frame";
        }
        lower(next_ns, now + SWP__LOOK_NS);
    }
    if (waits && is_too_slow(&c->pace_out, limits, now)) {
        return "it takes a reply that waits too slowly";
    }
    if (sends && is_too_slow(&c->pace_in, limits, now)) {
        return "it sends a frame too slowly";
    }
    if (limits->idle_timeout_ms > 0 && c->calls_count == 0 && !in_frame(c)) {
        if (quiet >= limits->idle_timeout_ms * 1000000) {
            return "it was idle";
        }
        lower(next_ns, c->moved_ns + limits->idle_timeout_ms * 1000000);
    } else if (limits->idle_timeout_ms > 0) {
        lower(next_ns, now + limits->idle_timeout_ms * 1000000);
    }
    return NULL;
}

void swp__connection_judge(swp__connection *c, uint64_t *next_ns)
{
    const char *why = swp__stream_is_open(&c->stream) ? verdict(c, next_ns) : NULL;
    if (why != NULL) {
        c->server->counters.connections_timed_out++;
        swp__log_peer(c, "closed: %s", why);
        swp__connection_drop(c, why);
    }
}
