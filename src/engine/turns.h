/* A sweep in progress as the pool sees it, and whose turn it is. All calls with engine->lock held. */
#ifndef SWP_ENGINE_TURNS_H
#define SWP_ENGINE_TURNS_H

#include "engine/order.h"
#include "engine/sweep.h"

#define SWP__UNIT_NS 1e6 /* work a thread does before it looks at the other sweeps */

/* A run of combos whose results stand together. */
typedef struct swp__part {
    swp__block block;
    swp__sweep *sweep;
    struct swp__part *next; /* in the sweep's list of free ones */
    void *memory;           /* of block.columns; NULL: results go to the caller's arrays */
    swp_sweep_result result;
    uint64_t window_chains; /* chains a window */
    uint64_t chains_count, next_chain, chains_finished;
} swp__part;

/* One batch of a part's combos over one window, in progress. */
typedef struct swp__chain {
    struct swp__chain *next; /* in the sweep's list of idle or open ones */
    swp__part *part;
    uint64_t index; /* in its part */
    uint64_t id;    /* of an open chain, unlike any other's of the sweep; 0: not open */
    const swp_window *window;
    swp__slice slice;
    int64_t quantum_bars;
    int64_t bar;              /* the first one nobody has begun */
    double bar_ns, chain_ns;  /* estimates: one bar, all */
    uint64_t rows_count;      /* combos of the batch, those without bars enough included */
    size_t combos_count;      /* that have bars enough */
    swp_params *combos;       /* [batch] */
    swp__trade_state *states; /* [batch] */
    uint64_t *rows;           /* [batch] where each combo's numbers go */

    /* open: guarded by engine->lock */
    uint32_t running;           /* threads that find signs of it */
    bool trading;               /* a thread is at its states */
    int64_t traded_bar;         /* the first one that is not traded */
    struct swp__segment *found; /* signs waiting for their turn to be traded, by bar */
} swp__chain;

/* Signs of some bars of a chain. */
typedef struct swp__segment {
    struct swp__segment *next; /* in the sweep's list of free ones, or the chain's of found ones */
    swp__chain *chain;
    int64_t from, to;
    swp__signs signs;
} swp__segment;

struct swp__slot {
    swp__sweep *sweep;
    swp__slot *next;                  /* in the sweep's list of ready or idle ones */
    swp__part *part;                  /* where its chains are from */
    uint64_t chain_index, chains_end; /* claimed and not finished */
    swp__chain *chain;                /* begun: of chain_index, or an open one */
    swp__chain *own;                  /* to begin the claimed chains with; NULL: none claimed */
    uint64_t prepared_id;             /* of the open chain its scratch is prepared for */
    double chain_ns;                  /* estimate for the last chain it began; 0: none yet */
    void *scratch;

    /* the unit under way */
    swp__segment *segment;      /* NULL for kernels that need none */
    double budget_ns, spent_ns; /* estimates */
    uint64_t elapsed_ns;        /* measured */
    bool opens;                 /* its chain is to be opened */
    uint64_t chains_done, rows_done, bar_combos;
};

struct swp__sweep {
    swp_engine *engine;
    swp_sweep_request request;
    swp_sweep_result result;
    swp__listener listener; /* done NULL: a caller of swp_sweep works at it and waits */
    swp_window whole;       /* what `windows` points to when none were given */
    const double *close;
    const swp_window *windows;
    uint64_t windows_count;
    const swp__kernel *kernel;
    swp__exec exec;
    uint64_t combos_count;
    swp__order order;     /* of the combos of a part */
    uint64_t part_combos; /* combos a part */
    size_t batch;         /* combos a chain */
    int64_t segment_bars; /* that a segment has room for; 0: the kernel needs none */
    uint32_t slots_count, parts_count;
    uint32_t useful_threads; /* that will have something to do, by an estimate */
    size_t block_size;       /* of the memory that holds all this */

    /* guarded by engine->lock */
    swp__sweep *next, *previous; /* in the engine's ring */
    pthread_cond_t changed;      /* a slot came back; only a caller of swp_sweep waits */
    swp_cancel cancel;
    uint64_t units_count; /* taken: who has had the least goes first */
    uint64_t next_combo;  /* first one of the next part */
    uint64_t combos_done; /* of finished parts */
    uint64_t rows_done;
    uint64_t progress_ns;    /* when progress was last reported */
    double pace;             /* measured over estimated nanoseconds, at least 1 */
    uint32_t running;        /* slots taken and not given back */
    uint32_t parts_out;      /* blocks with the listener */
    uint64_t opened_count;   /* chains that were ever open */
    bool reporting;          /* a thread is inside request.progress */
    swp__slot *ready, *idle; /* slots with and without chains of their own, nobody at work on them */
    swp__chain *chains;      /* free ones */
    swp__chain *open;        /* that have bars nobody has begun */
    swp__segment *segments;  /* free ones */
    swp__part *filling;      /* the part chains are claimed from */
    swp__part *parts;        /* free ones */
};

/* Gives the calling thread one turn: a unit of a sweep, or the end of one. Unlocks meanwhile. False: nothing to do. */
bool swp__turn(swp_engine *engine);

/* The same, of this sweep only. */
bool swp__turn_of(swp__sweep *sweep);

/* All parts are finished, or it is cancelled, and no thread is in it. */
bool swp__sweep_is_over(const swp__sweep *sweep);

/* Reports progress, when there is somebody to report to and it is due, or `final`. Unlocks meanwhile. */
void swp__report_progress(swp__sweep *sweep, bool final);

void swp__enter_ring(swp__sweep *sweep);
void swp__leave_ring(swp__sweep *sweep);

/* Wakes a worker when there is a turn to have: called by a thread that will not take it. */
void swp__wake_if_more(swp_engine *engine);

bool swp__sweep_is_cancelled(const swp__sweep *sweep);

/* Runs the slot's unit, unlocked, by the thread that took the slot: bars of its chains until the budget is spent,
 * all are finished, or the sweep is cancelled; or the signs of its segment, in an open chain. It stops at a chain
 * that should be opened, with slot->opens. (chain.c) */
void swp__slot_run(swp__slot *slot);

/* Trades a segment of an open chain, unlocked; with the last one the chain's rows are written. Returns nanoseconds.
 * (chain.c) */
uint64_t swp__segment_trade(const swp__segment *segment);

#endif
