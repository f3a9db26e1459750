/* What the exact kernel computes for a group of combos: each distinct average once, and where its rows live.
 *
 * Combos share: a WMA of the closes is asked for by many of them, an HMA by every combo of its row in a grid. The plan finds
 * the distinct ones and lays out scratch memory for as many combos, from the first, as fit. It knows the number of lanes of a
 * row but no instruction set. */
#ifndef SWP_KERNEL_EXACT_PLAN_H
#define SWP_KERNEL_EXACT_PLAN_H

#include <stdint.h>
#include "kernel/hma_cross.h"

enum {
    SWP__CHUNK_ROWS = 64, /* rows computed at a time: a sign word for each lane */
    SWP__BLOCK_ROWS = 8,  /* sums that run side by side; level one reads and writes that many rows ahead */
    SWP__LEVEL_ONE_ROWS = SWP__CHUNK_ROWS + SWP__BLOCK_ROWS,
};

/* s * (1/d), corrected once, is s / d to the bit for an integer d below 2^26 (docs/decisions/0002-exact-kernel.md). */
enum { SWP__RECIPROCAL_LENGTH_MAX = 11584 };

#define SWP__NO_COMBO UINT32_MAX

/* An HMA or HMA3: wma(level-one difference, m). */
typedef struct swp__average {
    int64_t m;
    size_t length[3];     /* indices in `lengths`: half, full, - or third, mid, p */
    size_t input_row;     /* m - 1 rows carried from chunk to chunk, then a chunk */
    size_t output_row;    /* a chunk; one for all HMA3s, which are compared as soon as they are there */
    uint32_t first_combo; /* HMA3: the combos that use it; the others follow in `next_combo` */
} swp__average;

typedef struct swp__exact_plan {
    size_t combos_count; /* of those given, from the first on: the group */
    size_t lengths_count, hma_count, hma3_count;
    int64_t *lengths; /* of level one, distinct, rising */
    double *divisors, *reciprocals;
    swp__average *hma, *hma3;
    uint32_t *combo_hma;  /* [combos_count] */
    uint32_t *next_combo; /* [combos_count] with the same HMA3; SWP__NO_COMBO: none */
    int64_t longest;      /* of level one */
    int64_t longest_smooth;
    int64_t lookback; /* bars before an output that the group needs */
    double *weights;  /* 1, 2, ... of any window of either level */
    size_t closes_row, weights_row, sums_row, sums_blocks, level_one_row;
    double *rows;
} swp__exact_plan;

/* Bars before its first output that the combo's averages are made of. */
int64_t swp__exact_lookback(const swp_params *combo);

/* Bytes for a plan of combos_count combos with no parameter above largest's, a multiple of 64. One combo always fits; more
 * share a bounded memory. */
size_t swp__exact_plan_size(const swp_params *largest, size_t combos_count, int lanes);

/* Plans a group from the first combos. `scratch` has the size that swp__exact_plan_size gives for these combos' largest
 * parameters and combos_count, or more; 64-byte aligned; the plan lives in it. */
swp__exact_plan *swp__exact_plan_make(const swp_params *combos, size_t combos_count, int lanes, void *scratch);

#endif
