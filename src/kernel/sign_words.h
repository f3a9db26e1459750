/* Sign words: where HMA3 stands against HMA, one bit a bar. They are the seam between finding the signs, which any number of
 * threads may do in any order, and trading them, which is one serial chain a combo.
 *
 *     bar         0 1 2 ...                 63 | 64 ...
 *     up          . . . 1 1 . . . . . 1 1 1 1  |        HMA3 > HMA
 *     down        . . . . . 1 1 . 1 1 . . . .  |        HMA3 < HMA
 *
 * Bit b of a bar's word is bar 64w + b of the slice. Neither bit: a tie, or an average that is NaN; the position is kept.
 * Both bits never. */
#ifndef SWP_KERNEL_SIGN_WORDS_H
#define SWP_KERNEL_SIGN_WORDS_H

#include <stdbool.h>
#include "base/cpu.h"
#include "kernel/hma_cross.h"

enum { SWP__WORD_BARS = 64 };

typedef struct swp__sign_word {
    uint64_t up, down;
    uint64_t valid; /* both averages are numbers: up, down or a tie */
} swp__sign_word;

/* Averages of level one of some bars: what combos that are evaluated there share. For one oldest bar the sums of all lengths
 * are prefixes of one sum, so that the table costs the longest length a bar, whatever the number of lengths. */
typedef struct swp__exact_table {
    const int64_t *lengths; /* [lengths_count] distinct, rising */
    size_t lengths_count;
    int64_t first_bar, bars_count; /* what is in it; first_bar may be negative */
    size_t stride;                 /* of a row: swp__exact_table_stride(bars_count) or more */
    double *averages;              /* [lengths_count][stride]: bar b is element SWP__TABLE_PAD + b - first_bar */
    double *closes;                /* [swp__exact_table_closes(longest, bars_count)] room */
    bool tame;                     /* set by filling: its closes are, and its lengths no hindrance */
} swp__exact_table;

/* Which rows of a table are a combo's lengths. */
typedef struct swp__exact_rows {
    size_t half, full, third, mid, p;
} swp__exact_rows;

enum { SWP__TABLE_PAD = 32 }; /* written around what is asked for */

static inline size_t swp__exact_table_stride(int64_t bars_count)
{
    return (size_t)bars_count + 2 * SWP__TABLE_PAD;
}

static inline size_t swp__exact_table_closes(int64_t longest, int64_t bars_count)
{
    return (size_t)(longest + bars_count) + SWP__TABLE_PAD;
}

/* Whether every close of bars [from, to) is zero, NaN, or of a magnitude that keeps sums and quotients clear of overflow and
 * underflow: divisions may then go by reciprocals. */
bool swp__closes_are_tame(const double *close, int64_t from, int64_t to);

/* One instruction set's code for them; all give the same bits. */
typedef struct swp__sign_ops {
    /* Carries states[combos_count] over bars [from, to), which may begin and end inside a word: what swp__trade_bar does bar
     * by bar, to the bit. `up` and `down` are combo 0's, from the word that holds bar `from`; those of combo i begin
     * i * stride words behind. Bits outside [from, to) and before slice->trade_from count for nothing. first_bar is not
     * touched: swp__mark_valid. Four combos at a time, whose chains of additions then overlap. */
    void (*trade_words)(const swp__slice *slice, const swp__exec *exec, int64_t from, int64_t to, size_t combos_count,
                        const uint64_t *up, const uint64_t *down, size_t stride, swp__trade_state *states);

    /* The signs of `bars` bars (1..64) from `first_bar` (any bar) on in the strict order of every operation; bit 0 is
     * first_bar, bits from `bars` on are 0. `table` and `rows`: the combo's averages of level one, from
     * max(smooth, p) - 1 bars before first_bar on; NULL: they are computed. `scratch` has swp__exact_word_scratch_size bytes,
     * 64-byte aligned. */
    swp__sign_word (*exact_word)(const swp__slice *slice, const swp_params *combo, int64_t first_bar, int64_t bars,
                                 const swp__exact_table *table, const swp__exact_rows *rows, void *scratch);

    /* Fills the table for its bars: NaN before the slice begins and where it has ended. */
    void (*fill_table)(const swp__slice *slice, swp__exact_table *table);
} swp__sign_ops;

/* NULL: the program was built for another architecture. Running what the CPU lacks is the caller's mistake. */
const swp__sign_ops *swp__sign_ops_get(swp__isa isa);

extern const swp__sign_ops swp__sign_ops_c;
extern const swp__sign_ops swp__sign_ops_avx2;   /* x86-64 only */
extern const swp__sign_ops swp__sign_ops_avx512; /* x86-64 only */

size_t swp__exact_word_scratch_size(const swp_params *combo);

/* Bits of the bars of word `word_bar` (its first bar) that lie in [from, to). */
static inline uint64_t swp__word_mask(int64_t word_bar, int64_t from, int64_t to)
{
    uint64_t mask = ~UINT64_C(0);
    if (from > word_bar) {
        mask = from - word_bar < SWP__WORD_BARS ? mask << (from - word_bar) : 0;
    }
    if (to < word_bar + SWP__WORD_BARS) {
        mask &= to > word_bar ? ~UINT64_C(0) >> (word_bar + SWP__WORD_BARS - to) : 0;
    }
    return mask;
}

/* Sets first_bar from a word's valid bits, unless it is set: words come in order. */
static inline void swp__mark_valid(const swp__slice *slice, int64_t word_bar, uint64_t valid, swp__trade_state *state)
{
    if (state->first_bar < 0) {
        valid &= swp__word_mask(word_bar, slice->trade_from, slice->bars_count);
        if (valid != 0) {
            state->first_bar = word_bar + __builtin_ctzll(valid);
        }
    }
}

#endif
