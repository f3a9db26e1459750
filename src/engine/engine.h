/* The engine's inside: a pool of threads that take turns at the sweeps in progress.
 *
 * A sweep is cut three ways. A *part* is a run of combos whose results stand together: a result block, or all of
 * them. A *chain* is one batch of a part's combos over one window: its bars are traded in order, since a combo's PnL
 * is one sum in one order. A *unit* is at most about a millisecond of chains, or of one chain. Threads take a unit
 * at a time, from the sweeps in turn, so a small sweep is never behind a large one. What a unit needs lives in a
 * *slot* (claimed chains, scratch); a sweep has as many slots as threads may work on it, all allocated before it
 * starts.
 *
 *     engine ── sweeps in progress (ring) ──> sweep ──> slot: chains 17..19, bar 40,960 of 150,000
 *        └───── worker-1, worker-2 ...          └─────> slot: chain 20, bar 0
 *
 * A long chain of a kernel that finds signs is *open*: threads that find no chain of their own find signs of its
 * next bars, each in a *segment*, and the segments are traded in order by whoever comes to the next one.
 *
 *     open chain 20:   traded | traded | found | being found | found | being found | not begun ...
 *                                      ^ traded next
 *
 * The calling thread of swp_sweep works on its own sweep, too. An engine without threads of its own (`stepped`) does
 * nothing until its owner steps it: a whole server then runs in one thread, in virtual time. All lists are guarded
 * by engine->lock. */
#ifndef SWP_ENGINE_ENGINE_H
#define SWP_ENGINE_ENGINE_H

#include <pthread.h>
#include "engine/limits.h"
#include "swp/engine.h"

enum { SWP__THREADS_MAX = 1024 };

typedef struct swp__sweep swp__sweep;
typedef struct swp__slot swp__slot;

/* Since the engine was made. */
typedef struct swp__engine_counters {
    uint64_t sweeps_started, sweeps_finished, sweeps_cancelled;
    uint64_t combos;     /* windows x combos that are done */
    uint64_t bar_combos; /* bars x combos computed */
    uint64_t units;
    uint64_t busy_ns;                    /* all threads together */
    uint64_t blocks;                     /* delivered */
    uint64_t live_opened, live_restored; /* sessions */
    uint64_t live_bars;                  /* pushed, each once however many combos; peeks and repeats do not count */
    /* as it is now */
    uint64_t sweeps_running, sweep_bytes, workers;
    uint64_t live_sessions, live_bytes;
} swp__engine_counters;

/* A thread of the engine's. While there are live sessions it is an idle one to the system, and ends when the last is gone: no
 * ordinary user can take that back, so the next sweep starts another in its place. */
typedef struct swp__worker {
    swp_engine *engine;
    pthread_t thread;
    enum { SWP__WORKER_NONE, SWP__WORKER_RUNNING, SWP__WORKER_ENDED } state; /* ENDED: to be joined */
} swp__worker;

struct swp_engine {
    swp_allocator allocator;
    swp_clock clock;
    swp__limits limits;
    uint32_t threads;
    uint32_t fork_count; /* under which it was made */
    bool stepped;

    pthread_mutex_t lock;
    pthread_cond_t work_ready; /* a sweep has units nobody has taken */
    swp__sweep *sweeps;        /* ring of sweeps in progress; the next to be asked for a unit */
    bool least_served_first;   /* whose turn it is: see turns.c */
    uint32_t idle_count;       /* workers waiting for work_ready */
    uint32_t workers_count;    /* running */
    bool stopping;
    swp__worker *workers; /* threads of them */
    swp__engine_counters counters;
};

/* As swp_engine_new, with limits (NULL: none in effect) and, when `stepped`, without threads of its own:
 * options->threads then says how many slots a sweep has (0: 1). BAD_PARAM: limits out of bounds. */
SWP_MUST_CHECK swp_status swp__engine_new(const swp_engine_options *options, const swp__limits *limits, bool stepped,
                                          swp_engine **engine, swp_error *error);

/* Runs one unit, or ends one sweep that is to be ended, on the calling thread; its callbacks are called from inside.
 * False: there was nothing to do. For stepped engines; on others it lends a thread. */
bool swp__engine_step(swp_engine *engine);

swp__engine_counters swp__engine_count(swp_engine *engine);

/* WRONG_PROCESS in a forked child of the process that made the engine. */
SWP_MUST_CHECK swp_status swp__engine_check_process(const swp_engine *engine, swp_error *error);

/* Starts workers until `wanted` (at most engine->threads) are running. Called locked. Returns how many are: a thread
 * that cannot be started is done without. */
uint32_t swp__engine_want_workers(swp_engine *engine, uint32_t wanted);

/* Wakes up to `count` idle workers. Called locked. */
void swp__engine_wake(swp_engine *engine, uint64_t count);

#endif
