/* The server's parts and what they know of each other.
 *
 *   server.c       the loop: events, time, acceptors, draining
 *   connection.c   one peer: bytes in, frames out
 *   call.c         one request from its first byte to its last reply byte
 *   v1.c, v2.c     what each version's requests mean; version 2's stand in *_requests.c
 *
 * A *call* is a request in the works. It belongs to one connection, is in its list, and its memory (what was read, what
 * will be sent) lives until its final frame has left or the connection is gone; a call that the engine still works at
 * keeps its connection in memory, closed. */
#ifndef SWP_SERVER_INTERNAL_H
#define SWP_SERVER_INTERNAL_H

#include <pthread.h>
#include "base/spin.h"
#include "engine/live.h"
#include "engine/store.h"
#include "engine/trade_list.h"
#include "server/server.h"
#include "transport/shm.h"
#include "wire/wire.h"

enum {
    SWP__TARGETS_MAX = 8,     /* arrays one frame is read into */
    SWP__READ_SIZE = 16384,   /* read at once when it is not known what comes: small requests come whole */
    SWP__READ_TURN = 1 << 20, /* bytes read from one connection before the others have their turn */
    SWP__SMALL_SIZE = 512,    /* arrays of a request that need no block of their own */
    SWP__CALLS_KEPT = 64,     /* free calls kept for the next requests */
};

#define SWP__LOOK_NS UINT64_C(1000000000) /* how often connections that must move are looked at */

typedef struct swp__connection swp__connection;
typedef struct swp__call swp__call;
typedef struct swp__session swp__session; /* live_requests.c */

typedef enum swp__outgoing_kind { SWP__FINAL, SWP__PROGRESS, SWP__BLOCK } swp__outgoing_kind;

/* A frame on its way out. */
typedef struct swp__outgoing {
    struct swp__outgoing *next; /* in the connection's queue, or in the list the engine's threads post to */
    swp__call *call;
    swp__outgoing_kind kind;
    bool posted, queued;
    int part;          /* first piece that has not left whole */
    swp__block *block; /* of a BLOCK: given back once sent */
    swp__wire_out out;
} swp__outgoing;

struct swp__call {
    swp__connection *connection;
    swp__call *next, *previous; /* in the connection's list */
    swp__wire_frame frame;      /* version 2: opcode, id, flags */
    swp__wire_request request;  /* version 2 */
    swp__wire_v1 v1;            /* version 1 */
    bool counted;               /* among the requests in flight */
    bool answered;              /* its final frame is queued */
    bool running;               /* the engine has it: `done` will be posted */
    bool small_taken;

    void *tail, *second, *result; /* arrays read and arrays to send; 64-byte aligned */
    size_t tail_size, second_size, result_size;
    uint64_t buffer_bytes; /* counted against max_buffers */

    swp_series *series;     /* version 1: over `tail` */
    const swp_series *held; /* version 2: taken from the store */
    swp__load *load;        /* LOAD, LOAD_COMMIT: until committed */
    swp__call *work_next;   /* among those with such work left */
    swp__sweep *sweep;
    swp__trade_list trades; /* TRADES: what the sweep has found so far */
    swp_status status;      /* how the sweep ended */
    swp_error error;
    swp__call *cancels; /* CANCELs that are answered after this call, by `waiting` */
    swp__call *waiting;

    swp_live *live;          /* LIVE_OPEN, RESTORE: until it is a session */
    swp__session *session;   /* in whose queue it is; NULL: none's */
    swp__call *session_next; /* in that queue */
    swp__push push;          /* LIVE_PUSH */

    swp__outgoing *blocks; /* [blocks_count], for results in blocks */
    uint32_t blocks_count;

    /* From here on not cleared for each request. */
    swp__outgoing final, progress;

    _Alignas(64) uint8_t small[SWP__SMALL_SIZE];
};

/* How fast a peer moves what it owes: judged anew each `slow_window_ms`. */
typedef struct swp__pace {
    uint64_t since_ns; /* 0: it owes nothing */
    uint64_t bytes;
} swp__pace;

struct swp__connection {
    bool is_door; /* false: see swp__door */
    swp__server *server;
    swp__connection *next, *previous; /* all of the server */
    swp__connection *turn_next;       /* those with something to do */
    bool in_turn;                     /* in that list, or having its turn */
    uint64_t turn_round;
    uint64_t number; /* for the log */
    swp__stream stream;
    swp__peer peer;
    bool is_stdio;
    swp__shm *shm;      /* of the stream, once it goes through shared memory; NULL: it does not */
    uint64_t shm_bytes; /* counted against max_buffers */
    bool is_watched;    /* in the server's list of those whose ring is looked at */
    swp__connection *watched_next;
    bool authorised;   /* the token was right, or none is asked for */
    bool greeted;      /* HELLO was answered */
    int version;       /* 0: not known yet */
    bool end_seen;     /* the poller told of the end: it is behind what can still be read */
    swp__scope *scope; /* its part of the store; NULL: it has none yet */

    /* what the poller last said, as far as we have not found out otherwise */
    bool readable, writable, wants_output;
    bool ended;   /* the peer sends no more and all was read */
    bool closing; /* nothing more is read; closed once the replies have left */
    bool failed;  /* closed on an error */

    /* the frame being read */
    uint8_t head[SWP__WIRE_PAYLOAD_AT + SWP__WIRE_FIXED_MAX];
    uint32_t head_size, head_wanted, body_size;
    swp__wire_frame frame; /* version 2: its header */
    struct iovec targets[SWP__TARGETS_MAX];
    int target, targets_count;
    uint64_t target_left; /* bytes */
    uint64_t skip_left;   /* bytes of a refused body that are thrown away */
    swp__call *reading;
    uint8_t *stash; /* version 1: bytes behind a request that is not answered yet */
    size_t stash_size, stash_at;

    swp__call *calls;
    uint32_t calls_count; /* all in the list */
    uint32_t in_flight;   /* counted ones */
    uint32_t cancels_count;

    swp__session *sessions;
    uint32_t sessions_count, sessions_numbered;

    swp__outgoing *out_first, *out_last;
    uint64_t out_bytes;

    /* judged by progress */
    uint64_t moved_ns;  /* last byte in or out */
    swp__pace pace_out; /* of what left while a reply waited */
    swp__pace pace_in;  /* of what came of the frame that is half read */
};

/* Doors and connections are what the poller's tags point to; both begin with what tells them apart. */
typedef struct swp__door {
    bool is_door; /* true */
    swp__acceptor acceptor;
    bool ready; /* somebody may wait to be accepted */
    struct swp__door *next;
} swp__door;

typedef struct swp__server_counters {
    uint64_t connections_accepted, connections_refused, connections_timed_out;
    uint64_t requests, requests_failed, bytes_in, bytes_out;
} swp__server_counters;

struct swp__server {
    swp__server_options options;
    swp_engine *engine;
    swp_allocator allocator;
    swp_clock clock;
    swp__log *log;
    swp__poller *poller;
    uint64_t now_ns; /* read once a step */
    uint64_t started_ns;

    swp__door *doors;
    swp__connection *connections, *turn_first, *turn_last;
    swp__connection *watched; /* who sends by shared memory just now: looked at, not told of by the poller */
    uint64_t round;           /* of turns */
    uint64_t connections_count, connections_numbered, streams_count;
    uint64_t buffer_bytes; /* of all calls */
    swp__call *free_calls;
    uint32_t free_calls_count;
    swp__call *working; /* calls whose loads or pushes have work left, the next one first */
    uint64_t running;   /* calls the engine has */

    int stop_requests; /* atomic */
    int stops_seen;
    bool draining, stopped, stdio_failed, had_streams;
    bool expects_bytes; /* of a large frame that arrives just now */
    bool lost_some;     /* a closed connection is not freed yet */
    uint64_t drain_until_ns;
    uint64_t look_ns;   /* when connections are looked at for time-outs; UINT64_MAX: no reason to */
    uint64_t accept_ns; /* when to accept again after the system refused; 0: now */
    swp__log_limiter accept_limiter, refuse_limiter, peer_limiter;
    uint64_t incidents; /* internal errors, numbered from 1 */

    pthread_mutex_t posted_lock;
    swp__outgoing *posted_first, *posted_last;
    int posted_some; /* atomic: the list is not empty */
    int sleeping;    /* atomic: the thread may be in a wait that only a wake ends */

    swp__spin spin;
    swp__connection *last_caller; /* who asked for the last sweep, and when somebody else did */
    uint64_t other_caller_ns;

    swp__server_counters counters;
    uint8_t read_buffer[SWP__READ_SIZE];
};

/* ---- connection.c ---- */

/* NULL: no memory, or the poller refused. */
swp__connection *swp__connection_open(swp__server *server, const swp__stream *stream, const swp__peer *peer);

/* Reads and writes what can be, and closes it when that is due; then it may be gone. */
void swp__connection_turn(swp__connection *connection);

/* Puts it on the list of those with something to do. */
void swp__connection_wants_turn(swp__connection *connection);

/* Closes at once: what waits is lost, what runs is cancelled. The memory goes with the last call. */
void swp__connection_drop(swp__connection *connection, const char *why);

/* Closes once the replies have left; nothing more is read. */
void swp__connection_finish(swp__connection *connection);

/* Its stream goes through shared memory from now on. */
void swp__connection_share(swp__connection *connection, swp__shm *shm);

/* Of one with shared memory: is there something that it would read now? */
bool swp__connection_has_input(const swp__connection *connection);

/* Queues a finished frame. */
void swp__connection_send(swp__connection *connection, swp__outgoing *outgoing);

/* Throws away what is left of the body of the frame whose head was read. */
void swp__connection_skip_body(swp__connection *connection);

/* Has it judged by time within SWP__LOOK_NS. */
void swp__connection_watch(swp__connection *connection);

/* Is it slow, stalled or idle? Drops it then. *next_ns is lowered to when it must be looked at again. */
void swp__connection_judge(swp__connection *connection, uint64_t *next_ns);

/* A line about a peer's fault, at a bounded rate. */
void swp__log_peer(swp__connection *connection, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- server.c ---- */

/* Its ring is looked at from now on; and no more. */
void swp__server_watch(swp__server *server, swp__connection *connection);
void swp__server_forget_watched(swp__server *server, swp__connection *connection);

/* A connection was closed. It is freed once its last call is, at the end of the step. */
void swp__server_lost(swp__server *server, swp__connection *connection);

/* A load's or a push's work goes on in later steps, slice by slice; or not, when the call is freed. */
void swp__server_work_later(swp__server *server, swp__call *call);
void swp__server_forget_work(swp__server *server, const swp__call *call);

/* Deals with what the engine's threads posted. */
void swp__server_take_posted(swp__server *server);

/* ---- call.c ---- */

/* NULL: no memory. Enters the connection's list. */
swp__call *swp__call_new(swp__connection *connection);

/* Memory for arrays, counted against max_buffers. LIMIT, NO_MEMORY; the text names `what`. A size of 0 gives a valid
 * pointer. */
swp_status swp__call_alloc(swp__call *call, size_t size, const char *what, void **block, swp_error *error);

/* Leaves the list and frees everything. Not while the engine has it. */
void swp__call_free(swp__call *call);

/* Frees the calls that were kept. */
void swp__calls_fini(swp__server *server);

/* One of the requests in flight from now on, until it is answered. */
void swp__call_count(swp__call *call);

/* A bug of ours that one call shows (docs/failures.md): counted, numbered and logged; *error becomes INTERNAL with the number.
 * What else the server holds is not in doubt: where it is, an assertion ends the process. */
void swp__call_incident(const swp__call *call, swp_error *error, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The final frame of a version 2 call: an error, or OK with what `reply` says (opcode, id and status are filled in) and
 * appended arrays; they must live as long as the call. What no answer to this request can be becomes INTERNAL. */
void swp__call_fail(swp__call *call, const swp_error *error);
void swp__call_answer(swp__call *call, swp__wire_reply *reply, const void *tail, size_t tail_size);

/* The reply of a version 1 call: two arrays, as above. */
void swp__call_answer_v1(swp__call *call, const void *first, size_t first_size, const void *second, size_t second_size);

/* Starts the call's sweep, into the arrays of `result`, or, with NULL, in blocks of `block_columns`. What they and
 * `request` point to lives as long as the call. Its end is told by swp__v1_done or swp__v2_done. */
swp_status swp__call_sweep(swp__call *call, const swp_series *series, swp_sweep_request *request,
                           const swp_sweep_result *result, uint64_t block_columns, bool progress, swp_error *error);

/* What a thread of the engine posted about a call. */
void swp__call_posted(swp__outgoing *outgoing);

/* After the frame has left, or its connection is gone. */
void swp__outgoing_sent(swp__outgoing *outgoing);

/* ---- v1.c, v2.c: what requests mean ---- */

/* Both: the fixed part of a frame is in connection->head. Makes connection->reading and its targets, or sets skip_left
 * to what is left of the body, or finishes the connection. */
void swp__v1_begin(swp__connection *connection);
void swp__v2_begin(swp__connection *connection);

/* The whole frame was read into the call. */
void swp__v1_run(swp__call *call);
void swp__v2_run(swp__call *call);

/* The engine is done with the call. */
void swp__v1_done(swp__call *call);
void swp__v2_done(swp__call *call);

/* LOAD: bytes of its columns are in; and one slice of a load's work that was left: true when the call is answered. */
void swp__load_arrived(swp__call *call, uint64_t bytes_so_far, uint64_t bytes_now);
bool swp__load_go_on(swp__call *call);

/* A live session's warm-up is swept; and one slice of the work of a session that was left: true when the call is answered. */
void swp__live_warmed(swp__call *call);
bool swp__live_go_on(swp__call *call);

/* Combos of the session that a call is in the queue of; 0: none's. */
uint64_t swp__live_combos(const swp__call *call);

/* A call of a session goes, answered or not; a connection goes, its calls before it. */
void swp__live_forget(swp__call *call);
void swp__connection_end_sessions(swp__connection *connection);

/* A reply to a frame that has no call: opcode 0 and id 0, or the frame's. */
void swp__v2_refuse(swp__connection *connection, const swp__wire_frame *frame, const swp_error *error);

#endif
