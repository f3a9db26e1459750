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
static int64_t quantum_for(int64_t bars_count, int64_t lookback)
{
    int64_t bars = round_up(lookback, SWP__CHUNK_ROWS) * LANES_MAX;
    bars = bars > QUANTUM_BARS_MIN ? bars : QUANTUM_BARS_MIN;
    bars_count = round_up(bars_count, SWP__CHUNK_ROWS);
    return bars < bars_count ? bars : bars_count;
}

int64_t swp__exact_quantum_bars(const swp__slice *slice, const swp_params *combos, size_t combos_count)
{
    int64_t lookback = 0;
    for (size_t i = 0; i < combos_count; i++) {
        int64_t needed = swp__exact_lookback(&combos[i]);
        lookback = needed > lookback ? needed : lookback;
    }
    return quantum_for(slice->bars_count, lookback);
}

static size_t words_size(int64_t quantum, size_t combos_count)
{
    size_t words = (size_t)quantum / SWP__CHUNK_ROWS;
    return (combos_count * (2 * words * sizeof(uint64_t) + sizeof(int64_t)) + 63) / 64 * 64;
}

size_t swp__exact_scratch_size(int64_t bars_count, const swp_params *largest, size_t combos_count, int lanes)
{
    int64_t quantum = quantum_for(bars_count, swp__exact_lookback(largest));
    return words_size(quantum, combos_count) + swp__exact_plan_size(largest, combos_count, lanes);
}

swp__exact_words swp__exact_words_at(void *scratch, int64_t quantum, size_t combos_count)
{
    swp__exact_words words = {.stride = (size_t)quantum / SWP__CHUNK_ROWS, .up = scratch};
    words.down = words.up + combos_count * words.stride;
    words.first_valid = (int64_t *)(words.down + combos_count * words.stride);
    words.plan = (char *)scratch + words_size(quantum, combos_count);
    return words;
}

/* ---- when reciprocals will do ---- */

bool swp__exact_is_tame(const swp__exact_plan *plan, const double *close, int64_t from, int64_t to)
{
    if (plan->longest > SWP__RECIPROCAL_LENGTH_MAX || plan->longest_smooth > SWP__RECIPROCAL_LENGTH_MAX) {
        return false; /* HMA3's second level is as long as one of its first */
    }
    return swp__closes_are_tame(close, from, to);
}
