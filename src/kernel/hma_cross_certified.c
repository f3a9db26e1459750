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

static void find_words(swp__certified_plan *p, const swp__slice *slice, const swp__filter_block *block, int64_t to, size_t d,
                       const swp__signs *out)
{
    swp__certified_combo *c = &p->combos[d];
    uint64_t *doubt = p->doubt + d * (size_t)p->words;
    if (c->exact_only) {
        memset(p->down, 0, (size_t)p->words * sizeof *p->down);
        memset(doubt, 0xFF, (size_t)p->words * sizeof *doubt);
        p->any_doubt[d] = true;
    } else {
        p->any_doubt[d] = p->filter->signs(block, &c->filter, p->smoothed, p->own, p->down, doubt);
    }
    size_t at = c->index * out->stride;
    swp__certified_finish(p, slice, block->from, to, d, out->up + at, out->down + at, &out->first_valid[c->index]);
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
    bool finite = p->filter->load(slice, &block);
    swp__certified_begin(p, slice, from, to, finite);
    for (size_t first = 0, end; first < p->distinct_count; first = end) {
        end = swp__certified_group_end(p, first);
        int64_t reach = swp__certified_group_reach(p, first, end);
        if (reach > 0) {
            p->filter->smooth_sums(&block, p->combos[first].filter.params.smooth, reach - 1, p->smoothed);
        }
        for (size_t d = first; d < end; d++) {
            find_words(p, slice, &block, to, d, out);
        }
    }
    swp__certified_settle(p, slice, from, to, out->up, out->down, out->stride, out->first_valid);
    copy_words(p, (to - from + SWP__WORD_BARS - 1) / SWP__WORD_BARS, out);
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
    int64_t lead = swp__certified_lead(combos, combos_count);
    return filter->lanes * swp__certified_block_rows(filter, slice->bars_count, lead);
}

SWP__CERTIFIED_KERNEL(c, swp__filter_ops_c, swp__sign_ops_c, 2.0)
#if defined(__x86_64__)
SWP__CERTIFIED_KERNEL(avx2, swp__filter_ops_avx2, swp__sign_ops_avx2, 0.9)
SWP__CERTIFIED_KERNEL(avx512, swp__filter_ops_avx512, swp__sign_ops_avx512, 0.6)
#endif
