/* `exact` in portable vector C, and what its variants share. */
#define SWP_LANES 2
#define OPS swp__sign_ops_c
#define KERNEL swp__hma_cross_exact_c
#include "kernel/hma_cross_exact.inc"

/* Lanes of the widest variant: a quantum is the same for all. */
enum { LANES_MAX = 8, QUANTUM_BARS_MIN = 4096 };

static int64_t round_up(int64_t value, int64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

/* Long enough for the warm-up of every block to stay below the block itself, unless the slice ends before. */
int64_t swp__exact_quantum_bars(const swp__slice *slice, const swp_params *combos, size_t combos_count)
{
    int64_t lookback = 0;
    for (size_t i = 0; i < combos_count; i++) {
        int64_t needed = swp__exact_lookback(&combos[i]);
        lookback = needed > lookback ? needed : lookback;
    }
    int64_t bars = round_up(lookback, SWP__CHUNK_ROWS) * LANES_MAX;
    int64_t bars_count = round_up(slice->bars_count, SWP__CHUNK_ROWS);
    bars = bars > QUANTUM_BARS_MIN ? bars : QUANTUM_BARS_MIN;
    return bars < bars_count ? bars : bars_count;
}

/* ---- when reciprocals will do ---- */

bool swp__exact_is_tame(const swp__exact_plan *plan, const double *close, int64_t from, int64_t to)
{
    if (plan->longest > SWP__RECIPROCAL_LENGTH_MAX || plan->longest_smooth > SWP__RECIPROCAL_LENGTH_MAX) {
        return false; /* HMA3's second level is as long as one of its first */
    }
    return swp__closes_are_tame(close, from, to);
}
