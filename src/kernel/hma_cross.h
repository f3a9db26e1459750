/* The kernels of hma-cross: numbers only. No I/O, no allocation, no locks, no threads.
 *
 * Every kernel is one function with one signature: it carries the trade state of a few combos over a range of bars. What
 * it may read is the slice and nothing outside it. All of them give the bits of the strict one, which mirrors the
 * specification (docs/numbers.md). The caller has set the floating-point state (base/fpenv.h). */
#ifndef SWP_KERNEL_HMA_CROSS_H
#define SWP_KERNEL_HMA_CROSS_H

#include <stddef.h>
#include <stdint.h>
#include "swp/engine.h"

/* The bars of one window. Bar numbers in a kernel count from the slice's first. */
typedef struct swp__slice {
    const double *close;
    int64_t bars_count;
    int64_t trade_from;     /* bars before it feed the averages only */
    const int *unwanted[2]; /* flags: with one of them set, nobody wants signs of this slice any more; NULL: none */
} swp__slice;

static inline bool swp__is_unwanted(const swp__slice *slice)
{
    const int *a = slice->unwanted[0], *b = slice->unwanted[1];
    return (a != NULL && __atomic_load_n(a, __ATOMIC_RELAXED) != 0) || (b != NULL && __atomic_load_n(b, __ATOMIC_RELAXED) != 0);
}

typedef struct swp__exec {
    double fee;
    swp_entry entry;
} swp__exec;

/* What one combo carries from bar to bar. Zero-initialised but for the two bar numbers: swp__trade_state_init. */
typedef struct swp__trade_state {
    int64_t position;  /* -1, 0, +1 */
    int64_t armed;     /* entry=cross: the sign seen first; 0 before */
    int64_t entry_bar; /* -1: none */
    int64_t first_bar; /* first bar from trade_from on with both averages valid; -1: none yet */
    int64_t trades;
    double entry;
    double pnl;
} swp__trade_state;

static inline void swp__trade_state_init(swp__trade_state *state)
{
    *state = (swp__trade_state){.entry_bar = -1, .first_bar = -1};
}

/* Room for the signs of some combos over a range of bars (sign_words.h). */
typedef struct swp__signs {
    uint64_t *up, *down;  /* combo i's words begin at i * stride; bit 0 of the first is the range's first bar */
    size_t stride;        /* at least the range's words */
    int64_t *first_valid; /* [combos] first bar of the range that may trade and has both averages; -1: none */
} swp__signs;

struct swp__sign_ops;

/* A kernel goes one of two ways. It *walks*: `run` carries trade states from bar to bar. Or it *finds signs*: `signs` of any
 * range, in any order and on many threads at once, which `sign_ops` then trades in order. swp__walk does either. */
typedef struct swp__kernel {
    const char *name;

    /* Combos that one call does best with; 1..SWP__BATCH_MAX. */
    size_t batch;

    /* A range of bars does best when `from` and `to` are multiples of this, but for the slice's end. `run`: it must. A multiple
     * of 64 for kernels that find signs. */
    int64_t (*quantum_bars)(const swp__slice *slice, const swp_params *combos, size_t combos_count);

    /* Bytes of scratch, a multiple of 64, that are enough for any combos_count combos with no parameter above that of
     * `largest`, over any slice of at most bars_count bars. A sweep asks once, for all it will run: its combos may be too
     * many to look at each. No parameter of `largest` is above bars_count. */
    size_t (*scratch_size)(int64_t bars_count, const swp_params *largest, size_t combos_count);

    /* Estimated nanoseconds for one bar of all these combos: what work is cut by. */
    double (*cost_ns)(const swp_params *combos, size_t combos_count);

    /* Carries states[combos_count] from bar `from` to bar `to` (not included). Ranges of one batch come in order without
     * gaps, from 0, with the same combos and scratch, so that a kernel may keep in its scratch what the next range
     * needs. No combo needs more bars than the slice has. NULL: finds signs. */
    void (*run)(const swp__slice *slice, const swp__exec *exec, const swp_params *combos, size_t combos_count, int64_t from,
                int64_t to, swp__trade_state *states, void *scratch);

    /* Readies scratch for these combos over this slice. Any number of threads may find signs of one batch, each with a scratch
     * of its own. No combo needs more bars than the slice has. NULL: walks. */
    void (*prepare)(const swp__slice *slice, const swp_params *combos, size_t combos_count, void *scratch);

    /* The signs of bars [from, to), multiples of 64 but for the slice's end, with what was prepared. Bits of bars at or behind
     * `to`, and before slice->trade_from, may be anything. Where a range may take seconds it looks at slice->unwanted on the way,
     * and leaves: then all bits may be anything. */
    void (*signs)(const swp__slice *slice, const swp_params *combos, size_t combos_count, int64_t from, int64_t to,
                  const swp__signs *signs, void *scratch);
    const struct swp__sign_ops *sign_ops;
} swp__kernel;

/* Carries states from bar `from` to bar `to` with any kernel; the ranges come in order without gaps, `from` a multiple of 64.
 * `words` has room for the range and is not looked at by kernels that walk; scratch is prepared for those that do not. */
void swp__walk(const swp__kernel *kernel, const swp__slice *slice, const swp__exec *exec, const swp_params *combos,
               size_t combos_count, int64_t from, int64_t to, const swp__signs *words, swp__trade_state *states, void *scratch);

/* Trades the signs of bars [from, to), found with slice and combos of these states, of a kernel that finds them. */
void swp__trade_signs(const swp__kernel *kernel, const swp__slice *slice, const swp__exec *exec, size_t combos_count,
                      int64_t from, int64_t to, const swp__signs *signs, swp__trade_state *states);

enum { SWP__BATCH_MAX = 512 };

/* The kernel of that name on this machine; NULL for a number not in the list. The same throughout a process, but for
 * swp__isa_use. */
const swp__kernel *swp__kernel_get(swp_kernel kernel);

extern const swp__kernel swp__hma_cross_strict;
extern const swp__kernel swp__hma_cross_strict_checked;

/* One bar of the trade rule with sign s (+1 or -1) at price `close`. */
static inline void swp__trade_bar(swp__trade_state *state, const swp__exec *exec, int64_t bar, int64_t s, double close)
{
    if (exec->entry == SWP_ENTRY_CROSS && state->position == 0) {
        if (state->armed == 0) {
            state->armed = s;
        }
        if (s == state->armed) {
            return;
        }
    }
    if (s == state->position) {
        return;
    }
    if (state->position != 0) {
        state->pnl += (double)state->position * (close - state->entry) / state->entry * 100.0 - exec->fee;
        state->trades++;
    }
    state->position = s;
    state->entry = close;
    state->entry_bar = bar;
}

#endif
