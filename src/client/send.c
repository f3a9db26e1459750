/* Frames out. A frame that the socket takes at once is one sendmsg under the lock; of one that it does not, the rest is sent
 * as there is room, and what comes in is read meanwhile, so that two large frames towards each other never stop both. */
#include "client/internal.h"

#include <errno.h>
#include <string.h>
#include "base/error.h"
#include "base/host.h"

/* A writer that may not read, because another thread does, looks this often whether it has to: the other may have its
 * answer and leave. */
#define LOOK_NS UINT64_C(20000000)

static swp_status wait_for_turn(swp_client *c, uint64_t deadline_ns, swp_error *error)
{
    while (c->writing && swp__link_is_open(c)) {
        if (!swp__client_wait_change(c, deadline_ns)) {
            return swp__timed_out(c, error);
        }
    }
    return SWP_OK;
}

/* The peer reads no more. It may have said why. */
static swp_status broken(swp_client *c, int failure, swp_error *error)
{
    while (!c->reading && swp__link_is_open(c) && swp__receive_now(c)) {
    }
    if (swp__link_is_open(c)) {
        swp__link_lose(c, SWP_CLOSED, "%.100s: the connection is closed: %s", c->url, strerror(failure));
    }
    return swp__fail(error, SWP_CLOSED, SWP_AT_NONE, "%.100s: the connection is closed: %s", c->url, strerror(failure));
}

/* Waits for room, and reads if nobody else does. Negative: an errno. */
static int wait_for_room(swp_client *c, uint64_t deadline_ns)
{
    bool reads = !c->reading;
    uint64_t now = swp__now_ns(&c->clock), wait_ns = deadline_ns > now ? deadline_ns - now : 0;
    c->reading = true; /* as it is, if we do not */
    pthread_mutex_unlock(&c->lock);
    uint64_t until = swp__now_ns(&swp__system_clock) + (wait_ns < LOOK_NS ? wait_ns : LOOK_NS);
    int ready = swp__stream_wait(&c->stream, reads, true, until);
    pthread_mutex_lock(&c->lock);
    if (reads) {
        c->reading = false;
        if ((ready & 1) != 0 && ready > 0 && swp__link_is_open(c)) {
            swp__receive_now(c);
        }
    }
    return ready;
}

/* The rest of a frame whose beginning may have left. */
static swp_status send_rest(swp_client *c, struct iovec *pieces, int count, const int *fd, uint64_t left, uint64_t deadline_ns,
                            bool *has_left, swp_error *error)
{
    while (left > 0) {
        ssize_t sent = swp__stream_send(&c->stream, pieces, count, *has_left ? NULL : fd);
        if (sent < 0 && sent != -EAGAIN) {
            return broken(c, (int)-sent, error);
        }
        if (sent > 0) {
            int gone = swp__iovecs_advance(pieces, count, (size_t)sent);
            pieces += gone;
            count -= gone;
            left -= (uint64_t)sent;
            *has_left = true;
            continue;
        }
        if (swp__now_ns(&c->clock) >= deadline_ns) {
            if (*has_left) {
                swp__link_lose(c, SWP_CLOSED, "%.100s: the connection was given up: the server did not take a request in time",
                               c->url);
            }
            return swp__timed_out(c, error);
        }
        wait_for_room(c, deadline_ns);
        if (!swp__link_is_open(c)) {
            return swp__fail(error, SWP_CLOSED, SWP_AT_NONE, "%.100s: the connection ended during a request", c->url);
        }
    }
    return SWP_OK;
}

swp_status swp__send(swp_client *c, swp__wire_out *out, const int *fd, uint64_t deadline_ns, bool *has_left, swp_error *error)
{
    *has_left = false;
    swp_status status = wait_for_turn(c, deadline_ns, error);
    if (status != SWP_OK || !swp__link_is_open(c)) {
        return status != SWP_OK ? status : swp__fail(error, SWP_CLOSED, SWP_AT_NONE, "%.100s: the connection ended", c->url);
    }
    c->writing = true;
    status = send_rest(c, out->parts, (int)out->parts_count, fd, out->size, deadline_ns, has_left, error);
    c->writing = false;
    swp__link_settle(c);
    swp__send_cancels(c);
    swp__client_tell_change(c);
    swp__wake_leader(c); /* who left while we read has told nobody */
    return status;
}

void swp__send_cancels(swp_client *c)
{
    while (c->cancels_count > 0 && !c->writing && swp__link_is_open(c)) {
        swp__wire_request request = {
            .opcode = SWP__OP_CANCEL, .id = SWP__CANCEL_ID_BIT | c->next_cancel_id++, .cancel = {.request_id = c->cancels[0]}};
        swp__wire_out out;
        swp__wire_encode_request(&request, &out);
        (void)swp__wire_finish(&out, UINT64_MAX, NULL);
        ssize_t sent = swp__stream_send(&c->stream, out.parts, (int)out.parts_count, NULL);
        if (sent == -EAGAIN) {
            return; /* with the next frame */
        }
        if (sent != (ssize_t)out.size) {
            swp__link_lose(c, SWP_CLOSED, "%.100s: the connection ended", c->url);
            return;
        }
        c->cancels_count--;
        memmove(c->cancels, c->cancels + 1, c->cancels_count * sizeof c->cancels[0]);
    }
}
