/* Moves bytes between two ends: a Unix socket, loopback TCP, a pair of pipes (stdio), shared memory (shm.h), or memory in a
 * simulation. Knows nothing of frames.
 *
 *     address ── listen ──> acceptor ── accept ──> stream ── recv, send, close
 *        └────── connect ─────────────────────────> stream
 *
 * No call waits, except where a deadline is given. A stream or acceptor belongs to one thread at a time; a server waits
 * for many of them with a poller (poller.h), a client for one with swp__stream_wait. */
#ifndef SWP_TRANSPORT_TRANSPORT_H
#define SWP_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include "swp/error.h"
#include "swp/host.h"
#include "transport/address.h"

enum {
    SWP__FDS_MAX = 4,     /* descriptors that may wait on a stream for the frames they belong to */
    SWP__IOVECS_MAX = 64, /* pieces one recv or send takes */
};

#define SWP__NO_DEADLINE UINT64_MAX

/* Who is at the other end, as far as the system vouches for it. */
typedef struct swp__peer {
    bool known; /* false: TCP and memory; the members below are then 0 */
    uid_t uid;
    gid_t gid;
    pid_t pid;
} swp__peer;

typedef struct swp__stream swp__stream;
typedef struct swp__acceptor swp__acceptor;

/* One kind of stream. Failures are negative errno values; -EAGAIN: nothing moves just now. */
typedef struct swp__stream_ops {
    ssize_t (*recv)(swp__stream *stream, const struct iovec *iovecs, int count);
    /* NULL: wait, then recv */
    ssize_t (*recv_wait)(swp__stream *stream, const struct iovec *iovecs, int count, uint32_t wait_ms);
    ssize_t (*send)(swp__stream *stream, const struct iovec *iovecs, int count, const int *fd);
    void (*shut_output)(swp__stream *stream);
    void (*close)(swp__stream *stream);
    /* as swp__stream_wait; NULL: poll the descriptors */
    int (*wait)(const swp__stream *stream, bool in, bool out, uint64_t deadline_ns);
} swp__stream_ops;

/* A connected end. Zero means closed. */
struct swp__stream {
    const swp__stream_ops *ops;
    int in, out;   /* descriptors, the same one for a socket; -1: none (memory) */
    void *context; /* of the ops */
    uint8_t fds_count;
    uint32_t wait_ms;      /* what the socket was last told to wait; 0: nothing yet */
    bool fds_cut;          /* the system or the queue had no room for a descriptor: it is lost */
    int fds[SWP__FDS_MAX]; /* received, oldest first, close-on-exec */
};

/* Moves what is there into the pieces, in order: bytes > 0; 0 at the end of the stream; a negative errno. Descriptors
 * that came along wait in stream->fds. */
ssize_t swp__stream_recv(swp__stream *stream, const struct iovec *iovecs, int count);

/* As swp__stream_recv, but waits about `wait_ms` (at least 1) when nothing is there: in the same system call where that
 * is possible. -EAGAIN: nothing came; -EINTR: a signal did. */
ssize_t swp__stream_recv_wait(swp__stream *stream, const struct iovec *iovecs, int count, uint32_t wait_ms);

/* Hands the pieces over as one: bytes > 0, perhaps fewer than given; a negative errno. `fd` rides on the first byte
 * (Unix sockets only, else -EOPNOTSUPP) and stays the caller's; NULL: none. Never raises SIGPIPE on a socket; a program
 * that uses stdio: ignores it. */
ssize_t swp__stream_send(swp__stream *stream, const struct iovec *iovecs, int count, const int *fd);

/* Tells the peer that nothing more comes; reading goes on. */
void swp__stream_shut_output(swp__stream *stream);

/* Closes it and the descriptors that wait; a closed one is a no-op. */
void swp__stream_close(swp__stream *stream);

/* As swp__stream_close, but what the peer has not taken is thrown away: a peer that takes nothing keeps no memory of
 * the system's. */
void swp__stream_abort(swp__stream *stream);

bool swp__stream_is_open(const swp__stream *stream);

/* The oldest descriptor that waits, now the caller's; -1: none. */
int swp__stream_take_fd(swp__stream *stream);

/* Closes what waits: descriptors no frame asked for. */
void swp__stream_drop_fds(swp__stream *stream);

/* Waits until bytes, the end or a failure can be read (`in`), or written (`out`): 1 readable, 2 writable, their sum; 0
 * when `deadline_ns` of the system's monotonic clock has passed; a negative errno. */
int swp__stream_wait(const swp__stream *stream, bool in, bool out, uint64_t deadline_ns);

/* Drops `done` bytes from the front of the pieces: returns the first piece that still has some, shortened, or
 * `count`. */
int swp__iovecs_advance(struct iovec *iovecs, int count, size_t done);

/* Connects to unix:, shm: (its socket; shm.h does the rest) or tcp:. In this order: BAD_PARAM an address one cannot connect to;
 * REFUSED nobody listens, no such file, or not allowed (the text says which, and what to do); TIMED_OUT; NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__connect(const swp__address *address, uint64_t deadline_ns, swp__stream *stream,
                                       swp_error *error);

typedef struct swp__acceptor_ops {
    /* 0, or a negative errno: -EAGAIN nobody waits; -EMFILE, -ENFILE, -ENOMEM, -ENOBUFS: try later; -EACCES: the peer
     * may not use this server; *stream is open then too, so that it can be told. */
    int (*accept)(swp__acceptor *acceptor, swp__stream *stream, swp__peer *peer);
    void (*close)(swp__acceptor *acceptor);
} swp__acceptor_ops;

typedef struct swp__acceptor {
    const swp__acceptor_ops *ops;
    int fd;               /* -1: none (memory) */
    int lock_fd;          /* unix: held as long as we listen; -1: none */
    swp__address address; /* as bound: the port the system chose is filled in */
    bool group_allowed;   /* unix: members of `group` may connect too */
    gid_t group;
    dev_t device; /* unix: the file we bound */
    ino_t inode;
    bool inherited; /* made by the service manager: the file is not ours to remove */
    void *context;
} swp__acceptor;

typedef struct swp__listen_options {
    bool group_allowed; /* unix: mode 0660, group `group`; else 0600 */
    gid_t group;
} swp__listen_options;

/* Listens on unix: or tcp:. `options` may be NULL. A Unix socket's mode is never wider than asked for, not for a
 * moment. A stale socket file is replaced only under PATH.lock and when nobody listens behind it. In this order:
 * BAD_PARAM an address one cannot listen on; REFUSED already running, a file that is no socket (left as it is), a
 * directory or port that may not be used; NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__listen(const swp__address *address, const swp__listen_options *options, swp__acceptor *acceptor,
                                      swp_error *error);

/* Takes over a listening socket that a service manager made. BAD_PARAM when it is not one, or not unix or
 * loopback TCP. */
SWP_MUST_CHECK swp_status swp__listen_inherited(int fd, const swp__listen_options *options, swp__acceptor *acceptor,
                                                swp_error *error);

int swp__accept(swp__acceptor *acceptor, swp__stream *stream, swp__peer *peer);

/* Stops listening and removes the socket file if it is still ours. A closed one is a no-op. */
void swp__acceptor_close(swp__acceptor *acceptor);

/* The process's standard input and output as one stream. They are made non-blocking until it is closed. */
swp_status swp__stdio_open(swp__stream *stream, swp_error *error);

/* Any connected socket, or a pair of pipes (in, out), as a stream that owns them. */
swp__stream swp__stream_from_socket(int fd);
swp_status swp__stream_from_pipes(int in, int out, swp__stream *stream, swp_error *error);

#endif
