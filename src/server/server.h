/* The engine as a service: takes connections, reads requests, runs them on the engine, answers.
 *
 * One thread does all reading and writing; sweeps run on the engine's pool and come back through a list that wakes it.
 * Everything it knows of the world is handed in (engine, poller, streams, clock), so that a test can run it in virtual
 * time.
 *
 *     poller ─> connection: bytes ─> frame ─> call ─> dispatch ─> engine
 *                    ^                          │                   │ done, block, progress: posted
 *                    └────── sendmsg <── outgoing frames <──────────┘
 *
 * All calls are for the server's thread, except swp__server_stop. */
#ifndef SWP_SERVER_SERVER_H
#define SWP_SERVER_SERVER_H

#include "base/log.h"
#include "engine/store.h"
#include "server/limits.h"
#include "transport/poller.h"

typedef struct swp__server swp__server;

typedef struct swp__server_options {
    swp_engine *engine;  /* with it come allocator and clock; outlives the server */
    swp__store *store;   /* outlives the server */
    swp__poller *poller; /* outlives the server */
    swp__log *log;       /* outlives the server */
    swp__server_limits limits;
    const uint8_t *token; /* borrowed; HELLO must bring these bytes; NULL: no token is asked for */
    size_t token_size;
    uint32_t kernel;     /* swp_kernel: of requests that leave the choice to the server */
    bool may_spin;       /* limits.spin_us holds; false in virtual time */
    bool may_run_inline; /* a unit of a sweep may run on the server's own thread, when nobody else waits */
} swp__server_options;

/* BAD_PARAM a limit out of bounds; NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__server_new(const swp__server_options *options, swp__server **server, swp_error *error);

/* Takes over a listening socket, closed by the server. NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__server_add_acceptor(swp__server *server, const swp__acceptor *acceptor, swp_error *error);

/* Takes over a connected stream. The server ends with the last one added so (stdio:) unless it listens, too.
 * NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__server_add_stream(swp__server *server, const swp__stream *stream, const swp__peer *peer,
                                                 swp_error *error);

/* Waits for something to do, at most `most_ns` (negative: as long as it takes), and does it. False: the server has
 * ended, drained or stopped; free it. */
bool swp__server_step(swp__server *server, int64_t most_ns);

/* First call: drain. No new connections and no new work; what runs is finished and answered, up to the drain time-out.
 * Second call: stop at once. From any thread and from a signal handler. */
void swp__server_stop(swp__server *server);

bool swp__server_is_stopping(const swp__server *server);

/* Did every stream that was added (stdio:) end well: at the end of a frame, each request answered? */
bool swp__server_ended_well(const swp__server *server);

/* Cancels what runs, waits for it, closes every connection. NULL is a no-op. */
void swp__server_free(swp__server *server);

#endif
