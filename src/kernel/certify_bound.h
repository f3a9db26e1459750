/* How far the certified kernel's approximate averages may be from the reference's own.
 *
 * The kernel finds D, an approximation of  unit * (hma3 - hma)  where hma and hma3 are the float64 values the specification
 * gives. If |D| > E its sign is the sign of hma3 - hma. E is the sum of what each average may be off; it is derived term by term
 * in docs/decisions/0003-certified-sign.md, and the names here are that document's. */
#ifndef SWP_KERNEL_CERTIFY_BOUND_H
#define SWP_KERNEL_CERTIFY_BOUND_H

#include "swp/strategy.h"

/* d_n, the sum of the weights of wma(x, n). Exact for n < 2^26. */
static inline double swp__triangle(int64_t n)
{
    return (double)n * (double)(n + 1) / 2.0;
}

/* What the sums of an average are multiplied by, in some unit. */
typedef struct swp__hma_weights {
    double a0, gh, gf; /* S[t-1] - S[t], S[t-1] - S[t-1-half], S[t-1] - S[t-1-full] of the `smooth` sum */
} swp__hma_weights;

typedef struct swp__hma3_weights {
    double p;          /* V = p (P2[t] - P2[t-1]) - (P2[t-1] - P2[t-1-p]) */
    double al, be;     /* R1[t], R2[t-1] of V */
    double c3, c2, c1; /* R2[t-1-third], R2[t-1-mid], R2[t-1-p] */
} swp__hma3_weights;

swp__hma_weights swp__hma_weights_of(const swp_params *combo, double unit);
swp__hma3_weights swp__hma3_weights_of(const swp_params *combo, double unit);

/* Rows that running sums have behind them at the last bar of a block. */
typedef struct swp__certify_rows {
    int64_t closes; /* T: of the sums of closes */
    int64_t own;    /* Ts or Tp: of the average's own second level */
} swp__certify_rows;

enum { SWP__CERTIFY_ROWS_MAX = 1 << 21 }; /* of any sum, so of any window; what is longer is found exactly */

/* The terms of E, in the order of the document: each is how much one kind of rounding error can add up to, in units of u R (the
 * last: u M) where u = 2^-53, R = max |close - c| and M = max |close| over the rows. */
typedef enum swp__certify_term {
    SWP__CERTIFY_CENTRED,     /* close - c */
    SWP__CERTIFY_SUM_1,       /* first running sum of the closes */
    SWP__CERTIFY_SUM_2,       /* second */
    SWP__CERTIFY_LEVEL_ONE,   /* evaluating V */
    SWP__CERTIFY_LEVEL_SUM_1, /* first running sum of V */
    SWP__CERTIFY_LEVEL_SUM_2, /* second */
    SWP__CERTIFY_CHAIN,       /* weights, and adding up what they multiply */
    SWP__CERTIFY_REFERENCE,   /* the reference's own rounding */
    SWP__CERTIFY_TERMS_COUNT
} swp__certify_term;

typedef struct swp__certify_terms {
    double term[SWP__CERTIFY_TERMS_COUNT];
} swp__certify_terms;

swp__certify_terms swp__certify_hma_terms(const swp_params *combo, const swp__certify_rows *rows);
swp__certify_terms swp__certify_hma3_terms(const swp_params *combo, const swp__certify_rows *rows);

/* E of one average = range * R + level * M. */
typedef struct swp__certify_bound {
    double range, level;
} swp__certify_bound;

swp__certify_bound swp__certify_hma_bound(const swp_params *combo, const swp__certify_rows *rows, double unit);
swp__certify_bound swp__certify_hma3_bound(const swp_params *combo, const swp__certify_rows *rows, double unit);

/* Levels M that the arithmetic of D neither overflows nor underflows with; others are scaled first. */
#define SWP__CERTIFY_LEVEL_MIN 0x1p-500
#define SWP__CERTIFY_LEVEL_MAX 0x1p+500

#endif
