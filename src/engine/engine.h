/* The engine's inside: a pool of threads that take turns at the sweeps in progress.
 *
 * A sweep is cut two ways. A *chain* is one batch of combos over one window: its bars are walked in order, since a combo's
 * PnL is one sum in one order. A *unit* is about a millisecond of a chain. Threads take a unit at a time, from the sweeps in
 * turn, so a small sweep is never behind a large one. A chain in progress lives in a *slot* (its combos, trade states and
 * scratch); a sweep has as many slots as threads may work on it, all allocated before it starts.
 *
 *     engine ── sweeps in progress (ring) ──> sweep ──> slot: chain 17, bar 40,960 of 150,000
 *        └───── worker-1, worker-2 ...          └─────> slot: chain 18, bar 0
 *
 * The calling thread of swp_sweep works on its own sweep, too. All lists are guarded by engine->lock. */
#ifndef SWP_ENGINE_ENGINE_H
#define SWP_ENGINE_ENGINE_H

#include <pthread.h>
#include "swp/engine.h"

enum { SWP__THREADS_MAX = 1024 };

typedef struct swp__sweep swp__sweep;

struct swp_engine {
    swp_allocator allocator;
    swp_clock clock;
    uint32_t threads;

    pthread_mutex_t lock;
    pthread_cond_t work_ready; /* a sweep has units nobody has taken */
    swp__sweep *sweeps;        /* ring of sweeps in progress; the next to be asked for a unit */
    uint32_t idle_count;       /* workers waiting for work_ready */
    uint32_t workers_count;    /* started */
    bool stopping;
    pthread_t *workers; /* threads - 1: the calling thread is the other one */
};

/* Starts workers until `wanted` are running besides the caller, as far as the engine's threads allow. Called locked. A
 * thread that cannot be started is done without: the caller's own thread always works. */
void swp__engine_want_workers(swp_engine *engine, uint32_t wanted);

#endif
