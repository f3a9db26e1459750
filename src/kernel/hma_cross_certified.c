/* `certified`: the same numbers without most of the work. The result depends on the averages only through the sign of
 * hma3 - hma at each bar, so that sign is taken from an approximation that costs the same for every window length
 * (certify_filter.h), wherever the approximation is farther from zero than it can be from the truth (certify_bound.h). The few
 * other bars are evaluated in the strict order. The trades are then made of the same closes in the same order.
 *
 *     closes ─> double running sums ─┬─> sums of each `smooth` ─┬─> combo: differences ─> signs, doubts ─┐
 *      (shared by all combos)        │   (shared by its group)  └─> combo ...                            │
 *                                    └─> ...                       exact signs of doubtful bars ─────────┴─> trades
 *
 * Combos are sorted, so that groups and repeated combos stand together. */
#include "kernel/hma_cross_certified.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    BLOCK_ROWS = 512,
    BLOCK_ROWS_MAX = 4096,
    CHAINS = 4, /* combos traded at a time */
};

typedef struct combo {
    swp__filter_combo filter;
    int64_t bars_needed;
    size_t index;   /* in the caller's arrays */
    bool exact_only; /* windows beyond what the bound is proved for */
} combo;

/* Where the closes of a superblock and before it are not numbers. The runs of bars without such are counted up to each word. */
typedef struct holes {
    bool any;                       /* in this superblock or within reach before it */
    uint64_t *number, *finite;      /* [words] */
    int64_t *number_run, *finite_run; /* [words] bars in a row up to the word's first, not included */
} holes;

typedef struct plan {
    const swp__filter_ops *filter;
    const swp__sign_ops *sign;
    int64_t block_rows, lead;
    int64_t reach; /* bars before a bar that any combo's windows reach back to */
    int64_t words; /* of a superblock, at most */
    size_t combos_count, distinct_count;
    combo *combos;             /* [combos_count] sorted */
    swp__trade_state *states;  /* [distinct_count] */
    size_t *distinct;          /* [combos_count] the state of each sorted combo */
    double *sums, *smoothed, *own; /* row 0 of each */
    uint64_t *up, *down, *valid, *doubt; /* [CHAINS][words] */
    holes holes;
    int64_t number_run, finite_run; /* up to the next superblock */
    void *exact_scratch;
} plan;

/* ---- scratch ---- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Bars a lane: long enough that what is computed again for the windows that reach back is little. */
static int64_t block_rows(int64_t bars_count, int64_t lead, int64_t lanes)
{
    int64_t rows = smaller(larger(round_up(lead, SWP__WORD_BARS), BLOCK_ROWS), BLOCK_ROWS_MAX);
    return smaller(rows, round_up((bars_count + lanes - 1) / lanes, SWP__WORD_BARS));
}

static bool is_certifiable(const swp_params *c)
{
    return swp_params_bars_needed(c) + BLOCK_ROWS_MAX <= SWP__CERTIFY_ROWS_MAX;
}

/* Rows before a block that the windows of these combos reach back to. */
static int64_t lead_rows(const swp_params *c)
{
    return is_certifiable(c) ? swp_params_bars_needed(c) - 1 : 0;
}

/* Hands out the scratch piece by piece; with a NULL base it only counts. */
typedef struct arena {
    char *base;
    size_t used;
} arena;

static void *take(arena *a, size_t count, size_t size)
{
    void *piece = a->base != NULL ? a->base + a->used : NULL;
    a->used += (count * size + 63) / 64 * 64;
    return piece;
}

/* Row 0 of an array that reaches `lead` rows and two zero rows back. */
static double *take_rows(arena *a, const plan *p)
{
    size_t before = (size_t)(p->lead + 2), vec_doubles = (size_t)p->filter->lanes;
    double *rows = take(a, before + (size_t)p->block_rows, vec_doubles * sizeof(double));
    return rows != NULL ? rows + before * vec_doubles : NULL;
}

/* Lays the plan's arrays out behind it. Everything that counts them is set. */
static void lay_out(plan *p, arena *a, const swp_params *largest)
{
    size_t words = (size_t)p->words;
    p->combos = take(a, p->combos_count, sizeof *p->combos);
    p->states = take(a, p->combos_count, sizeof *p->states);
    p->distinct = take(a, p->combos_count, sizeof *p->distinct);
    p->sums = take_rows(a, p);
    p->smoothed = take_rows(a, p);
    p->own = take_rows(a, p);
    p->up = take(a, CHAINS * words, sizeof(uint64_t));
    p->down = take(a, CHAINS * words, sizeof(uint64_t));
    p->valid = take(a, words, sizeof(uint64_t));
    p->doubt = take(a, words, sizeof(uint64_t));
    p->holes.number = take(a, words, sizeof(uint64_t));
    p->holes.finite = take(a, words, sizeof(uint64_t));
    p->holes.number_run = take(a, words, sizeof(int64_t));
    p->holes.finite_run = take(a, words, sizeof(int64_t));
    p->exact_scratch = take(a, 1, swp__exact_word_scratch_size(largest));
}

size_t swp__certified_scratch_size(const swp__filter_ops *filter, int64_t bars_count, const swp_params *largest,
                                   size_t combos_count)
{
    /* No combo that is run needs more bars than there are; the largest of each parameter together may. */
    int64_t lead = smaller(swp_params_bars_needed(largest) - 1, smaller(bars_count, SWP__CERTIFY_ROWS_MAX));
    plan p = {.filter = filter, .combos_count = combos_count, .lead = lead};
    p.block_rows = block_rows(bars_count, lead, filter->lanes);
    p.words = p.block_rows * filter->lanes / SWP__WORD_BARS;
    arena a = {NULL, 0};
    take(&a, 1, sizeof p);
    lay_out(&p, &a, largest);
    return a.used;
}

/* ---- the plan ---- */

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Groups first, then long look-backs together, then equal ones. */
static int compare_combos(const swp_params *a, const swp_params *b)
{
    const int64_t keys[][2] = {{a->smooth, b->smooth}, {a->full, b->full}, {a->half, b->half},
                               {a->p, b->p},           {a->mid, b->mid},   {a->third, b->third}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        int order = compare(keys[i][0], keys[i][1]);
        if (order != 0) {
            return order;
        }
    }
    return 0;
}

/* Shell's sort: a batch is at most some hundreds, and nothing may be allocated here. */
static void sort_combos(combo *combos, size_t count)
{
    for (size_t gap = count / 2; gap > 0; gap /= 2) {
        for (size_t i = gap; i < count; i++) {
            combo moving = combos[i];
            size_t j = i;
            for (; j >= gap && compare_combos(&moving.filter.params, &combos[j - gap].filter.params) < 0; j -= gap) {
                combos[j] = combos[j - gap];
            }
            combos[j] = moving;
        }
    }
}

static int64_t hma_reach(const swp_params *c)
{
    return larger(c->half, c->full);
}

static int64_t hma3_reach(const swp_params *c)
{
    return larger(larger(c->third, c->mid), c->p);
}

/* The end of the group that begins at sorted combo `first`: those with its `smooth`. */
static size_t group_end(const plan *p, size_t first)
{
    size_t end = first + 1;
    while (end < p->combos_count && p->combos[end].filter.params.smooth == p->combos[first].filter.params.smooth) {
        end++;
    }
    return end;
}

static int64_t group_reach(const plan *p, size_t first, size_t end)
{
    int64_t reach = 1;
    for (size_t i = first; i < end; i++) {
        if (!p->combos[i].exact_only) {
            reach = larger(reach, hma_reach(&p->combos[i].filter.params));
        }
    }
    return reach;
}

static void find_bounds(plan *p)
{
    for (size_t first = 0, end; first < p->combos_count; first = end) {
        end = group_end(p, first);
        int64_t reach = group_reach(p, first, end);
        for (size_t i = first; i < end; i++) {
            swp__filter_combo *f = &p->combos[i].filter;
            double unit = swp__triangle(f->params.p) * swp__triangle(f->params.p);
            f->hma = swp__hma_weights_of(&f->params, unit);
            f->hma3 = swp__hma3_weights_of(&f->params, unit);
            int64_t closes = p->lead + p->block_rows;
            swp__certify_bound hma =
                swp__certify_hma_bound(&f->params, &(swp__certify_rows){closes, reach - 1 + p->block_rows}, unit);
            swp__certify_bound hma3 = swp__certify_hma3_bound(
                &f->params, &(swp__certify_rows){closes, hma3_reach(&f->params) - 1 + p->block_rows}, unit);
            f->bound = (swp__certify_bound){hma.range + hma3.range, hma.level + hma3.level};
        }
    }
}

static int64_t longest_lead(const swp_params *combos, size_t combos_count)
{
    int64_t lead = 0;
    for (size_t i = 0; i < combos_count; i++) {
        lead = larger(lead, lead_rows(&combos[i]));
    }
    return lead;
}

static swp_params largest_of(const swp_params *combos, size_t combos_count)
{
    swp_params most = combos[0];
    for (size_t i = 1; i < combos_count; i++) {
        most.smooth = larger(most.smooth, combos[i].smooth);
        most.p = larger(most.p, combos[i].p);
    }
    return most;
}

static plan *make_plan(const swp__filter_ops *filter, const swp__sign_ops *sign, const swp__slice *slice,
                       const swp_params *combos, size_t combos_count, void *scratch)
{
    arena a = {scratch, 0};
    plan *p = take(&a, 1, sizeof *p);
    *p = (plan){.filter = filter, .sign = sign, .combos_count = combos_count};
    p->lead = longest_lead(combos, combos_count);
    p->block_rows = block_rows(slice->bars_count, p->lead, filter->lanes);
    p->words = p->block_rows * filter->lanes / SWP__WORD_BARS;
    swp_params largest = largest_of(combos, combos_count);
    lay_out(p, &a, &largest);
    for (size_t i = 0; i < combos_count; i++) {
        p->combos[i] = (combo){.filter.params = combos[i],
                               .bars_needed = swp_params_bars_needed(&combos[i]),
                               .index = i,
                               .exact_only = !is_certifiable(&combos[i])};
        p->reach = larger(p->reach, p->combos[i].bars_needed - 1);
    }
    sort_combos(p->combos, combos_count);
    find_bounds(p);
    for (size_t i = 0; i < combos_count; i++) {
        bool again = i > 0 && compare_combos(&p->combos[i - 1].filter.params, &p->combos[i].filter.params) == 0;
        p->distinct[i] = p->distinct_count - (again ? 1 : 0);
        p->distinct_count += again ? 0 : 1;
    }
    return p;
}

/* ---- validity ---- */

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
        int64_t skip = larger(length - run - 1, 0); /* of these bars, not long enough yet */
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

static void find_holes(plan *p, const swp__slice *slice, int64_t from, int64_t to)
{
    holes *h = &p->holes;
    for (int64_t w = 0, bar = from; bar < to; w++, bar += SWP__WORD_BARS) {
        int64_t bars = smaller(to - bar, SWP__WORD_BARS);
        uint64_t number = 0, finite = 0;
        for (int64_t i = 0; i < bars; i++) {
            number |= (uint64_t)!isnan(slice->close[bar + i]) << i;
            finite |= (uint64_t)!!isfinite(slice->close[bar + i]) << i;
        }
        h->number[w] = number;
        h->finite[w] = finite;
        h->number_run[w] = p->number_run;
        h->finite_run[w] = p->finite_run;
        p->number_run = run_after(number, p->number_run, bars);
        p->finite_run = run_after(finite, p->finite_run, bars);
    }
}

/* Bars of word w where both averages are numbers if no close is infinite. */
static uint64_t number_bars(const plan *p, const combo *c, int64_t from, int64_t w)
{
    if (p->holes.any) {
        return long_runs(p->holes.number[w], p->holes.number_run[w], c->bars_needed);
    }
    return swp__word_mask(from + w * SWP__WORD_BARS, c->bars_needed - 1, INT64_MAX - SWP__WORD_BARS);
}

static uint64_t finite_bars(const plan *p, const combo *c, uint64_t number, int64_t w)
{
    return p->holes.any ? long_runs(p->holes.finite[w], p->holes.finite_run[w], c->bars_needed) : number;
}

/* ---- signs ---- */

/* Exact signs for the bars of `doubt` in word w. */
static void settle(const plan *p, const swp__slice *slice, const combo *c, int64_t word_bar, uint64_t doubt, uint64_t *up,
                   uint64_t *down, uint64_t *valid)
{
    int first = __builtin_ctzll(doubt), bars = 64 - __builtin_clzll(doubt) - first;
    uint64_t span = swp__word_mask(0, first, first + bars);
    swp__sign_word word = p->sign->exact_word(slice, &c->filter.params, word_bar + first, bars, NULL, p->exact_scratch);
    *up = (*up & ~span) | word.up << first;
    *down = (*down & ~span) | word.down << first;
    *valid = (*valid & ~span) | word.valid << first;
}

/* One combo's words over the superblock [from, to). */
static void combo_words(plan *p, const swp__slice *slice, const swp__filter_block *block, const combo *c, int64_t to,
                        uint64_t *up, uint64_t *down, swp__trade_state *state)
{
    bool doubtful = true;
    if (c->exact_only) {
        memset(down, 0, (size_t)p->words * sizeof *down);
        memset(p->doubt, 0xFF, (size_t)p->words * sizeof *p->doubt);
    } else {
        doubtful = p->filter->signs(block, &c->filter, p->smoothed, p->own, down, p->doubt);
    }
    int64_t words = (to - block->from + SWP__WORD_BARS - 1) / SWP__WORD_BARS;
    if (!doubtful && !p->holes.any && state->first_bar >= 0) {
        for (int64_t w = 0; w < words; w++) {
            up[w] = ~down[w];
        }
        return;
    }
    for (int64_t w = 0, bar = block->from; w < words; w++, bar += SWP__WORD_BARS) {
        uint64_t valid = number_bars(p, c, block->from, w);
        uint64_t finite = finite_bars(p, c, valid, w);
        uint64_t doubt = ((doubtful ? p->doubt[w] : 0) & valid) | (valid & ~finite);
        doubt &= swp__word_mask(bar, slice->trade_from, to);
        down[w] &= valid;
        up[w] = ~down[w] & valid;
        if (doubt != 0) {
            settle(p, slice, c, bar, doubt, &up[w], &down[w], &valid);
        }
        swp__mark_valid(slice, bar, valid, state);
    }
}

static void superblock(plan *p, const swp__slice *slice, const swp__exec *exec, int64_t from, int64_t to)
{
    int64_t lanes = p->filter->lanes;
    swp__filter_block block = {.from = from, .lead = p->lead, .sums = p->sums};
    block.rows = round_up((to - from + lanes - 1) / lanes, SWP__WORD_BARS);
    bool finite = p->filter->load(slice, &block);
    p->holes.any = !finite || p->finite_run < smaller(from, p->reach);
    if (p->holes.any) {
        find_holes(p, slice, from, to);
    } else {
        p->number_run += to - from;
        p->finite_run += to - from;
    }
    size_t first_chain = 0, chains = 0;
    for (size_t first = 0, end; first < p->combos_count; first = end) {
        end = group_end(p, first);
        int64_t smooth = p->combos[first].filter.params.smooth;
        bool smoothed = false;
        for (size_t i = first; i < end; i++) {
            if (i > 0 && p->distinct[i] == p->distinct[i - 1]) {
                continue;
            }
            if (!smoothed && !p->combos[i].exact_only) {
                p->filter->smooth_sums(&block, smooth, group_reach(p, first, end) - 1, p->smoothed);
                smoothed = true;
            }
            size_t state = p->distinct[i];
            size_t offset = chains++ * (size_t)p->words;
            combo_words(p, slice, &block, &p->combos[i], to, p->up + offset, p->down + offset, &p->states[state]);
            if (chains == CHAINS || state + 1 == p->distinct_count) {
                p->sign->trade_words(slice, exec, from, to, chains, p->up, p->down, (size_t)p->words,
                                     &p->states[first_chain]);
                first_chain += chains;
                chains = 0;
            }
        }
    }
}

/* ---- the kernels ---- */

void swp__certified_run(const swp__filter_ops *filter, const swp__sign_ops *sign, const swp__slice *slice,
                        const swp__exec *exec, const swp_params *combos, size_t combos_count, int64_t from, int64_t to,
                        swp__trade_state *states, void *scratch)
{
    plan *p = scratch;
    if (from == 0) {
        p = make_plan(filter, sign, slice, combos, combos_count, scratch);
    }
    for (size_t i = 0; i < combos_count; i++) {
        p->states[p->distinct[i]] = states[p->combos[i].index];
    }
    int64_t superblock_bars = p->block_rows * filter->lanes;
    for (int64_t bar = from; bar < to; bar += superblock_bars) {
        superblock(p, slice, exec, bar, smaller(to, bar + superblock_bars));
    }
    for (size_t i = 0; i < combos_count; i++) {
        states[p->combos[i].index] = p->states[p->distinct[i]];
    }
}

int64_t swp__certified_quantum_bars(const swp__filter_ops *filter, const swp__slice *slice, const swp_params *combos,
                                    size_t combos_count)
{
    int64_t lead = longest_lead(combos, combos_count);
    return filter->lanes * block_rows(slice->bars_count, lead, filter->lanes);
}

SWP__CERTIFIED_KERNEL(c, swp__filter_ops_c, swp__sign_ops_c, 2.2)
#if defined(__x86_64__)
SWP__CERTIFIED_KERNEL(avx2, swp__filter_ops_avx2, swp__sign_ops_avx2, 0.9)
SWP__CERTIFIED_KERNEL(avx512, swp__filter_ops_avx512, swp__sign_ops_avx512, 0.6)
#endif
