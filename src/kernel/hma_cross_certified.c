/* `certified`: the same numbers without most of the work. The result depends on the averages only through the sign of
 * hma3 - hma at each bar, so that sign is taken from an approximation that costs the same for every window length
 * (certify_filter.h), wherever the approximation is farther from zero than it can be from the truth (certify_bound.h). The few
 * other bars are evaluated in the strict order (certified_doubts.c). The trades are then made of the same closes in the same
 * order.
 *
 *     closes ─> double running sums ─┬─> sums of each `smooth` ─┬─> combo: differences ─> signs, doubts ─┐
 *      (shared by all combos)        │   (shared by its group)  └─> combo ...                            │
 *                                    └─> ...                       exact signs of doubtful bars ─────────┴─> trades
 */
#include "kernel/hma_cross_certified.h"

#include <string.h>
#include "kernel/certified_doubts.h"
#include "kernel/certified_plan.h"
#include "kernel/hma_cross_exact.h"

/* Nothing is known of a combo with windows beyond what the bound is proved for. */
static void doubt_everything(swp__certified_plan *p, size_t d, int64_t words, uint64_t *down)
{
    memset(down, 0, (size_t)words * sizeof *down);
    memset(p->doubt + d * (size_t)p->words, 0xFF, (size_t)words * sizeof *p->doubt);
    p->any_doubt[d] = true;
}

/* The sums that the group [first, end) shares, if it has any use for them. */
static swp__filter_smooth group_smooth(const swp__certified_plan *p, size_t first, size_t end)
{
    int64_t reach = swp__certified_group_reach(p, first, end);
    return (swp__filter_smooth){
        .smooth = p->combos[first].filter.params.smooth, .lead = reach - 1, .out = reach > 0 ? p->smoothed : NULL};
}

/* Each combo by itself, with the sums of its `smooth`; the first group's are there. */
static void find_signs(swp__certified_plan *p, const swp__filter_block *block)
{
    for (size_t first = 0, end; first < p->distinct_count; first = end) {
        end = swp__certified_group_end(p, first);
        swp__filter_smooth smooth = group_smooth(p, first, end);
        if (first > 0 && smooth.out != NULL) {
            p->filter->smooth_sums(block, &smooth);
        }
        for (size_t d = first; d < end; d++) {
            if (!p->combos[d].exact_only) {
                size_t at = d * (size_t)p->words;
                p->any_doubt[d] =
                    p->filter->signs(block, &p->combos[d].filter, p->smoothed, p->own, p->down + at, p->doubt + at);
            }
        }
    }
}

/* One combo straight from the closes, if there is but one and all goes plainly. */
static bool find_signs_alone(swp__certified_plan *p, const swp__slice *slice, swp__filter_block *block,
                             const swp__filter_smooth *smooth, int64_t to, bool *doubt)
{
    bool whole = block->from + block->rows * p->filter->lanes == to;
    if (p->distinct_count != 1 || p->combos[0].exact_only || p->shares || !whole) {
        return false;
    }
    return p->filter->signs_alone(slice, block, &p->combos[0].filter, smooth, p->own, p->down, p->doubt, doubt);
}

static void find_averages(swp__certified_plan *p, const swp__filter_block *block)
{
    size_t done = 0;
    for (size_t first = 0, end; first < p->distinct_count; first = end) {
        end = swp__certified_group_end(p, first);
        swp__filter_smooth smooth = group_smooth(p, first, end);
        if (first > 0 && smooth.out != NULL) {
            p->filter->smooth_sums(block, &smooth);
        }
        for (size_t d = first; d < end; d++) {
            if (!p->combos[d].exact_only && p->hma_of[d] == done) { /* they rise by one */
                const swp__certified_average *a = &p->hma[done];
                p->filter->hma_rows(block, &a->params, &a->weights.hma, p->smoothed, p->hma_rows + done * p->row_doubles);
                done++;
            }
        }
    }
    for (size_t i = 0; i < p->hma3_count; i++) {
        const swp__certified_average *a = &p->hma3[i];
        p->filter->hma3_rows(block, &a->params, &a->weights.hma3, p->own, p->hma3_rows + i * p->row_doubles);
    }
}

static void note_pair_doubt(swp__certified_plan *p, size_t pair, int64_t word, int64_t lane_words, const uint64_t *of_lanes)
{
    size_t d = p->pairs[pair];
    uint64_t *doubt = p->doubt + d * (size_t)p->words;
    if (!p->any_doubt[d]) {
        memset(doubt, 0, (size_t)p->words * sizeof *doubt);
        p->any_doubt[d] = true;
    }
    for (int64_t lane = 0; lane < p->filter->lanes; lane++) {
        doubt[lane * lane_words + word] = of_lanes[lane];
    }
}

/* Combos as pairs of averages, a word of each lane at a time: all averages of 64 rows stay near. */
static void find_pair_signs(swp__certified_plan *p, const swp__filter_block *block)
{
    int64_t lane_words = block->rows / SWP__WORD_BARS;
    find_averages(p, block);
    for (size_t i = 0; i < p->pairs_count; i++) {
        p->filter->bounds(block, &p->combos[p->pairs[i]].filter, p->bounds + i * (size_t)p->filter->lanes);
    }
    const swp__filter_pairs pairs = {.count = p->pairs_count,
                                     .hma_of = p->pair_hma,
                                     .hma3_of = p->pair_hma3,
                                     .hma = p->hma_rows,
                                     .hma3 = p->hma3_rows,
                                     .row_doubles = p->row_doubles,
                                     .bounds = p->bounds};
    for (int64_t word = 0; word < lane_words; word++) {
        uint64_t *down = p->down + (size_t)word * p->down_word, of_lanes[SWP__FILTER_LANES_MAX];
        for (size_t i = 0; (i = p->filter->pair_signs(&pairs, i, word, down, of_lanes)) < pairs.count; i++) {
            note_pair_doubt(p, i, word, lane_words, of_lanes);
        }
    }
}

/* Words in the order of bars. */
static void gather_down(const swp__certified_plan *p, size_t d, int64_t lane_words, int64_t words, uint64_t *down)
{
    if (!p->shares) {
        memcpy(down, p->down + d * (size_t)p->words, (size_t)words * sizeof *down);
        return;
    }
    size_t lanes = (size_t)p->filter->lanes;
    const uint64_t *found = p->down + p->pair_of[d] * lanes;
    for (int64_t lane = 0, i = 0; i < words; lane++) {
        for (int64_t w = 0; w < lane_words && i < words; w++, i++) {
            down[i] = found[(size_t)lane + (size_t)w * p->down_word];
        }
    }
}

/* Combos that are there more than once have one's words. */
static void copy_words(const swp__certified_plan *p, int64_t count, const swp__signs *out)
{
    for (size_t i = 0; i < p->combos_count; i++) {
        size_t from = p->combos[p->distinct[i]].index;
        if (from != i) {
            memcpy(out->up + i * out->stride, out->up + from * out->stride, (size_t)count * sizeof(uint64_t));
            memcpy(out->down + i * out->stride, out->down + from * out->stride, (size_t)count * sizeof(uint64_t));
            out->first_valid[i] = out->first_valid[from];
        }
    }
}

static void superblock(swp__certified_plan *p, const swp__slice *slice, int64_t from, int64_t to, const swp__signs *out)
{
    int64_t lanes = p->filter->lanes;
    swp__filter_block block = {.from = from, .lead = p->lead, .sums = p->sums};
    block.rows = swp__round_up((to - from + lanes - 1) / lanes, SWP__WORD_BARS);
    swp__filter_smooth first_smooth = group_smooth(p, 0, swp__certified_group_end(p, 0));
    bool doubt = false, alone = find_signs_alone(p, slice, &block, &first_smooth, to, &doubt);
    bool finite = alone || p->filter->load(slice, &block, &first_smooth);
    swp__certified_begin(p, slice, from, to, finite);
    if (alone) {
        p->any_doubt[0] = doubt;
    } else if (p->shares) {
        find_pair_signs(p, &block);
    } else {
        find_signs(p, &block);
    }
    int64_t words = (to - from + SWP__WORD_BARS - 1) / SWP__WORD_BARS;
    for (size_t d = 0; d < p->distinct_count; d++) {
        size_t index = p->combos[d].index, at = index * out->stride;
        if (p->combos[d].exact_only) {
            doubt_everything(p, d, words, out->down + at);
        } else {
            gather_down(p, d, block.rows / SWP__WORD_BARS, words, out->down + at);
        }
        swp__certified_finish(p, slice, from, to, d, out->up + at, out->down + at, &out->first_valid[index]);
    }
    swp__certified_settle(p, slice, from, to, out);
    copy_words(p, words, out);
}

/* ---- the kernels ---- */

static void note_first_valid(const swp__certified_plan *p, int64_t *first_valid)
{
    for (size_t i = 0; i < p->combos_count; i++) {
        first_valid[i] = first_valid[i] < 0 ? p->first_valid[i] : first_valid[i];
    }
}

void swp__certified_signs(const swp__slice *slice, const swp_params *combos, size_t combos_count, int64_t from, int64_t to,
                          const swp__signs *signs, void *scratch)
{
    (void)combos;
    swp__certified_plan *p = scratch;
    int64_t superblock_bars = p->block_rows * p->filter->lanes;
    for (size_t i = 0; i < combos_count; i++) {
        signs->first_valid[i] = -1;
    }
    for (int64_t bar = from, end; bar < to; bar = end) {
        end = swp__smaller(to, bar + superblock_bars);
        int64_t word = (bar - from) / SWP__WORD_BARS;
        swp__signs out = {signs->up + word, signs->down + word, signs->stride, p->first_valid};
        superblock(p, slice, bar, end, &out);
        note_first_valid(p, signs->first_valid);
    }
}

int64_t swp__certified_quantum_bars(const swp__filter_ops *filter, const swp__slice *slice, const swp_params *combos,
                                    size_t combos_count)
{
    int64_t lead = swp__certified_lead(filter, combos, combos_count);
    return filter->lanes * swp__certified_block_rows(filter, slice->bars_count, lead);
}

SWP__CERTIFIED_KERNEL(c, swp__filter_ops_c, swp__sign_ops_c, swp__hma_cross_exact_c, 2.0)
#if defined(__x86_64__)
SWP__CERTIFIED_KERNEL(avx2, swp__filter_ops_avx2, swp__sign_ops_avx2, swp__hma_cross_exact_avx2, 0.9)
SWP__CERTIFIED_KERNEL(avx512, swp__filter_ops_avx512, swp__sign_ops_avx512, swp__hma_cross_exact_avx512, 0.6)
#endif
