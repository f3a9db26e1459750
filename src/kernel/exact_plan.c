#include "kernel/exact_plan.h"

#include <stdbool.h>
#include <string.h>

/* Rows of a group, beyond what one combo needs: what a core's caches hold. */
#define ROWS_BYTES_MAX ((size_t)4 << 20)

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t longest_of_hma(const swp_params *c)
{
    return larger(c->half, c->full);
}

static int64_t longest_of_hma3(const swp_params *c)
{
    return larger(larger(c->third, c->mid), c->p);
}

int64_t swp__exact_lookback(const swp_params *c)
{
    return larger(longest_of_hma(c) + c->smooth, longest_of_hma3(c) + c->p) - 2;
}

static size_t round_up(size_t value, size_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

/* ---- a set of triples: which distinct ones there are ---- */

typedef struct triple {
    int64_t a, b, c;
} triple;

typedef struct triple_set {
    triple *items;
    size_t count;
    uint32_t *slots;    /* index + 1; 0: free */
    size_t slots_count; /* a power of two, at least twice the items */
} triple_set;

static size_t slots_for(size_t items)
{
    size_t slots = 16;
    while (slots < 2 * items) {
        slots *= 2;
    }
    return slots;
}

/* The index of the triple, which is added when it is new. */
static uint32_t set_index(triple_set *set, triple t)
{
    uint64_t hash = (uint64_t)t.a * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)t.b * UINT64_C(0xbf58476d1ce4e5b9) +
                    (uint64_t)t.c * UINT64_C(0x94d049bb133111eb);
    size_t slot = (size_t)(hash >> 32) & (set->slots_count - 1);
    while (set->slots[slot] != 0) {
        const triple *there = &set->items[set->slots[slot] - 1];
        if (there->a == t.a && there->b == t.b && there->c == t.c) {
            return set->slots[slot] - 1;
        }
        slot = (slot + 1) & (set->slots_count - 1);
    }
    set->items[set->count] = t;
    set->slots[slot] = (uint32_t)++set->count;
    return (uint32_t)set->count - 1;
}

/* ---- memory ---- */

typedef struct head_layout {
    size_t lengths, divisors, reciprocals, hma, hma3, combo_hma, next_combo;
    size_t length_items, length_slots, hma_items, hma_slots, hma3_items, hma3_slots;
    size_t size;
} head_layout;

static size_t place(size_t *at, size_t count, size_t size)
{
    size_t here = *at;
    *at = round_up(here + count * size, 64);
    return here;
}

static head_layout lay_out_head(size_t combos_count)
{
    size_t lengths = 5 * combos_count, at = round_up(sizeof(swp__exact_plan), 64);
    head_layout head;
    head.lengths = place(&at, lengths, sizeof(int64_t));
    head.divisors = place(&at, lengths, sizeof(double));
    head.reciprocals = place(&at, lengths, sizeof(double));
    head.hma = place(&at, combos_count, sizeof(swp__average));
    head.hma3 = place(&at, combos_count, sizeof(swp__average));
    head.combo_hma = place(&at, combos_count, sizeof(uint32_t));
    head.next_combo = place(&at, combos_count, sizeof(uint32_t));
    head.length_items = place(&at, lengths, sizeof(triple));
    head.length_slots = place(&at, slots_for(lengths), sizeof(uint32_t));
    head.hma_items = place(&at, combos_count, sizeof(triple));
    head.hma_slots = place(&at, slots_for(combos_count), sizeof(uint32_t));
    head.hma3_items = place(&at, combos_count, sizeof(triple));
    head.hma3_slots = place(&at, slots_for(combos_count), sizeof(uint32_t));
    head.size = at;
    return head;
}

static size_t sums_blocks(int64_t longest)
{
    return ((size_t)longest + SWP__CHUNK_ROWS) / SWP__BLOCK_ROWS + 2;
}

/* Rows for the weights of windows up to `longest`: a row has two lanes at least. */
static size_t weights_rows(int64_t longest)
{
    return (size_t)longest / 2 + 1;
}

/* Rows every group has: closes, weights, the sums of level one, an HMA3's output. */
static size_t shared_rows(int64_t longest, int64_t longest_smooth)
{
    return SWP__LEVEL_ONE_ROWS + weights_rows(larger(longest, longest_smooth)) + sums_blocks(longest) * SWP__BLOCK_ROWS +
           SWP__CHUNK_ROWS;
}

static size_t hma_rows(int64_t m)
{
    return (size_t)(m - 1) + 2 * SWP__CHUNK_ROWS;
}

static size_t hma3_rows(int64_t m)
{
    return (size_t)(m - 1) + SWP__CHUNK_ROWS;
}

/* Rows the combos need when nothing is shared. */
static size_t rows_unshared(const swp_params *largest, size_t combos_count)
{
    int64_t longest = larger(longest_of_hma(largest), longest_of_hma3(largest));
    size_t lengths = 5 * combos_count < (size_t)longest ? 5 * combos_count : (size_t)longest;
    return shared_rows(longest, largest->smooth) + lengths * SWP__LEVEL_ONE_ROWS +
           combos_count * (hma_rows(largest->smooth) + hma3_rows(largest->p));
}

static size_t rows_capacity(const swp_params *largest, size_t combos_count, int lanes)
{
    size_t all = rows_unshared(largest, combos_count), one = rows_unshared(largest, 1);
    size_t most = ROWS_BYTES_MAX / ((size_t)lanes * sizeof(double));
    most = most > one ? most : one;
    return all < most ? all : most;
}

size_t swp__exact_plan_size(const swp_params *largest, size_t combos_count, int lanes)
{
    size_t rows = rows_capacity(largest, combos_count, lanes);
    return lay_out_head(combos_count).size + round_up(rows * (size_t)lanes * sizeof(double), 64);
}

/* ---- making one ---- */

typedef struct maker {
    swp__exact_plan *plan;
    triple_set lengths, hma, hma3;
    size_t rows_used; /* by lengths and averages */
} maker;

static swp_params largest_of(const swp_params *combos, size_t combos_count)
{
    swp_params most = combos[0];
    for (size_t i = 1; i < combos_count; i++) {
        most.half = larger(most.half, combos[i].half);
        most.full = larger(most.full, combos[i].full);
        most.smooth = larger(most.smooth, combos[i].smooth);
        most.third = larger(most.third, combos[i].third);
        most.mid = larger(most.mid, combos[i].mid);
        most.p = larger(most.p, combos[i].p);
    }
    return most;
}

static triple_set empty_set(char *memory, size_t items, size_t slots, size_t items_max)
{
    triple_set set = {
        .items = (triple *)(memory + items), .slots = (uint32_t *)(memory + slots), .slots_count = slots_for(items_max)};
    memset(set.slots, 0, set.slots_count * sizeof *set.slots);
    return set;
}

static maker begin(void *scratch, const head_layout *head, size_t combos_count)
{
    char *memory = scratch;
    maker m = {
        .plan = scratch,
        .lengths = empty_set(memory, head->length_items, head->length_slots, 5 * combos_count),
        .hma = empty_set(memory, head->hma_items, head->hma_slots, combos_count),
        .hma3 = empty_set(memory, head->hma3_items, head->hma3_slots, combos_count),
    };
    *m.plan = (swp__exact_plan){
        .lengths = (int64_t *)(memory + head->lengths),
        .divisors = (double *)(memory + head->divisors),
        .reciprocals = (double *)(memory + head->reciprocals),
        .hma = (swp__average *)(memory + head->hma),
        .hma3 = (swp__average *)(memory + head->hma3),
        .combo_hma = (uint32_t *)(memory + head->combo_hma),
        .next_combo = (uint32_t *)(memory + head->next_combo),
        .rows = (double *)(memory + head->size),
    };
    return m;
}

static void add_length(maker *m, int64_t length)
{
    size_t before = m->lengths.count;
    set_index(&m->lengths, (triple){length, 0, 0});
    m->rows_used += (m->lengths.count - before) * SWP__LEVEL_ONE_ROWS;
    m->plan->longest = larger(m->plan->longest, length);
}

static uint32_t add_hma(maker *m, const swp_params *c)
{
    size_t before = m->hma.count;
    uint32_t index = set_index(&m->hma, (triple){c->half, c->full, c->smooth});
    m->rows_used += (m->hma.count - before) * hma_rows(c->smooth);
    return index;
}

/* Puts combo number `combo` on the list of its HMA3. */
static uint32_t add_hma3(maker *m, const swp_params *c, uint32_t combo)
{
    size_t before = m->hma3.count;
    uint32_t index = set_index(&m->hma3, (triple){c->third, c->mid, c->p});
    bool is_new = m->hma3.count > before;
    m->rows_used += is_new ? hma3_rows(c->p) : 0;
    uint32_t next = is_new ? SWP__NO_COMBO : m->plan->hma3[index].first_combo;
    m->plan->hma3[index].first_combo = combo;
    return next;
}

static void add_combo(maker *m, const swp_params *c)
{
    swp__exact_plan *plan = m->plan;
    const int64_t lengths[] = {c->half, c->full, c->third, c->mid, c->p};
    for (size_t i = 0; i < 5; i++) {
        add_length(m, lengths[i]);
    }
    plan->combo_hma[plan->combos_count] = add_hma(m, c);
    plan->next_combo[plan->combos_count] = add_hma3(m, c, (uint32_t)plan->combos_count);
    plan->longest_smooth = larger(plan->longest_smooth, c->smooth);
    plan->lookback = larger(plan->lookback, swp__exact_lookback(c));
    plan->combos_count++;
}

/* Whether the combo fits even if it shares nothing. */
static bool fits(const maker *m, const swp_params *c, int64_t longest_of_all, size_t capacity)
{
    int64_t longest = larger(m->plan->longest, larger(longest_of_hma(c), longest_of_hma3(c)));
    size_t new_lengths = (size_t)longest_of_all - m->lengths.count;
    new_lengths = new_lengths < 5 ? new_lengths : 5;
    int64_t smooth = larger(m->plan->longest_smooth, c->smooth);
    size_t rows = shared_rows(longest, smooth) + m->rows_used + new_lengths * SWP__LEVEL_ONE_ROWS;
    return rows + hma_rows(c->smooth) + hma3_rows(c->p) <= capacity;
}

/* Shell's sort with Ciura's gaps: there are a few hundred lengths, and qsort may allocate. */
static void sort_triples(triple *items, size_t count)
{
    static const size_t gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++) {
        for (size_t i = gaps[g]; i < count; i++) {
            triple moving = items[i];
            size_t j = i;
            for (; j >= gaps[g] && items[j - gaps[g]].a > moving.a; j -= gaps[g]) {
                items[j] = items[j - gaps[g]];
            }
            items[j] = moving;
        }
    }
}

static void set_lengths(maker *m)
{
    swp__exact_plan *plan = m->plan;
    sort_triples(m->lengths.items, m->lengths.count);
    plan->lengths_count = m->lengths.count;
    for (size_t i = 0; i < plan->lengths_count; i++) {
        int64_t n = m->lengths.items[i].a;
        plan->lengths[i] = n;
        plan->divisors[i] = (double)(n * (n + 1) / 2);
        plan->reciprocals[i] = 1.0 / plan->divisors[i];
    }
}

static size_t index_of_length(const swp__exact_plan *plan, int64_t length)
{
    size_t low = 0, high = plan->lengths_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        *(plan->lengths[middle] <= length ? &low : &high) = middle;
    }
    return low;
}

/* Sets up an average from the lengths it is made of; its input begins at `row`. */
static void set_average(const swp__exact_plan *plan, swp__average *average, const int64_t *lengths, size_t count, int64_t m,
                        size_t row)
{
    average->m = m;
    average->input_row = row;
    for (size_t i = 0; i < count; i++) {
        average->length[i] = index_of_length(plan, lengths[i]);
    }
}

static void lay_out_averages(maker *m, size_t row, size_t hma3_output_row)
{
    swp__exact_plan *plan = m->plan;
    plan->hma_count = m->hma.count;
    for (size_t i = 0; i < plan->hma_count; i++) {
        const triple *t = &m->hma.items[i];
        set_average(plan, &plan->hma[i], (const int64_t[]){t->a, t->b}, 2, t->c, row);
        plan->hma[i].output_row = row + (size_t)(t->c - 1) + SWP__CHUNK_ROWS;
        row += hma_rows(t->c);
    }
    plan->hma3_count = m->hma3.count;
    for (size_t i = 0; i < plan->hma3_count; i++) {
        const triple *t = &m->hma3.items[i];
        set_average(plan, &plan->hma3[i], (const int64_t[]){t->a, t->b, t->c}, 3, t->c, row);
        plan->hma3[i].output_row = hma3_output_row;
        row += hma3_rows(t->c);
    }
}

static void lay_out_rows(maker *m)
{
    swp__exact_plan *plan = m->plan;
    plan->sums_blocks = sums_blocks(plan->longest);
    plan->closes_row = 0;
    plan->weights_row = SWP__LEVEL_ONE_ROWS;
    plan->sums_row = plan->weights_row + weights_rows(larger(plan->longest, plan->longest_smooth));
    plan->level_one_row = shared_rows(plan->longest, plan->longest_smooth);
    lay_out_averages(m, plan->level_one_row + plan->lengths_count * SWP__LEVEL_ONE_ROWS, plan->level_one_row - SWP__CHUNK_ROWS);
}

static void set_weights(swp__exact_plan *plan, int lanes)
{
    plan->weights = plan->rows + plan->weights_row * (size_t)lanes;
    for (int64_t k = 0; k < larger(plan->longest, plan->longest_smooth); k++) {
        plan->weights[k] = (double)(k + 1);
    }
}

swp__exact_plan *swp__exact_plan_make(const swp_params *combos, size_t combos_count, int lanes, void *scratch)
{
    const swp_params largest = largest_of(combos, combos_count);
    const int64_t longest = larger(longest_of_hma(&largest), longest_of_hma3(&largest));
    const size_t capacity = rows_capacity(&largest, combos_count, lanes);
    const head_layout head = lay_out_head(combos_count);
    maker m = begin(scratch, &head, combos_count);
    for (size_t i = 0; i < combos_count && fits(&m, &combos[i], longest, capacity); i++) {
        add_combo(&m, &combos[i]);
    }
    set_lengths(&m);
    lay_out_rows(&m);
    set_weights(m.plan, lanes);
    return m.plan;
}
