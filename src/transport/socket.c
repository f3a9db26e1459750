/* Connected sockets as streams: one recvmsg or sendmsg a call. */
#include "transport/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include "base/error.h"
#include "base/host.h"

enum { SEND_BUFFER_BYTES = 1 << 19 };

/* Takes every descriptor out of the message, so that none leaks into our table unseen; what the queue cannot hold is
 * closed. */
static void queue_fds(swp__stream *stream, struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (stream->fds_count < SWP__FDS_MAX) {
                stream->fds[stream->fds_count++] = fd;
            } else {
                close(fd);
                stream->fds_cut = true;
            }
        }
    }
    if ((message->msg_flags & MSG_CTRUNC) != 0) {
        stream->fds_cut = true;
    }
}

static ssize_t receive(swp__stream *stream, const struct iovec *iovecs, int count, int flags)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(SWP__FDS_MAX * sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = (struct iovec *)iovecs,
                             .msg_iovlen = (size_t)count,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    ssize_t got = recvmsg(stream->in, &message, flags | MSG_CMSG_CLOEXEC);
    if (got < 0) {
        return -errno;
    }
    if (message.msg_controllen > 0) {
        queue_fds(stream, &message);
    }
    return got;
}

static ssize_t socket_recv(swp__stream *stream, const struct iovec *iovecs, int count)
{
    ssize_t got;
    do {
        got = receive(stream, iovecs, count, MSG_DONTWAIT);
    } while (got == -EINTR);
    return got;
}

/* The wait is a property of the socket, told to the system when it changes. */
static ssize_t socket_recv_wait(swp__stream *stream, const struct iovec *iovecs, int count, uint32_t wait_ms)
{
    if (stream->wait_ms == 0) {
        int flags = fcntl(stream->in, F_GETFL);
        fcntl(stream->in, F_SETFL, flags & ~O_NONBLOCK); /* all other calls say MSG_DONTWAIT */
    }
    if (stream->wait_ms != wait_ms) {
        struct timeval wait = {.tv_sec = wait_ms / 1000, .tv_usec = wait_ms % 1000 * 1000};
        setsockopt(stream->in, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
        stream->wait_ms = wait_ms;
    }
    return receive(stream, iovecs, count, 0);
}

static ssize_t socket_send(swp__stream *stream, const struct iovec *iovecs, int count, const int *fd)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = (struct iovec *)iovecs, .msg_iovlen = (size_t)count};
    if (fd != NULL) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof *fd);
        memcpy(CMSG_DATA(c), fd, sizeof *fd);
    }
    ssize_t sent;
    do {
        sent = sendmsg(stream->out, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}

static void socket_shut_output(swp__stream *stream)
{
    shutdown(stream->out, SHUT_WR);
}

static void socket_close(swp__stream *stream)
{
    close(stream->in);
}

const swp__stream_ops swp__socket_stream_ops = {socket_recv,        socket_recv_wait, socket_send,
                                                socket_shut_output, socket_close,     NULL};

swp__stream swp__stream_from_socket(int fd)
{
    return (swp__stream){.ops = &swp__socket_stream_ops, .in = fd, .out = fd};
}

/* A frame of a megabyte is then handed over in a few pieces, not in tens. The system may grant less. */
void swp__socket_widen(int fd)
{
    int size = SEND_BUFFER_BYTES;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

int swp__socket_accept(int listening_fd)
{
    int fd;
    do {
        fd = accept4(listening_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    } while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
    return fd < 0 ? -errno : fd;
}

static swp_status connect_failed(int failure, const char *text, swp_error *error)
{
    switch (failure) {
    case EACCES:
    case EPERM:
        return swp__fail(error, SWP_REFUSED, SWP_AT_NONE,
                         "%s: permission denied; a socket is open to the user who started the server alone: run as "
                         "that user, or start the server with --group",
                         text);
    case ECONNREFUSED:
        return swp__fail(error, SWP_REFUSED, SWP_AT_NONE, "%s: connection refused: nobody listens there", text);
    case ENOENT:
        return swp__fail(error, SWP_REFUSED, SWP_AT_NONE, "%s: no such socket: nobody listens there", text);
    default:
        return swp__fail(error, SWP_REFUSED, SWP_AT_NONE, "%s: %s", text, strerror(failure));
    }
}

/* A Unix socket whose backlog is full says EAGAIN and cannot be polled for: ask again in a while. */
static int connect_once(int fd, const struct sockaddr *name, socklen_t size, uint64_t deadline_ns)
{
    swp__stream stream = swp__stream_from_socket(fd);
    uint64_t pause_ns = 1000000;
    while (connect(fd, name, size) != 0) {
        if (errno == EINTR) {
            continue;
        }
        if (errno == EAGAIN) {
            uint64_t wake = swp__now_ns(&swp__system_clock) + pause_ns;
            if (wake > deadline_ns) {
                return ETIMEDOUT;
            }
            poll(NULL, 0, (int)(pause_ns / 1000000));
            pause_ns = pause_ns < 64000000 ? pause_ns * 2 : pause_ns;
            continue;
        }
        if (errno != EINPROGRESS) {
            return errno;
        }
        int ready = swp__stream_wait(&stream, false, true, deadline_ns);
        int failure = 0;
        socklen_t failure_size = sizeof failure;
        if (ready <= 0) {
            return ready == 0 ? ETIMEDOUT : -ready;
        }
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &failure_size);
        return failure;
    }
    return 0;
}

swp_status swp__socket_connect(int fd, const struct sockaddr *name, socklen_t size, uint64_t deadline_ns, const char *text,
                               swp_error *error)
{
    int failure = connect_once(fd, name, size, deadline_ns);
    if (failure == ETIMEDOUT) {
        return swp__fail(error, SWP_TIMED_OUT, SWP_AT_NONE, "%s: the server does not accept connections: timed out", text);
    }
    return failure == 0 ? SWP_OK : connect_failed(failure, text, error);
}
