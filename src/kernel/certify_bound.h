/* How far the certified kernel's approximate difference of the averages may be from the reference's own.
 *
 * The kernel finds D, an approximation of  unit * (hma3 - hma)  where hma and hma3 are the float64 values the specification
 * gives. If |D| > E its sign is the sign of hma3 - hma. E is derived term by term in docs/decisions/0003-certified-sign.md;
 * the names here are that document's. */
#ifndef SWP_KERNEL_CERTIFY_BOUND_H
#define SWP_KERNEL_CERTIFY_BOUND_H

#include <stdbool.h>
#include "swp/strategy.h"

/* The multipliers of D, in units of d_p^2 (d_n = n(n+1)/2), so that the one of the window p is -1. */
typedef struct swp__certify_weights {
    double p;            /* V = p (P2[t] - P2[t-1]) + (P2[t-1-p] - P2[t-1]) */
    double al, be;       /* R1[t], R2[t-1] of V */
    double c3, c2;       /* R2[t-1-third], R2[t-1-mid]; R2[t-1-p] has -1 */
    double a0, gh, gf;   /* S[t-1] - S[t], S[t-1] - S[t-1-half], S[t-1] - S[t-1-full] of the smooth sum */
} swp__certify_weights;

/* Rows that the running sums of one block have behind them at its last bar. */
typedef struct swp__certify_rows {
    int64_t closes; /* T: of the sums of closes */
    int64_t hma;    /* Ts: of the sums that a group with the same `smooth` shares */
    int64_t hma3;   /* Tp: of the combo's own sums */
} swp__certify_rows;

/* E = range * R + level * M, where R = max |close - c| and M = max |close| over the rows of a lane. */
typedef struct swp__certify_bound {
    double range, level;
} swp__certify_bound;

enum { SWP__CERTIFY_ROWS_MAX = 1 << 21 }; /* of any sum; longer windows are found exactly */

/* Levels M that the arithmetic of D neither overflows nor underflows with; others are scaled first. */
#define SWP__CERTIFY_LEVEL_MIN 0x1p-500
#define SWP__CERTIFY_LEVEL_MAX 0x1p+500

swp__certify_weights swp__certify_weights_of(const swp_params *combo);
swp__certify_bound swp__certify_bound_of(const swp_params *combo, const swp__certify_rows *rows);

#endif
