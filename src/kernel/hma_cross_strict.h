/* What the two strict variants share: their scratch. */
#ifndef SWP_KERNEL_HMA_CROSS_STRICT_H
#define SWP_KERNEL_HMA_CROSS_STRICT_H

#include <math.h>
#include <string.h>
#include "kernel/hma_cross.h"

enum { SWP__STRICT_BLOCK_BARS = 2048 };

/* Inputs of the two second-level averages: carried values, then one block. */
typedef struct swp__strict_arrays {
    double *hma_input, *hma3_input;
    size_t hma_count, hma3_count;
} swp__strict_arrays;

static inline size_t swp__strict_scratch_size(int64_t bars_count, const swp_params *largest, size_t combos_count)
{
    (void)bars_count;
    (void)combos_count;
    size_t count = (size_t)(largest->smooth + largest->p) + 2 * (SWP__STRICT_BLOCK_BARS - 1);
    return (count * sizeof(double) + 63) / 64 * 64;
}

static inline swp__strict_arrays swp__strict_arrays_at(void *scratch, const swp_params *c)
{
    swp__strict_arrays a;
    a.hma_count = (size_t)(c->smooth - 1 + SWP__STRICT_BLOCK_BARS);
    a.hma3_count = (size_t)(c->p - 1 + SWP__STRICT_BLOCK_BARS);
    a.hma_input = scratch;
    a.hma3_input = a.hma_input + a.hma_count;
    return a;
}

static inline void swp__strict_arrays_clear(swp__strict_arrays *a, const swp_params *c)
{
    for (int64_t i = 0; i < c->smooth - 1; i++) {
        a->hma_input[i] = NAN;
    }
    for (int64_t i = 0; i < c->p - 1; i++) {
        a->hma3_input[i] = NAN;
    }
}

static inline void swp__strict_arrays_carry(swp__strict_arrays *a, const swp_params *c, int64_t bars_count)
{
    memmove(a->hma_input, a->hma_input + bars_count, (size_t)(c->smooth - 1) * sizeof(double));
    memmove(a->hma3_input, a->hma3_input + bars_count, (size_t)(c->p - 1) * sizeof(double));
}

static inline int64_t swp__strict_quantum_bars(const swp__slice *slice, const swp_params *combos, size_t combos_count)
{
    (void)slice;
    (void)combos;
    (void)combos_count;
    return 1;
}

/* One multiply-add a window bar, each waiting for the one before: about a nanosecond. */
static inline double swp__strict_cost_ns(const swp_params *combos, size_t combos_count)
{
    (void)combos_count;
    const swp_params *c = combos;
    return (double)(c->half + c->full + c->smooth + c->third + c->mid + c->p + c->p);
}

#endif
