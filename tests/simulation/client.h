/* A model of a client: asks at random, knows what must be answered, and says so when it is not.
 *
 * It knows each request it has sent and what may come back: which statuses, which bytes. A reply to a request that was
 * not made, or twice, or with another result than the reference's, fails the run. It outlives its connection: it connects
 * again and goes on with what it has saved. */
#ifndef SWP_TESTS_SIMULATION_CLIENT_H
#define SWP_TESTS_SIMULATION_CLIENT_H

#include "simulation/model.h"
#include "simulation/net.h"
#include "wire/wire.h"

/* What has been seen in all runs: a simulation that sees too little proves nothing. */
typedef struct swp__seen {
    uint64_t replies, sweeps_right, cancelled, refused, connections_lost;
    uint64_t uploads, uploads_refused;
    uint64_t pushes, repeats, stale, peeks, restores;
    uint64_t reconnects, found_again, sent_again, limits;
} swp__seen;

/* What the server is up to, as far as a client's expectations depend on it. */
typedef struct swp__world {
    const swp__model *model;
    swp__random *random;
    swp__net *net;
    uint64_t max_in_flight, max_uploads, max_sessions;
    uint64_t max_memory, max_live_memory;
    bool memory_may_fail; /* allocations are refused now and then */
    bool memory_is_tight; /* the store evicts, and refuses; so do sessions */
    bool draining;
    uint32_t life;                       /* how often the server was started */
    uint64_t lives_drained;              /* bits: those that ended in order */
    uint64_t jumps;                      /* of time, long enough for slow peers to be closed */
    uint32_t loaded[SWP__NET_USERS + 1]; /* bits: series that users have sent to this life; [0]: see swp__client */
    uint64_t trace;                      /* of all that was seen: equal for equal seeds */
    swp__seen seen;
} swp__world;

typedef struct swp__client swp__client;

/* NULL: no line is free. `version` 1 or 2. */
swp__client *swp__client_new(swp__world *world, int version);

/* Does one thing, at random: asks, sends, reads, cancels, leaves. */
void swp__client_act(swp__client *client);

/* Sends and reads, asks nothing more. True while there is something to come. */
bool swp__client_finish(swp__client *client);

/* Neither more to ask nor to hear of on this connection. */
bool swp__client_is_over(const swp__client *client);

/* A new connection, with what it has saved. False: no line is free. */
bool swp__client_connect(swp__client *client);

/* Frees it; its line must be over or is closed. */
void swp__client_free(swp__client *client);

/* Prints the text and the seed and ends the program. */
_Noreturn void swp__simulation_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
