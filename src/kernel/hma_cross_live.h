/* hma-cross a bar at a time: what a live session carries from bar to bar, and the step over one more.
 *
 * The step is the specification's arithmetic in its order (docs/numbers.md), as the strict kernel has it, over histories
 * that hold what the windows reach back to and nothing else. Before the first bar a history is full of NaN, which is what
 * "NaN for i < m-1" comes to. Numbers only: the memory is the caller's, and so is the floating-point state. */
#ifndef SWP_KERNEL_HMA_CROSS_LIVE_H
#define SWP_KERNEL_HMA_CROSS_LIVE_H

#include "kernel/hma_cross.h"

/* The last `length` values. Each stands twice, `length` apart, so that any run of them is one piece of memory. */
typedef struct swp__history {
    double *values; /* [2 x length] */
    int64_t length;
    int64_t next; /* where the next one goes, 0..length-1: over the oldest */
} swp__history;

enum { SWP__LIVE_AVERAGES = 5 }; /* of closes: half, full, third, mid, p */

typedef struct swp__live_combo {
    swp_params params;
    uint32_t average[SWP__LIVE_AVERAGES]; /* which of swp__live_bars.averages */
    swp__history hma_input, hma3_input;
} swp__live_combo;

typedef struct swp__live_bars {
    swp__exec exec;
    int64_t bars_count; /* seen */
    swp__history closes;
    const int64_t *windows; /* [windows_count]: each length once, however many combos have it */
    double *averages;       /* [windows_count] after the last bar */
    size_t windows_count;
    swp__live_combo *combos;
    swp__trade_state *states; /* [combos_count] */
    size_t combos_count;
} swp__live_bars;

/* All NaN. */
void swp__history_clear(swp__history *history);

/* The value `age` bars before the last, 0 .. length-1. */
double swp__history_at(const swp__history *history, int64_t age);

void swp__history_push(swp__history *history, double value);

/* One more bar: averages, histories, trades. */
void swp__live_step(swp__live_bars *bars, double close);

/* As swp__live_step, but states alone change, to the ones after that bar; what it writes into the histories is not looked
 * at again. The caller puts the states back. */
void swp__live_look(swp__live_bars *bars, double close);

/* One more bar that trades nothing: averages and histories. */
void swp__live_feed(swp__live_bars *bars, double close);

/* Estimated nanoseconds of a step. */
double swp__live_step_ns(const swp__live_bars *bars);

#endif
