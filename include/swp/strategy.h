/* The strategy hma-cross and the ways to say which parameter sets ("combos") a sweep runs.
 *
 * hma-cross is stop-and-reverse: long while HMA3 > HMA, short while HMA3 < HMA; a tie keeps the position.
 *   wma(x, m)  weights 1..m, oldest first, divided by m(m+1)/2
 *   hma  = wma(2 wma(close, half) - wma(close, full), smooth)                     A. Hull, 2005
 *   hma3 = wma(3 wma(close, third) - wma(close, mid) - wma(close, p), p)          "3HMA", alexgrover (TradingView)
 * The exact order of every operation is docs/numbers.md. */
#ifndef SWP_STRATEGY_H
#define SWP_STRATEGY_H

#include "swp/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SWP_STRATEGY_HMA_CROSS 1u  /* strategy id; permanent */
#define SWP_PARAMS_COUNT 6         /* integers in one combo of hma-cross */
#define SWP_PARAM_MAX 2147483647LL /* each parameter is 1..2^31-1 bars */

/* One combo: window lengths in bars, in the order they have in files, arrays and on the wire. */
typedef struct swp_params {
    int64_t half, full, smooth; /* HMA */
    int64_t third, mid, p;      /* HMA3 */
} swp_params;

/* The convenience parameter: half = round(L/2), full = L, smooth = round(sqrt L), p = round(L/2),
 * third = max(1, round(p/3)), mid = max(1, round(p/2)); rounded half to even, each at least 1.
 * BAD_PARAM when length is outside 1..2^31-1 (at: argument 1). */
SWP_API SWP_MUST_CHECK swp_status swp_params_from_length(int64_t length, swp_params *params, swp_error *error);

/* Bars a series must have before both averages are valid once: max(max(half, full) + smooth,
 * max(third, mid, p) + p) - 1, for series without NaN. */
SWP_API int64_t swp_params_bars_needed(const swp_params *params);

typedef enum swp_grid_form {
    SWP_GRID_ROWS = 0,  /* an array of combos */
    SWP_GRID_AXES = 1,  /* the product of six lists, the last parameter fastest */
    SWP_GRID_PAIRS = 2, /* the product of (half, full, smooth) and (third, mid, p) triples, the second fastest */
} swp_grid_form;

/* Which combos, without expanding them: borrowed arrays that outlive the call they are given to. Only the members of the
 * form in use are read. */
typedef struct swp_grid {
    swp_grid_form form;
    uint64_t combos_count;                  /* ROWS: rows; AXES, PAIRS: must equal the product */
    const int64_t *rows;                    /* ROWS: combos_count x 6, in the order of swp_params */
    const int64_t *axes[SWP_PARAMS_COUNT];  /* AXES: the values of each parameter */
    uint64_t axis_counts[SWP_PARAMS_COUNT]; /* AXES */
    const int64_t *hma, *hma3;              /* PAIRS: triples */
    uint64_t hma_count, hma3_count;         /* PAIRS: number of triples */
} swp_grid;

/* Checks in this order: form known, combos_count not zero, no list NULL, no list empty, product (in 64 bits) equal
 * to combos_count, every value in 1..2^31-1. BAD_PARAM; at: for a value its index in the array it stands in, else SWP_AT_NONE. */
SWP_API SWP_MUST_CHECK swp_status swp_grid_check(const swp_grid *grid, swp_error *error);

/* Combo `index` < combos_count of a checked grid. */
SWP_API swp_params swp_grid_at(const swp_grid *grid, uint64_t index);

#ifdef __cplusplus
}
#endif
#endif
