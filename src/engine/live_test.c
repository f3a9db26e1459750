#include "support/hard_series.h"
#include "support/host.h"
#include "support/test.h"
#include "engine/live.h"

#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/fpenv.h"

enum { BARS = 230, COMBOS = 7 };

typedef struct fixture {
    swp__test_memory memory;
    swp_allocator allocator;
    swp_engine *engine;
    int64_t rows[COMBOS][SWP_PARAMS_COUNT];
    double close[BARS];
} fixture;

static fixture *set_up(void)
{
    fixture *f = calloc(1, sizeof *f);
    f->allocator = swp__test_allocator(&f->memory);
    const swp_engine_options options = {.threads = 1, .allocator = &f->allocator};
    assert_int_equal(swp_engine_new(&options, &f->engine, NULL), SWP_OK);
    return f;
}

static void tear_down(fixture *f)
{
    assert_int_equal(f->engine->counters.live_sessions, 0);
    assert_int_equal(f->engine->counters.live_bytes, 0);
    swp_engine_free(f->engine);
    assert_int_equal(f->memory.live_count, 0);
    free(f);
}

static void fill(fixture *f, swp__hard kind, uint64_t seed)
{
    swp__random random = {seed};
    swp__hard_fill(f->close, BARS, kind, &random);
    for (size_t i = 0; i < COMBOS; i++) {
        swp_params combo = swp__hard_combo(&random, i % 2 == 0 ? 12 : 60);
        memcpy(f->rows[i], &combo, sizeof combo);
    }
}

static swp_live_request request_of(const fixture *f, swp_entry entry)
{
    return (swp_live_request){
        .params = f->rows[0], .combos_count = COMBOS, .fee = 0.09, .entry = entry, .allow = SWP_ALLOW_ALL};
}

static swp_live *open_live(fixture *f, swp_entry entry, uint64_t warm_bars)
{
    const swp_live_request request = request_of(f, entry);
    swp_series *series = NULL;
    swp_live *live;
    if (warm_bars > 0) {
        assert_int_equal(swp_series_new(f->engine, f->close, warm_bars, SWP_ALLOW_ALL, SWP_BORROW, &series, NULL), SWP_OK);
    }
    assert_int_equal(swp_live_new(f->engine, &request, series, &live, NULL), SWP_OK);
    swp_series_free(series);
    return live;
}

/* The sweep over bars 0..bars_count-1, which is what a session is measured by. */
static void expect(fixture *f, swp_entry entry, uint64_t bars_count, swp_live_state states[COMBOS])
{
    double pnl[COMBOS], open_entry[COMBOS];
    int64_t trades[COMBOS], side[COMBOS];
    swp_series *series;
    assert_int_equal(swp_series_new(f->engine, f->close, bars_count, SWP_ALLOW_ALL, SWP_BORROW, &series, NULL), SWP_OK);
    const swp_sweep_request request = {.grid = {.combos_count = COMBOS, .rows = f->rows[0]}, .fee = 0.09, .entry = entry};
    const swp_sweep_result result = {.pnl = pnl, .trades = trades, .open_side = side, .open_entry = open_entry};
    assert_int_equal(swp_sweep(f->engine, series, &request, &result, NULL), SWP_OK);
    swp_series_free(series);
    for (size_t i = 0; i < COMBOS; i++) {
        double entry_price = isnan(open_entry[i]) ? (double)NAN : open_entry[i];
        states[i] = (swp_live_state){(int64_t)bars_count, side[i], entry_price, pnl[i], trades[i]};
    }
}

static void push(fixture *f, swp_live *live, uint64_t count, swp_live_state states[COMBOS])
{
    uint64_t at = swp_live_bars_count(live);
    assert_int_equal(swp_live_push(live, at, f->close + at, count, states, NULL, NULL), SWP_OK);
}

/* Every prefix once; every step size and split point compares with it. */
static void equals_batch(fixture *f, swp_entry entry)
{
    static swp_live_state right[BARS + 1][COMBOS];
    static const uint64_t steps[] = {1, 2, 3, 5, 7, 13, 100, BARS};
    for (uint64_t n = 1; n <= BARS; n++) {
        expect(f, entry, n, right[n]);
    }
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
        for (uint64_t split = 0; split < BARS; split++) {
            swp_live *live = open_live(f, entry, split);
            for (uint64_t at = split; at < BARS;) {
                uint64_t count = steps[s] < BARS - at ? steps[s] : BARS - at;
                swp_live_state states[COMBOS];
                push(f, live, count, states);
                at += count;
                assert_memory_equal(states, right[at], sizeof states);
            }
            swp_live_free(live);
        }
    }
}

TEST(live_equals_batch_at_steps_1_2_3_5_7_13_100_all_and_every_split)
{
    fixture *f = set_up();
    for (int kind = 0; kind < SWP__HARD_COUNT; kind++) {
        fill(f, (swp__hard)kind, (uint64_t)kind + 1);
        equals_batch(f, SWP_ENTRY_FIRST);
        equals_batch(f, SWP_ENTRY_CROSS);
    }
    tear_down(f);
}

TEST(live_push_allocates_nothing)
{
    fixture *f = set_up();
    fill(f, SWP__HARD_WALK, 3);
    swp_live *live = open_live(f, SWP_ENTRY_FIRST, 50);
    swp_live_state states[COMBOS];
    uint64_t before = f->memory.allocs_count;
    for (uint64_t i = 50; i < 200; i++) {
        push(f, live, 1, states);
        assert_int_equal(swp_live_peek(live, &f->close[i + 1], 1, states, NULL, NULL), SWP_OK);
    }
    push(f, live, 30, states);
    assert_int_equal(f->memory.allocs_count, before);
    swp_live_free(live);
    tear_down(f);
}

TEST(live_peek_says_what_a_push_would_and_keeps_nothing)
{
    fixture *f = set_up();
    for (uint64_t count = 1; count <= 90; count += 89) {
        fill(f, SWP__HARD_TICKS, 4);
        swp_live *live = open_live(f, SWP_ENTRY_CROSS, 60);
        swp_live_state seen[COMBOS], pushed[COMBOS], before[COMBOS], after[COMBOS];
        int8_t seen_positions[90 * COMBOS], pushed_positions[90 * COMBOS];
        const double others[90] = {1.0, 2.0, 3.0, 100.0};
        for (uint64_t at = 60; at + count <= BARS; at += count) {
            swp_live_states(live, before);
            assert_int_equal(swp_live_peek(live, others, count, after, NULL, NULL), SWP_OK);
            assert_int_equal(swp_live_peek(live, f->close + at, count, seen, seen_positions, NULL), SWP_OK);
            swp_live_states(live, after);
            assert_memory_equal(before, after, sizeof before);
            assert_int_equal(swp_live_push(live, at, f->close + at, count, pushed, pushed_positions, NULL), SWP_OK);
            assert_memory_equal(seen, pushed, sizeof seen);
            assert_memory_equal(seen_positions, pushed_positions, count * COMBOS);
        }
        swp_live_free(live);
    }
    tear_down(f);
}

TEST(live_push_again_is_answered_again_and_changes_nothing)
{
    fixture *f = set_up();
    fill(f, SWP__HARD_WALK, 5);
    swp_live *live = open_live(f, SWP_ENTRY_FIRST, 60);
    swp_live_state first[COMBOS], again[COMBOS];
    int8_t positions[COMBOS], positions_again[COMBOS];
    swp_error error;
    assert_int_equal(swp_live_push(live, 60, &f->close[60], 1, first, positions, NULL), SWP_OK);
    assert_int_equal(swp_live_push(live, 60, &f->close[60], 1, again, positions_again, NULL), SWP_OK);
    assert_memory_equal(first, again, sizeof first);
    assert_memory_equal(positions, positions_again, sizeof positions);
    assert_int_equal(swp_live_bars_count(live), 61);
    assert_int_equal(swp_live_push(live, 60, &f->close[70], 1, again, NULL, &error), SWP_STALE); /* other closes */
    assert_int_equal(error.a, 60);
    assert_int_equal(error.b, 61);
    assert_int_equal(swp_live_push(live, 62, &f->close[62], 1, again, NULL, &error), SWP_STALE); /* a gap */
    assert_int_equal(swp_live_push(live, 61, &f->close[61], 3, first, NULL, NULL), SWP_OK);
    assert_int_equal(swp_live_push(live, 60, &f->close[60], 1, again, NULL, &error), SWP_STALE); /* not the last one */
    assert_int_equal(swp_live_push(live, 61, &f->close[61], 3, again, NULL, NULL), SWP_OK);
    assert_memory_equal(first, again, sizeof first);
    int8_t three[3 * COMBOS];
    assert_int_equal(swp_live_push(live, 61, &f->close[61], 3, again, three, &error), SWP_STALE);
    assert_int_equal(swp_live_push(live, SWP_LIVE_ANY, NULL, 0, again, NULL, NULL), SWP_OK);
    assert_memory_equal(first, again, sizeof first);
    swp_live_free(live);
    tear_down(f);
}

TEST(live_push_rejects_nan_and_stays_usable)
{
    fixture *f = set_up();
    fill(f, SWP__HARD_WALK, 6);
    swp_live_request request = request_of(f, SWP_ENTRY_FIRST);
    request.allow = 0;
    swp_live *live;
    swp_error error;
    assert_int_equal(swp_live_new(f->engine, &request, NULL, &live, NULL), SWP_OK);
    swp_live_state states[COMBOS], right[COMBOS];
    push(f, live, 100, states);
    const double bad[3] = {f->close[100], f->close[101], NAN};
    assert_int_equal(swp_live_push(live, 100, bad, 3, states, NULL, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 2);
    assert_int_equal(swp_live_bars_count(live), 100);
    push(f, live, BARS - 100, states);
    expect(f, SWP_ENTRY_FIRST, BARS, right);
    assert_memory_equal(states, right, sizeof states);
    f->close[7] = -1.0;
    swp_series *series;
    assert_int_equal(swp_series_new(f->engine, f->close, BARS, SWP_ALLOW_ALL, SWP_BORROW, &series, NULL), SWP_OK);
    swp_live *other = NULL;
    assert_int_equal(swp_live_new(f->engine, &request, series, &other, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 7);
    assert_null(other);
    swp_series_free(series);
    swp_live_free(live);
    tear_down(f);
}

/* ---- snapshots ---- */

static void *snapshot_of(const swp_live *live, size_t *size)
{
    *size = swp_live_snapshot(live, NULL, 0);
    void *bytes = malloc(*size);
    assert_int_equal(swp_live_snapshot(live, bytes, *size - 1), *size);
    assert_int_equal(swp_live_snapshot(live, bytes, *size), *size);
    return bytes;
}

TEST(live_restored_equals_never_stopped)
{
    fixture *f = set_up();
    for (int kind = 0; kind < SWP__HARD_COUNT; kind++) {
        fill(f, (swp__hard)kind, (uint64_t)kind + 50);
        for (uint64_t at = 0; at < BARS; at += 19) {
            swp_live *live = open_live(f, SWP_ENTRY_CROSS, at), *restored;
            swp_live_state states[COMBOS], right[COMBOS];
            if (at > 0 && at % 2 == 0) {
                push(f, live, 1, states);
            }
            size_t size, size_again;
            void *bytes = snapshot_of(live, &size);
            assert_int_equal(swp_live_restore(f->engine, bytes, size, &restored, NULL), SWP_OK);
            void *again = snapshot_of(restored, &size_again);
            assert_int_equal(size, size_again);
            assert_memory_equal(bytes, again, size);
            swp_live_free(live);
            push(f, restored, BARS - swp_live_bars_count(restored), states);
            expect(f, SWP_ENTRY_CROSS, BARS, right);
            assert_memory_equal(states, right, sizeof states);
            swp_live_free(restored);
            free(bytes);
            free(again);
        }
    }
    tear_down(f);
}

TEST(live_snapshot_keeps_what_the_last_push_was)
{
    fixture *f = set_up();
    fill(f, SWP__HARD_WALK, 7);
    swp_live *live = open_live(f, SWP_ENTRY_FIRST, 80), *restored;
    swp_live_state first[COMBOS], again[COMBOS];
    push(f, live, 5, first);
    size_t size;
    void *bytes = snapshot_of(live, &size);
    assert_int_equal(swp_live_restore(f->engine, bytes, size, &restored, NULL), SWP_OK);
    assert_int_equal(swp_live_push(restored, 80, &f->close[80], 5, again, NULL, NULL), SWP_OK);
    assert_memory_equal(first, again, sizeof first);
    assert_int_equal(swp_live_bars_count(restored), 85);
    swp_live_free(live);
    swp_live_free(restored);
    free(bytes);
    tear_down(f);
}

TEST(live_snapshot_with_any_byte_changed_or_missing_is_refused_with_its_place)
{
    fixture *f = set_up();
    fill(f, SWP__HARD_WALK, 8);
    swp_live *live = open_live(f, SWP_ENTRY_FIRST, 80), *restored = NULL;
    size_t size;
    uint8_t *bytes = snapshot_of(live, &size);
    swp_error error;
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x10;
        swp_status status = swp_live_restore(f->engine, bytes, size, &restored, &error);
        assert_int_equal(status, i >= 8 && i < 32 ? SWP_UNKNOWN : SWP_BAD_PARAM);
        assert_true(error.at <= size);
        bytes[i] ^= 0x10;
        assert_int_equal(swp_live_restore(f->engine, bytes, i, &restored, &error), SWP_BAD_PARAM);
        assert_int_equal(error.at, i);
    }
    assert_null(restored);
    swp_live_free(live);
    free(bytes);
    tear_down(f);
}

/* The checksum is no secret: what it covers is judged all the same. */
TEST(live_snapshot_with_impossible_values_and_a_right_checksum_is_refused)
{
    fixture *f = set_up();
    fill(f, SWP__HARD_WALK, 9);
    swp_live *live = open_live(f, SWP_ENTRY_FIRST, 80), *restored;
    size_t size;
    uint8_t *bytes = snapshot_of(live, &size), *copy = malloc(size);
    for (size_t i = 32; i + 16 < size; i += 8) {
        memcpy(copy, bytes, size);
        memset(copy + i, 0xff, 8); /* -1, a NaN, or a count beyond everything */
        swp__fingerprint sum = swp__fingerprint_of(copy, size - 16);
        memcpy(copy + size - 16, &sum, sizeof sum);
        swp_live_state states[COMBOS];
        if (swp_live_restore(f->engine, copy, size, &restored, NULL) == SWP_OK) { /* then it is a session like any other */
            assert_int_equal(swp_live_push(restored, SWP_LIVE_ANY, f->close, 20, states, NULL, NULL), SWP_OK);
            swp_live_free(restored);
        }
    }
    swp_live_free(live);
    free(bytes);
    free(copy);
    tear_down(f);
}

/* Restored, a session must be able to go on: its bars are counted in 63 bits. */
TEST(live_snapshot_of_more_bars_than_it_could_go_on_from_is_refused)
{
    fixture *f = set_up();
    fill(f, SWP__HARD_WALK, 9);
    swp_live *live = open_live(f, SWP_ENTRY_FIRST, 80), *restored = NULL;
    size_t size, at = 0;
    uint8_t *bytes = snapshot_of(live, &size);
    uint64_t count = 80, more = (UINT64_C(1) << 62);
    while (memcmp(bytes + at, &count, sizeof count) != 0) {
        at += sizeof count;
    }
    memcpy(bytes + at, &more, sizeof more);
    swp__fingerprint sum = swp__fingerprint_of(bytes, size - 16);
    memcpy(bytes + size - 16, &sum, sizeof sum);
    swp_error error;
    assert_int_equal(swp_live_restore(f->engine, bytes, size, &restored, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, at);
    swp_live_free(live);
    free(bytes);
    tear_down(f);
}

/* ---- the workers ---- */

/* Threads of the engine by the policy they run under. */
static void count_workers(int *idle, int *other)
{
    DIR *tasks = opendir("/proc/self/task");
    *idle = *other = 0;
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        FILE *comm = fopen(path, "r");
        if (comm != NULL && fgets(name, sizeof name, comm) != NULL && strncmp(name, "worker-", 7) == 0) {
            *(sched_getscheduler(atoi(task->d_name)) == SCHED_IDLE ? idle : other) += 1;
        }
        if (comm != NULL) {
            fclose(comm);
        }
    }
    closedir(tasks);
}

static void sweep_on_all(swp_engine *engine, const swp_series *series)
{
    enum { MANY = 400 };
    static int64_t rows[MANY * 6];
    static double pnl[MANY];
    for (int64_t i = 0; i < MANY; i++) {
        assert_int_equal(swp_params_from_length(30 + i % 70, (swp_params *)(void *)(rows + 6 * i), NULL), SWP_OK);
    }
    const swp_sweep_request request = {.grid = {.combos_count = MANY, .rows = rows}, .fee = 0.09, .kernel = SWP_KERNEL_STRICT};
    assert_int_equal(swp_sweep(engine, series, &request, &(swp_sweep_result){.pnl = pnl}, NULL), SWP_OK);
}

TEST(live_workers_step_back_while_there_are_sessions_and_no_longer)
{
    enum { MANY_BARS = 4000, THREADS = 3 };
    static double close[MANY_BARS];
    swp_engine *engine;
    swp_series *series;
    int idle, other;
    swp__test_walk(close, MANY_BARS, 3);
    assert_int_equal(swp_engine_new(&(swp_engine_options){.threads = THREADS}, &engine, NULL), SWP_OK);
    assert_int_equal(swp_series_new(engine, close, MANY_BARS, 0, SWP_BORROW, &series, NULL), SWP_OK);
    const int64_t row[] = {10, 20, 5, 3, 5, 10};
    const swp_live_request request = {.params = row, .combos_count = 1, .fee = 0.09};
    for (int round = 0; round < 5; round++) {
        swp_live *live, *another;
        sweep_on_all(engine, series);
        count_workers(&idle, &other);
        assert_int_equal(idle, 0);
        assert_true(other > 0);
        assert_int_equal(swp_live_new(engine, &request, NULL, &live, NULL), SWP_OK);
        assert_int_equal(swp_live_new(engine, &request, NULL, &another, NULL), SWP_OK);
        sweep_on_all(engine, series);
        count_workers(&idle, &other);
        assert_true(idle > 0 && idle + other <= THREADS);
        swp_live_free(live);
        sweep_on_all(engine, series);
        count_workers(&idle, &other);
        assert_true(idle > 0);
        swp_live_free(another);
        for (int i = 0; i < 10000 && idle > 0; i++) { /* they end by themselves */
            usleep(1000);
            count_workers(&idle, &other);
        }
        assert_int_equal(idle, 0);
    }
    swp_series_free(series);
    swp_engine_free(engine);
    count_workers(&idle, &other);
    assert_int_equal(idle + other, 0);
}

/* ---- limits, failures ---- */

TEST(live_memory_is_counted_and_limited)
{
    swp__limits limits = swp__limits_standard();
    limits.max_live_memory = 64 << 10;
    swp_engine *engine;
    assert_int_equal(swp__engine_new(NULL, &limits, true, &engine, NULL), SWP_OK);
    const int64_t small[] = {10, 20, 5, 3, 5, 10}, large[] = {10, 2147483647, 5, 3, 5, 10};
    swp_live_request request = {.params = small, .combos_count = 1, .fee = 0.09};
    swp_live *live, *other = NULL;
    swp_error error;
    assert_int_equal(swp_live_new(engine, &request, NULL, &live, NULL), SWP_OK);
    assert_true(swp__engine_count(engine).live_bytes > 0);
    request.params = large;
    assert_int_equal(swp_live_new(engine, &request, NULL, &other, &error), SWP_LIMIT);
    assert_int_equal(error.a, 64 << 10);
    assert_null(other);
    swp_live_free(live);
    assert_int_equal(swp__engine_count(engine).live_bytes, 0);
    swp_engine_free(engine);
}

TEST(live_new_without_memory_leaves_nothing)
{
    fixture *f = set_up();
    fill(f, SWP__HARD_WALK, 10);
    swp_series *series;
    assert_int_equal(swp_series_new(f->engine, f->close, BARS, SWP_ALLOW_ALL, SWP_BORROW, &series, NULL), SWP_OK);
    const swp_live_request request = request_of(f, SWP_ENTRY_FIRST);
    swp_live *live = NULL;
    uint64_t left = f->memory.live_count, failed = 0;
    for (;; failed++) {
        f->memory.fail_at = f->memory.allocs_count + failed + 1;
        if (swp_live_new(f->engine, &request, series, &live, NULL) == SWP_OK) {
            break;
        }
        assert_int_equal(f->memory.live_count, left);
    }
    f->memory.fail_at = 0;
    assert_true(failed >= 3);
    swp_live_free(live);
    swp_series_free(series);
    tear_down(f);
}

TEST(live_numbers_do_not_depend_on_the_callers_floating_point_state)
{
#if defined(__x86_64__)
    fixture *f = set_up();
    fill(f, SWP__HARD_SUBNORMAL, 11);
    swp_live *live = open_live(f, SWP_ENTRY_FIRST, 0);
    swp_live_state states[COMBOS], right[COMBOS];
    unsigned saved = _mm_getcsr();
    _mm_setcsr(saved | 0x8040u); /* flush to zero, subnormals are zero */
    push(f, live, BARS, states);
    _mm_setcsr(saved);
    expect(f, SWP_ENTRY_FIRST, BARS, right);
    assert_memory_equal(states, right, sizeof states);
    swp_live_free(live);
    tear_down(f);
#else
    skip();
#endif
}
