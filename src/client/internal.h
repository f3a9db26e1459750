/* The client's parts and what they know of each other.
 *
 *     series.c buffer.c sweep.c live.c info.c  what the public calls ask, and what they make of the answers
 *            │  ask, pending
 *            ▼
 *     client.c ──> local.c          inproc: the ask goes to the engine and the store of this process
 *            └───> call.c           all other doors: the ask becomes a frame, the reply is waited for
 *                    ├── link.c     connecting, HELLO, losing the connection
 *                    ├── send.c     frames out; reads meanwhile
 *                    ├── receive.c  bytes in: frames to those who wait for them
 *                    └── sink.c     where the tail of a reply goes
 *
 * Who waits, leads or follows: one thread at a time (client->reading) is in a read and delivers what comes, to itself and to
 * the others, who sleep; when its own answer is there it wakes one of them to lead. A lone caller never sleeps on anything but
 * the socket, so a small call is one sendmsg and one recvmsg.
 *
 * client->lock guards everything but what is said to be fixed. It is held during sendmsg and recvmsg calls that cannot wait,
 * never during a wait. Memory of a caller is read and written only under the lock, or by its own thread, so a call may be
 * given up at any time. */
#ifndef SWP_CLIENT_INTERNAL_H
#define SWP_CLIENT_INTERNAL_H

#include <pthread.h>
#include "base/spin.h"
#include "engine/trade_list.h"
#include "swp/client.h"
#include "transport/transport.h"
#include "wire/wire.h"

enum {
    SWP__CLIENT_READ_SIZE = 16384, /* read at once when it is not known what comes; an error frame fits */
    SWP__SINK_RUNS = 16,           /* runs of a sink one read goes to */
    SWP__PENDING_BUCKETS = 64,
    SWP__RESULTS_COUNT = 8, /* columns of a sweep's result */
    SWP__COLUMNS_COUNT = 6, /* of a series */
    SWP__CANCELS_MAX = 64,  /* CANCELs that wait for their turn to be sent */
};

/* Ids of calls have it clear, those of the CANCELs nobody waits for have it set. */
#define SWP__CANCEL_ID_BIT UINT32_C(0x80000000)

typedef struct swp__local swp__local; /* local.c */

/* ---- sink.c: where the tail of a reply goes, as runs of memory ---- */

typedef struct swp__sink {
    enum { SWP__SINK_NONE, SWP__SINK_BYTES, SWP__SINK_OWNED, SWP__SINK_ROWS } kind;
    char *bytes;   /* BYTES: the caller's; OWNED: allocated when the size is known, with a NUL behind it (swp__owned_free) */
    uint64_t size; /* of it */

    /* ROWS: columns of windows x combos cells of 8 bytes; a block fills combos [first, first + count) of each window */
    char *columns[SWP__RESULTS_COUNT];
    uint32_t columns_count;
    uint64_t windows, combos, first, count;

    uint64_t run, runs_count, run_done; /* the run being filled, and how many bytes of it are */
} swp__sink;

/* The result's arrays as the wire orders them; *columns is the set of bits. */
swp__sink swp__sink_of_rows(const swp_sweep_result *result, uint64_t windows, uint64_t combos, uint64_t *columns);

/* Begins a tail of `size` bytes, which the sink was made for; rows: of the combos [first, first + count). False: no memory. */
bool swp__sink_begin(swp__sink *sink, const swp_allocator *allocator, uint64_t size, uint64_t first, uint64_t count);

/* The next runs, at most `most`. */
int swp__sink_runs(const swp__sink *sink, struct iovec *runs, int most);

/* `size` bytes of them were filled. */
void swp__sink_advance(swp__sink *sink, uint64_t size);

/* Memory of an OWNED sink, as long as it is the sink's; and after. NULL is a no-op. */
void swp__sink_free(swp__sink *sink, const swp_allocator *allocator);
void swp__owned_free(const swp_allocator *allocator, void *bytes);

/* ---- a call on its way ---- */

/* What to ask: `request` in the pending says opcode, flags and fixed part; the rest is borrowed until it was sent. */
typedef struct swp__ask {
    swp_client_series *series; /* its handle goes to `handle_at` of the fixed part; NULL: none */
    size_t handle_at;
    const swp_sweep_request *sweep; /* SWEEP, TRADES, LIVE_OPEN */
    struct iovec tail[SWP__COLUMNS_COUNT];
    size_t tail_count;
    const int *fd;       /* goes with it; borrowed; NULL: none */
    uint64_t generation; /* of the connection it makes sense on; 0: any */
    bool caller_waits;   /* inproc: the thread may begin with the work at once */
} swp__ask;

struct swp_pending {
    swp_client *client;
    swp__wire_request request; /* as sent */
    uint64_t deadline_ns;      /* SWP__NO_DEADLINE: none */
    uint64_t generation;       /* of the connection it was sent on */
    swp__sink sink;

    bool registered, done, waits;
    swp_pending *next;                          /* in its bucket */
    swp_pending *next_waiter, *previous_waiter; /* among the followers */
    pthread_cond_t woken;                       /* while it follows */
    swp__wire_reply reply;                      /* status OK: its fixed part */
    swp_status status;
    swp_error error; /* of any other status */

    /* SWEEP; a session's calls: its combos_count */
    swp_sweep_result result;
    uint8_t *own_finished; /* NULL: result.finished is the caller's, or not needed */
    uint64_t windows_count, combos_count;
    swp_cancel *cancel;
    bool cancel_wanted, cancel_sent;
    bool in_blocks;
    void (*progress)(void *context, uint64_t combos_done, uint64_t combos_count);
    void *progress_context;
    uint64_t combos_done, combos_told;

    /* local.c: a sweep in this process */
    swp__sweep *sweep;
    const swp_series *held;
    swp__trade_list trades;
};

/* ---- the client ---- */

typedef enum swp__link_state {
    SWP__LINK_DOWN,
    SWP__LINK_CONNECTING, /* by one thread; the others wait */
    SWP__LINK_GREETING,   /* the same thread says HELLO */
    SWP__LINK_UP,
    SWP__LINK_LOST, /* shut down, but a thread is still inside a read or write of it */
} swp__link_state;

struct swp_client {
    /* fixed */
    swp_allocator allocator;
    swp_clock clock;
    swp__address address;
    char url[SWP__ADDRESS_TEXT_SIZE];
    uint32_t timeout_ms, threads;
    uint8_t token[SWP__TOKEN_MAX];
    size_t token_size;
    char name[SWP__CLIENT_NAME_MAX];
    size_t name_size;
    uint32_t fork_count; /* under which it was made */
    swp__local *local;   /* inproc:; NULL: a connection */

    pthread_mutex_t lock;
    pthread_cond_t changed; /* the link, whose turn it is to write, room for calls, a series found again */

    swp__link_state state;
    swp__stream stream;
    uint32_t features;   /* SWP__FEATURE_* of the server */
    uint64_t generation; /* of connections, from 1 */
    pid_t process;       /* spawn:; 0: none */
    swp_server_info server;

    swp_client_series *series; /* all that were not dropped: they go with the client */
    swp_client_live *lives;    /* likewise */

    swp_pending *pending[SWP__PENDING_BUCKETS]; /* by id */
    uint32_t pending_count;
    uint32_t given_up_count; /* calls that timed out and whose final frame has not come */
    uint32_t next_id;
    swp_pending *waiters; /* followers, the one that waits longest first */
    swp_pending *waiters_last;
    uint32_t changed_waiters; /* in a wait for `changed` */

    uint32_t cancels[SWP__CANCELS_MAX]; /* ids to cancel when a frame may be sent */
    uint32_t cancels_count, next_cancel_id;

    bool reading, writing;
    swp__spin spin; /* the reader's */

    /* the frame being read */
    swp_pending *filling;          /* whose tail comes next */
    uint64_t tail_left, skip_left; /* bytes */
    swp__wire_reply filling_reply;
    size_t buffer_size; /* bytes in the buffer: the beginning of a frame, less than what is needed of it */
    _Alignas(64) uint8_t buffer[SWP__CLIENT_READ_SIZE];
};

/* ---- client.c ---- */

/* WRONG_PROCESS. */
swp_status swp__client_check(const swp_client *client, swp_error *error);

/* When a call that begins now ends. */
uint64_t swp__client_deadline(const swp_client *client, uint32_t timeout_ms);

/* Sets off a call: SWP_OK, it is on its way or done already; any other status is the call's. */
swp_status swp__client_start(swp_client *client, swp_pending *pending, const swp__ask *ask, swp_error *error);

/* Waits for its end and returns its status. Owned memory of the sink is the caller's on OK, freed otherwise. */
swp_status swp__client_finish(swp_client *client, swp_pending *pending, swp_error *error);

/* Both. */
swp_status swp__client_call(swp_client *client, swp_pending *pending, const swp__ask *ask, swp_error *error);

/* A wait for `changed` until the deadline; false: it has passed. Called locked. */
bool swp__client_wait_change(swp_client *client, uint64_t deadline_ns);
void swp__client_tell_change(swp_client *client);

/* A condition that waits by the monotonic clock, until a time of client->clock or a second from now, whichever is first. */
void swp__cond_init(pthread_cond_t *cond);
void swp__cond_wait(swp_client *client, pthread_cond_t *cond, uint64_t until_ns);

swp_status swp__timed_out(const swp_client *client, swp_error *error);

/* Frames may be sent and read. */
static inline bool swp__link_is_open(const swp_client *client)
{
    return client->state == SWP__LINK_UP || client->state == SWP__LINK_GREETING;
}

/* ---- link.c: all called locked ---- */

/* Connects when it is down. */
swp_status swp__link_ensure(swp_client *client, uint64_t deadline_ns, swp_error *error);

/* The connection is of no use any more: every call on it ends with this status and text. */
void swp__link_lose(swp_client *client, swp_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Closes a lost connection once nobody is inside. */
void swp__link_settle(swp_client *client);

/* ---- spawn.c ---- */

/* Starts PROGRAM serve --listen stdio: with its standard input and output at the other end of *stream. REFUSED. */
swp_status swp__spawn(const char *program, uint32_t threads, swp__stream *stream, pid_t *process, swp_error *error);

/* Its stream is closed: waits for its end, not for long. */
void swp__spawn_reap(pid_t process);

/* ---- call.c: the doors with a connection ---- */

swp_status swp__call_start(swp_client *client, swp_pending *pending, const swp__ask *ask, swp_error *error);
void swp__call_finish(swp_client *client, swp_pending *pending);

/* Sends it on the link as it is; waits for it. Called locked. */
swp_status swp__call_send(swp_client *client, swp_pending *pending, const swp__ask *ask, bool *has_left, swp_error *error);
void swp__call_wait(swp_client *client, swp_pending *pending);

/* Ends a call: takes it out of the table and wakes who waits for it. Called locked. */
void swp__call_end(swp_client *client, swp_pending *pending, swp_status status, const swp_error *error);

/* Nobody reads: the follower that waits longest is to. Called locked. */
void swp__wake_leader(swp_client *client);

/* ---- send.c: called locked ---- */

/* One frame, with a descriptor unless `fd` is NULL. *has_left: a part of it did; else it may be sent again on another
 * connection. */
swp_status swp__send(swp_client *client, swp__wire_out *out, const int *fd, uint64_t deadline_ns, bool *has_left,
                     swp_error *error);

/* Sends the CANCELs that wait, if nobody is writing. */
void swp__send_cancels(swp_client *client);

/* ---- receive.c: called locked ---- */

/* One read, by the thread that waits for `own` (NULL: none), and what comes of it. Waits until something came, `until_ns`, or
 * about a second. */
void swp__receive(swp_client *client, swp_pending *own, uint64_t until_ns);

/* Reads what is there, without waiting. False: nothing was. */
bool swp__receive_now(swp_client *client);

/* ---- local.c ---- */

swp_status swp__local_open(swp_client *client, swp_error *error);
void swp__local_close(swp_client *client);
swp_status swp__local_start(swp_client *client, swp_pending *pending, const swp__ask *ask, swp_error *error);
void swp__local_finish(swp_client *client, swp_pending *pending);

/* A session in this process; `warm_up` may be NULL. */
swp_status swp__local_live_open(swp_client *client, const swp_client_series *warm_up, const swp_live_request *request,
                                swp_live **live, swp_error *error);
swp_engine *swp__local_engine(swp_client *client);

/* ---- live.c ---- */

/* Gives back the memory of the sessions that were not closed, and inproc: the sessions, too. Nobody else uses the client. */
void swp__lives_free_all(swp_client *client, bool with_sessions);

/* ---- series.c ---- */

struct swp_client_series {
    swp_client *client;
    swp_client_series *next, *previous; /* in client->series */
    uint64_t handle, generation;        /* the handle is good on that connection */
    bool finding;                       /* a thread is finding it again */
    uint64_t bars_count;                /* fixed */
    swp_series_info info;
    uint32_t columns_set, allow;
    swp_keep keep;
    swp_columns columns;          /* kept ones */
    char name[SWP__NAME_MAX + 1]; /* it was opened by; "": it was not */
};

/* A series whose closes are in a sealed memfd, which stays the caller's. */
swp_status swp__series_load_fd(swp_client *client, int fd, const swp_columns *columns, uint32_t allow, uint64_t deadline_ns,
                               swp_client_series **series, swp_error *error);

/* Does the server take descriptors? As it said when it was last connected to. */
bool swp__client_takes_fds(swp_client *client);

/* Gives back the memory of the series that were not dropped. Nobody else uses the client. */
void swp__series_free_all(swp_client *client);

/* Finds the series again after a reconnect. Called locked; unlocks meanwhile. */
swp_status swp__series_renew(swp_client *client, swp_client_series *series, uint64_t deadline_ns, swp_error *error);

#endif
