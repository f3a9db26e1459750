/* Waiting for many streams at once. Edges, not levels: an event says that something changed, and its receiver goes on
 * until the stream answers -EAGAIN or moves fewer bytes than asked. So a stream that is read to the end of what is
 * there costs no call but the wait. Room for output is told of only on request: a Unix socket would report it each time
 * the peer reads. All calls are for the poller's thread, except swp__poller_wake. */
#ifndef SWP_TRANSPORT_POLLER_H
#define SWP_TRANSPORT_POLLER_H

#include "transport/transport.h"

enum {
    SWP__READABLE = 1,
    SWP__WRITABLE = 2,
    SWP__ENDED = 4, /* the peer sends no more: what was sent is still there to read */
    SWP__GONE = 8,  /* the peer receives no more either: nobody waits for a reply */
};

typedef struct swp__event {
    void *tag;
    uint32_t what; /* a sum of the above */
} swp__event;

typedef struct swp__poller swp__poller;

typedef struct swp__poller_ops {
    int (*add)(swp__poller *poller, int in, int out, void *context, void *tag);
    void (*want_output)(swp__poller *poller, int in, int out, void *context, void *tag, bool wanted);
    void (*remove)(swp__poller *poller, int in, int out, void *context, void *tag);
    int (*wait)(swp__poller *poller, swp__event *events, int most, int64_t timeout_ns);
    void (*wake)(swp__poller *poller);
    void (*close)(swp__poller *poller);
} swp__poller_ops;

struct swp__poller {
    const swp__poller_ops *ops;
    int epoll_fd, wake_fd;
    void *always;  /* tag of a stream that is a regular file: ready whenever asked; NULL: none */
    void *context; /* of the ops */
};

/* The system's: epoll and an eventfd. NO_MEMORY when the system refuses. */
SWP_MUST_CHECK swp_status swp__poller_open(swp__poller *poller, swp_error *error);
void swp__poller_close(swp__poller *poller);

/* 0 or a negative errno. The first wait reports what is already there. */
int swp__poller_add_stream(swp__poller *poller, const swp__stream *stream, void *tag);
int swp__poller_add_acceptor(swp__poller *poller, const swp__acceptor *acceptor, void *tag);
int swp__poller_add_fd(swp__poller *poller, int fd, void *tag);

/* Begins and ends to report SWP__WRITABLE, first of all when there is room already. */
void swp__poller_want_output(swp__poller *poller, const swp__stream *stream, void *tag, bool wanted);

/* Before it is closed. No event of it is reported after. */
void swp__poller_remove_stream(swp__poller *poller, const swp__stream *stream, void *tag);
void swp__poller_remove_acceptor(swp__poller *poller, const swp__acceptor *acceptor, void *tag);

/* Events > 0; 0: woken, interrupted by a signal, or `timeout_ns` is over (negative: no end; 0: do not wait). */
int swp__poller_wait(swp__poller *poller, swp__event *events, int most, int64_t timeout_ns);

/* Ends a wait, or the next one. From any thread and from a signal handler. */
void swp__poller_wake(swp__poller *poller);

#endif
