/* Planning: memory, order, bounds. */
#include "kernel/certified_plan.h"

#include <string.h>
#include "kernel/exact_plan.h"

enum { SUPERBLOCK_BARS = 4096, BLOCK_ROWS_MAX = 2048 };

enum { DENSE_MAX = 128 };

#define TABLE_BYTES_MAX ((size_t)1280 << 10)
#define AVERAGES_BYTES_MAX ((size_t)1664 << 10) /* 46 of 576 rows of eight lanes: the tile of a product has 45 */

/* ---- sizes ---- */

/* Long enough that what is computed again for the windows that reach back is little; the bound grows with it. A word more
 * than a power of two: closes of the lanes that are a multiple of 4096 bytes apart get into each other's way. */
int64_t swp__certified_block_rows(const swp__filter_ops *filter, int64_t bars_count, int64_t lead)
{
    int64_t most = swp__larger(swp__round_up(lead, SWP__WORD_BARS), SUPERBLOCK_BARS / filter->lanes + SWP__WORD_BARS);
    int64_t rows = swp__smaller(most, BLOCK_ROWS_MAX);
    return swp__smaller(rows, swp__round_up((bars_count + filter->lanes - 1) / filter->lanes, SWP__WORD_BARS));
}

static bool is_certifiable(const swp__filter_ops *filter, const swp_params *c)
{
    return swp_params_bars_needed(c) + BLOCK_ROWS_MAX <= filter->rows_max;
}

int64_t swp__certified_lead(const swp__filter_ops *filter, const swp_params *combos, size_t combos_count)
{
    int64_t lead = 0;
    for (size_t i = 0; i < combos_count; i++) {
        lead = is_certifiable(filter, &combos[i]) ? swp__larger(lead, swp_params_bars_needed(&combos[i]) - 1) : lead;
    }
    return lead;
}

static int64_t hma_reach(const swp_params *c)
{
    return swp__larger(c->half, c->full);
}

static int64_t hma3_reach(const swp_params *c)
{
    return swp__larger(swp__larger(c->third, c->mid), c->p);
}

/* ---- scratch ---- */

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
static double *take_rows(arena *a, const swp__certified_plan *p)
{
    size_t before = (size_t)(p->lead + 2), lanes = (size_t)p->filter->lanes;
    double *rows = take(a, before + (size_t)p->block_rows, lanes * sizeof(double));
    return rows != NULL ? rows + before * lanes : NULL;
}

static swp__bar_runs take_runs(arena *a, size_t words)
{
    uint64_t *bits = take(a, words, sizeof *bits);
    int64_t *run = take(a, words, sizeof *run);
    return (swp__bar_runs){bits, run};
}

static size_t most_lengths(const swp_params *largest, size_t combos_count)
{
    return (size_t)swp__smaller(5 * (int64_t)combos_count, swp__larger(hma_reach(largest), hma3_reach(largest)));
}

/* For rows as long as a superblock and its look-back, up to a maximum. Never less for more. */
static size_t table_bytes(const swp__certified_plan *p, size_t lengths_count)
{
    size_t stride = swp__exact_table_stride(p->words * SWP__WORD_BARS + p->level_two_reach);
    size_t bytes = lengths_count * stride * sizeof(double);
    return bytes < TABLE_BYTES_MAX ? bytes : TABLE_BYTES_MAX;
}

/* Averages there is room for; sharing pays only where there are fewer than combos. */
static size_t averages_most(const swp__certified_plan *p)
{
    size_t most = AVERAGES_BYTES_MAX / (p->row_doubles * sizeof(double));
    return most < p->combos_count ? most : p->combos_count;
}

/* Combos that the exact kernel can plan for at a time in so many bytes. */
static size_t exact_plan_combos(const swp__certified_plan *p, const swp_params *largest, size_t bytes)
{
    size_t combos = p->combos_count < DENSE_MAX ? p->combos_count : DENSE_MAX;
    while (combos > 0 && swp__exact_plan_size(largest, combos, (int)p->filter->lanes) > bytes) {
        combos /= 2;
    }
    return combos;
}

/* Lays the arrays out behind the plan. What counts them is set: lead, block_rows, words, combos_count, level_two_reach and
 * the table's lengths_count. */
static void lay_out(swp__certified_plan *p, arena *a, const swp_params *largest)
{
    size_t words = (size_t)p->words, combos = p->combos_count;
    p->combos = take(a, combos, sizeof *p->combos);
    p->order = take(a, combos, sizeof *p->order);
    p->distinct = take(a, combos, sizeof *p->distinct);
    p->sums = take_rows(a, p);
    p->smoothed = take_rows(a, p);
    p->own = take_rows(a, p);
    p->row_doubles = (size_t)(p->block_rows * p->filter->lanes);
    p->hma = take(a, combos, sizeof *p->hma);
    p->hma3 = take(a, combos, sizeof *p->hma3);
    p->hma_of = take(a, combos, sizeof *p->hma_of);
    p->hma3_of = take(a, combos, sizeof *p->hma3_of);
    p->pairs = take(a, combos, sizeof *p->pairs);
    p->pair_hma = take(a, combos, sizeof *p->pair_hma);
    p->pair_hma3 = take(a, combos, sizeof *p->pair_hma3);
    p->pair_of = take(a, combos, sizeof *p->pair_of);
    p->bounds = take(a, combos, (size_t)p->filter->lanes * sizeof(double));
    p->down = take(a, combos * words, sizeof *p->down);
    p->doubt = take(a, combos * words, sizeof *p->doubt);
    p->any_doubt = take(a, combos, sizeof *p->any_doubt);
    p->first_valid = take(a, combos, sizeof *p->first_valid);
    p->number = take_runs(a, words);
    p->finite = take_runs(a, words);
    p->same = take_runs(a, words);
    p->tiles = take(a, words, sizeof *p->tiles);
    p->dense = take(a, combos, sizeof *p->dense);
    p->dense_up = p->down;
    p->dense_down = take(a, (combos < DENSE_MAX ? combos : DENSE_MAX) * words, sizeof *p->dense_down);
    p->dense_first_valid = take(a, combos, sizeof *p->dense_first_valid);
    p->dense_of = take(a, combos, sizeof *p->dense_of);
    size_t begin = a->used;
    p->hma_rows = take(a, averages_most(p), p->row_doubles * sizeof(double));
    p->table.averages = take(a, table_bytes(p, p->table.lengths_count), 1);
    p->exact_plan = p->hma_rows;
    p->exact_plan_combos = exact_plan_combos(p, largest, a->used - begin);
    int64_t longest = swp__larger(hma_reach(largest), hma3_reach(largest));
    p->table.closes = take(a, swp__exact_table_closes(longest, p->words * SWP__WORD_BARS + p->level_two_reach), sizeof(double));
    p->exact_scratch = take(a, 1, swp__exact_word_scratch_size(largest));
}

/* Five lengths a combo. */
static int64_t *take_lengths(arena *a, size_t combos_count)
{
    return take(a, 5 * combos_count, sizeof(int64_t));
}

static int64_t words_of_superblock(const swp__certified_plan *p)
{
    return p->block_rows * p->filter->lanes / SWP__WORD_BARS;
}

size_t swp__certified_plan_size(const swp__filter_ops *filter, int64_t bars_count, const swp_params *largest,
                                size_t combos_count)
{
    /* No combo that is run needs more bars than there are; the largest of each parameter together may. */
    int64_t lead = swp__smaller(swp_params_bars_needed(largest) - 1, swp__smaller(bars_count, filter->rows_max));
    swp__certified_plan p = {.filter = filter, .combos_count = combos_count, .lead = lead};
    p.block_rows = swp__certified_block_rows(filter, bars_count, lead);
    p.words = words_of_superblock(&p);
    p.level_two_reach = swp__larger(largest->smooth, largest->p) - 1;
    p.table.lengths_count = most_lengths(largest, combos_count);
    arena a = {NULL, 0};
    take(&a, 1, sizeof p);
    take_lengths(&a, combos_count);
    lay_out(&p, &a, largest);
    return a.used;
}

/* ---- order ---- */

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Groups first, then long look-backs together, then equal ones. */
static int compare_params(const swp_params *a, const swp_params *b)
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

/* The caller's combos by index, sorted. Shell's sort: a batch is some hundreds, and nothing may be allocated here. */
static void sort_combos(const swp_params *combos, size_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        order[i] = i;
    }
    for (size_t gap = count / 2; gap > 0; gap /= 2) {
        for (size_t i = gap; i < count; i++) {
            size_t moving = order[i], j = i;
            for (; j >= gap && compare_params(&combos[moving], &combos[order[j - gap]]) < 0; j -= gap) {
                order[j] = order[j - gap];
            }
            order[j] = moving;
        }
    }
}

/* Leaves each distinct combo once in p->combos, and in p->distinct where each of the caller's is. */
static void find_distinct(swp__certified_plan *p, const swp_params *combos)
{
    const size_t *order = p->order;
    for (size_t i = 0; i < p->combos_count; i++) {
        const swp_params *c = &combos[order[i]];
        if (i == 0 || compare_params(&combos[order[i - 1]], c) != 0) {
            p->combos[p->distinct_count++] = (swp__certified_combo){.filter.params = *c,
                                                                    .bars_needed = swp_params_bars_needed(c),
                                                                    .exact_only = !is_certifiable(p->filter, c),
                                                                    .index = order[i]};
        }
        p->distinct[order[i]] = p->distinct_count - 1;
    }
}

size_t swp__certified_group_end(const swp__certified_plan *p, size_t first)
{
    size_t end = first + 1;
    while (end < p->distinct_count && p->combos[end].filter.params.smooth == p->combos[first].filter.params.smooth) {
        end++;
    }
    return end;
}

int64_t swp__certified_group_reach(const swp__certified_plan *p, size_t first, size_t end)
{
    int64_t reach = 0;
    for (size_t i = first; i < end; i++) {
        if (!p->combos[i].exact_only) {
            reach = swp__larger(reach, hma_reach(&p->combos[i].filter.params));
        }
    }
    return reach;
}

/* ---- multipliers and bounds ---- */

/* The largest of what closes add up to in the reference's sums, in units of the largest close. */
static double heaviest_sum(const swp_params *c)
{
    double level_one = swp__triangle(swp__larger(hma_reach(c), hma3_reach(c)));
    double level_two = swp__triangle(swp__larger(c->smooth, c->p));
    return 5.0 * (level_one > level_two ? level_one : level_two);
}

static void set_filter(const swp__certified_plan *p, swp__filter_combo *f, int64_t group_reach)
{
    const swp_params *c = &f->params;
    int64_t closes = p->lead + p->block_rows;
    swp__certify_rows hma_rows = {closes, group_reach - 1 + p->block_rows};
    swp__certify_rows hma3_rows = {closes, hma3_reach(c) - 1 + p->block_rows};
    f->unit = p->shares ? 1.0 : swp__triangle(c->p) * swp__triangle(c->p);
    f->hma = swp__hma_weights_of(c, f->unit);
    f->hma3 = swp__hma3_weights_of(c, f->unit);
    swp__certify_bound hma = swp__certify_hma_bound(c, &hma_rows, f->unit);
    swp__certify_bound hma3 = swp__certify_hma3_bound(c, &hma3_rows, f->unit);
    f->bound = (swp__certify_bound){hma.range + hma3.range, hma.level + hma3.level};
    f->heaviest_sum = heaviest_sum(c);
}

static void set_filters(swp__certified_plan *p)
{
    for (size_t first = 0, end; first < p->distinct_count; first = end) {
        end = swp__certified_group_end(p, first);
        int64_t reach = swp__certified_group_reach(p, first, end);
        for (size_t i = first; i < end; i++) {
            if (!p->combos[i].exact_only) {
                set_filter(p, &p->combos[i].filter, reach);
            }
        }
    }
}

/* ---- sharing averages ---- */

static bool same_hma(const swp_params *a, const swp_params *b)
{
    return a->half == b->half && a->full == b->full && a->smooth == b->smooth;
}

static bool same_hma3(const swp_params *a, const swp_params *b)
{
    return a->third == b->third && a->mid == b->mid && a->p == b->p;
}

enum { SLOTS = 2 * SWP__BATCH_MAX, NO_AVERAGE = 0xFFFF };

static size_t slot_of(const swp_params *c)
{
    uint64_t h = (uint64_t)c->third;
    h = h * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)c->mid;
    h = h * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)c->p;
    return (size_t)((h * UINT64_C(0x9E3779B97F4A7C15)) >> 32) % SLOTS;
}

/* Where the combo's HMA3 is in p->hma3; it is put there if it was not yet. */
static uint16_t find_hma3(swp__certified_plan *p, const swp_params *c, uint16_t *slots)
{
    size_t slot = slot_of(c);
    while (slots[slot] != NO_AVERAGE && !same_hma3(&p->hma3[slots[slot]].params, c)) {
        slot = (slot + 1) % SLOTS;
    }
    if (slots[slot] == NO_AVERAGE) {
        slots[slot] = (uint16_t)p->hma3_count;
        p->hma3[p->hma3_count++].params = *c;
    }
    return slots[slot];
}

/* The distinct averages of the certifiable combos. Combos with one HMA stand together. */
static void find_averages(swp__certified_plan *p)
{
    uint16_t slots[SLOTS];
    memset(slots, 0xFF, sizeof slots);
    for (size_t d = 0; d < p->distinct_count; d++) {
        const swp_params *c = &p->combos[d].filter.params;
        p->hma_of[d] = (uint16_t)p->hma_count;
        if (p->combos[d].exact_only) {
            continue;
        }
        if (p->hma_count == 0 || !same_hma(&p->hma[p->hma_count - 1].params, c)) {
            p->hma[p->hma_count++].params = *c;
        }
        p->hma_of[d] = (uint16_t)(p->hma_count - 1);
        p->hma3_of[d] = find_hma3(p, c, slots);
    }
}

static bool sharing_pays(const swp__certified_plan *p)
{
    const swp__filter_cost *cost = &p->filter->cost;
    double alone = cost->signs * (double)p->distinct_count;
    double shared =
        cost->hma * (double)p->hma_count + cost->hma3 * (double)p->hma3_count + cost->pair * (double)p->distinct_count;
    return p->hma_count + p->hma3_count <= averages_most(p) && shared < alone;
}

static void sort_by_hma3(const swp__certified_plan *p, uint32_t *pairs, size_t count)
{
    for (size_t gap = count / 2; gap > 0; gap /= 2) {
        for (size_t i = gap; i < count; i++) {
            uint32_t moving = pairs[i];
            size_t j = i;
            for (; j >= gap && p->hma3_of[moving] < p->hma3_of[pairs[j - gap]]; j -= gap) {
                pairs[j] = pairs[j - gap];
            }
            pairs[j] = moving;
        }
    }
}

enum { TILE_HMAS = 6 }; /* 64 rows of so many, of an HMA3 and of what is written stay in the first-level cache */

/* Combos by tiles of HMAs; in a tile by HMA3. */
static void order_pairs(swp__certified_plan *p)
{
    for (size_t first = 0, end; first < p->distinct_count; first = end) {
        size_t tile = p->hma_of[first] / TILE_HMAS, in_order = p->pairs_count;
        for (end = first; end < p->distinct_count && p->hma_of[end] / TILE_HMAS == tile; end++) {
            if (!p->combos[end].exact_only) {
                p->pairs[p->pairs_count++] = (uint32_t)end;
            }
        }
        sort_by_hma3(p, p->pairs + in_order, p->pairs_count - in_order);
    }
    for (size_t i = 0; i < p->pairs_count; i++) {
        p->pair_hma[i] = p->hma_of[p->pairs[i]];
        p->pair_hma3[i] = p->hma3_of[p->pairs[i]];
        p->pair_of[p->pairs[i]] = (uint32_t)i;
    }
}

static void plan_sharing(swp__certified_plan *p)
{
    find_averages(p);
    p->shares = sharing_pays(p);
    p->down_word = p->distinct_count * (size_t)p->filter->lanes;
    if (p->shares) {
        order_pairs(p);
        p->hma3_rows = p->hma_rows + p->hma_count * p->row_doubles;
        for (size_t i = 0; i < p->hma_count; i++) {
            p->hma[i].weights.hma = swp__hma_weights_of(&p->hma[i].params, 1.0);
        }
        for (size_t i = 0; i < p->hma3_count; i++) {
            p->hma3[i].weights.hma3 = swp__hma3_weights_of(&p->hma3[i].params, 1.0);
        }
    }
}

/* ---- the whole ---- */

static swp_params largest_of(const swp_params *combos, size_t combos_count)
{
    swp_params most = combos[0];
    int64_t *m[] = {&most.half, &most.full, &most.smooth, &most.third, &most.mid, &most.p};
    for (size_t i = 1; i < combos_count; i++) {
        const swp_params *c = &combos[i];
        const int64_t values[] = {c->half, c->full, c->smooth, c->third, c->mid, c->p};
        for (size_t k = 0; k < SWP_PARAMS_COUNT; k++) {
            *m[k] = swp__larger(*m[k], values[k]);
        }
    }
    return most;
}

void swp__certified_plan_make(const swp__filter_ops *filter, const swp__sign_ops *sign, const swp__kernel *exact,
                              const swp__slice *slice, const swp_params *combos, size_t combos_count, void *scratch)
{
    arena a = {scratch, 0};
    swp__certified_plan *p = take(&a, 1, sizeof *p);
    swp_params largest = largest_of(combos, combos_count);
    *p = (swp__certified_plan){.filter = filter, .sign = sign, .exact = exact, .combos_count = combos_count};
    p->lengths = take_lengths(&a, combos_count);
    p->lead = swp__certified_lead(filter, combos, combos_count);
    p->block_rows = swp__certified_block_rows(filter, slice->bars_count, p->lead);
    p->words = words_of_superblock(p);
    p->level_two_reach = swp__larger(largest.smooth, largest.p) - 1;
    p->table.lengths = p->lengths;
    p->table.lengths_count = most_lengths(&largest, combos_count);
    p->table_bytes = table_bytes(p, p->table.lengths_count);
    lay_out(p, &a, &largest);
    p->table.lengths_count = 0;
    sort_combos(combos, p->order, combos_count);
    find_distinct(p, combos);
    plan_sharing(p);
    set_filters(p);
    p->reach = swp_params_bars_needed(&largest) - 1;
}
