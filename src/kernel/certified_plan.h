/* What the certified kernel knows of a batch of combos over a slice: each distinct combo once, in an order in which shared sums
 * stand together, with its multipliers and its bound; and the scratch memory for a superblock. No instruction set. */
#ifndef SWP_KERNEL_CERTIFIED_PLAN_H
#define SWP_KERNEL_CERTIFIED_PLAN_H

#include <stdbool.h>
#include "kernel/certify_filter.h"
#include "kernel/sign_words.h"

/* Signs while the close stands still for as long as the windows reach back: the same for every such bar. */
typedef struct swp__flat_sign {
    bool known;
    double close;
    swp__sign_word bit; /* 0 or 1 each */
} swp__flat_sign;

typedef struct swp__certified_combo {
    swp__filter_combo filter;
    int64_t bars_needed;
    bool exact_only; /* windows beyond what the bound is proved for */
    size_t index;    /* of one of the caller's combos that are this one */
    swp__flat_sign flat;
    swp__exact_rows rows; /* of the plan's table */
} swp__certified_combo;

/* An average that combos have in common: a combo's HMA or HMA3. */
typedef struct swp__certified_average {
    swp_params params; /* of one combo that has it */
    union {
        swp__hma_weights hma;
        swp__hma3_weights hma3;
    } weights;
} swp__certified_average;

/* Which bars a rule holds for, and how many in a row up to each word's first bar, not included. */
typedef struct swp__bar_runs {
    uint64_t *bits; /* [words] */
    int64_t *run;   /* [words] */
} swp__bar_runs;

/* Doubtful bars of some words in a row, and what they would cost. */
typedef struct swp__doubt_tile {
    int64_t first_word, end_word; /* that have doubts; both 0: none */
    double direct, shared;        /* multiply-adds: each word by itself; with a table, its filling not counted */
} swp__doubt_tile;

typedef struct swp__certified_plan {
    const swp__filter_ops *filter;
    const swp__sign_ops *sign;
    const swp__kernel *exact;
    int64_t block_rows; /* bars a lane */
    int64_t lead;       /* bars before a block that certifiable combos reach back to */
    int64_t reach;      /* that any combo does */
    int64_t words;      /* of a superblock, at most */
    size_t combos_count, distinct_count;
    swp__certified_combo *combos; /* [distinct_count] sorted */
    size_t *order;                /* [combos_count] the caller's combos, sorted */
    size_t *distinct;             /* [combos_count] which of them each of the caller's is */

    /* Where it is cheaper, each distinct average is computed once a superblock, and a combo is the difference of two. */
    bool shares;
    size_t hma_count, hma3_count;
    swp__certified_average *hma, *hma3; /* [count] */
    uint16_t *hma_of, *hma3_of;         /* [distinct_count] */
    double *hma_rows, *hma3_rows;       /* [count][row_doubles] */
    size_t row_doubles;
    uint32_t *pairs; /* [pairs_count] distinct combos, in an order that keeps their averages near */
    size_t pairs_count;
    uint16_t *pair_hma, *pair_hma3; /* [pairs_count] */
    uint32_t *pair_of;              /* [distinct_count] which pair it is */
    double *bounds;                 /* [pairs_count][lanes] */

    double *sums, *smoothed, *own; /* row 0 of each */
    /* Words of the superblock's lanes as the filter finds them: lane by lane, word w of lane j of distinct combo d is
     * down[d * words + j * rows/64 + w]; where averages are shared, down[w * down_word + pair_of[d] * lanes + j]. */
    uint64_t *down;
    size_t down_word;
    uint64_t *doubt;      /* [distinct_count][words]; only where any_doubt */
    bool *any_doubt;      /* [distinct_count] */
    int64_t *first_valid; /* [combos_count] of a superblock */

    /* of one superblock: certified_doubts.c */
    bool has_holes;               /* a close within reach is not finite */
    bool knows_same;              /* `same` is filled */
    swp__bar_runs number, finite; /* closes that are; only with has_holes */
    swp__bar_runs same;           /* closes equal to the one before */
    swp__doubt_tile *tiles;

    /* of combos whose doubts are many: their params, the words found for them, and memory for the exact kernel to plan in, which
     * is that of hma_rows and the table */
    swp_params *dense;               /* [combos_count] */
    uint64_t *dense_up, *dense_down; /* [exact_plan_combos][words]; dense_up is `down` */
    int64_t *dense_first_valid;      /* [combos_count] */
    size_t *dense_of;                /* [combos_count] distinct combos */
    void *exact_plan;
    size_t exact_plan_combos; /* it has room for at a time; 0: for none */

    int64_t level_two_reach; /* longest window of level two, less 1 */
    int64_t *lengths;        /* room */
    size_t table_bytes;
    swp__exact_table table; /* lengths_count 0: not planned yet */
    void *exact_scratch;
} swp__certified_plan;

/* Bars a lane for slices of this length and combos that reach back so far. */
int64_t swp__certified_block_rows(const swp__filter_ops *filter, int64_t bars_count, int64_t lead);

/* Bars before a block that the certifiable ones of these combos reach back to. */
int64_t swp__certified_lead(const swp__filter_ops *filter, const swp_params *combos, size_t combos_count);

/* Bytes of a plan for any combos_count combos with no parameter above that of `largest`. */
size_t swp__certified_plan_size(const swp__filter_ops *filter, int64_t bars_count, const swp_params *largest,
                                size_t combos_count);

/* Makes the plan at the beginning of scratch. */
void swp__certified_plan_make(const swp__filter_ops *filter, const swp__sign_ops *sign, const swp__kernel *exact,
                              const swp__slice *slice, const swp_params *combos, size_t combos_count, void *scratch);

/* Sorted combos [first, end) have one `smooth`; returns end. */
size_t swp__certified_group_end(const swp__certified_plan *p, size_t first);

/* Longest window over the sums that a group shares; 0: none of its combos is certifiable. */
int64_t swp__certified_group_reach(const swp__certified_plan *p, size_t first, size_t end);

static inline int64_t swp__larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t swp__smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t swp__round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

#endif
