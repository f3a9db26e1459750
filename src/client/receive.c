/* Bytes in. What is known to belong to a reply whose head was read goes straight to where the caller wants it; all else goes
 * through the buffer, which holds no more than the beginning of one frame between two reads. */
#include "client/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "base/error.h"
#include "base/host.h"

enum {
    WAIT_MS = 1000,      /* of a read that waits */
    CANCEL_WAIT_MS = 10, /* while a flag may be set that wakes nobody */
};

/* ---- replies ---- */

static swp_pending *find(const swp_client *c, uint32_t id)
{
    swp_pending *p = c->pending[id % SWP__PENDING_BUCKETS];
    while (p != NULL && p->request.id != id) {
        p = p->next;
    }
    return p;
}

static void mark_finished(const swp_pending *p, uint64_t first, uint64_t count)
{
    for (uint64_t w = 0; p->result.finished != NULL && w < p->windows_count; w++) {
        memset(p->result.finished + w * p->combos_count + first, 1, count);
    }
}

/* The whole frame is there. */
static void deliver(swp_client *c, swp_pending *p, const swp__wire_reply *reply)
{
    if (reply->status == SWP_MORE && reply->more.kind == SWP__MORE_PROGRESS) {
        p->combos_done = reply->more.first;
        if (p->waits) {
            pthread_cond_signal(&p->woken);
        }
        return;
    }
    if (reply->status == SWP_MORE) {
        mark_finished(p, reply->more.first, reply->more.count);
        return;
    }
    if (p->request.opcode == SWP__OP_SWEEP && !p->in_blocks) {
        mark_finished(p, 0, p->combos_count);
    }
    p->combos_done = p->combos_count;
    p->reply = *reply;
    swp__call_end(c, p, SWP_OK, NULL);
}

static void finish_tail(swp_client *c)
{
    swp_pending *p = c->filling;
    c->filling = NULL;
    deliver(c, p, &c->filling_reply);
}

/* An error frame, whole. */
static swp_error read_error(const swp__wire_reply *reply, const uint8_t *text)
{
    swp_error error;
    bool readable = swp__wire_check_text(text, (size_t)reply->tail_size, 0, NULL) == SWP_OK;
    (void)swp__fail(&error, (swp_status)reply->status, reply->error.at, "%.*s", readable ? (int)reply->tail_size : 1,
                    readable ? (const char *)text : "?");
    error.a = reply->error.a;
    error.b = reply->error.b;
    return error;
}

static void lose_as_told(swp_client *c, const swp_error *error)
{
    swp__link_lose(c, error->status, "%s", error->message);
}

static void broken_reply(swp_client *c, const swp_error *error)
{
    swp__link_lose(c, SWP_BAD_FRAME, "%.60s: the reply is not what the protocol says: %s", c->url, error->message);
}

/* A reply to nobody: its call was given up, or it is a CANCEL's. */
static void skip_frame(swp_client *c, const swp__wire_frame *frame, size_t in_buffer)
{
    bool is_call = (frame->id & SWP__CANCEL_ID_BIT) == 0;
    if (is_call && frame->status != SWP_MORE && c->given_up_count > 0) {
        c->given_up_count--;
        swp__client_tell_change(c);
    }
    c->skip_left = (uint64_t)SWP__WIRE_LENGTH_SIZE + frame->body_size - in_buffer;
}

/* Fixed part accepted: the tail comes next. */
static void begin_tail(swp_client *c, swp_pending *p, const swp__wire_reply *reply)
{
    bool is_block = reply->status == SWP_MORE && reply->more.kind == SWP__MORE_BLOCK;
    uint64_t first = is_block ? reply->more.first : 0, count = is_block ? reply->more.count : p->combos_count;
    if (reply->tail_size == 0 && p->sink.kind != SWP__SINK_OWNED) {
        deliver(c, p, reply);
    } else if (!swp__sink_begin(&p->sink, &c->allocator, reply->tail_size, first, count)) {
        swp_error error;
        (void)swp__fail(&error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for a reply of %" PRIu64 " bytes", reply->tail_size);
        swp__call_end(c, p, SWP_NO_MEMORY, &error);
        c->skip_left = reply->tail_size;
    } else {
        c->filling = p;
        c->filling_reply = *reply;
        c->tail_left = reply->tail_size;
        if (c->tail_left == 0) {
            finish_tail(c);
        }
    }
}

/* The frame at `bytes`, of which `size` are there: bytes taken, 0: more are needed first. */
static size_t take_frame(swp_client *c, const uint8_t *bytes, size_t size)
{
    swp_error error;
    uint32_t body_size;
    swp__wire_frame frame;
    if (size < SWP__WIRE_PAYLOAD_AT) {
        return 0;
    }
    if (swp__wire_decode_length(2, bytes, c->server.max_body, &body_size, &error) != SWP_OK ||
        swp__wire_decode_reply_header(body_size, bytes + SWP__WIRE_LENGTH_SIZE, &frame, &error) != SWP_OK) {
        broken_reply(c, &error);
        return size;
    }
    bool is_error = frame.status > SWP_MORE;
    bool is_ours = frame.opcode != 0;
    swp_pending *p = is_ours ? find(c, frame.id) : NULL;
    if (p == NULL && is_ours) {
        size_t whole = SWP__WIRE_LENGTH_SIZE + (size_t)body_size, taken = size < whole ? size : whole;
        skip_frame(c, &frame, taken);
        return taken;
    }
    size_t head = SWP__WIRE_PAYLOAD_AT + frame.fixed_size;
    swp__wire_reply reply;
    if (size < head) {
        return 0;
    }
    if (swp__wire_decode_reply(&frame, p != NULL ? &p->request : NULL, p != NULL ? p->combos_count : 0,
                               bytes + SWP__WIRE_PAYLOAD_AT, &reply, &error) != SWP_OK) {
        broken_reply(c, &error);
        return size;
    }
    if (!is_error) {
        begin_tail(c, p, &reply);
        return head;
    }
    if (size < head + reply.tail_size) {
        return 0;
    }
    error = read_error(&reply, bytes + head);
    if (p != NULL) {
        swp__call_end(c, p, error.status, &error);
    } else {
        lose_as_told(c, &error);
    }
    return head + (size_t)reply.tail_size;
}

/* ---- bytes ---- */

static size_t take_tail(swp_client *c, const uint8_t *bytes, size_t size)
{
    struct iovec run;
    if (swp__sink_runs(&c->filling->sink, &run, 1) == 1 && size > run.iov_len) {
        size = run.iov_len;
    }
    memcpy(run.iov_base, bytes, size);
    swp__sink_advance(&c->filling->sink, size);
    c->tail_left -= size;
    if (c->tail_left == 0) {
        finish_tail(c);
    }
    return size;
}

static size_t take_skip(swp_client *c, size_t size)
{
    size = size < c->skip_left ? size : (size_t)c->skip_left;
    c->skip_left -= size;
    return size;
}

/* Everything in the buffer that makes sense by itself. */
static void take_buffer(swp_client *c)
{
    size_t at = 0;
    while (at < c->buffer_size && swp__link_is_open(c)) {
        const uint8_t *bytes = c->buffer + at;
        size_t size = c->buffer_size - at;
        size_t taken = c->skip_left > 0     ? take_skip(c, size)
                       : c->filling != NULL ? take_tail(c, bytes, size)
                                            : take_frame(c, bytes, size);
        if (taken == 0) {
            break;
        }
        at += taken;
    }
    if (swp__link_is_open(c)) {
        c->buffer_size -= at;
        memmove(c->buffer, c->buffer + at, c->buffer_size);
    }
}

/* Where the next bytes go; *direct of them to the one they are for. */
static int next_pieces(swp_client *c, struct iovec pieces[SWP__SINK_RUNS + 1], size_t *direct)
{
    int count = c->filling != NULL ? swp__sink_runs(&c->filling->sink, pieces, SWP__SINK_RUNS) : 0;
    *direct = 0;
    for (int i = 0; i < count; i++) {
        *direct += pieces[i].iov_len;
    }
    if (*direct == c->tail_left || c->filling == NULL) { /* then what comes behind it goes to the buffer */
        pieces[count++] = (struct iovec){c->buffer + c->buffer_size, SWP__CLIENT_READ_SIZE - c->buffer_size};
    }
    return count;
}

/* What came of a read. */
static void take(swp_client *c, ssize_t got, size_t direct)
{
    if (got == -EAGAIN || got == -EINTR) {
        return;
    }
    if (got <= 0) {
        swp__link_lose(c, SWP_CLOSED, "%.100s: the connection ended before the answer%s%s", c->url, got < 0 ? ": " : "",
                       got < 0 ? strerror((int)-got) : "");
        return;
    }
    size_t size = (size_t)got, into_sink = size < direct ? size : direct;
    if (into_sink > 0) {
        swp__sink_advance(&c->filling->sink, into_sink);
        c->tail_left -= into_sink;
        if (c->tail_left == 0) {
            finish_tail(c);
        }
    }
    c->buffer_size += size - into_sink;
    take_buffer(c);
}

bool swp__receive_now(swp_client *c)
{
    struct iovec pieces[SWP__SINK_RUNS + 1];
    size_t direct;
    int count = next_pieces(c, pieces, &direct);
    ssize_t got = swp__stream_recv(&c->stream, pieces, count);
    take(c, got, direct);
    return got != -EAGAIN;
}

/* ---- waiting ---- */

static ssize_t look_until(swp_client *c, const struct iovec *pieces, int count, uint64_t end_ns)
{
    ssize_t got;
    do {
        swp__spin_relax();
        got = swp__stream_recv(&c->stream, pieces, count);
    } while (got == -EAGAIN && swp__now_ns(&swp__system_clock) < end_ns);
    return got;
}

/* For the first bytes of an answer. -EAGAIN: looking was in vain, or is not to be done now. */
static ssize_t look_for_answer(swp_client *c, const struct iovec *pieces, int count, uint64_t now_ns)
{
    uint64_t look_ns = swp__spin_begin(&c->spin);
    uint64_t nap_ns = look_ns > 0 ? swp__spin_nap(&c->spin, &look_ns) : 0;
    if (look_ns == 0) {
        return -EAGAIN;
    }
    if (nap_ns > 0 && swp__stream_wait(&c->stream, true, false, now_ns + nap_ns) != 0) {
        return swp__stream_recv(&c->stream, pieces, count);
    }
    ssize_t got = look_until(c, pieces, count, now_ns + nap_ns + look_ns);
    swp__spin_end(&c->spin, got != -EAGAIN);
    return got;
}

static ssize_t look(swp_client *c, const struct iovec *pieces, int count, uint64_t now_ns)
{
    bool is_in_frame = c->tail_left > 0; /* the rest is on its way */
    return is_in_frame ? look_until(c, pieces, count, now_ns + c->spin.most_ns) : look_for_answer(c, pieces, count, now_ns);
}

/* One system call where the end of the wait is far. */
static ssize_t sleep_and_read(swp_client *c, const struct iovec *pieces, int count, uint64_t until_ns, uint32_t most_ms)
{
    uint64_t now = swp__now_ns(&c->clock);
    if (until_ns <= now) {
        return -EAGAIN;
    }
    if (until_ns - now >= most_ms * UINT64_C(1000000)) {
        return swp__stream_recv_wait(&c->stream, pieces, count, most_ms);
    }
    int ready = swp__stream_wait(&c->stream, true, false, swp__now_ns(&swp__system_clock) + (until_ns - now));
    return ready > 0 ? swp__stream_recv(&c->stream, pieces, count) : ready < 0 ? ready : -EAGAIN;
}

static ssize_t wait_and_read(swp_client *c, const struct iovec *pieces, int count, uint64_t until_ns, uint32_t most_ms)
{
    if (c->spin.most_ns == 0) {
        return sleep_and_read(c, pieces, count, until_ns, most_ms);
    }
    uint64_t begun_ns = swp__now_ns(&swp__system_clock);
    bool is_in_frame = c->tail_left > 0;
    ssize_t got = look(c, pieces, count, begun_ns);
    if (got == -EAGAIN) {
        got = sleep_and_read(c, pieces, count, until_ns, most_ms);
    }
    if (got > 0 && !is_in_frame) {
        swp__spin_learn(&c->spin, swp__now_ns(&swp__system_clock) - begun_ns);
    }
    return got;
}

/* Into somebody else's memory: only under the lock, so that he may give up at any time. */
static void receive_for_another(swp_client *c, uint64_t until_ns, uint32_t most_ms)
{
    pthread_mutex_unlock(&c->lock);
    uint64_t now = swp__now_ns(&c->clock), most_ns = most_ms * UINT64_C(1000000);
    uint64_t wait_ns = until_ns <= now ? 0 : until_ns - now < most_ns ? until_ns - now : most_ns;
    int ready = swp__stream_wait(&c->stream, true, false, swp__now_ns(&swp__system_clock) + wait_ns);
    pthread_mutex_lock(&c->lock);
    if (ready > 0 && swp__link_is_open(c)) {
        swp__receive_now(c);
    }
}

void swp__receive(swp_client *c, swp_pending *own, uint64_t until_ns)
{
    uint32_t most_ms = own != NULL && own->cancel != NULL ? CANCEL_WAIT_MS : WAIT_MS;
    c->reading = true;
    if (c->filling != NULL && c->filling != own) {
        receive_for_another(c, until_ns, most_ms);
    } else {
        struct iovec pieces[SWP__SINK_RUNS + 1];
        size_t direct;
        int count = next_pieces(c, pieces, &direct);
        pthread_mutex_unlock(&c->lock);
        ssize_t got = wait_and_read(c, pieces, count, until_ns, most_ms);
        pthread_mutex_lock(&c->lock);
        if (swp__link_is_open(c)) {
            take(c, got, direct);
        }
    }
    c->reading = false;
    swp__link_settle(c);
}
