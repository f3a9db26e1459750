/* The inner loops of the certified kernel, one table an instruction set: approximate differences of the averages, and of each
 * bar its sign and whether that sign is certain. What they compute may differ in its last bits between instruction sets;
 * what is certain does not.
 *
 * Bars are laid out so that every lag is an aligned load and a running sum is a vertical addition: a superblock is `lanes`
 * consecutive blocks of `rows` bars, lane j holds block j, and row r of every array is the vector over the lanes of bar r of
 * their blocks.
 *
 *              lane 0        lane 1        lane 2        lane 3
 *     row 0    from          from+rows     from+2 rows   from+3 rows
 *     row 1    from+1        from+rows+1   ...
 *
 * Rows before row 0 hold the bars that the windows reach back to. An array's pointer is to its row 0. */
#ifndef SWP_KERNEL_CERTIFY_FILTER_H
#define SWP_KERNEL_CERTIFY_FILTER_H

#include "base/cpu.h"
#include "kernel/certify_bound.h"
#include "kernel/hma_cross.h"

enum { SWP__FILTER_LANES_MAX = 8 };

typedef struct swp__filter_block {
    int64_t from; /* bar of lane 0's row 0 */
    int64_t rows; /* a multiple of 64 */
    int64_t lead; /* rows before row 0 that hold bars; two more hold zeros */
    double *sums; /* double running sums of close - c */
    double range[SWP__FILTER_LANES_MAX], level[SWP__FILTER_LANES_MAX]; /* R and M, of closes as they were scaled */
    double underflow[SWP__FILTER_LANES_MAX];                           /* added to E / unit */
    double overflow_sum[SWP__FILTER_LANES_MAX]; /* the reference does not overflow in sums below this many largest closes */
} swp__filter_block;

/* Double running sums of the numerators of wma(close - c, smooth), from row -lead on; two rows of zeros before. */
typedef struct swp__filter_smooth {
    int64_t smooth, lead;
    double *out; /* row 0; NULL: not wanted */
} swp__filter_smooth;

/* What the loops need of a combo. */
typedef struct swp__filter_combo {
    swp_params params;
    swp__hma_weights hma; /* both in units of d_p^2, so that hma3.c1 is -1 */
    swp__hma3_weights hma3;
    double unit;
    swp__certify_bound bound;
    double heaviest_sum; /* of the reference's, in units of the largest close */
} swp__filter_combo;

/* Combos as pairs of averages that are there: pair i is rows of HMA hma_of[i] and of HMA3 hma3_of[i]. */
typedef struct swp__filter_pairs {
    size_t count;
    const uint16_t *hma_of, *hma3_of;
    const double *hma, *hma3; /* [..][row_doubles] */
    size_t row_doubles;
    const double *bounds; /* [count][lanes] */
} swp__filter_pairs;

typedef struct swp__filter_cost {
    double signs;           /* of a combo by itself */
    double hma, hma3, pair; /* the averages that combos share, and a combo of two such */
} swp__filter_cost;

typedef struct swp__filter_ops {
    int64_t lanes;
    int64_t rows_max; /* of any sum: SWP__CERTIFY_ROWS_MAX; tests have less */

    /* Fills the rest of the block from from, rows and lead, and `smooth` if it has an array: the two go well together. A close
     * that is not finite, and a bar outside the slice, stands as c: windows that hold one are the caller's concern. False: a
     * close was not finite. */
    bool (*load)(const swp__slice *slice, swp__filter_block *block, const swp__filter_smooth *smooth);

    void (*smooth_sums)(const swp__filter_block *block, const swp__filter_smooth *smooth);

    /* One combo's signs: down[lane * rows/64 + w] has the bits of bars 64w.. of the lane's block where HMA3 < HMA, doubt those
     * that are not certain. `smoothed`: of smooth_sums, reaching back max(half, full). `own`: room for sums that reach back
     * max(third, mid, p). False: no doubt anywhere, and doubt[] is not written. */
    bool (*signs)(const swp__filter_block *block, const swp__filter_combo *combo, const double *smoothed, double *own,
                  uint64_t *down, uint64_t *doubt);

    /* `load` and `signs` in one pass, for a combo that shares its sums with none; the bars of all rows from row 0 on lie in the
     * slice. False: a close was not finite, or levels are beyond what goes without scaling, or the reference may overflow:
     * `load` and `signs` then; nothing found holds. */
    bool (*signs_alone)(const swp__slice *slice, swp__filter_block *block, const swp__filter_combo *combo,
                        const swp__filter_smooth *smooth, double *own, uint64_t *down, uint64_t *doubt, bool *any_doubt);

    /* The two averages of a combo, each for rows 0 .. rows-1. Weights and bounds are in units of 1. */
    void (*hma_rows)(const swp__filter_block *block, const swp_params *params, const swp__hma_weights *weights,
                     const double *smoothed, double *out);
    void (*hma3_rows)(const swp__filter_block *block, const swp_params *params, const swp__hma3_weights *weights, double *own,
                      double *out);
    /* The signs of pairs' sums for word `word` of each lane, down[count][lanes], from pair `first` on to the first that is in
     * doubt, whose doubt[lanes] is written, and which is returned; count: none is. */
    size_t (*pair_signs)(const swp__filter_pairs *pairs, size_t first, int64_t word, uint64_t *down, uint64_t *doubt);

    /* E of each lane. */
    void (*bounds)(const swp__filter_block *block, const swp__filter_combo *combo, double *out);

    /* Nanoseconds a bar, measured where the instruction set is at home; only their ratios matter. */
    swp__filter_cost cost;
} swp__filter_ops;

/* NULL: the program was built for another architecture. Running what the CPU lacks is the caller's mistake. */
const swp__filter_ops *swp__filter_ops_get(swp__isa isa);

extern const swp__filter_ops swp__filter_ops_c;
extern const swp__filter_ops swp__filter_ops_avx2;   /* x86-64 only */
extern const swp__filter_ops swp__filter_ops_avx512; /* x86-64 only */

#endif
