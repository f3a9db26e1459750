/* Sweeps that run on their own: started, reported on, cancelled. swp_sweep (swp/engine.h) is one of these that its
 * caller works at and waits for. */
#ifndef SWP_ENGINE_SWEEP_H
#define SWP_ENGINE_SWEEP_H

#include "engine/engine.h"
#include "engine/rows.h"

/* A run of combos whose results are all in. Blocks of a sweep come in any order, each combo in exactly one. */
typedef struct swp__block {
    uint64_t first_combo, combos_count;
    const void *columns; /* the columns asked for, ascending, each windows (at least 1) x combos x 8 bytes */
    size_t size_bytes;
} swp__block;

typedef struct swp__trade {
    int64_t entry_bar, exit_bar; /* of the series; exit_bar -1: still open, exit is the last close that is a number */
    int64_t side;                /* +1, -1 */
    double entry, exit;          /* prices */
    double pnl;                  /* percentage points, fee taken; no fee while open */
} swp__trade;

/* Who hears of a started sweep. All are called without a lock, on a thread of the pool, or on the one inside
 * swp__engine_step, or, with caller_helps, inside swp__sweep_start; never inside swp__sweep_cancel or
 * swp__block_release. They should be short: a unit of somebody's sweep waits. */
typedef struct swp__listener {
    /* Once, last: OK or CANCELLED. The engine touches nothing of the request, the results and the sweep any more:
     * the sweep may be freed from inside. */
    void (*done)(void *context, swp_status status);

    /* NULL: results go to the arrays of `result`. Else each finished block, perhaps several at once on several
     * threads. The listener has it until swp__block_release, which may be called inside and on any thread; while as
     * many blocks as the limits allow are out, the sweep rests and the others have its turns. */
    void (*block)(void *context, swp__block *block);
    uint64_t columns; /* with `block`: SWP__ROW_* */

    /* NULL, or each trade of a sweep of one combo over one window, in order, the open one last. The closed ones'
     * pnl, added in order from 0, are the sweep's. Whatever kernel was asked for, the strict one finds them. */
    void (*trade)(void *context, const swp__trade *trade);
    void *context;

    /* NULL, or where the trade state of each row (windows x combos) goes; bars count from the window's warm. */
    swp__trade_state *states;

    /* The calling thread runs the first unit before swp__sweep_start returns: a sweep of less than a unit is then
     * done without waking anybody, and `done` was called. */
    bool caller_helps;
} swp__listener;

/* What swp_sweep says of a request alone, over a series of that many bars: pointers, the grid, options, windows, in its order. */
SWP_MUST_CHECK swp_status swp__sweep_check(const swp_sweep_request *request, uint64_t bars_count, swp_error *error);

/* Starts a sweep. What `series`, `request` (grid lists, windows) and `result` point to is borrowed until `done`; the
 * structs themselves are copied, but for windows. request->cancel and ->progress work as in swp_sweep, the latter
 * called like the listener; a cancel flag alone wakes nobody: use swp__sweep_cancel. `result` may be NULL with
 * blocks, trades or states. Checked as swp_sweep does, but for these: BAD_PARAM columns, after the windows; LIMIT windows x
 * combos, a combo's results in one block, sweeps in progress, working memory (with fewer threads first); NO_MEMORY
 * also when no thread can be started. WRONG_PROCESS comes first. On CANCELLED the arrays of `result` hold nothing of
 * use but where `finished` is 1 in an array cleared before. */
SWP_MUST_CHECK swp_status swp__sweep_start(swp_engine *engine, const swp_series *series, const swp_sweep_request *request,
                                           const swp_sweep_result *result, const swp__listener *listener, swp__sweep **sweep,
                                           swp_error *error);

/* As swp_sweep of a checked request, for the trade states instead of rows (swp__listener.states). */
SWP_MUST_CHECK swp_status swp__sweep_states(swp_engine *engine, const swp_series *series, const swp_sweep_request *request,
                                            swp__trade_state *states, swp_error *error);

/* Asks for an early end; `done` still comes, with OK when all was finished just before. Any thread, until
 * swp__sweep_free. */
void swp__sweep_cancel(swp__sweep *sweep);

/* Rows (windows x combos) that are done. Any thread, until swp__sweep_free. */
uint64_t swp__sweep_progress(swp__sweep *sweep, uint64_t *rows_count);

/* After `done` was called (from inside it on) and every block released. NULL is a no-op. */
void swp__sweep_free(swp__sweep *sweep);

/* Gives a block back. */
void swp__block_release(swp__block *block);

#endif
