/* The connection: made when a call needs one, greeted with HELLO, lost as a whole. */
#include "client/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/error.h"
#include "base/host.h"
#include "transport/shm.h"

/* A request of a usual size then leaves in one call, and goes on while we do something else. */
enum { SEND_BUFFER_BYTES = 1 << 21 };

/* ---- losing ---- */

static void forget_frame(swp_client *c)
{
    c->filling = NULL;
    c->tail_left = c->skip_left = 0;
    c->buffer_size = 0;
    c->given_up_count = c->cancels_count = 0;
}

void swp__link_lose(swp_client *c, swp_status status, const char *format, ...)
{
    char text[sizeof((swp_error *)0)->message];
    swp_error error;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)swp__fail(&error, status, SWP_AT_NONE, "%s", text);
    if (swp__link_is_open(c)) {
        shutdown(c->stream.in, SHUT_RDWR); /* who is in a read or write of it comes out */
    }
    c->state = SWP__LINK_LOST;
    forget_frame(c);
    for (size_t i = 0; i < SWP__PENDING_BUCKETS; i++) {
        while (c->pending[i] != NULL) {
            swp__call_end(c, c->pending[i], status, &error);
        }
    }
    swp__client_tell_change(c);
    swp__link_settle(c);
}

void swp__link_settle(swp_client *c)
{
    if (c->state != SWP__LINK_LOST || c->reading || c->writing) {
        return;
    }
    swp__stream_close(&c->stream);
    c->state = SWP__LINK_DOWN;
    swp__client_tell_change(c);
}

/* ---- making ---- */

static swp_status connect_stream(swp_client *c, uint64_t deadline_ns, swp__stream *stream, pid_t *process, swp_error *error)
{
    if (c->address.scheme == SWP__SCHEME_SPAWN) {
        return swp__spawn(c->address.path, c->threads, stream, process, error);
    }
    uint64_t now = swp__now_ns(&c->clock), system_now = swp__now_ns(&swp__system_clock);
    uint64_t wait_ns = deadline_ns > now ? deadline_ns - now : 0;
    uint64_t until = wait_ns < SWP__NO_DEADLINE - system_now ? system_now + wait_ns : SWP__NO_DEADLINE;
    return swp__connect(&c->address, until, stream, error);
}

static void take_greeting(swp_client *c, const swp_pending *p)
{
    const swp__wire_hello_reply *hello = &p->reply.hello;
    c->server = (swp_server_info){
        .max_body = hello->max_body,
        .max_memory = hello->max_memory,
        .max_combos = hello->max_combos,
        .threads = hello->threads,
        .max_in_flight = hello->max_in_flight > 0 ? hello->max_in_flight : 1,
    };
    c->features = hello->features;
    memcpy(c->server.numbers_id, &hello->numbers_id, sizeof c->server.numbers_id);
    snprintf(c->server.version, sizeof c->server.version, "%s", p->sink.bytes);
}

/* A call on a connection that only this thread uses yet. */
static swp_status call_alone(swp_client *c, swp_pending *p, const swp__ask *ask, swp_error *error)
{
    bool has_left;
    swp_status status = swp__call_send(c, p, ask, &has_left, error);
    if (status != SWP_OK) {
        return p->done ? p->status : status; /* a server may refuse us, and close, before we have said anything */
    }
    swp__call_wait(c, p);
    if (p->status != SWP_OK && error != NULL) {
        *error = p->error;
    }
    return p->status;
}

/* HELLO and its answer. */
static swp_status greet(swp_client *c, uint64_t deadline_ns, swp_error *error)
{
    swp_pending p = {.client = c, .deadline_ns = deadline_ns, .sink = {.kind = SWP__SINK_OWNED}};
    p.request.opcode = SWP__OP_HELLO;
    p.request.hello = (swp__wire_hello){.major = SWP__PROTOCOL_MAJOR,
                                        .minor = SWP__PROTOCOL_MINOR,
                                        .token_bytes = (uint32_t)c->token_size,
                                        .name_bytes = (uint32_t)c->name_size};
    swp__ask ask = {.tail = {{c->token, c->token_size}, {c->name, c->name_size}}, .tail_count = 2};
    swp_status status = call_alone(c, &p, &ask, error);
    if (status == SWP_OK) {
        take_greeting(c, &p);
        swp__sink_free(&p.sink, &c->allocator);
    }
    return status;
}

/* shm: both sides hand their memory over; from then on the stream goes through it. */
static swp_status share(swp_client *c, uint64_t deadline_ns, swp_error *error)
{
    swp__shm *shm;
    if ((c->features & SWP__FEATURE_SHM) == 0) {
        return swp__fail(error, SWP_UNKNOWN, SWP_AT_NONE,
                         "%.100s: this server does not offer shared memory: use unix:", c->url);
    }
    swp_status status = swp__shm_new(SWP__SHM_RING_STANDARD, &c->allocator, &shm, error);
    if (status != SWP_OK) {
        return status;
    }
    int fd = swp__shm_fd(shm);
    swp_pending p = {.client = c, .deadline_ns = deadline_ns, .request = {.opcode = SWP__OP_SHM_OPEN}};
    p.request.shm_open.ring_bytes = SWP__SHM_RING_STANDARD;
    status = call_alone(c, &p, &(swp__ask){.fd = &fd}, error);
    int theirs = status == SWP_OK ? swp__stream_take_fd(&c->stream) : -1;
    if (status == SWP_OK && (theirs < 0 || c->buffer_size > 0 || p.reply.shm_granted.ring_bytes != SWP__SHM_RING_STANDARD)) {
        status = swp__fail(error, SWP_BAD_FRAME, SWP_AT_NONE, "%.100s: the answer to SHM_OPEN is not what the protocol says",
                           c->url);
    }
    if (status == SWP_OK) {
        status = swp__shm_join(shm, theirs, error);
    } else if (theirs >= 0) {
        close(theirs);
    }
    if (status != SWP_OK) {
        swp__shm_free(shm);
        return status;
    }
    swp__shm_attach(shm, &c->stream);
    return SWP_OK;
}

/* Until HELLO tells better: enough for it and its answer. */
static const swp_server_info unknown_server = {.max_body = SWP__BODY_MAX, .max_in_flight = 1};

static swp_status make(swp_client *c, uint64_t deadline_ns, swp_error *error)
{
    swp__stream stream;
    pid_t process = 0, former = c->process;
    c->state = SWP__LINK_CONNECTING;
    c->process = 0;
    pthread_mutex_unlock(&c->lock);
    if (former != 0) {
        swp__spawn_reap(former);
    }
    swp_status status = connect_stream(c, deadline_ns, &stream, &process, error);
    pthread_mutex_lock(&c->lock);
    if (status != SWP_OK) {
        c->state = SWP__LINK_DOWN;
        return status;
    }
    int size = SEND_BUFFER_BYTES;
    setsockopt(stream.out, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    c->stream = stream;
    c->process = process;
    c->generation++;
    c->server = unknown_server;
    c->state = SWP__LINK_GREETING;
    status = greet(c, deadline_ns, error);
    if (status == SWP_OK && c->address.scheme == SWP__SCHEME_SHM) {
        status = share(c, deadline_ns, error);
    }
    if (status != SWP_OK) {
        swp__link_lose(c, status, "%.100s: no greeting", c->url);
    } else {
        c->state = SWP__LINK_UP;
    }
    return status;
}

swp_status swp__link_ensure(swp_client *c, uint64_t deadline_ns, swp_error *error)
{
    while (c->state != SWP__LINK_UP) {
        if (c->state != SWP__LINK_DOWN) {
            if (!swp__client_wait_change(c, deadline_ns)) {
                return swp__timed_out(c, error);
            }
            continue;
        }
        swp_status status = make(c, deadline_ns, error);
        swp__client_tell_change(c);
        if (status != SWP_OK) {
            return status;
        }
    }
    return SWP_OK;
}
