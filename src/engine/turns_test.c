/* Sweeps that run on their own. Most tests step an engine that has no threads, in virtual time; the last ones do the
 * same with threads, for the sanitizer. */
#include "support/host.h"
#include "support/test.h"
#include "engine/turns.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BARS = 3000 };

/* An engine with memory and a clock of its own, and one series. */
typedef struct fixture {
    swp__test_memory memory;
    swp__test_clock clock;
    swp__limits limits;
    swp_engine *engine;
    swp_series *series;
    double close[BARS];
} fixture;

static fixture *new_fixture(uint32_t threads, bool stepped)
{
    fixture *f = calloc(1, sizeof *f);
    f->limits = swp__limits_standard();
    swp_allocator allocator = swp__test_allocator(&f->memory);
    swp_clock clock = swp__test_clock_of(&f->clock);
    swp_engine_options options = {.threads = threads, .allocator = &allocator, .clock = &clock};
    assert_int_equal(swp__engine_new(&options, &f->limits, stepped, &f->engine, NULL), SWP_OK);
    swp__test_walk(f->close, BARS, 1);
    assert_int_equal(swp_series_new(f->engine, f->close, BARS, 0, SWP_BORROW, &f->series, NULL), SWP_OK);
    return f;
}

static void free_fixture(fixture *f)
{
    assert_int_equal(swp__engine_count(f->engine).sweeps_running, 0);
    assert_int_equal(swp__engine_count(f->engine).sweep_bytes, 0);
    swp_series_free(f->series);
    swp_engine_free(f->engine);
    assert_int_equal(f->memory.live_count, 0);
    assert_int_equal(f->memory.live_bytes, 0);
    free(f);
}

/* Lengths 10, 11 ... as axes would have them: `full` varies, the rest is fixed. About 60 ns a bar by the strict
 * estimate. */
typedef struct lengths {
    int64_t full[4096], one[1], p[1];
} lengths;

static swp_sweep_request axes_request(lengths *l, uint64_t combos_count)
{
    for (int64_t i = 0; i < 4096; i++) {
        l->full[i] = 10 + i % 40;
    }
    l->one[0] = 4;
    l->p[0] = 6;
    return (swp_sweep_request){.grid = {.form = SWP_GRID_AXES,
                                        .combos_count = combos_count,
                                        .axes = {l->one, l->full, l->one, l->one, l->one, l->p},
                                        .axis_counts = {1, combos_count, 1, 1, 1, 1}},
                               .fee = 0.09,
                               .kernel = SWP_KERNEL_STRICT};
}

/* What became of a sweep. */
typedef struct ended {
    atomic_int calls;
    swp_status status;
    swp__sweep **free_inside;
} ended;

static void hear_end(void *context, swp_status status)
{
    ended *e = context;
    e->status = status;
    if (e->free_inside != NULL) {
        swp__sweep_free(*e->free_inside);
    }
    e->calls++;
}

static swp__sweep *start(fixture *f, const swp_sweep_request *request, const swp_sweep_result *result, ended *e)
{
    swp__listener listener = {.done = hear_end, .context = e};
    swp__sweep *sweep = NULL;
    assert_int_equal(swp__sweep_start(f->engine, f->series, request, result, &listener, &sweep, NULL), SWP_OK);
    return sweep;
}

static uint64_t step_until(fixture *f, const ended *e)
{
    uint64_t steps = 0;
    while (e->calls == 0) {
        assert_true(swp__engine_step(f->engine));
        steps++;
    }
    return steps;
}

TEST(started_sweep_gives_what_a_waited_for_one_gives_and_ends_once)
{
    enum { COMBOS = 300 };
    fixture *f = new_fixture(3, true);
    lengths l;
    swp_sweep_request request = axes_request(&l, COMBOS);
    static double pnl[2][COMBOS];
    static int64_t trades[2][COMBOS];
    ended e = {0};
    swp__sweep *sweep = start(f, &request, &(swp_sweep_result){.pnl = pnl[0], .trades = trades[0]}, &e);
    assert_int_equal(e.calls, 0);
    step_until(f, &e);
    assert_int_equal(e.status, SWP_OK);
    assert_false(swp__engine_step(f->engine));
    assert_int_equal(e.calls, 1);
    uint64_t rows_count;
    assert_int_equal(swp__sweep_progress(sweep, &rows_count), COMBOS);
    assert_int_equal(rows_count, COMBOS);
    swp__sweep_free(sweep);
    assert_int_equal(swp_sweep(f->engine, f->series, &request, &(swp_sweep_result){.pnl = pnl[1], .trades = trades[1]}, NULL),
                     SWP_OK);
    assert_memory_equal(pnl[0], pnl[1], sizeof pnl[0]);
    assert_memory_equal(trades[0], trades[1], sizeof trades[0]);
    free_fixture(f);
}

/* ---- units and turns ---- */

TEST(units_are_at_most_a_millisecond_by_the_kernels_estimate_and_hold_many_short_chains)
{
    fixture *f = new_fixture(1, true);
    lengths l;
    ended e = {0};
    swp_sweep_request request = axes_request(&l, 1000);
    double bar_ns = 4 + 49 + 4 + 4 + 4 + 6 + 6;
    const swp_window windows[] = {{0, 0, BARS}, {0, 0, 60}};
    for (size_t i = 0; i < 2; i++) {
        request.windows = &windows[i];
        request.windows_count = 1;
        e.calls = 0;
        swp__engine_counters before = swp__engine_count(f->engine);
        swp__sweep *sweep = start(f, &request, &(swp_sweep_result){0}, &e);
        while (e.calls == 0) {
            uint64_t bars = swp__engine_count(f->engine).bar_combos;
            assert_true(swp__engine_step(f->engine));
            double unit_ns = (double)(swp__engine_count(f->engine).bar_combos - bars) * bar_ns;
            assert_true(unit_ns < SWP__UNIT_NS * 2.1); /* bar_ns is that of the dearest combo, twice the cheapest */
        }
        swp__engine_counters after = swp__engine_count(f->engine);
        uint64_t bars = windows[i].end, units = after.units - before.units;
        assert_int_equal(after.bar_combos - before.bar_combos, 1000 * bars);
        assert_int_equal(after.combos - before.combos, 1000);
        assert_true(units < 2 * (uint64_t)(1000 * (double)bars * bar_ns / SWP__UNIT_NS) + 10);
        swp__sweep_free(sweep);
    }
    free_fixture(f);
}

TEST(units_get_shorter_on_a_machine_slower_than_the_estimate)
{
    lengths l;
    uint64_t units[2];
    for (size_t slow = 0; slow < 2; slow++) {
        fixture *f = new_fixture(1, true);
        f->clock.step_ns = slow != 0 ? 4000000 : 1000000; /* what each unit takes at first */
        ended e = {0};
        swp_sweep_request request = axes_request(&l, 1);
        l.full[0] = 2000; /* one chain of some ten units */
        l.p[0] = 400;
        swp__sweep *sweep = start(f, &request, &(swp_sweep_result){0}, &e);
        step_until(f, &e);
        units[slow] = swp__engine_count(f->engine).units;
        assert_int_equal(swp__engine_count(f->engine).busy_ns, units[slow] * f->clock.step_ns);
        swp__sweep_free(sweep);
        free_fixture(f);
    }
    assert_true(units[1] > 3 * units[0]);
}

static void small_behind_large(swp_kernel kernel)
{
    enum { LARGE = 50 };
    fixture *f = new_fixture(4, true);
    lengths l, small_l;
    ended large_end[LARGE] = {0}, e = {0};
    swp__sweep *large[LARGE];
    swp_sweep_request request = axes_request(&l, 4000), small = axes_request(&small_l, 1);
    request.kernel = small.kernel = kernel;
    for (size_t i = 0; i < LARGE; i++) {
        large[i] = start(f, &request, &(swp_sweep_result){0}, &large_end[i]);
    }
    for (size_t i = 0; i < 3 * LARGE; i++) {
        assert_true(swp__engine_step(f->engine));
    }
    for (size_t i = 0; i < 20; i++) {
        e.calls = 0;
        swp__sweep *sweep = start(f, &small, &(swp_sweep_result){0}, &e);
        assert_in_range(step_until(f, &e), 1, 2);
        swp__sweep_free(sweep);
    }
    for (size_t i = 0; i < LARGE; i++) {
        assert_int_equal(large_end[i].calls, 0);
        swp__sweep_cancel(large[i]);
        assert_int_equal(large_end[i].calls, 0); /* never inside */
    }
    while (swp__engine_step(f->engine)) {
    }
    for (size_t i = 0; i < LARGE; i++) {
        assert_int_equal(large_end[i].calls, 1);
        assert_int_equal(large_end[i].status, SWP_CANCELLED);
        swp__sweep_free(large[i]);
    }
    assert_int_equal(swp__engine_count(f->engine).sweeps_cancelled, LARGE);
    assert_int_equal(swp__engine_count(f->engine).sweeps_finished, 20);
    free_fixture(f);
}

TEST(a_small_sweep_is_done_in_two_turns_behind_any_number_of_large_ones)
{
    for (int kernel = 0; swp_kernel_name((swp_kernel)kernel) != NULL; kernel++) {
        small_behind_large((swp_kernel)kernel);
    }
}

TEST(a_large_sweep_has_half_the_turns_while_small_ones_keep_coming)
{
    fixture *f = new_fixture(1, true);
    lengths l, small_l;
    ended large_end = {0};
    swp_sweep_request request = axes_request(&l, 1000), small = axes_request(&small_l, 1);
    swp__sweep *large = start(f, &request, &(swp_sweep_result){0}, &large_end);
    uint64_t steps = 0, small_done = 0;
    while (large_end.calls == 0) {
        ended e = {0};
        swp__sweep *sweep = start(f, &small, &(swp_sweep_result){0}, &e);
        steps += step_until(f, &e);
        small_done++;
        swp__sweep_free(sweep);
    }
    assert_int_equal(large_end.status, SWP_OK);
    assert_true(large->units_count * 2 + 2 >= steps);
    assert_true(small_done * 2 + 2 >= steps);
    swp__sweep_free(large);
    free_fixture(f);
}

TEST(a_caller_that_helps_has_a_small_sweep_done_at_once)
{
    fixture *f = new_fixture(1, true);
    lengths l;
    swp_sweep_request request = axes_request(&l, 1);
    int64_t trades = -1;
    ended e = {0};
    swp__listener listener = {.done = hear_end, .context = &e, .caller_helps = true};
    swp__sweep *sweep;
    assert_int_equal(
        swp__sweep_start(f->engine, f->series, &request, &(swp_sweep_result){.trades = &trades}, &listener, &sweep, NULL),
        SWP_OK);
    assert_int_equal(e.calls, 1);
    assert_true(trades > 0);
    swp__sweep_free(sweep);
    free_fixture(f);
}

TEST(a_sweep_may_be_freed_from_inside_done)
{
    fixture *f = new_fixture(1, true);
    lengths l;
    swp_sweep_request request = axes_request(&l, 100);
    swp__sweep *sweep = NULL;
    ended e = {.free_inside = &sweep};
    sweep = start(f, &request, &(swp_sweep_result){0}, &e);
    step_until(f, &e);
    free_fixture(f);
}

typedef struct progress_heard {
    uint64_t calls, rows_done, rows_count, at_end;
    const ended *end;
} progress_heard;

static void hear_progress(void *context, uint64_t rows_done, uint64_t rows_count)
{
    progress_heard *h = context;
    assert_true(rows_done >= h->rows_done);
    assert_int_equal(h->end->calls, 0);
    h->calls++;
    h->rows_done = rows_done;
    h->rows_count = rows_count;
}

TEST(a_started_sweep_reports_progress_ten_times_a_second_and_before_it_ends)
{
    fixture *f = new_fixture(1, true);
    f->clock.step_ns = 1000000;
    lengths l;
    ended e = {0};
    progress_heard h = {.end = &e};
    swp_sweep_request request = axes_request(&l, 1000);
    request.progress = hear_progress;
    request.progress_context = &h;
    swp__sweep *sweep = start(f, &request, &(swp_sweep_result){0}, &e);
    step_until(f, &e);
    assert_int_equal(h.rows_done, 1000);
    assert_int_equal(h.rows_count, 1000);
    assert_true(h.calls > 2 && h.calls <= f->clock.now_ns / 100000000 + 1);
    swp__sweep_free(sweep);
    free_fixture(f);
}

/* ---- blocks ---- */

enum { COMBOS_MAX = 4096, WINDOWS_MAX = 2, HELD_MAX = 16 };

/* Collects blocks, and keeps those it is not to release at once. */
typedef struct collector {
    ended end;
    pthread_mutex_t lock;
    uint64_t windows_count, blocks_count, most_out;
    uint8_t seen[COMBOS_MAX];
    double pnl[WINDOWS_MAX][COMBOS_MAX];
    int64_t first_bar[WINDOWS_MAX][COMBOS_MAX];
    bool hold;
    swp__block *held[HELD_MAX];
    size_t held_count;
} collector;

static void copy_block(collector *c, const swp__block *block)
{
    const double *pnl = block->columns;
    const int64_t *first_bar = (const int64_t *)block->columns + c->windows_count * block->combos_count;
    for (uint64_t i = 0; i < block->combos_count; i++) {
        uint64_t combo = block->first_combo + i;
        if (combo >= COMBOS_MAX) {
            continue;
        }
        c->seen[combo]++;
        for (uint64_t w = 0; w < c->windows_count; w++) {
            c->pnl[w][combo] = pnl[w * block->combos_count + i];
            c->first_bar[w][combo] = first_bar[w * block->combos_count + i];
        }
    }
}

static void hear_block(void *context, swp__block *block)
{
    collector *c = context;
    pthread_mutex_lock(&c->lock);
    c->blocks_count++;
    bool fits = block->size_bytes == 16 * c->windows_count * block->combos_count;
    if (fits && (uintptr_t)block->columns % 64 == 0) {
        copy_block(c, block);
    }
    bool keep = c->hold && c->held_count < HELD_MAX;
    if (keep) {
        c->held[c->held_count++] = block;
        c->most_out = c->held_count > c->most_out ? c->held_count : c->most_out;
    }
    pthread_mutex_unlock(&c->lock);
    if (!keep) {
        swp__block_release(block);
    }
}

static void hear_collected(void *context, swp_status status)
{
    collector *c = context;
    hear_end(&c->end, status);
}

static swp__listener collect_into(collector *c, uint64_t windows_count)
{
    memset(c, 0, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    c->windows_count = windows_count;
    return (swp__listener){
        .done = hear_collected, .block = hear_block, .context = c, .columns = SWP__ROW_PNL | SWP__ROW_FIRST_BAR};
}

static bool release_one(collector *c)
{
    pthread_mutex_lock(&c->lock);
    swp__block *block = c->held_count > 0 ? c->held[--c->held_count] : NULL;
    pthread_mutex_unlock(&c->lock);
    if (block != NULL) {
        swp__block_release(block);
    }
    return block != NULL;
}

static void assert_collected(fixture *f, const collector *c, const swp_sweep_request *request)
{
    static double pnl[WINDOWS_MAX * COMBOS_MAX];
    static int64_t first_bar[WINDOWS_MAX * COMBOS_MAX];
    uint64_t combos_count = request->grid.combos_count;
    swp_sweep_request again = *request;
    assert_int_equal(swp_sweep(f->engine, f->series, &again, &(swp_sweep_result){.pnl = pnl, .first_bar = first_bar}, NULL),
                     SWP_OK);
    for (uint64_t i = 0; i < combos_count; i++) {
        assert_int_equal(c->seen[i], 1);
        for (uint64_t w = 0; w < c->windows_count; w++) {
            assert_bits_equal(c->pnl[w][i], pnl[w * combos_count + i]);
            assert_int_equal(c->first_bar[w][i], first_bar[w * combos_count + i]);
        }
    }
}

TEST(blocks_hold_each_combo_once_and_a_sweep_rests_while_all_are_out)
{
    enum { COMBOS = 1000 };
    fixture *f = new_fixture(2, true);
    f->engine->limits.max_block_bytes = 5000;
    lengths l, other_l;
    static collector c;
    swp_sweep_request request = axes_request(&l, COMBOS), other = axes_request(&other_l, 50);
    request.windows = (const swp_window[]){{0, 0, 1000}, {500, 700, 1500}};
    request.windows_count = 2;
    swp__listener listener = collect_into(&c, 2);
    c.hold = true;
    swp__sweep *sweep;
    assert_int_equal(swp__sweep_start(f->engine, f->series, &request, NULL, &listener, &sweep, NULL), SWP_OK);
    while (swp__engine_step(f->engine)) {
    }
    assert_int_equal(c.end.calls, 0);
    assert_int_equal(c.held_count, f->limits.max_blocks);
    ended e = {0};
    swp__sweep *beside = start(f, &other, &(swp_sweep_result){0}, &e);
    step_until(f, &e);
    swp__sweep_free(beside);
    do {
        while (swp__engine_step(f->engine)) {
        }
    } while (release_one(&c));
    assert_int_equal(c.end.calls, 1);
    assert_int_equal(c.end.status, SWP_OK);
    assert_int_equal(c.most_out, f->limits.max_blocks);
    assert_int_equal(c.blocks_count, (COMBOS - 1) / (5000 / 32) + 1);
    assert_int_equal(swp__engine_count(f->engine).blocks, c.blocks_count);
    swp__sweep_free(sweep);
    assert_collected(f, &c, &request);
    free_fixture(f);
}

TEST(blocks_delivered_before_a_cancel_are_whole_and_one_that_rests_ends_too)
{
    enum { COMBOS = 800 };
    fixture *f = new_fixture(2, true);
    f->engine->limits.max_block_bytes = 1600;
    lengths l;
    static collector c;
    swp_sweep_request request = axes_request(&l, COMBOS);
    swp__listener listener = collect_into(&c, 1);
    c.hold = true;
    swp__sweep *sweep;
    assert_int_equal(swp__sweep_start(f->engine, f->series, &request, NULL, &listener, &sweep, NULL), SWP_OK);
    while (swp__engine_step(f->engine)) {
    }
    swp__sweep_cancel(sweep);
    assert_int_equal(c.end.calls, 0);
    assert_true(swp__engine_step(f->engine));
    assert_int_equal(c.end.calls, 1);
    assert_int_equal(c.end.status, SWP_CANCELLED);
    while (release_one(&c)) {
    }
    swp__sweep_free(sweep);
    static double pnl[COMBOS];
    assert_int_equal(swp_sweep(f->engine, f->series, &request, &(swp_sweep_result){.pnl = pnl}, NULL), SWP_OK);
    uint64_t seen = 0;
    for (size_t i = 0; i < COMBOS; i++) {
        seen += c.seen[i];
        if (c.seen[i] != 0) {
            assert_bits_equal(c.pnl[0][i], pnl[i]);
        }
    }
    assert_int_equal(seen, 400);
    free_fixture(f);
}

TEST(grid_of_2_to_the_40_combos_streams_in_bounded_memory)
{
    fixture *f = new_fixture(2, true);
    static int64_t many[1 << 10], few[1] = {3};
    for (int64_t i = 0; i < 1 << 10; i++) {
        many[i] = 1 + i % 16;
    }
    swp_sweep_request request = {.grid = {.form = SWP_GRID_AXES,
                                          .combos_count = UINT64_C(1) << 40,
                                          .axes = {many, many, many, many, few, few},
                                          .axis_counts = {1 << 10, 1 << 10, 1 << 10, 1 << 10, 1, 1}},
                                 .kernel = SWP_KERNEL_STRICT,
                                 .windows = &(swp_window){0, 0, 40},
                                 .windows_count = 1};
    static collector c;
    swp__listener listener = collect_into(&c, 1);
    swp__sweep *sweep;
    assert_int_equal(swp__sweep_start(f->engine, f->series, &request, NULL, &listener, &sweep, NULL), SWP_OK);
    uint64_t allocs_count = f->memory.allocs_count;
    while (c.blocks_count < 3) {
        assert_true(swp__engine_step(f->engine));
    }
    assert_int_equal(f->memory.allocs_count, allocs_count);
    assert_true(f->memory.peak_bytes < 5 << 20); /* 4 blocks of 1 MiB, 2 slots */
    uint64_t rows_count;
    assert_true(swp__sweep_progress(sweep, &rows_count) >= 3 * 1024);
    assert_int_equal(rows_count, UINT64_C(1) << 40);
    swp__sweep_cancel(sweep);
    while (c.end.calls == 0) {
        assert_true(swp__engine_step(f->engine));
    }
    assert_int_equal(c.seen[0], 1);
    swp__sweep_free(sweep);
    free_fixture(f);
}

TEST(blocks_of_a_pairs_grid_equal_the_whole)
{
    fixture *f = new_fixture(2, true);
    f->engine->limits.max_block_bytes = 3000;
    int64_t hma[30][3], hma3[20][3];
    for (int64_t i = 0; i < 30; i++) {
        memcpy(hma[i], (int64_t[]){3 + i, 6 + 2 * i, 2}, sizeof hma[i]);
    }
    for (int64_t i = 0; i < 20; i++) {
        memcpy(hma3[i], (int64_t[]){1 + i, 2 + i, 3 + i}, sizeof hma3[i]);
    }
    swp_sweep_request request = {
        .grid =
            {.form = SWP_GRID_PAIRS, .combos_count = 600, .hma = hma[0], .hma_count = 30, .hma3 = hma3[0], .hma3_count = 20},
        .fee = 0.09};
    static collector c;
    for (int kernel = 0; swp_kernel_name((swp_kernel)kernel) != NULL; kernel++) {
        request.kernel = (swp_kernel)kernel;
        swp__listener listener = collect_into(&c, 1);
        swp__sweep *sweep;
        assert_int_equal(swp__sweep_start(f->engine, f->series, &request, NULL, &listener, &sweep, NULL), SWP_OK);
        while (swp__engine_step(f->engine)) {
        }
        assert_int_equal(c.end.status, SWP_OK);
        swp__sweep_free(sweep);
        assert_collected(f, &c, &request);
    }
    free_fixture(f);
}

/* ---- trades ---- */

typedef struct told {
    ended end;
    uint64_t count;
    double pnl;
    swp__trade last, closed;
} told;

static void hear_trade(void *context, const swp__trade *trade)
{
    told *t = context;
    assert_int_equal(t->last.exit_bar, t->count > 0 ? trade->entry_bar : 0); /* each begins where the one before ended */
    assert_int_equal(trade->side, t->count > 0 ? -t->last.side : trade->side);
    t->last = *trade;
    t->count++;
    if (trade->exit_bar >= 0) {
        t->pnl += trade->pnl;
        t->closed = *trade;
    }
}

static void hear_told(void *context, swp_status status)
{
    told *t = context;
    hear_end(&t->end, status);
}

TEST(trades_are_told_in_order_and_add_up_to_the_sweeps_pnl)
{
    fixture *f = new_fixture(2, true);
    lengths l;
    swp_sweep_request request = axes_request(&l, 1);
    request.kernel = SWP_KERNEL_AUTO;
    const swp_window windows[] = {{0, 0, BARS}, {700, 1000, 1500}, {0, 0, 5}};
    for (size_t i = 0; i < 3; i++) {
        request.windows = &windows[i];
        request.windows_count = 1;
        double pnl, open_pnl, open_last;
        int64_t trades, open_side, entry_bar;
        swp_sweep_result result = {.pnl = &pnl,
                                   .trades = &trades,
                                   .open_side = &open_side,
                                   .open_entry_bar = &entry_bar,
                                   .open_pnl = &open_pnl,
                                   .open_last = &open_last};
        assert_int_equal(swp_sweep(f->engine, f->series, &request, &result, NULL), SWP_OK);
        told t = {0};
        swp__listener listener = {.done = hear_told, .trade = hear_trade, .context = &t};
        swp__sweep *sweep;
        assert_int_equal(swp__sweep_start(f->engine, f->series, &request, NULL, &listener, &sweep, NULL), SWP_OK);
        step_until(f, &t.end);
        swp__sweep_free(sweep);
        assert_bits_equal(t.pnl, pnl);
        assert_int_equal(t.count, trades + (open_side != 0 ? 1 : 0));
        assert_true(trades > 10 || i == 2);
        if (open_side != 0) {
            assert_int_equal(t.last.exit_bar, -1);
            assert_int_equal(t.last.side, open_side);
            assert_int_equal(t.last.entry_bar, entry_bar);
            assert_bits_equal(t.last.pnl, open_pnl);
            assert_bits_equal(t.last.exit, open_last);
            assert_bits_equal(t.closed.exit, f->close[entry_bar]);
        }
    }
    free_fixture(f);
}

/* ---- limits and memory ---- */

static swp_status try_start(fixture *f, const swp_sweep_request *request, const swp__listener *listener, swp_error *error)
{
    swp__sweep *sweep = NULL;
    swp_status status = swp__sweep_start(f->engine, f->series, request, NULL, listener, &sweep, error);
    if (status == SWP_OK) {
        swp__sweep_cancel(sweep);
        while (swp__engine_step(f->engine)) {
        }
        swp__sweep_free(sweep);
    } else {
        assert_null(sweep);
    }
    return status;
}

TEST(started_sweep_limits_hold_at_the_limit_and_refuse_one_past_it)
{
    fixture *f = new_fixture(2, true);
    lengths l;
    static collector c;
    swp_error error;
    swp__listener listener = collect_into(&c, 1);
    swp_sweep_request request = axes_request(&l, 10);
    f->engine->limits.max_combos = 10;
    assert_int_equal(try_start(f, &request, &listener, &error), SWP_OK);
    f->engine->limits.max_combos = 9;
    assert_int_equal(try_start(f, &request, &listener, &error), SWP_LIMIT);
    assert_int_equal(error.a, 9);
    assert_int_equal(error.b, 10);
    f->engine->limits = f->limits;
    f->engine->limits.max_block_bytes = 16;
    assert_int_equal(try_start(f, &request, &listener, &error), SWP_OK);
    f->engine->limits.max_block_bytes = 15;
    assert_int_equal(try_start(f, &request, &listener, &error), SWP_LIMIT);
    assert_int_equal(error.a, 15);
    assert_int_equal(error.b, 16);
    f->engine->limits = f->limits;
    f->engine->limits.max_sweeps = 2;
    ended e[2] = {0};
    swp__sweep *one = start(f, &request, &(swp_sweep_result){0}, &e[0]);
    assert_int_equal(try_start(f, &request, &listener, &error), SWP_OK);
    swp__sweep *two = start(f, &request, &(swp_sweep_result){0}, &e[1]);
    assert_int_equal(try_start(f, &request, &listener, &error), SWP_LIMIT);
    assert_int_equal(error.a, 2);
    assert_int_equal(error.b, 3);
    while (swp__engine_step(f->engine)) {
    }
    swp__sweep_free(one);
    assert_int_equal(try_start(f, &request, &listener, &error), SWP_OK); /* a place is free again */
    swp__sweep_free(two);
    free_fixture(f);
}

TEST(started_sweep_short_of_memory_has_fewer_slots_and_then_is_refused)
{
    fixture *f = new_fixture(8, true);
    lengths l;
    swp_sweep_request request = axes_request(&l, 100);
    ended e = {0};
    swp__sweep *sweep = start(f, &request, &(swp_sweep_result){0}, &e);
    assert_int_equal(sweep->slots_count, 8);
    uint64_t needed = sweep->block_size;
    step_until(f, &e);
    swp__sweep_free(sweep);
    f->engine->limits.max_sweep_memory = needed;
    sweep = start(f, &request, &(swp_sweep_result){0}, &e);
    assert_int_equal(sweep->slots_count, 8);
    while (swp__engine_step(f->engine)) {
    }
    swp__sweep_free(sweep);
    f->engine->limits.max_sweep_memory = needed - 1;
    sweep = start(f, &request, &(swp_sweep_result){0}, &e);
    assert_int_equal(sweep->slots_count, 7);
    uint64_t used = sweep->block_size;
    swp_error error;
    swp__listener listener = {.done = hear_end, .context = &e};
    swp__sweep *other = NULL;
    f->engine->limits.max_sweep_memory = used + 100;
    assert_int_equal(swp__sweep_start(f->engine, f->series, &request, &(swp_sweep_result){0}, &listener, &other, &error),
                     SWP_LIMIT);
    assert_int_equal(error.a, used + 100);
    assert_true(error.b > used + 100);
    while (swp__engine_step(f->engine)) {
    }
    swp__sweep_free(sweep);
    free_fixture(f);
}

TEST(started_sweep_answers_no_memory_and_takes_no_place)
{
    fixture *f = new_fixture(2, true);
    lengths l;
    static collector c;
    swp__listener listener = collect_into(&c, 1);
    swp_sweep_request request = axes_request(&l, 10);
    f->memory.fail_at = f->memory.allocs_count + 1;
    assert_int_equal(try_start(f, &request, &listener, NULL), SWP_NO_MEMORY);
    assert_int_equal(swp__engine_count(f->engine).sweeps_running, 0);
    assert_int_equal(try_start(f, &request, &listener, NULL), SWP_OK);
    listener.columns = 0;
    assert_int_equal(try_start(f, &request, &listener, NULL), SWP_BAD_PARAM);
    listener.columns = 256;
    assert_int_equal(try_start(f, &request, &listener, NULL), SWP_BAD_PARAM);
    free_fixture(f);
}

TEST(limits_are_checked_by_name_against_the_table)
{
    swp_error error;
    swp__limits limits = swp__limits_standard();
    assert_int_equal(swp__limits_check(&limits, NULL), SWP_OK);
    limits = swp__limits_most();
    assert_int_equal(swp__limits_check(&limits, NULL), SWP_OK);
    for (size_t i = 0; i < swp__limit_rows_count; i++) {
        limits = swp__limits_standard();
        uint64_t *field = (uint64_t *)(void *)((char *)&limits + swp__limit_rows[i].offset);
        *field = swp__limit_rows[i].maximum + 1;
        assert_int_equal(swp__limits_check(&limits, &error), SWP_BAD_PARAM);
        assert_int_equal(error.at, i);
        *field = swp__limit_rows[i].minimum - 1;
        assert_int_equal(swp__limits_check(&limits, &error), SWP_BAD_PARAM);
        assert_non_null(strstr(error.message, swp__limit_rows[i].name));
        *field = swp__limit_rows[i].minimum;
        assert_int_equal(swp__limits_check(&limits, NULL), SWP_OK);
    }
    limits.max_names = 0;
    swp_engine *engine;
    assert_int_equal(swp__engine_new(NULL, &limits, true, &engine, NULL), SWP_BAD_PARAM);
}

/* ---- with threads ---- */

static void wait_for(const ended *e)
{
    while (e->calls == 0) {
        usleep(50);
    }
}

TEST(started_sweeps_run_together_on_threads_with_a_reader_that_is_slow)
{
    enum { SWEEPS = 6, COMBOS = 300 };
    fixture *f = new_fixture(3, false);
    f->engine->limits.max_block_bytes = 1000;
    static lengths l[SWEEPS];
    static collector c[SWEEPS];
    swp_sweep_request request[SWEEPS];
    swp__sweep *sweep[SWEEPS];
    for (size_t i = 0; i < SWEEPS; i++) {
        request[i] = axes_request(&l[i], COMBOS + i);
        swp__listener listener = collect_into(&c[i], 1);
        listener.caller_helps = i % 2 == 0;
        c[i].hold = i % 3 != 0;
        assert_int_equal(swp__sweep_start(f->engine, f->series, &request[i], NULL, &listener, &sweep[i], NULL), SWP_OK);
    }
    for (size_t i = 0; i < SWEEPS; i++) {
        while (c[i].end.calls == 0) {
            release_one(&c[i]);
            usleep(50);
        }
        while (release_one(&c[i])) {
        }
        swp__sweep_free(sweep[i]);
        assert_collected(f, &c[i], &request[i]);
    }
    free_fixture(f);
}

TEST(started_sweeps_cancelled_from_another_thread_at_any_moment_end_once)
{
    fixture *f = new_fixture(3, false);
    lengths l;
    swp_sweep_request request = axes_request(&l, 500);
    for (int i = 0; i < 100; i++) {
        ended e = {0};
        swp__sweep *sweep = start(f, &request, &(swp_sweep_result){0}, &e);
        for (int j = 0; j < i % 10; j++) {
            usleep(50);
        }
        swp__sweep_cancel(sweep);
        wait_for(&e);
        assert_int_equal(e.calls, 1);
        assert_true(e.status == SWP_CANCELLED || e.status == SWP_OK);
        swp__sweep_free(sweep);
    }
    swp__engine_counters counters = swp__engine_count(f->engine);
    assert_int_equal(counters.sweeps_started, 100);
    assert_int_equal(counters.sweeps_finished + counters.sweeps_cancelled, 100);
    free_fixture(f);
}
