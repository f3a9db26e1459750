/* What all streams share, and the doors by scheme. */
#include "transport/transport.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/error.h"
#include "base/host.h"
#include "transport/sockets.h"

ssize_t swp__stream_recv(swp__stream *stream, const struct iovec *iovecs, int count)
{
    return stream->ops->recv(stream, iovecs, count);
}

ssize_t swp__stream_recv_wait(swp__stream *stream, const struct iovec *iovecs, int count, uint32_t wait_ms)
{
    if (stream->ops->recv_wait != NULL) {
        return stream->ops->recv_wait(stream, iovecs, count, wait_ms);
    }
    int ready = swp__stream_wait(stream, true, false, swp__now_ns(&swp__system_clock) + wait_ms * UINT64_C(1000000));
    return ready > 0 ? swp__stream_recv(stream, iovecs, count) : ready < 0 ? ready : -EAGAIN;
}

ssize_t swp__stream_send(swp__stream *stream, const struct iovec *iovecs, int count, const int *fd)
{
    return stream->ops->send(stream, iovecs, count, fd);
}

void swp__stream_shut_output(swp__stream *stream)
{
    stream->ops->shut_output(stream);
}

void swp__stream_close(swp__stream *stream)
{
    if (stream->ops == NULL) {
        return;
    }
    swp__stream_drop_fds(stream);
    stream->ops->close(stream);
    *stream = (swp__stream){0};
}

void swp__stream_abort(swp__stream *stream)
{
    struct linger at_once = {.l_onoff = 1};
    if (stream->ops != NULL && stream->out >= 0) {
        setsockopt(stream->out, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once); /* heeded by TCP; no harm elsewhere */
    }
    swp__stream_close(stream);
}

bool swp__stream_is_open(const swp__stream *stream)
{
    return stream->ops != NULL;
}

int swp__stream_take_fd(swp__stream *stream)
{
    if (stream->fds_count == 0) {
        return -1;
    }
    int fd = stream->fds[0];
    stream->fds_count--;
    for (uint8_t i = 0; i < stream->fds_count; i++) {
        stream->fds[i] = stream->fds[i + 1];
    }
    return fd;
}

void swp__stream_drop_fds(swp__stream *stream)
{
    while (stream->fds_count > 0) {
        close(swp__stream_take_fd(stream));
    }
    stream->fds_cut = false;
}

int swp__stream_wait(const swp__stream *stream, bool in, bool out, uint64_t deadline_ns)
{
    if (stream->ops->wait != NULL) {
        return stream->ops->wait(stream, in, out, deadline_ns);
    }
    struct pollfd ends[2] = {{.fd = in ? stream->in : -1, .events = POLLIN}, {.fd = out ? stream->out : -1, .events = POLLOUT}};
    for (;;) {
        uint64_t now = deadline_ns == SWP__NO_DEADLINE ? 0 : swp__now_ns(&swp__system_clock);
        if (deadline_ns < now) {
            deadline_ns = now;
        }
        uint64_t left = deadline_ns - now;
        struct timespec time = {.tv_sec = (time_t)(left / 1000000000), .tv_nsec = (long)(left % 1000000000)};
        int count = ppoll(ends, 2, deadline_ns == SWP__NO_DEADLINE ? NULL : &time, NULL);
        if (count < 0 && errno != EINTR) {
            return -errno;
        }
        if (count > 0) {
            return (ends[0].revents != 0 ? 1 : 0) + (ends[1].revents != 0 ? 2 : 0);
        }
        if (count == 0 && (deadline_ns <= now || swp__now_ns(&swp__system_clock) >= deadline_ns)) {
            return 0;
        }
    }
}

int swp__iovecs_advance(struct iovec *iovecs, int count, size_t done)
{
    int first = 0;
    while (first < count && done >= iovecs[first].iov_len) {
        done -= iovecs[first].iov_len;
        iovecs[first].iov_len = 0;
        first++;
    }
    if (first < count) {
        iovecs[first].iov_base = (char *)iovecs[first].iov_base + done;
        iovecs[first].iov_len -= done;
    }
    return first;
}

static swp_status no_door(const swp__address *address, const char *what, swp_error *error)
{
    char text[SWP__ADDRESS_TEXT_SIZE];
    swp__address_print(address, text);
    return swp__fail(error, SWP_BAD_PARAM, 1, "%.120s: cannot %s such an address", text, what);
}

swp_status swp__connect(const swp__address *address, uint64_t deadline_ns, swp__stream *stream, swp_error *error)
{
    switch (address->scheme) {
    case SWP__SCHEME_UNIX:
    case SWP__SCHEME_SHM:
        return swp__unix_connect(address, deadline_ns, stream, error);
    case SWP__SCHEME_TCP:
        return swp__tcp_connect(address, deadline_ns, stream, error);
    default:
        return no_door(address, "connect to", error);
    }
}

swp_status swp__listen(const swp__address *address, const swp__listen_options *options, swp__acceptor *acceptor,
                       swp_error *error)
{
    static const swp__listen_options defaults;
    switch (address->scheme) {
    case SWP__SCHEME_UNIX:
        return swp__unix_listen(address, options != NULL ? options : &defaults, acceptor, error);
    case SWP__SCHEME_TCP:
        return swp__tcp_listen(address, acceptor, error);
    default:
        return no_door(address, "listen on", error);
    }
}

int swp__accept(swp__acceptor *acceptor, swp__stream *stream, swp__peer *peer)
{
    return acceptor->ops->accept(acceptor, stream, peer);
}

void swp__acceptor_close(swp__acceptor *acceptor)
{
    if (acceptor->ops != NULL) {
        acceptor->ops->close(acceptor);
        *acceptor = (swp__acceptor){.fd = -1, .lock_fd = -1};
    }
}
