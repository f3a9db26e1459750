/* The engine in this process: many combos over one series on a pool of threads. Results come in input order and are the
 * same, bit for bit, for every kernel, thread count and instruction set (docs/numbers.md).
 * An engine and a series may be used by any number of threads at once. */
#ifndef SWP_ENGINE_H
#define SWP_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include "swp/error.h"
#include "swp/host.h"
#include "swp/strategy.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct swp_engine swp_engine; /* opaque */
typedef struct swp_series swp_series; /* opaque */

typedef struct swp_engine_options {
    uint32_t threads;               /* 0: the CPUs the process may use, by affinity and cgroup quota; at most 1024 */
    const swp_allocator *allocator; /* NULL: the system's */
    const swp_clock *clock;         /* NULL: the system's monotonic clock */
} swp_engine_options;

/* `options` may be NULL. Threads start when a sweep first needs them; they are gone in a forked child, where swp_sweep answers
 * WRONG_PROCESS and swp_engine_free gives the memory back. Checked in this order: BAD_PARAM (threads > 1024), BAD_PARAM (the
 * environment's SWP_ISA names an instruction set that there is not or that this machine lacks), NO_MEMORY. */
SWP_API SWP_MUST_CHECK swp_status swp_engine_new(const swp_engine_options *options, swp_engine **engine, swp_error *error);

/* Ends the threads. No call on the engine may be running; its series must have been freed. NULL is a no-op. */
SWP_API void swp_engine_free(swp_engine *engine);

SWP_API uint32_t swp_engine_threads(const swp_engine *engine);

/* What closes are let in: the default 0 refuses NaN, infinities and closes <= 0. Infinities of either sign are judged by
 * their own bit only. */
enum { SWP_ALLOW_NAN = 1, SWP_ALLOW_INF = 2, SWP_ALLOW_NONPOSITIVE = 4, SWP_ALLOW_ALL = 7 };

typedef enum swp_memory {
    SWP_BORROW, /* the caller's array is used in place and must stay unchanged until swp_series_free */
    SWP_COPY,   /* the closes are copied; the caller's array is free after the call */
} swp_memory;

/* A series of closes, oldest first. Checked in this order: BAD_PARAM a pointer is NULL (at: argument), bars_count is 0
 * (at: argument 3), allow has unknown bits (at: argument 4); BAD_PARAM a close is refused by `allow` (at: its index, from
 * 0); NO_MEMORY. *series is set only on success. */
SWP_API SWP_MUST_CHECK swp_status swp_series_new(swp_engine *engine, const double *close, uint64_t bars_count, uint32_t allow,
                                                 swp_memory memory, swp_series **series, swp_error *error);

/* No sweep over it may be running. NULL is a no-op. */
SWP_API void swp_series_free(swp_series *series);

SWP_API uint64_t swp_series_bars_count(const swp_series *series);
SWP_API uint64_t swp_series_nan_count(const swp_series *series);

typedef enum swp_entry {
    SWP_ENTRY_FIRST = 0, /* take the position at the first bar where both averages are valid and differ */
    SWP_ENTRY_CROSS = 1, /* wait there; take it at the first change of sign after */
} swp_entry;

/* How the numbers are found; every choice finds the same ones. */
typedef enum swp_kernel {
    SWP_KERNEL_AUTO = 0,           /* the fastest this machine has */
    SWP_KERNEL_STRICT = 1,         /* the specification, line for line */
    SWP_KERNEL_STRICT_CHECKED = 2, /* the same with every index checked */
    SWP_KERNEL_EXACT = 3,          /* the same operations for several bars at once, shared among combos */
    SWP_KERNEL_CERTIFIED = 4,      /* signs from a fast difference with a proven error bound, the exact order where in doubt */
} swp_kernel;

/* "auto", "strict", "strict-checked" ...; NULL for a number that this build has no kernel for. */
SWP_API const char *swp_kernel_name(swp_kernel kernel);

/* Bars [begin, end) trade; bars [warm, begin) feed the averages only. warm <= begin < end <= bars of the series. Bar
 * numbers in results count from the start of the series. */
typedef struct swp_window {
    uint64_t warm, begin, end;
} swp_window;

/* A flag that ends a sweep early. Zero-initialise; swp_cancel_request may be called from any thread and from a signal
 * handler. */
typedef struct swp_cancel {
    int requested; /* internal: set through swp_cancel_request only */
} swp_cancel;

SWP_API void swp_cancel_request(swp_cancel *cancel);

/* Zero-initialise, then set what differs from the default; fee has none and must be set. */
typedef struct swp_sweep_request {
    swp_grid grid;
    double fee; /* percentage points a round trip, taken when a trade closes; |fee| <= 100; the study: 0.09 */
    swp_entry entry;
    swp_kernel kernel;
    uint32_t max_threads;      /* 0: as many as the engine has */
    const swp_window *windows; /* NULL with 0: one window, the whole series */
    uint64_t windows_count;
    /* Called on the calling thread, at most 10 times a second and once at the end; may be NULL. */
    void (*progress)(void *context, uint64_t combos_done, uint64_t combos_count);
    void *progress_context;
    swp_cancel *cancel; /* may be NULL */
} swp_sweep_request;

/* The caller's arrays, each windows (at least 1) x combos; any may be NULL. An open trade is one still open at the last bar:
 * it is in neither pnl nor trades. */
typedef struct swp_sweep_result {
    double *pnl;             /* percentage points, fees taken, closed trades only; a NaN is 0x7ff8000000000000 */
    int64_t *trades;         /* closed trades */
    int64_t *first_bar;      /* first bar that may trade where both averages are valid; -1: none */
    int64_t *open_side;      /* +1 long, -1 short, 0 no open trade */
    int64_t *open_entry_bar; /* -1: none */
    double *open_entry;      /* price; 0: none */
    double *open_last;       /* last non-NaN close of the window; 0: no open trade */
    double *open_pnl;        /* percentage points, no fee; 0: none */
    uint8_t *finished;       /* 1: this combo's numbers are in; all 1 after SWP_OK, fewer after SWP_CANCELLED. Stored last, with
                              * release order: `progress` may load it (acquire) and take a row that is whole */
} swp_sweep_result;

/* Runs every combo over every window. Allocates before it starts and not after: a block for each thread that may work at it,
 * whatever the number of combos. Checked in this order: BAD_PARAM a pointer is NULL (at: argument); WRONG_PROCESS; BAD_PARAM
 * windows_count without windows (at: argument 3), the grid (see swp_grid_check), fee not finite or beyond 100 either way,
 * entry, kernel, a window (at: its index); LIMIT windows x combos beyond 2^40; NO_MEMORY. Then runs; CANCELLED when the flag
 * was set before all was done: rows with finished = 1 are whole, the others are zero. On any other failure the arrays are
 * untouched. */
SWP_API SWP_MUST_CHECK swp_status swp_sweep(swp_engine *engine, const swp_series *series, const swp_sweep_request *request,
                                            const swp_sweep_result *result, swp_error *error);

#ifdef __cplusplus
}
#endif
#endif
