/* epoll, edge-triggered. The eventfd is never read: each write to it is an edge of its own. */
#include "transport/poller.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/error.h"

enum { EVENTS_MAX = 64 };

static int add_fd(swp__poller *poller, int fd, uint32_t what, void *tag)
{
    struct epoll_event event = {.events = what | EPOLLET, .data.ptr = tag};
    return epoll_ctl(poller->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

/* A regular file cannot be polled; it is always ready. There is one such stream at most: stdio. */
static int add_pipe_end(swp__poller *poller, int fd, uint32_t what, void *tag)
{
    int failure = add_fd(poller, fd, what, tag);
    if (failure == -EPERM) {
        poller->always = tag;
        return 0;
    }
    return failure;
}

static int epoll_add(swp__poller *poller, int in, int out, void *context, void *tag)
{
    (void)context;
    if (in == out) {
        return add_fd(poller, in, EPOLLIN | EPOLLRDHUP, tag);
    }
    int failure = add_pipe_end(poller, in, EPOLLIN, tag);
    return failure != 0 ? failure : add_pipe_end(poller, out, 0, tag);
}

static void epoll_want_output(swp__poller *poller, int in, int out, void *context, void *tag, bool wanted)
{
    (void)context;
    struct epoll_event event = {.events = EPOLLET | (in == out ? EPOLLIN | EPOLLRDHUP : 0) | (wanted ? EPOLLOUT : 0),
                                .data.ptr = tag};
    epoll_ctl(poller->epoll_fd, EPOLL_CTL_MOD, out, &event);
}

static void epoll_remove(swp__poller *poller, int in, int out, void *context, void *tag)
{
    (void)context;
    if (poller->always == tag) {
        poller->always = NULL;
    }
    epoll_ctl(poller->epoll_fd, EPOLL_CTL_DEL, in, NULL);
    if (out != in && out >= 0) {
        epoll_ctl(poller->epoll_fd, EPOLL_CTL_DEL, out, NULL);
    }
}

static uint32_t translate(uint32_t epoll_events)
{
    uint32_t what = 0;
    what |= (epoll_events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 ? SWP__READABLE : 0;
    what |= (epoll_events & (EPOLLOUT | EPOLLERR)) != 0 ? SWP__WRITABLE : 0;
    what |= (epoll_events & (EPOLLRDHUP | EPOLLHUP)) != 0 ? SWP__ENDED : 0;
    return what;
}

/* EPOLLHUP on a socket: both directions are shut, so the peer has closed. On a pipe we read, it is only the end of
 * input; on one we write, EPOLLERR says that nobody reads. */
static uint32_t translate_gone(uint32_t epoll_events)
{
    bool socket_gone = (epoll_events & (EPOLLHUP | EPOLLRDHUP)) == (EPOLLHUP | EPOLLRDHUP);
    return socket_gone || (epoll_events & EPOLLERR) != 0 ? SWP__GONE : 0;
}

static int epoll_wait_ns(int epoll_fd, struct epoll_event *events, int most, int64_t timeout_ns)
{
    int64_t rounded_up = timeout_ns < INT64_C(1000000000000) ? (timeout_ns + 999999) / 1000000 : 1000000;
    int ms = timeout_ns < 0 ? -1 : (int)rounded_up;
    return epoll_wait(epoll_fd, events, most, ms);
}

static int epoll_poll(swp__poller *poller, swp__event *events, int most, int64_t timeout_ns)
{
    struct epoll_event got[EVENTS_MAX];
    int filled = 0;
    if (poller->always != NULL) {
        events[filled++] = (swp__event){.tag = poller->always, .what = SWP__READABLE | SWP__WRITABLE};
        timeout_ns = 0;
    }
    int room = most - filled < EVENTS_MAX ? most - filled : EVENTS_MAX;
    int count = epoll_wait_ns(poller->epoll_fd, got, room, timeout_ns);
    for (int i = 0; i < count; i++) {
        if (got[i].data.ptr == poller) {
            continue; /* woken */
        }
        events[filled++] =
            (swp__event){.tag = got[i].data.ptr, .what = translate(got[i].events) | translate_gone(got[i].events)};
    }
    return filled;
}

static void epoll_wake(swp__poller *poller)
{
    int saved = errno;
    uint64_t one = 1;
    ssize_t written = write(poller->wake_fd, &one, sizeof one);
    (void)written; /* full after 2^64 - 2 wakes: never */
    errno = saved;
}

static void epoll_close(swp__poller *poller)
{
    close(poller->wake_fd);
    close(poller->epoll_fd);
}

static const swp__poller_ops epoll_ops = {epoll_add, epoll_want_output, epoll_remove, epoll_poll, epoll_wake, epoll_close};

swp_status swp__poller_open(swp__poller *poller, swp_error *error)
{
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    *poller = (swp__poller){.ops = &epoll_ops, .epoll_fd = epoll_fd, .wake_fd = wake_fd};
    if (epoll_fd < 0 || wake_fd < 0 || add_fd(poller, wake_fd, EPOLLIN, poller) != 0) {
        swp_status status = swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "epoll: %s", strerror(errno));
        epoll_close(poller);
        return status;
    }
    return SWP_OK;
}

void swp__poller_close(swp__poller *poller)
{
    if (poller->ops != NULL) {
        poller->ops->close(poller);
        poller->ops = NULL;
    }
}

int swp__poller_add_stream(swp__poller *poller, const swp__stream *stream, void *tag)
{
    return poller->ops->add(poller, stream->in, stream->out, stream->context, tag);
}

int swp__poller_add_acceptor(swp__poller *poller, const swp__acceptor *acceptor, void *tag)
{
    return poller->ops->add(poller, acceptor->fd, acceptor->fd, acceptor->context, tag);
}

int swp__poller_add_fd(swp__poller *poller, int fd, void *tag)
{
    return poller->ops->add(poller, fd, fd, NULL, tag);
}

void swp__poller_want_output(swp__poller *poller, const swp__stream *stream, void *tag, bool wanted)
{
    poller->ops->want_output(poller, stream->in, stream->out, stream->context, tag, wanted);
}

void swp__poller_remove_stream(swp__poller *poller, const swp__stream *stream, void *tag)
{
    poller->ops->remove(poller, stream->in, stream->out, stream->context, tag);
}

void swp__poller_remove_acceptor(swp__poller *poller, const swp__acceptor *acceptor, void *tag)
{
    poller->ops->remove(poller, acceptor->fd, acceptor->fd, acceptor->context, tag);
}

int swp__poller_wait(swp__poller *poller, swp__event *events, int most, int64_t timeout_ns)
{
    return poller->ops->wait(poller, events, most, timeout_ns);
}

void swp__poller_wake(swp__poller *poller)
{
    poller->ops->wake(poller);
}
