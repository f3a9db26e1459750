/* One sweep: checked, cut into chains and units, run by the pool and the caller, written to the caller's arrays.
 * engine.h has the picture. */
#include "engine/sweep.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "base/error.h"
#include "base/fpenv.h"
#include "base/host.h"
#include "engine/series.h"
#include "kernel/hma_cross.h"
#include "kernel/params.h"

#define UNIT_NS 1e6                      /* work a thread does before it looks at the other sweeps */
#define ROWS_MAX (UINT64_C(1) << 40)     /* windows x combos */
#define PROGRESS_NS UINT64_C(100000000)  /* between two calls of progress */

struct swp__slot {
    swp__sweep *sweep;
    swp__slot *next; /* in the sweep's free or ready list */
    uint64_t chain;
    swp__slice slice;
    int64_t bar;      /* where the chain goes on; 0: not begun */
    int64_t unit_bars;
    bool finished;
    size_t combos_count;       /* of the batch that have bars enough */
    swp_params *combos;        /* [batch] */
    swp__trade_state *states;  /* [batch] */
    uint64_t *rows;            /* [batch] where each combo's numbers go */
    void *scratch;
};

struct swp__sweep {
    swp_engine *engine;
    const swp_sweep_request *request;
    const swp_sweep_result *result;
    const double *close;
    const swp_window *windows;
    uint64_t windows_count;
    const swp__kernel *kernel;
    swp__exec exec;
    size_t batch;           /* combos a chain */
    uint64_t window_chains; /* chains a window */

    /* guarded by engine->lock */
    swp__sweep *next, *previous; /* in the engine's ring */
    pthread_cond_t changed;      /* a slot came back; only the sweep's caller waits */
    uint64_t chains_count, next_chain, chains_finished;
    uint64_t rows_done;
    uint32_t running; /* slots taken and not given back */
    swp__slot *ready; /* chains in progress nobody works on */
    swp__slot *idle;  /* slots without a chain */

    /* one block of memory behind the sweep itself */
    size_t block_size;
};

void swp_cancel_request(swp_cancel *cancel)
{
    __atomic_store_n(&cancel->requested, 1, __ATOMIC_RELAXED);
}

static bool cancelled(const swp__sweep *sweep)
{
    const swp_cancel *cancel = sweep->request->cancel;
    return cancel != NULL && __atomic_load_n(&cancel->requested, __ATOMIC_RELAXED) != 0;
}

/* ---- a chain ---- */

static swp__slice window_slice(const double *close, const swp_window *window)
{
    return (swp__slice){
        .close = close + window->warm,
        .bars_count = (int64_t)(window->end - window->warm),
        .trade_from = (int64_t)(window->begin - window->warm),
    };
}

static double canonical(double value)
{
    return isnan(value) ? (double)NAN : value;
}

static double last_number(const swp__slice *slice)
{
    int64_t bar = slice->bars_count - 1;
    while (bar > 0 && isnan(slice->close[bar])) {
        bar--;
    }
    return slice->close[bar];
}

static int64_t absolute(int64_t bar, const swp_window *window)
{
    return bar < 0 ? -1 : bar + (int64_t)window->warm;
}

static void write_row(const swp_sweep_result *r, uint64_t row, const swp__trade_state *s, const swp__slice *slice,
                      const swp_window *window)
{
    bool open = s->position != 0;
    double last = open ? last_number(slice) : 0.0;
    if (r->pnl != NULL) {
        r->pnl[row] = canonical(s->pnl);
    }
    if (r->trades != NULL) {
        r->trades[row] = s->trades;
    }
    if (r->first_bar != NULL) {
        r->first_bar[row] = absolute(s->first_bar, window);
    }
    if (r->open_side != NULL) {
        r->open_side[row] = s->position;
    }
    if (r->open_entry_bar != NULL) {
        r->open_entry_bar[row] = absolute(s->entry_bar, window);
    }
    if (r->open_entry != NULL) {
        r->open_entry[row] = s->entry;
    }
    if (r->open_last != NULL) {
        r->open_last[row] = last;
    }
    if (r->open_pnl != NULL) {
        r->open_pnl[row] = open ? canonical((double)s->position * (last - s->entry) / s->entry * 100.0) : 0.0;
    }
    if (r->finished != NULL) {
        r->finished[row] = 1;
    }
}

static const swp_window *slot_window(const swp__slot *slot)
{
    return &slot->sweep->windows[slot->chain / slot->sweep->window_chains];
}

/* Expands the chain's combos. One that needs more bars than there are is written at once: it never trades. */
static void begin_chain(swp__slot *slot)
{
    const swp__sweep *sweep = slot->sweep;
    const swp_window *window = slot_window(slot);
    uint64_t combos_count = sweep->request->grid.combos_count;
    uint64_t first = slot->chain % sweep->window_chains * sweep->batch;
    uint64_t end = combos_count - first < sweep->batch ? combos_count : first + sweep->batch;
    uint64_t first_row = slot->chain / sweep->window_chains * combos_count;
    slot->slice = window_slice(sweep->close, window);
    slot->combos_count = 0;
    for (uint64_t i = first; i < end; i++) {
        swp_params combo = swp_grid_at(&sweep->request->grid, i);
        size_t kept = slot->combos_count;
        swp__trade_state_init(&slot->states[kept]);
        if (swp_params_bars_needed(&combo) > slot->slice.bars_count) {
            write_row(sweep->result, first_row + i, &slot->states[kept], &slot->slice, window);
            continue;
        }
        slot->combos[kept] = combo;
        slot->rows[kept] = first_row + i;
        slot->combos_count++;
    }
    if (slot->combos_count == 0) {
        slot->bar = slot->slice.bars_count;
        return;
    }
    int64_t quantum = sweep->kernel->quantum_bars(&slot->slice, slot->combos, slot->combos_count);
    double bars = UNIT_NS / sweep->kernel->cost_ns(slot->combos, slot->combos_count);
    int64_t quanta = (int64_t)fmin(bars, 1e15) / quantum;
    slot->unit_bars = quantum * (quanta > 1 ? quanta : 1);
}

static void finish_chain(swp__slot *slot)
{
    for (size_t i = 0; i < slot->combos_count; i++) {
        write_row(slot->sweep->result, slot->rows[i], &slot->states[i], &slot->slice, slot_window(slot));
    }
    slot->finished = true;
}

void swp__slot_run(swp__slot *slot)
{
    const swp__sweep *sweep = slot->sweep;
    if (slot->bar == 0) {
        begin_chain(slot);
    }
    int64_t bars_left = slot->slice.bars_count - slot->bar;
    if (bars_left > 0) {
        int64_t to = bars_left <= slot->unit_bars ? slot->slice.bars_count : slot->bar + slot->unit_bars;
        sweep->kernel->run(&slot->slice, &sweep->exec, slot->combos, slot->combos_count, slot->bar, to, slot->states,
                           slot->scratch);
        slot->bar = to;
    }
    if (slot->bar == slot->slice.bars_count) {
        finish_chain(slot);
    }
}

/* ---- taking turns; everything here runs under engine->lock ---- */

static swp__slot *pop(swp__slot **list)
{
    swp__slot *slot = *list;
    *list = slot->next;
    return slot;
}

static void push(swp__slot **list, swp__slot *slot)
{
    slot->next = *list;
    *list = slot;
}

swp__slot *swp__sweep_take(swp__sweep *sweep)
{
    swp__slot *slot;
    if (cancelled(sweep)) {
        return NULL;
    }
    if (sweep->ready != NULL) {
        slot = pop(&sweep->ready);
    } else if (sweep->idle != NULL && sweep->next_chain < sweep->chains_count) {
        slot = pop(&sweep->idle);
        slot->chain = sweep->next_chain++;
        slot->bar = 0;
        slot->finished = false;
    } else {
        return NULL;
    }
    sweep->running++;
    return slot;
}

static uint64_t chain_rows(const swp__sweep *sweep, uint64_t chain)
{
    uint64_t first = chain % sweep->window_chains * sweep->batch;
    uint64_t left = sweep->request->grid.combos_count - first;
    return left < sweep->batch ? left : sweep->batch;
}

void swp__slot_give_back(swp__slot *slot)
{
    swp__sweep *sweep = slot->sweep;
    sweep->running--;
    if (slot->finished) {
        sweep->chains_finished++;
        sweep->rows_done += chain_rows(sweep, slot->chain);
        push(&sweep->idle, slot);
    } else {
        push(&sweep->ready, slot);
    }
    pthread_cond_signal(&sweep->changed);
}

swp__slot *swp__engine_take(swp_engine *engine)
{
    swp__sweep *first = engine->sweeps;
    if (first == NULL) {
        return NULL;
    }
    swp__sweep *sweep = first;
    do {
        engine->sweeps = sweep->next;
        swp__slot *slot = swp__sweep_take(sweep);
        if (slot != NULL) {
            return slot;
        }
        sweep = sweep->next;
    } while (sweep != first);
    return NULL;
}

static void enter_ring(swp__sweep *sweep)
{
    swp__sweep *head = sweep->engine->sweeps;
    if (head == NULL) {
        sweep->next = sweep->previous = sweep;
        sweep->engine->sweeps = sweep;
        return;
    }
    sweep->next = head;
    sweep->previous = head->previous;
    head->previous->next = sweep;
    head->previous = sweep;
}

static void leave_ring(swp__sweep *sweep)
{
    if (sweep->next == sweep) {
        sweep->engine->sweeps = NULL;
        return;
    }
    sweep->previous->next = sweep->next;
    sweep->next->previous = sweep->previous;
    if (sweep->engine->sweeps == sweep) {
        sweep->engine->sweeps = sweep->next;
    }
}

/* ---- the whole ---- */

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

static swp_status check_request(const swp_sweep_request *request, uint64_t bars_count, swp_error *error)
{
    swp_status status = swp_grid_check(&request->grid, error);
    if (status != SWP_OK) {
        return status;
    }
    if (!(fabs(request->fee) <= 100.0)) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "fee is %.17g, expected -100..100 percentage points",
                         request->fee);
    }
    if (request->entry != SWP_ENTRY_FIRST && request->entry != SWP_ENTRY_CROSS) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "entry is %d, expected 0 (first) or 1 (cross)",
                         (int)request->entry);
    }
    if (swp__kernel_get(request->kernel) == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "kernel %d is not known", (int)request->kernel);
    }
    status = check_windows(request, bars_count, error);
    if (status != SWP_OK) {
        return status;
    }
    uint64_t windows_count = request->windows_count > 0 ? request->windows_count : 1, rows;
    if (__builtin_mul_overflow(request->grid.combos_count, windows_count, &rows) || rows > ROWS_MAX) {
        return swp__fail_limit(error, ROWS_MAX, request->grid.combos_count,
                               "%" PRIu64 " windows x %" PRIu64 " combos are more than 2^40 results", windows_count,
                               request->grid.combos_count);
    }
    return SWP_OK;
}

static int64_t longest_window(const swp__sweep *sweep)
{
    uint64_t longest = 0;
    for (uint64_t i = 0; i < sweep->windows_count; i++) {
        uint64_t bars_count = sweep->windows[i].end - sweep->windows[i].warm;
        longest = bars_count > longest ? bars_count : longest;
    }
    return (int64_t)longest;
}

/* Scratch that is enough for every chain: from the lists a grid is made of, never from the grid. */
static size_t scratch_size(const swp__sweep *sweep)
{
    int64_t bars_count = longest_window(sweep);
    swp_params largest = swp__grid_largest(&sweep->request->grid, bars_count);
    return sweep->kernel->scratch_size(bars_count, &largest, sweep->batch);
}

static size_t round_up_64(size_t size)
{
    return (size + 63) / 64 * 64;
}

/* One block: the sweep, then for each slot the slot and its arrays. NULL: no memory. */
static swp__sweep *make_sweep(const swp__sweep *plan, uint32_t slots_count)
{
    size_t head = round_up_64(sizeof *plan);
    size_t slot_head = round_up_64(sizeof(swp__slot));
    size_t combos = round_up_64(plan->batch * sizeof(swp_params));
    size_t states = round_up_64(plan->batch * sizeof(swp__trade_state));
    size_t rows = round_up_64(plan->batch * sizeof(uint64_t));
    size_t slot_size = slot_head + combos + states + rows + scratch_size(plan);
    size_t block_size = head + slots_count * slot_size;
    char *block = swp__alloc(&plan->engine->allocator, 1, block_size);
    if (block == NULL) {
        return NULL;
    }
    swp__sweep *sweep = (swp__sweep *)block;
    *sweep = *plan;
    sweep->block_size = block_size;
    for (uint32_t i = 0; i < slots_count; i++) {
        char *at = block + head + i * slot_size;
        swp__slot *slot = (swp__slot *)at;
        *slot = (swp__slot){.sweep = sweep};
        slot->combos = (swp_params *)(at += slot_head);
        slot->states = (swp__trade_state *)(at += combos);
        slot->rows = (uint64_t *)(at += states);
        slot->scratch = at + rows;
        push(&sweep->idle, slot);
    }
    pthread_cond_init(&sweep->changed, NULL);
    return sweep;
}

static void clear_column(void *column, uint64_t rows, size_t size)
{
    if (column != NULL) {
        memset(column, 0, rows * size);
    }
}

static void clear_result(const swp_sweep_result *r, uint64_t rows)
{
    clear_column(r->pnl, rows, sizeof *r->pnl);
    clear_column(r->trades, rows, sizeof *r->trades);
    clear_column(r->first_bar, rows, sizeof *r->first_bar);
    clear_column(r->open_side, rows, sizeof *r->open_side);
    clear_column(r->open_entry_bar, rows, sizeof *r->open_entry_bar);
    clear_column(r->open_entry, rows, sizeof *r->open_entry);
    clear_column(r->open_last, rows, sizeof *r->open_last);
    clear_column(r->open_pnl, rows, sizeof *r->open_pnl);
    clear_column(r->finished, rows, sizeof *r->finished);
}

static void report_progress(const swp__sweep *sweep, uint64_t rows_done, uint64_t *last_ns, bool final)
{
    const swp_sweep_request *request = sweep->request;
    if (request->progress == NULL) {
        return;
    }
    uint64_t now = swp__now_ns(&sweep->engine->clock);
    if (final || now - *last_ns >= PROGRESS_NS) {
        *last_ns = now;
        request->progress(request->progress_context, rows_done, request->grid.combos_count * sweep->windows_count);
    }
}

/* The calling thread's part: units of this sweep until all are done, or cancelled and everybody is out of it. */
static void work_to_the_end(swp__sweep *sweep)
{
    swp_engine *engine = sweep->engine;
    uint64_t last_ns = sweep->request->progress != NULL ? swp__now_ns(&engine->clock) : 0;
    pthread_mutex_lock(&engine->lock);
    while (sweep->chains_finished < sweep->chains_count && !(cancelled(sweep) && sweep->running == 0)) {
        swp__slot *slot = swp__sweep_take(sweep);
        if (slot == NULL && sweep->running > 0) {
            pthread_cond_wait(&sweep->changed, &engine->lock);
        }
        uint64_t rows_done = sweep->rows_done;
        pthread_mutex_unlock(&engine->lock);
        if (slot != NULL) {
            swp__slot_run(slot);
        }
        report_progress(sweep, rows_done, &last_ns, false);
        pthread_mutex_lock(&engine->lock);
        if (slot != NULL) {
            swp__slot_give_back(slot);
        }
    }
    uint64_t rows_done = sweep->rows_done;
    leave_ring(sweep);
    pthread_mutex_unlock(&engine->lock);
    report_progress(sweep, rows_done, &last_ns, true);
}

static uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

/* Combos a chain: as many as the kernel does best with, but no fewer chains than threads where there are combos enough. */
static size_t chain_batch(const swp__kernel *kernel, uint64_t combos_count, uint64_t windows_count, uint32_t threads)
{
    uint64_t chains_wanted = (threads + windows_count - 1) / windows_count;
    uint64_t share = (combos_count + chains_wanted - 1) / chains_wanted;
    return least(kernel->batch, share);
}

swp_status swp_sweep(swp_engine *engine, const swp_series *series, const swp_sweep_request *request,
                     const swp_sweep_result *result, swp_error *error)
{
    if (engine == NULL || series == NULL || request == NULL || result == NULL) {
        uint64_t at = engine == NULL ? 1 : series == NULL ? 2 : request == NULL ? 3 : 4;
        return swp__fail(error, SWP_BAD_PARAM, at, "sweep: NULL pointer");
    }
    swp_status status = check_request(request, series->bars_count, error);
    if (status != SWP_OK) {
        return status;
    }
    const swp_window whole = {0, 0, series->bars_count};
    const swp__kernel *kernel = swp__kernel_get(request->kernel);
    uint64_t combos_count = request->grid.combos_count;
    swp__sweep plan = {
        .engine = engine,
        .request = request,
        .result = result,
        .close = series->close,
        .windows = request->windows_count > 0 ? request->windows : &whole,
        .windows_count = request->windows_count > 0 ? request->windows_count : 1,
        .kernel = kernel,
        .exec = {.fee = request->fee, .entry = request->entry},
    };
    uint32_t threads = request->max_threads != 0 ? least(request->max_threads, engine->threads) : engine->threads;
    plan.batch = chain_batch(kernel, combos_count, plan.windows_count, threads);
    plan.window_chains = (combos_count + plan.batch - 1) / plan.batch;
    plan.chains_count = plan.window_chains * plan.windows_count;
    uint32_t slots_count = least(threads, plan.chains_count);
    swp__sweep *sweep = make_sweep(&plan, slots_count);
    if (sweep == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "sweep: no memory for %" PRIu32 " threads", slots_count);
    }
    clear_result(result, combos_count * plan.windows_count);

    uint64_t saved = swp__fpenv_enter();
    pthread_mutex_lock(&engine->lock);
    enter_ring(sweep);
    swp__engine_want_workers(engine, slots_count - 1);
    pthread_mutex_unlock(&engine->lock);
    work_to_the_end(sweep);
    swp__fpenv_leave(saved);

    bool complete = sweep->chains_finished == sweep->chains_count;
    pthread_cond_destroy(&sweep->changed);
    swp__free(&engine->allocator, sweep, 1, sweep->block_size);
    return complete ? SWP_OK : swp__fail(error, SWP_CANCELLED, SWP_AT_NONE, "sweep: cancelled");
}
