/* A sweep's beginning and end: checked, sized, allocated in one block, and entered into the ring. engine.h has the
 * picture. */
#include "engine/sweep.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include "base/error.h"
#include "base/fpenv.h"
#include "base/host.h"
#include "base/number.h"
#include "engine/series.h"
#include "engine/turns.h"
#include "kernel/params.h"
#include "kernel/sign_words.h"

#define BLOCK_NS 1e8 /* about what a thread works for a block when its size allows more */

/* Of sign words, which is about a unit's. There are two segments a slot. */
#define SEGMENT_BYTES_MAX (UINT64_C(576) << 10)
enum { SEGMENT_WORDS_MIN = 16 };

/* ---- checks ---- */

static swp_status check_windows(const swp_sweep_request *request, uint64_t bars_count, swp_error *error)
{
    for (uint64_t i = 0; i < request->windows_count; i++) {
        const swp_window *w = &request->windows[i];
        if (w->warm > w->begin || w->begin >= w->end || w->end > bars_count) {
            return swp__fail(error, SWP_BAD_PARAM, i,
                             "window %" PRIu64 ": warm %" PRIu64 ", begin %" PRIu64 ", end %" PRIu64
                             ", expected warm <= begin < end <= %" PRIu64 " bars",
                             i, w->warm, w->begin, w->end, bars_count);
        }
    }
    return SWP_OK;
}

static swp_status check_options(const swp_sweep_request *request, swp_error *error)
{
    if (!(fabs(request->fee) <= 100.0)) {
        char text[SWP__NUMBER_SIZE];
        swp__number_format(request->fee, text);
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "fee is %s, expected -100..100 percentage points", text);
    }
    if (request->entry != SWP_ENTRY_FIRST && request->entry != SWP_ENTRY_CROSS) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "entry is %d, expected 0 (first) or 1 (cross)",
                         (int)request->entry);
    }
    if (swp__kernel_get(request->kernel) == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "kernel %d is not known", (int)request->kernel);
    }
    return SWP_OK;
}

static uint64_t windows_of(const swp_sweep_request *request)
{
    return request->windows_count > 0 ? request->windows_count : 1;
}

static swp_status check_rows(const swp_sweep_request *request, uint64_t most, swp_error *error)
{
    uint64_t rows, combos = request->grid.combos_count, windows = windows_of(request);
    bool wraps = __builtin_mul_overflow(combos, windows, &rows);
    if (wraps || rows > most) {
        return swp__fail_limit(error, most, wraps ? UINT64_MAX : rows,
                               "sweep: %" PRIu64 " windows x %" PRIu64 " combos, the limit is %" PRIu64 " results", windows,
                               combos, most);
    }
    return SWP_OK;
}

static swp_status check_columns(const swp__listener *listener, swp_error *error)
{
    if (listener->block != NULL && (listener->columns == 0 || (listener->columns & ~(uint64_t)SWP__ROW_ALL) != 0)) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "columns are %#" PRIx64 ", expected a set of bits 0..7",
                         listener->columns);
    }
    return SWP_OK;
}

swp_status swp__sweep_check(const swp_sweep_request *request, uint64_t bars_count, swp_error *error)
{
    if (request->windows == NULL && request->windows_count > 0) {
        return swp__fail(error, SWP_BAD_PARAM, 3, "sweep: %" PRIu64 " windows at a NULL pointer", request->windows_count);
    }
    swp_status status = swp_grid_check(&request->grid, error);
    status = status == SWP_OK ? check_options(request, error) : status;
    return status == SWP_OK ? check_windows(request, bars_count, error) : status;
}

static swp_status check_request(const swp_engine *engine, const swp_series *series, const swp_sweep_request *request,
                                const swp__listener *listener, swp_error *error)
{
    swp_status status = swp__engine_check_process(engine, error);
    if (status == SWP_OK) {
        status = swp__sweep_check(request, series->bars_count, error);
    }
    if (status == SWP_OK) {
        status = check_columns(listener, error);
    }
    return status != SWP_OK ? status : check_rows(request, engine->limits.max_combos, error);
}

/* ---- sizes ---- */

typedef struct sizes {
    size_t head, parts, slot, chain, segment, part_memory;
    size_t combos, states, rows; /* of a chain */
    size_t words, first_valid;   /* of a segment */
    size_t segments_per_slot;
    size_t slot_with_all; /* a slot, a chain and segments */
    double combo_ns;      /* at most about this for one combo over all windows */
} sizes;

static size_t round_up_64(size_t size)
{
    return (size + 63) / 64 * 64;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static int64_t longest_window(const swp__sweep *plan)
{
    uint64_t longest = 0;
    for (uint64_t i = 0; i < plan->windows_count; i++) {
        longest = most(longest, plan->windows[i].end - plan->windows[i].warm);
    }
    return (int64_t)longest;
}

/* Words for as many bars as the memory of a segment has room for, but not more than there are. */
static void size_segment(swp__sweep *plan, sizes *s, int64_t bars_count)
{
    uint64_t words_most = ((uint64_t)bars_count + SWP__WORD_BARS - 1) / SWP__WORD_BARS;
    uint64_t words = most(SEGMENT_BYTES_MAX / (2 * sizeof(uint64_t) * plan->batch), SEGMENT_WORDS_MIN);
    words = least(words, words_most);
    plan->segment_bars = (int64_t)words * SWP__WORD_BARS;
    s->segments_per_slot = plan->slots_count > 1 ? 2 : 1; /* one found, one waiting for those before it */
    s->words = round_up_64(plan->batch * words * sizeof(uint64_t));
    s->first_valid = round_up_64(plan->batch * sizeof(int64_t));
    s->segment = round_up_64(sizeof(swp__segment)) + 2 * s->words + s->first_valid;
}

/* Threads that can be in the sweep at once: one a chain, or one a unit where threads share chains. */
static uint64_t most_slots(const swp__sweep *plan, double combo_ns)
{
    uint64_t chains = swp__order_chains(&plan->order, plan->combos_count, plan->batch) * plan->windows_count;
    double units = combo_ns * (double)plan->combos_count / SWP__UNIT_NS;
    return plan->kernel->signs != NULL ? most(chains, (uint64_t)fmin(units, SWP__THREADS_MAX) + 1) : chains;
}

/* What one batch needs, from the lists the grid is made of, never from the grid. */
static sizes size_slots(swp__sweep *plan)
{
    int64_t bars_count = longest_window(plan);
    swp_params largest = swp__grid_largest(&plan->request.grid, bars_count);
    swp_params combos[SWP__BATCH_MAX];
    for (size_t i = 0; i < plan->batch; i++) {
        combos[i] = largest;
    }
    sizes s = {
        .head = round_up_64(sizeof *plan),
        .combos = round_up_64(plan->batch * sizeof(swp_params)),
        .states = round_up_64(plan->batch * sizeof(swp__trade_state)),
        .rows = round_up_64(plan->batch * sizeof(uint64_t)),
        .combo_ns =
            plan->kernel->cost_ns(combos, plan->batch) / (double)plan->batch * (double)bars_count * (double)plan->windows_count,
    };
    plan->slots_count = (uint32_t)least(plan->slots_count, most_slots(plan, s.combo_ns));
    s.slot = round_up_64(sizeof(swp__slot)) + plan->kernel->scratch_size(bars_count, &largest, plan->batch);
    s.chain = round_up_64(sizeof(swp__chain)) + s.combos + s.states + s.rows;
    if (plan->kernel->signs != NULL) {
        size_segment(plan, &s, bars_count);
    }
    s.slot_with_all = s.slot + s.chain + s.segments_per_slot * s.segment;
    return s;
}

/* Combos a block: what its bytes hold, and not more than its threads do in BLOCK_NS, but a batch for each. */
static swp_status size_parts(swp__sweep *plan, sizes *s, swp_error *error)
{
    plan->part_combos = plan->combos_count;
    plan->parts_count = 1;
    if (plan->listener.block != NULL) {
        const swp__limits *limits = &plan->engine->limits;
        uint64_t combo_bytes = plan->windows_count * 8 * (uint64_t)__builtin_popcountll(plan->listener.columns);
        if (combo_bytes > limits->max_block_bytes) {
            return swp__fail_limit(error, limits->max_block_bytes, combo_bytes,
                                   "sweep: the results of one combo are %" PRIu64 " bytes, the limit of a block is %" PRIu64,
                                   combo_bytes, limits->max_block_bytes);
        }
        uint64_t timely = (uint64_t)fmin(BLOCK_NS / s->combo_ns, 1e15) * plan->slots_count;
        uint64_t combos = least(limits->max_block_bytes / combo_bytes, most(timely, plan->batch * plan->slots_count));
        combos = combos > plan->batch ? combos / plan->batch * plan->batch : combos;
        plan->part_combos = least(swp__order_run(&plan->order, combos), plan->combos_count);
        plan->parts_count = (uint32_t)least(limits->max_blocks, (plan->combos_count - 1) / plan->part_combos + 1);
        s->part_memory = round_up_64(plan->part_combos * combo_bytes);
    }
    s->parts = plan->parts_count * round_up_64(sizeof(swp__part));
    return SWP_OK;
}

/* Takes a place among the sweeps in progress and `block_size` of their memory; with fewer slots where the memory is
 * short. */
static swp_status reserve(swp__sweep *plan, const sizes *s, swp_error *error)
{
    swp_engine *engine = plan->engine;
    swp__engine_counters *counters = &engine->counters;
    size_t fixed = s->head + s->parts + plan->parts_count * s->part_memory;
    swp_status status = SWP_OK;
    pthread_mutex_lock(&engine->lock);
    uint64_t left = engine->limits.max_sweep_memory - counters->sweep_bytes;
    if (counters->sweeps_running >= engine->limits.max_sweeps) {
        status = swp__fail_limit(error, engine->limits.max_sweeps, counters->sweeps_running + 1,
                                 "sweep: %" PRIu64 " are in progress, which is the limit", counters->sweeps_running);
    } else if (left < fixed || left - fixed < s->slot_with_all) {
        status = swp__fail_limit(error, engine->limits.max_sweep_memory, counters->sweep_bytes + fixed + s->slot_with_all,
                                 "sweep: needs %zu bytes, sweeps in progress use %" PRIu64 " of %" PRIu64,
                                 fixed + s->slot_with_all, counters->sweep_bytes, engine->limits.max_sweep_memory);
    } else {
        plan->slots_count = (uint32_t)least(plan->slots_count, (left - fixed) / s->slot_with_all);
        plan->block_size = fixed + plan->slots_count * s->slot_with_all;
        counters->sweeps_running++;
        counters->sweep_bytes += plan->block_size;
    }
    pthread_mutex_unlock(&engine->lock);
    return status;
}

static void unreserve(swp_engine *engine, size_t block_size)
{
    pthread_mutex_lock(&engine->lock);
    engine->counters.sweeps_running--;
    engine->counters.sweep_bytes -= block_size;
    pthread_mutex_unlock(&engine->lock);
}

/* ---- making ---- */

/* Combos a chain: as many as the kernel does best with; where threads cannot share a chain, no fewer chains than
 * threads. */
static size_t chain_batch(const swp__kernel *kernel, uint64_t combos_count, uint64_t windows_count, uint64_t threads)
{
    uint64_t chains_wanted = kernel->signs != NULL ? 1 : (threads - 1) / windows_count + 1;
    uint64_t share = (combos_count - 1) / chains_wanted + 1;
    return (size_t)least(kernel->batch, share);
}

static swp__sweep plan_sweep(swp_engine *engine, const swp_series *series, const swp_sweep_request *request,
                             const swp_sweep_result *result, const swp__listener *listener)
{
    const swp__kernel *kernel = listener->trade != NULL ? &swp__hma_cross_strict : swp__kernel_get(request->kernel);
    swp__sweep plan = {
        .engine = engine,
        .request = *request,
        .listener = *listener,
        .whole = {0, 0, series->bars_count},
        .close = series->close,
        .windows = request->windows,
        .windows_count = windows_of(request),
        .kernel = kernel,
        .exec = {.fee = request->fee, .entry = request->entry},
        .combos_count = request->grid.combos_count,
        .pace = 1.0,
    };
    if (result != NULL) {
        plan.result = *result;
    }
    uint64_t threads = request->max_threads != 0 ? least(request->max_threads, engine->threads) : engine->threads;
    plan.batch = chain_batch(kernel, plan.combos_count, plan.windows_count, threads);
    plan.order = swp__order_of(&plan.request.grid, plan.batch);
    plan.slots_count = (uint32_t)threads;
    return plan;
}

/* ---- laying out: one block of memory ---- */

static void *take(char **at, size_t size)
{
    void *here = *at;
    *at += round_up_64(size);
    return here;
}

static void lay_out_slot(swp__sweep *sweep, const sizes *s, char **at)
{
    char *end = *at + s->slot;
    swp__slot *slot = take(at, sizeof *slot);
    *slot = (swp__slot){.sweep = sweep, .next = sweep->idle, .scratch = *at};
    sweep->idle = slot;
    *at = end;
    swp__chain *chain = take(at, sizeof *chain);
    *chain = (swp__chain){.next = sweep->chains};
    chain->combos = take(at, s->combos);
    chain->states = take(at, s->states);
    chain->rows = take(at, s->rows);
    sweep->chains = chain;
}

static void lay_out_segment(swp__sweep *sweep, const sizes *s, char **at)
{
    swp__segment *segment = take(at, sizeof *segment);
    *segment = (swp__segment){.next = sweep->segments};
    segment->signs.up = take(at, s->words);
    segment->signs.down = take(at, s->words);
    segment->signs.first_valid = take(at, s->first_valid);
    segment->signs.stride = (size_t)sweep->segment_bars / SWP__WORD_BARS;
    sweep->segments = segment;
}

static swp__sweep *lay_out(const swp__sweep *plan, const sizes *s, char *at)
{
    swp__sweep *sweep = take(&at, s->head);
    *sweep = *plan;
    if (sweep->request.windows_count == 0) {
        sweep->windows = &sweep->whole;
    }
    for (size_t i = 0; i < plan->slots_count; i++) {
        lay_out_slot(sweep, s, &at);
    }
    for (size_t i = 0; i < plan->slots_count * s->segments_per_slot; i++) {
        lay_out_segment(sweep, s, &at);
    }
    char *memory = at + s->parts;
    for (uint32_t i = 0; i < plan->parts_count; i++) {
        swp__part *part = take(&at, sizeof *part);
        *part = (swp__part){.sweep = sweep, .next = sweep->parts};
        if (s->part_memory > 0) {
            part->block.columns = part->memory = memory + i * s->part_memory;
        }
        sweep->parts = part;
    }
    pthread_cond_init(&sweep->changed, NULL);
    return sweep;
}

/* Threads that will have something to do, by an estimate that is rather high. */
static uint32_t useful_threads(const swp__sweep *sweep, const sizes *s)
{
    double units = s->combo_ns * (double)sweep->combos_count / SWP__UNIT_NS;
    return (uint32_t)most(1, least(sweep->slots_count, (uint64_t)fmin(units, SWP__THREADS_MAX)));
}

/* Checked, sized and allocated; *useful is how many threads will have something to do. */
static swp_status make_sweep(swp_engine *engine, const swp_series *series, const swp_sweep_request *request,
                             const swp_sweep_result *result, const swp__listener *listener, swp__sweep **made, uint32_t *useful,
                             swp_error *error)
{
    swp_status status = check_request(engine, series, request, listener, error);
    if (status != SWP_OK) {
        return status;
    }
    swp__sweep plan = plan_sweep(engine, series, request, result, listener);
    if (plan.request.windows_count == 0) {
        plan.windows = &plan.whole;
    }
    sizes s = size_slots(&plan);
    status = size_parts(&plan, &s, error);
    if (status == SWP_OK) {
        status = reserve(&plan, &s, error);
    }
    if (status != SWP_OK) {
        return status;
    }
    char *memory = swp__alloc(&engine->allocator, 1, plan.block_size);
    if (memory == NULL) {
        unreserve(engine, plan.block_size);
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "sweep: no memory for %" PRIu32 " threads, %zu bytes",
                         plan.slots_count, plan.block_size);
    }
    *made = lay_out(&plan, &s, memory);
    (*made)->useful_threads = *useful = useful_threads(*made, &s);
    return SWP_OK;
}

void swp__sweep_free(swp__sweep *sweep)
{
    if (sweep == NULL) {
        return;
    }
    swp_engine *engine = sweep->engine;
    size_t block_size = sweep->block_size;
    assert(sweep->running == 0 && sweep->parts_out == 0);
    pthread_cond_destroy(&sweep->changed);
    swp__free(&engine->allocator, sweep, 1, block_size);
    unreserve(engine, block_size);
}

/* ---- started ---- */

/* Enters the ring with threads to run it; false when there is none and none can be had. A caller that helps leaves after a
 * unit: the last thread is woken then, if there is something left for it. */
static bool set_off(swp__sweep *sweep, uint32_t useful)
{
    swp_engine *engine = sweep->engine;
    bool has_thread = engine->stepped || swp__engine_want_workers(engine, useful) > 0;
    if (has_thread) {
        sweep->progress_ns = sweep->request.progress != NULL ? swp__now_ns(&engine->clock) : 0;
        swp__enter_ring(sweep);
        swp__engine_wake(engine, useful - (sweep->listener.caller_helps ? 1 : 0));
    }
    return has_thread;
}

static swp_status check_arguments(const void *const *pointers, size_t count, swp_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (pointers[i] == NULL) {
            return swp__fail(error, SWP_BAD_PARAM, i + 1, "sweep: NULL pointer");
        }
    }
    return SWP_OK;
}

swp_status swp__sweep_start(swp_engine *engine, const swp_series *series, const swp_sweep_request *request,
                            const swp_sweep_result *result, const swp__listener *listener, swp__sweep **sweep, swp_error *error)
{
    assert(listener->done != NULL &&
           (listener->block != NULL || listener->trade != NULL || listener->states != NULL || result != NULL));
    assert(listener->trade == NULL || (request->grid.combos_count == 1 && request->windows_count <= 1));
    swp__sweep *made;
    uint32_t useful;
    swp_status status = make_sweep(engine, series, request, result, listener, &made, &useful, error);
    if (status != SWP_OK) {
        return status;
    }
    *sweep = made;
    uint64_t saved = swp__fpenv_enter();
    pthread_mutex_lock(&engine->lock);
    bool is_off = set_off(made, useful);
    if (is_off && listener->caller_helps) {
        swp__turn_of(made); /* which may have been its last */
        swp__wake_if_more(engine);
    }
    pthread_mutex_unlock(&engine->lock);
    swp__fpenv_leave(saved);
    if (!is_off) {
        *sweep = NULL;
        swp__sweep_free(made);
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "sweep: no thread can be started");
    }
    return SWP_OK;
}

void swp_cancel_request(swp_cancel *cancel)
{
    __atomic_store_n(&cancel->requested, 1, __ATOMIC_RELAXED);
}

void swp__sweep_cancel(swp__sweep *sweep)
{
    swp_engine *engine = sweep->engine;
    swp_cancel_request(&sweep->cancel);
    pthread_mutex_lock(&engine->lock);
    swp__engine_wake(engine, 1); /* to end it, when no thread is in it */
    pthread_mutex_unlock(&engine->lock);
}

uint64_t swp__sweep_progress(swp__sweep *sweep, uint64_t *rows_count)
{
    pthread_mutex_lock(&sweep->engine->lock);
    uint64_t rows_done = sweep->rows_done;
    pthread_mutex_unlock(&sweep->engine->lock);
    *rows_count = sweep->combos_count * sweep->windows_count;
    return rows_done;
}

/* ---- waited for ---- */

/* The calling thread's part: units of this sweep until all are done, or cancelled and everybody is out of it. */
static void work_to_the_end(swp__sweep *sweep, uint32_t useful)
{
    swp_engine *engine = sweep->engine;
    sweep->progress_ns = sweep->request.progress != NULL ? swp__now_ns(&engine->clock) : 0;
    pthread_mutex_lock(&engine->lock);
    swp__enter_ring(sweep);
    if (!engine->stepped) {
        swp__engine_want_workers(engine, useful - 1);
        swp__engine_wake(engine, useful - 1);
    }
    while (!swp__sweep_is_over(sweep)) {
        if (!swp__turn_of(sweep) && sweep->running > 0) {
            pthread_cond_wait(&sweep->changed, &engine->lock);
        }
        swp__report_progress(sweep, false);
    }
    swp__leave_ring(sweep);
    swp__report_progress(sweep, true);
    pthread_mutex_unlock(&engine->lock);
}

/* A sweep of a checked request, whose caller works at it. */
static swp_status run_to_the_end(swp__sweep *sweep, uint32_t useful, swp_error *error)
{
    uint64_t saved = swp__fpenv_enter();
    work_to_the_end(sweep, useful);
    swp__fpenv_leave(saved);
    bool complete = sweep->combos_done == sweep->combos_count;
    swp__sweep_free(sweep);
    return complete ? SWP_OK : swp__fail(error, SWP_CANCELLED, SWP_AT_NONE, "sweep: cancelled");
}

swp_status swp__sweep_states(swp_engine *engine, const swp_series *series, const swp_sweep_request *request,
                             swp__trade_state *states, swp_error *error)
{
    const swp__listener listener = {.states = states};
    swp__sweep *sweep;
    uint32_t useful;
    swp_status status = make_sweep(engine, series, request, NULL, &listener, &sweep, &useful, error);
    return status == SWP_OK ? run_to_the_end(sweep, useful, error) : status;
}

swp_status swp_sweep(swp_engine *engine, const swp_series *series, const swp_sweep_request *request,
                     const swp_sweep_result *result, swp_error *error)
{
    static const swp__listener nobody;
    const void *const pointers[] = {engine, series, request, result};
    swp__sweep *sweep;
    uint32_t useful;
    swp_status status = check_arguments(pointers, 4, error);
    if (status == SWP_OK) {
        status = make_sweep(engine, series, request, result, &nobody, &sweep, &useful, error);
    }
    if (status != SWP_OK) {
        return status;
    }
    swp__rows_clear(result, sweep->combos_count * sweep->windows_count);
    return run_to_the_end(sweep, useful, error);
}
