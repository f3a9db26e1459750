/* Doubts are settled by what is cheapest for the superblock: bars where the close has stood still for as long as the windows
 * reach back have one sign, found once; the others are evaluated word by word, on their own or from a table of level-one averages that
 * all combos share. The choice is made by counting multiply-adds. */
#include "kernel/certified_doubts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { TILE_WORDS = 8 };

/* ---- runs of bars ---- */

/* The bits of a word where the run of ones, `run` bars long before the word, is at least `length` (>= 1) bars long. */
static uint64_t long_runs(uint64_t ones, int64_t run, int64_t length)
{
    uint64_t found = 0;
    for (int bit = 0; bit < SWP__WORD_BARS;) {
        uint64_t rest = ones >> bit;
        if ((rest & 1) == 0) {
            run = 0;
            bit += rest == 0 ? SWP__WORD_BARS : __builtin_ctzll(rest);
            continue;
        }
        int count = ~rest == 0 ? SWP__WORD_BARS : __builtin_ctzll(~rest);
        int64_t skip = swp__larger(length - run - 1, 0); /* of these bars, not long enough yet */
        if (skip < count) {
            found |= swp__word_mask(0, bit + skip, bit + count);
        }
        run += count;
        bit += count;
    }
    return found;
}

static int64_t run_after(uint64_t ones, int64_t run, int64_t bars)
{
    uint64_t zeros = ~ones & swp__word_mask(0, 0, bars);
    return zeros == 0 ? run + bars : bars - 1 - (63 - __builtin_clzll(zeros));
}

typedef bool bar_rule(const swp__slice *slice, int64_t bar);

static bool is_number(const swp__slice *slice, int64_t bar)
{
    return !isnan(slice->close[bar]);
}

static bool is_finite(const swp__slice *slice, int64_t bar)
{
    return isfinite(slice->close[bar]);
}

static bool is_same(const swp__slice *slice, int64_t bar)
{
    return bar > 0 && memcmp(&slice->close[bar], &slice->close[bar - 1], sizeof(double)) == 0;
}

/* Bars in a row up to `from`, counted no farther than matters. */
static int64_t run_before(const swp__slice *slice, int64_t from, int64_t most, bar_rule *rule)
{
    int64_t run = 0;
    while (run < most && run < from && rule(slice, from - 1 - run)) {
        run++;
    }
    return run;
}

static inline __attribute__((always_inline)) void find_runs(const swp__slice *slice, int64_t from, int64_t to, int64_t most,
                                                            bar_rule *rule, const swp__bar_runs *runs)
{
    int64_t run = run_before(slice, from, most, rule);
    for (int64_t w = 0, bar = from; bar < to; w++, bar += SWP__WORD_BARS) {
        int64_t bars = swp__smaller(to - bar, SWP__WORD_BARS);
        uint64_t bits = 0;
        for (int64_t i = 0; i < bars; i++) {
            bits |= (uint64_t)rule(slice, bar + i) << i;
        }
        runs->bits[w] = bits;
        runs->run[w] = run;
        run = run_after(bits, run, bars);
    }
}

/* ---- a superblock begins ---- */

void swp__certified_begin(swp__certified_plan *p, const swp__slice *slice, int64_t from, int64_t to, bool finite)
{
    p->knows_same = false;
    memset(p->any_doubt, 0, p->distinct_count * sizeof *p->any_doubt);
    memset(p->tiles, 0, (size_t)p->words * sizeof *p->tiles);
    int64_t reach = swp__smaller(p->reach, from);
    p->has_holes = !finite || (p->reach > p->lead && run_before(slice, from, reach, is_finite) < reach);
    if (p->has_holes) {
        find_runs(slice, from, to, p->reach, is_number, &p->number);
        find_runs(slice, from, to, p->reach, is_finite, &p->finite);
    }
}

/* ---- flat bars ---- */

static double wma_of_constant(double x, int64_t m)
{
    double sum = 0.0;
    for (int64_t k = 0; k < m; k++) {
        sum += x * (double)(k + 1);
    }
    return sum / (double)(m * (m + 1) / 2);
}

/* The sign of a bar whose windows hold nothing but `close`; 0 or 1 in each member. */
static swp__sign_word constant_sign(const swp_params *c, double close)
{
    double hma = wma_of_constant(2.0 * wma_of_constant(close, c->half) - wma_of_constant(close, c->full), c->smooth);
    double level_one = 3.0 * wma_of_constant(close, c->third) - wma_of_constant(close, c->mid);
    double hma3 = wma_of_constant(level_one - wma_of_constant(close, c->p), c->p);
    bool up = hma3 > hma, down = hma3 < hma, tie = hma3 == hma;
    return (swp__sign_word){.up = up, .down = down, .valid = up || down || tie};
}

static swp__sign_word flat_sign(swp__certified_combo *c, double close)
{
    swp__flat_sign *f = &c->flat;
    if (!f->known || memcmp(&f->close, &close, sizeof close) != 0) {
        *f = (swp__flat_sign){true, close, constant_sign(&c->filter.params, close)};
    }
    return f->bit;
}

static uint64_t flat_bars(swp__certified_plan *p, const swp__slice *slice, int64_t from, int64_t to, int64_t w,
                          int64_t bars_needed)
{
    if (!p->knows_same) {
        find_runs(slice, from, to, p->reach, is_same, &p->same);
        p->knows_same = true;
    }
    return bars_needed > 1 ? long_runs(p->same.bits[w], p->same.run[w], bars_needed - 1) : 0;
}

static void put_bits(uint64_t *word, uint64_t mask, uint64_t bits)
{
    *word = (*word & ~mask) | (bits & mask);
}

/* The signs of bars `flat` of a word; bars next to each other have one close. */
static void settle_flat(swp__certified_combo *c, const swp__slice *slice, int64_t word_bar, uint64_t flat, swp__sign_word *word)
{
    while (flat != 0) {
        int first = __builtin_ctzll(flat);
        uint64_t beyond = ~(flat >> first);
        int count = beyond == 0 ? SWP__WORD_BARS : __builtin_ctzll(beyond);
        uint64_t mask = swp__word_mask(0, first, first + count);
        swp__sign_word bit = flat_sign(c, slice->close[word_bar + first]);
        put_bits(&word->up, mask, 0 - bit.up);
        put_bits(&word->down, mask, 0 - bit.down);
        put_bits(&word->valid, mask, 0 - bit.valid);
        flat &= ~mask;
    }
}

/* ---- a combo's words ---- */

static double multiply_adds(const swp_params *c, int64_t bars, bool with_table)
{
    double level_two = (double)bars * (double)(c->smooth + c->p);
    double hma = (double)(bars + c->smooth - 1) * (double)(c->half + c->full);
    double hma3 = (double)(bars + c->p - 1) * (double)(c->third + c->mid + c->p);
    return with_table ? level_two + 4.0 * (double)(2 * bars + c->smooth + c->p) : level_two + hma + hma3;
}

static void span_of(uint64_t bits, int *first, int64_t *bars)
{
    *first = __builtin_ctzll(bits);
    *bars = 64 - __builtin_clzll(bits) - *first;
}

static void note_doubt(swp__certified_plan *p, size_t d, int64_t w, uint64_t doubt)
{
    int first;
    int64_t bars;
    span_of(doubt, &first, &bars);
    const swp__certified_combo *c = &p->combos[d];
    swp__doubt_tile *tile = &p->tiles[w / TILE_WORDS];
    tile->first_word = tile->end_word == 0 ? w : swp__smaller(tile->first_word, w);
    tile->end_word = swp__larger(tile->end_word, w + 1);
    tile->direct += multiply_adds(&c->filter.params, bars, false);
    tile->shared += multiply_adds(&c->filter.params, bars, true);
}

static void note_valid(const swp__slice *slice, int64_t word_bar, uint64_t valid, int64_t *first_valid)
{
    valid &= swp__word_mask(word_bar, slice->trade_from, slice->bars_count);
    if (valid != 0) {
        int64_t bar = word_bar + __builtin_ctzll(valid);
        *first_valid = *first_valid < 0 ? bar : swp__smaller(*first_valid, bar);
    }
}

/* Bars of word w where both averages are numbers if no close is infinite. */
static uint64_t number_bars(const swp__certified_plan *p, const swp__certified_combo *c, int64_t from, int64_t w)
{
    if (p->has_holes) {
        return long_runs(p->number.bits[w], p->number.run[w], c->bars_needed);
    }
    return swp__word_mask(from + w * SWP__WORD_BARS, c->bars_needed - 1, INT64_MAX - SWP__WORD_BARS);
}

static uint64_t finite_bars(const swp__certified_plan *p, const swp__certified_combo *c, uint64_t number, int64_t w)
{
    return p->has_holes ? long_runs(p->finite.bits[w], p->finite.run[w], c->bars_needed) : number;
}

static void finish_word(swp__certified_plan *p, const swp__slice *slice, int64_t from, int64_t to, size_t d, int64_t w,
                        uint64_t found, swp__sign_word *word)
{
    swp__certified_combo *c = &p->combos[d];
    uint64_t *doubts = p->doubt + d * (size_t)p->words;
    int64_t word_bar = from + w * SWP__WORD_BARS;
    uint64_t number = number_bars(p, c, from, w);
    uint64_t doubt = p->any_doubt[d] ? doubts[w] : 0;
    doubt = (doubt & number) | (number & ~finite_bars(p, c, number, w));
    doubt &= swp__word_mask(word_bar, slice->trade_from, to);
    *word = (swp__sign_word){.down = found & number, .up = ~found & number, .valid = number};
    if (doubt != 0) {
        uint64_t flat = doubt & flat_bars(p, slice, from, to, w, c->bars_needed);
        settle_flat(c, slice, word_bar, flat, word);
        doubt &= ~flat;
    }
    doubts[w] = doubt;
    if (doubt != 0) {
        note_doubt(p, d, w, doubt);
        word->valid &= ~doubt;
    }
}

void swp__certified_finish(swp__certified_plan *p, const swp__slice *slice, int64_t from, int64_t to, size_t d, uint64_t *up,
                           uint64_t *down, int64_t *first_valid)
{
    int64_t words = (to - from + SWP__WORD_BARS - 1) / SWP__WORD_BARS;
    bool plain = !p->any_doubt[d] && !p->has_holes;
    *first_valid = -1;
    if (plain && from >= p->combos[d].bars_needed - 1) {
        for (int64_t w = 0; w < words; w++) {
            up[w] = ~down[w];
        }
        int64_t first = swp__larger(from, slice->trade_from);
        *first_valid = first < to ? first : -1;
        return;
    }
    uint64_t open = 0;
    for (int64_t w = 0; w < words; w++) {
        swp__sign_word word;
        finish_word(p, slice, from, to, d, w, down[w], &word);
        up[w] = word.up;
        down[w] = word.down;
        note_valid(slice, from + w * SWP__WORD_BARS, word.valid & swp__word_mask(from + w * SWP__WORD_BARS, from, to),
                   first_valid);
        open |= p->doubt[d * (size_t)p->words + (size_t)w];
    }
    p->any_doubt[d] = open != 0;
}

/* ---- settling ---- */

static int64_t *collect_lengths(const swp__certified_plan *p, int64_t *to)
{
    for (size_t d = 0; d < p->distinct_count; d++) {
        const swp_params *c = &p->combos[d].filter.params;
        if (!p->combos[d].exact_only) {
            const int64_t lengths[] = {c->half, c->full, c->third, c->mid, c->p};
            memcpy(to, lengths, sizeof lengths);
            to += sizeof lengths / sizeof lengths[0];
        }
    }
    return to;
}

static void sort_lengths(int64_t *lengths, size_t count)
{
    for (size_t gap = count / 2; gap > 0; gap /= 2) {
        for (size_t i = gap; i < count; i++) {
            int64_t moving = lengths[i];
            size_t j = i;
            for (; j >= gap && moving < lengths[j - gap]; j -= gap) {
                lengths[j] = lengths[j - gap];
            }
            lengths[j] = moving;
        }
    }
}

static size_t row_of(const swp__exact_table *t, int64_t length)
{
    size_t low = 0, high = t->lengths_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (t->lengths[middle] <= length) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The distinct lengths of level one, once a plan. */
static void plan_table(swp__certified_plan *p)
{
    size_t count = (size_t)(collect_lengths(p, p->lengths) - p->lengths);
    sort_lengths(p->lengths, count);
    p->table.lengths_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || p->lengths[i] != p->lengths[i - 1]) {
            p->lengths[p->table.lengths_count++] = p->lengths[i];
        }
    }
    const swp__exact_table *t = &p->table;
    for (size_t d = 0; d < p->distinct_count; d++) {
        const swp_params *c = &p->combos[d].filter.params;
        p->combos[d].rows =
            (swp__exact_rows){row_of(t, c->half), row_of(t, c->full), row_of(t, c->third), row_of(t, c->mid), row_of(t, c->p)};
    }
}

/* Whether the words of a tile are best evaluated from a table, which then has been filled. */
static bool fill_table(swp__certified_plan *p, const swp__slice *slice, int64_t from, int64_t to, const swp__doubt_tile *tile)
{
    if (p->table.lengths_count == 0) {
        plan_table(p);
    }
    swp__exact_table *t = &p->table;
    if (t->lengths_count == 0) {
        return false; /* every combo is beyond the bound */
    }
    int64_t first = from + tile->first_word * SWP__WORD_BARS, end = from + tile->end_word * SWP__WORD_BARS;
    t->first_bar = first - p->level_two_reach;
    t->bars_count = swp__smaller(end, to) - t->first_bar;
    t->stride = swp__exact_table_stride(t->bars_count);
    double filling = (double)t->bars_count * (double)(t->lengths[t->lengths_count - 1] + 4 * (int64_t)t->lengths_count);
    bool fits = t->stride * t->lengths_count * sizeof(double) <= p->table_bytes;
    if (!fits || filling + tile->shared >= tile->direct) {
        return false;
    }
    p->sign->fill_table(slice, t);
    return true;
}

static void settle_combo(swp__certified_plan *p, const swp__slice *slice, int64_t from, size_t d, const swp__doubt_tile *tile,
                         const swp__exact_table *table, uint64_t *up, uint64_t *down, int64_t *first_valid)
{
    const swp__certified_combo *c = &p->combos[d];
    const uint64_t *doubts = p->doubt + d * (size_t)p->words;
    for (int64_t w = tile->first_word; w < tile->end_word; w++) {
        if (doubts[w] == 0) {
            continue;
        }
        int first;
        int64_t bars, word_bar = from + w * SWP__WORD_BARS;
        span_of(doubts[w], &first, &bars);
        uint64_t span = swp__word_mask(0, first, first + bars);
        swp__sign_word word = p->sign->exact_word(slice, &c->filter.params, word_bar + first, bars,
                                                  c->exact_only ? NULL : table, &c->rows, p->exact_scratch);
        put_bits(&up[w], span, word.up << first);
        put_bits(&down[w], span, word.down << first);
        note_valid(slice, word_bar, word.valid << first, first_valid);
    }
}

/* ---- many doubts ---- */

/* A multiply-add of the exact kernel costs so much of one in an exact word, where loads are not aligned. */
#define DENSE_COST 0.65

static int64_t doubtful_words(const swp__certified_plan *p, size_t d, int64_t words)
{
    int64_t count = 0;
    for (int64_t w = 0; w < words; w++) {
        count += p->doubt[d * (size_t)p->words + (size_t)w] != 0 ? 1 : 0;
    }
    return count;
}

static void note_earlier(int64_t bar, int64_t *first_valid)
{
    if (bar >= 0) {
        *first_valid = *first_valid < 0 ? bar : swp__smaller(*first_valid, bar);
    }
}

/* Combos that have doubts in most words; and whether the exact kernel is the cheaper way for them. */
static size_t choose_dense(swp__certified_plan *p, int64_t words)
{
    size_t count = 0;
    double exact = 0.0, by_word = 0.0, longest = 0.0;
    for (size_t d = 0; d < p->distinct_count; d++) {
        const swp_params *c = &p->combos[d].filter.params;
        int64_t doubtful = p->any_doubt[d] && !p->combos[d].exact_only ? doubtful_words(p, d, words) : 0;
        if (4 * doubtful < 3 * words) {
            continue;
        }
        p->dense_of[count++] = d;
        exact += DENSE_COST * (double)(words * SWP__WORD_BARS) * (double)(c->smooth + c->p);
        by_word += (double)doubtful * multiply_adds(c, SWP__WORD_BARS, true);
        longest =
            fmax(longest, (double)swp__larger(swp__larger(c->half, c->full), swp__larger(swp__larger(c->third, c->mid), c->p)));
    }
    double rows = (double)(words * SWP__WORD_BARS) + (double)(p->filter->lanes * p->lead);
    return p->exact_plan_combos > 0 && exact + DENSE_COST * rows * longest < by_word ? count : 0;
}

/* dense[first..end) by the exact kernel, all their words. */
static void settle_group(swp__certified_plan *p, const swp__slice *slice, int64_t from, int64_t to, size_t count,
                         const size_t *of, const swp__signs *out)
{
    swp__signs found = {p->dense_up, p->dense_down, (size_t)p->words, p->dense_first_valid};
    size_t bytes = (size_t)((to - from + SWP__WORD_BARS - 1) / SWP__WORD_BARS) * sizeof(uint64_t);
    for (size_t i = 0; i < count; i++) {
        p->dense[i] = p->combos[of[i]].filter.params;
    }
    p->exact->prepare(slice, p->dense, count, p->exact_plan);
    p->exact->signs(slice, p->dense, count, from, to, &found, p->exact_plan);
    for (size_t i = 0; i < count; i++) {
        size_t index = p->combos[of[i]].index;
        memcpy(out->up + index * out->stride, found.up + i * found.stride, bytes);
        memcpy(out->down + index * out->stride, found.down + i * found.stride, bytes);
        note_earlier(found.first_valid[i], &out->first_valid[index]);
        p->any_doubt[of[i]] = false;
    }
}

static void settle_dense(swp__certified_plan *p, const swp__slice *slice, int64_t from, int64_t to, const swp__signs *out)
{
    size_t count = choose_dense(p, (to - from + SWP__WORD_BARS - 1) / SWP__WORD_BARS);
    for (size_t first = 0; first < count; first += p->exact_plan_combos) {
        size_t left = count - first;
        settle_group(p, slice, from, to, left < p->exact_plan_combos ? left : p->exact_plan_combos, p->dense_of + first, out);
    }
}

/* ---- the whole ---- */

void swp__certified_settle(swp__certified_plan *p, const swp__slice *slice, int64_t from, int64_t to, const swp__signs *out)
{
    int64_t words = (to - from + SWP__WORD_BARS - 1) / SWP__WORD_BARS;
    settle_dense(p, slice, from, to, out);
    for (int64_t i = 0; i * TILE_WORDS < words; i++) {
        const swp__doubt_tile *tile = &p->tiles[i];
        const swp__exact_table *table = NULL;
        for (size_t d = 0; d < p->distinct_count && tile->end_word != 0; d++) {
            if (p->any_doubt[d]) {
                if (table == NULL && fill_table(p, slice, from, to, tile)) {
                    table = &p->table;
                }
                size_t index = p->combos[d].index;
                settle_combo(p, slice, from, d, tile, table, out->up + index * out->stride, out->down + index * out->stride,
                             &out->first_valid[index]);
            }
        }
    }
}
