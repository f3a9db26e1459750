/* A model of a client: asks at random, knows what must be answered, and says so when it is not.
 *
 * It knows each request it has sent and what may come back: which statuses, which bytes. A reply to a request that was
 * not made, or twice, or with another result than the reference's, fails the run. */
#ifndef SWP_TESTS_SIMULATION_CLIENT_H
#define SWP_TESTS_SIMULATION_CLIENT_H

#include "base/fingerprint.h"
#include "simulation/net.h"
#include "swp/engine.h"
#include "wire/wire.h"

enum { SWP__MODEL_SERIES = 4, SWP__MODEL_GRIDS = 5, SWP__MODEL_ROWS_MAX = 300 };

/* What is asked about, and the right answers; made once for all seeds. */
typedef struct swp__model {
    double *close[SWP__MODEL_SERIES];
    uint64_t bars_count[SWP__MODEL_SERIES];
    int64_t *rows[SWP__MODEL_GRIDS]; /* x SWP_PARAMS_COUNT */
    uint64_t rows_count[SWP__MODEL_GRIDS];
    double *pnl[SWP__MODEL_SERIES][SWP__MODEL_GRIDS];
    int64_t *trades[SWP__MODEL_SERIES][SWP__MODEL_GRIDS];
} swp__model;

void swp__model_init(swp__model *model);
void swp__model_fini(swp__model *model);

/* What the server is up to, as far as a client's expectations depend on it. */
typedef struct swp__world {
    const swp__model *model;
    swp__random *random;
    swp__net *net;
    uint64_t max_in_flight;
    bool memory_may_fail; /* allocations are refused now and then */
    bool draining;
    uint64_t jumps; /* of time, long enough for slow peers to be closed */
    uint64_t trace; /* of all that was seen: equal for equal seeds */
    uint64_t replies, sweeps_right, cancelled, refused, connections_lost;
} swp__world;

typedef struct swp__client swp__client;

/* NULL: no line is free. `version` 1 or 2. */
swp__client *swp__client_new(swp__world *world, int version);

/* Does one thing, at random: asks, sends, reads, cancels, leaves. */
void swp__client_act(swp__client *client);

/* Sends and reads, asks nothing more. True while there is something to come. */
bool swp__client_finish(swp__client *client);

/* Neither more to ask nor to hear of. */
bool swp__client_is_over(const swp__client *client);

/* Frees it; its line must be over or is closed. */
void swp__client_free(swp__client *client);

/* Prints the text and the seed and ends the program. */
_Noreturn void swp__simulation_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
