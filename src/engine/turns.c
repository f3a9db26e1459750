/* Whose turn it is. Every other turn goes to the sweep that has had the fewest units, the turns between go round: a
 * sweep of a few units that comes in behind any number of large ones has its units within twice as many turns, and
 * no sweep waits for ever while others keep coming. */
#include "engine/turns.h"

#include <math.h>
#include "base/host.h"

#define PROGRESS_NS UINT64_C(100000000) /* between two calls of progress */
#define CLAIM_MAX 1024                  /* chains a slot claims at once */
#define PACE_MAX 64.0

bool swp__sweep_is_cancelled(const swp__sweep *sweep)
{
    const swp_cancel *asked = sweep->request.cancel;
    return __atomic_load_n(&sweep->cancel.requested, __ATOMIC_RELAXED) != 0 ||
           (asked != NULL && __atomic_load_n(&asked->requested, __ATOMIC_RELAXED) != 0);
}

bool swp__sweep_is_over(const swp__sweep *sweep)
{
    return sweep->running == 0 && (sweep->combos_done == sweep->combos_count || swp__sweep_is_cancelled(sweep));
}

static bool is_started(const swp__sweep *sweep)
{
    return sweep->listener.done != NULL;
}

/* ---- the ring ---- */

void swp__enter_ring(swp__sweep *sweep)
{
    swp_engine *engine = sweep->engine;
    swp__sweep *head = engine->sweeps;
    engine->counters.sweeps_started++;
    if (head == NULL) {
        sweep->next = sweep->previous = sweep;
        engine->sweeps = sweep;
        return;
    }
    sweep->next = head;
    sweep->previous = head->previous;
    head->previous->next = sweep;
    head->previous = sweep;
}

static void count_end(swp_engine *engine, const swp__sweep *sweep)
{
    if (sweep->combos_done == sweep->combos_count) {
        engine->counters.sweeps_finished++;
    } else {
        engine->counters.sweeps_cancelled++;
    }
}

void swp__leave_ring(swp__sweep *sweep)
{
    swp_engine *engine = sweep->engine;
    count_end(engine, sweep);
    if (sweep->next == sweep) {
        engine->sweeps = NULL;
        return;
    }
    sweep->previous->next = sweep->next;
    sweep->next->previous = sweep->previous;
    if (engine->sweeps == sweep) {
        engine->sweeps = sweep->next;
    }
}

static bool has_chain(const swp__sweep *sweep)
{
    const swp__part *filling = sweep->filling;
    return (filling != NULL && filling->next_chain < filling->chains_count) ||
           (sweep->parts != NULL && sweep->next_combo < sweep->combos_count);
}

static bool has_unit(const swp__sweep *sweep)
{
    if (swp__sweep_is_cancelled(sweep) || (sweep->segment_bars > 0 && sweep->segments == NULL)) {
        return false;
    }
    bool has_new = sweep->chains != NULL && has_chain(sweep);
    return sweep->ready != NULL || (sweep->idle != NULL && (sweep->open != NULL || has_new));
}

/* A started sweep that was cancelled while no thread was in it has one more turn: its end. */
static bool has_turn(const swp__sweep *sweep)
{
    return has_unit(sweep) || (is_started(sweep) && swp__sweep_is_over(sweep));
}

static swp__sweep *next_in_ring(swp_engine *engine)
{
    swp__sweep *sweep = engine->sweeps;
    do {
        if (has_turn(sweep)) {
            return sweep;
        }
        sweep = sweep->next;
    } while (sweep != engine->sweeps);
    return NULL;
}

static swp__sweep *least_served(swp_engine *engine)
{
    swp__sweep *least = NULL, *sweep = engine->sweeps;
    do {
        if ((least == NULL || sweep->units_count < least->units_count) && has_turn(sweep)) {
            least = sweep;
        }
        sweep = sweep->next;
    } while (sweep != engine->sweeps);
    return least;
}

static swp__sweep *choose(swp_engine *engine)
{
    if (engine->sweeps == NULL) {
        return NULL;
    }
    engine->least_served_first = !engine->least_served_first;
    if (engine->least_served_first) {
        return least_served(engine);
    }
    swp__sweep *sweep = next_in_ring(engine);
    if (sweep != NULL) {
        engine->sweeps = sweep->next;
    }
    return sweep;
}

void swp__wake_if_more(swp_engine *engine)
{
    if (engine->idle_count > 0 && engine->sweeps != NULL && next_in_ring(engine) != NULL) {
        swp__engine_wake(engine, 1);
    }
}

/* ---- slots and parts ---- */

static swp__slot *pop_slot(swp__slot **list)
{
    swp__slot *slot = *list;
    *list = slot->next;
    return slot;
}

static void push_slot(swp__slot **list, swp__slot *slot)
{
    slot->next = *list;
    *list = slot;
}

static void begin_part(swp__sweep *sweep)
{
    swp__part *part = sweep->parts;
    sweep->parts = part->next;
    sweep->filling = part;
    uint64_t left = sweep->combos_count - sweep->next_combo;
    uint64_t combos_count = left < sweep->part_combos ? left : sweep->part_combos;
    part->block.first_combo = sweep->next_combo;
    part->block.combos_count = combos_count;
    part->window_chains = swp__order_chains(&sweep->order, combos_count, sweep->batch);
    part->chains_count = part->window_chains * sweep->windows_count;
    part->next_chain = part->chains_finished = 0;
    part->result = sweep->result;
    if (part->memory != NULL) {
        uint64_t rows_count = combos_count * sweep->windows_count;
        part->result = swp__rows_over(part->memory, sweep->listener.columns, rows_count);
        part->block.size_bytes = rows_count * 8 * (size_t)__builtin_popcountll(sweep->listener.columns);
    }
    sweep->next_combo += combos_count;
}

/* Chains to claim at once: as many as a unit holds when they are like this slot's last one, but never so many that
 * other threads find none. */
static uint64_t claim_count(const swp__sweep *sweep, const swp__slot *slot)
{
    const swp__part *part = sweep->filling;
    uint64_t left = part->chains_count - part->next_chain;
    if (sweep->useful_threads == 1) {
        return left; /* waking another thread would cost more than the work */
    }
    uint64_t fair = left / (2 * (uint64_t)sweep->slots_count);
    uint64_t cheap = slot->chain_ns > 0.0 ? (uint64_t)fmin(SWP__UNIT_NS / slot->chain_ns, CLAIM_MAX) : 1;
    uint64_t count = fair < cheap ? fair : cheap;
    return count > 1 ? count : 1;
}

/* A slot for new chains. */
static swp__slot *claim_chains(swp__sweep *sweep)
{
    if (sweep->filling == NULL || sweep->filling->next_chain == sweep->filling->chains_count) {
        begin_part(sweep);
    }
    swp__slot *slot = pop_slot(&sweep->idle);
    slot->part = sweep->filling;
    slot->chain_index = slot->part->next_chain;
    slot->chains_end = slot->part->next_chain += claim_count(sweep, slot);
    slot->own = sweep->chains;
    sweep->chains = slot->own->next;
    slot->chain = NULL;
    return slot;
}

/* An idle slot whose scratch is prepared for the chain, if there is one. */
static swp__slot *pop_prepared(swp__sweep *sweep, const swp__chain *chain)
{
    swp__slot **at = &sweep->idle;
    while (*at != NULL && (*at)->prepared_id != chain->id) {
        at = &(*at)->next;
    }
    return pop_slot(*at != NULL ? at : &sweep->idle);
}

/* Bars of an open chain: a unit, but towards its end so little that all threads end together. */
static int64_t claim_bars(const swp__sweep *sweep, const swp__chain *chain)
{
    int64_t left = chain->slice.bars_count - chain->bar;
    double unit = fmin(SWP__UNIT_NS / sweep->pace / chain->bar_ns, 1e15);
    int64_t share = left / (2 * (int64_t)sweep->slots_count);
    int64_t bars = unit < (double)share ? (int64_t)unit : share;
    bars = bars < chain->quantum_bars ? chain->quantum_bars : bars / chain->quantum_bars * chain->quantum_bars;
    bars = bars < sweep->segment_bars ? bars : sweep->segment_bars;
    return bars < left ? bars : left;
}

static void leave_open(swp__sweep *sweep, const swp__chain *chain)
{
    swp__chain **at = &sweep->open;
    while (*at != chain) {
        at = &(*at)->next;
    }
    *at = chain->next;
}

static swp__slot *join_chain(swp__sweep *sweep, swp__chain *chain, swp__segment *segment)
{
    swp__slot *slot = pop_prepared(sweep, chain);
    slot->own = NULL;
    slot->chain = chain;
    slot->part = chain->part;
    segment->chain = chain;
    segment->from = chain->bar;
    segment->to = chain->bar += claim_bars(sweep, chain);
    chain->running++;
    if (chain->bar == chain->slice.bars_count) {
        leave_open(sweep, chain);
    }
    return slot;
}

/* An open chain that no thread is in; else NULL. */
static swp__chain *find_abandoned(const swp__sweep *sweep)
{
    swp__chain *chain = sweep->open;
    while (chain != NULL && chain->running > 0) {
        chain = chain->next;
    }
    return chain;
}

/* What was begun goes first, then chains of one's own: each thread then prepares for one chain at a time. When there
 * are no more, threads join each other's. */
static swp__slot *take_slot(swp__sweep *sweep)
{
    swp__segment *segment = sweep->segments;
    if (segment != NULL) {
        sweep->segments = segment->next;
    }
    swp__slot *slot;
    swp__chain *abandoned;
    if (sweep->ready != NULL) {
        slot = pop_slot(&sweep->ready);
    } else if ((abandoned = find_abandoned(sweep)) != NULL) {
        slot = join_chain(sweep, abandoned, segment);
    } else if (sweep->chains != NULL && has_chain(sweep)) {
        slot = claim_chains(sweep);
    } else {
        slot = join_chain(sweep, sweep->open, segment);
    }
    slot->segment = segment;
    return slot;
}

static void measure_pace(swp__sweep *sweep, const swp__slot *slot)
{
    if (slot->spent_ns > 1e4) {
        double pace = 0.75 * sweep->pace + 0.25 * fmin((double)slot->elapsed_ns / slot->spent_ns, 16.0);
        sweep->pace = fmin(fmax(pace, 1.0), PACE_MAX);
    }
}

static void push_segment(swp__sweep *sweep, swp__segment *segment)
{
    if (segment != NULL) {
        segment->next = sweep->segments;
        sweep->segments = segment;
    }
}

static void push_chain(swp__chain **list, swp__chain *chain)
{
    chain->next = *list;
    *list = chain;
}

static void open_chain(swp__sweep *sweep, swp__chain *chain)
{
    chain->id = ++sweep->opened_count;
    chain->running = 0;
    chain->trading = false;
    chain->traded_bar = 0;
    chain->found = NULL;
    push_chain(&sweep->open, chain);
}

/* After a unit of chains of the slot's own. */
static void settle_own(swp__slot *slot)
{
    swp__sweep *sweep = slot->sweep;
    push_segment(sweep, slot->segment);
    if (slot->opens) {
        open_chain(sweep, slot->own);
        slot->own = NULL;
        slot->chain_index++;
    } else if (slot->chain_index == slot->chains_end) {
        push_chain(&sweep->chains, slot->own);
        slot->own = NULL;
    }
    push_slot(slot->own == NULL ? &sweep->idle : &sweep->ready, slot);
}

static void insert_found(swp__chain *chain, swp__segment *segment)
{
    swp__segment **at = &chain->found;
    while (*at != NULL && (*at)->from < segment->from) {
        at = &(*at)->next;
    }
    segment->next = *at;
    *at = segment;
}

/* After a unit of signs: they are traded when those before them are, by whoever finds no other thread at it. Unlocks
 * meanwhile. Signs of a cancelled sweep may be anything. */
static void settle_signs(swp__slot *slot)
{
    swp__sweep *sweep = slot->sweep;
    swp__chain *chain = slot->chain;
    chain->running--;
    insert_found(chain, slot->segment);
    while (!swp__sweep_is_cancelled(sweep) && !chain->trading && chain->found != NULL &&
           chain->found->from == chain->traded_bar) {
        swp__segment *segment = chain->found;
        chain->found = segment->next;
        chain->trading = true;
        pthread_mutex_unlock(&sweep->engine->lock);
        slot->elapsed_ns += swp__segment_trade(segment);
        pthread_mutex_lock(&sweep->engine->lock);
        chain->trading = false;
        chain->traded_bar = segment->to;
        push_segment(sweep, segment);
    }
    if (chain->traded_bar == chain->slice.bars_count) {
        slot->chains_done = 1;
        slot->rows_done = chain->rows_count;
        push_chain(&sweep->chains, chain);
    }
    push_slot(&sweep->idle, slot);
}

/* Counts what the unit did and puts the slot back. The part, when that was the last of it. */
static swp__part *settle(swp__slot *slot)
{
    swp__sweep *sweep = slot->sweep;
    swp__engine_counters *counters = &sweep->engine->counters;
    measure_pace(sweep, slot);
    if (slot->own != NULL) {
        settle_own(slot);
    } else {
        settle_signs(slot);
    }
    counters->units++;
    counters->busy_ns += slot->elapsed_ns;
    counters->bar_combos += slot->bar_combos;
    counters->combos += slot->rows_done;
    sweep->rows_done += slot->rows_done;
    swp__part *part = slot->part;
    part->chains_finished += slot->chains_done;
    return slot->chains_done > 0 && part->chains_finished == part->chains_count ? part : NULL;
}

static void deliver(swp__sweep *sweep, swp__part *part)
{
    swp_engine *engine = sweep->engine;
    sweep->combos_done += part->block.combos_count;
    if (part->memory == NULL) {
        return;
    }
    sweep->parts_out++;
    engine->counters.blocks++;
    swp__wake_if_more(engine); /* this thread is away for a while */
    pthread_mutex_unlock(&engine->lock);
    sweep->listener.block(sweep->listener.context, &part->block);
    pthread_mutex_lock(&engine->lock);
}

void swp__block_release(swp__block *block)
{
    swp__part *part = (swp__part *)block;
    swp__sweep *sweep = part->sweep;
    swp_engine *engine = sweep->engine;
    pthread_mutex_lock(&engine->lock);
    sweep->parts_out--;
    part->next = sweep->parts;
    sweep->parts = part;
    swp__wake_if_more(engine);
    pthread_mutex_unlock(&engine->lock);
}

/* ---- turns ---- */

void swp__report_progress(swp__sweep *sweep, bool final)
{
    swp_engine *engine = sweep->engine;
    const swp_sweep_request *request = &sweep->request;
    if (request->progress == NULL || sweep->reporting) {
        return;
    }
    uint64_t now_ns = swp__now_ns(&engine->clock);
    if (!final && now_ns - sweep->progress_ns < PROGRESS_NS) {
        return;
    }
    sweep->progress_ns = now_ns;
    sweep->reporting = true;
    uint64_t rows_done = sweep->rows_done;
    pthread_mutex_unlock(&engine->lock);
    request->progress(request->progress_context, rows_done, sweep->combos_count * sweep->windows_count);
    pthread_mutex_lock(&engine->lock);
    sweep->reporting = false;
}

static void end_started(swp__sweep *sweep)
{
    swp_engine *engine = sweep->engine;
    swp__leave_ring(sweep);
    swp__report_progress(sweep, true);
    swp_status status = sweep->combos_done == sweep->combos_count ? SWP_OK : SWP_CANCELLED;
    pthread_mutex_unlock(&engine->lock);
    sweep->listener.done(sweep->listener.context, status); /* the sweep may be gone from here on */
    pthread_mutex_lock(&engine->lock);
}

static void run_unit(swp__sweep *sweep)
{
    swp_engine *engine = sweep->engine;
    swp__slot *slot = take_slot(sweep);
    sweep->running++;
    sweep->units_count++;
    slot->budget_ns = SWP__UNIT_NS / sweep->pace;
    slot->spent_ns = 0.0;
    slot->opens = false;
    slot->chains_done = slot->rows_done = slot->bar_combos = 0;
    swp__wake_if_more(engine);
    pthread_mutex_unlock(&engine->lock);
    swp__slot_run(slot);
    pthread_mutex_lock(&engine->lock);
    swp__part *finished = settle(slot);
    if (finished != NULL) {
        deliver(sweep, finished);
    }
    if (is_started(sweep)) {
        swp__report_progress(sweep, false);
    }
    sweep->running--;
    pthread_cond_signal(&sweep->changed);
}

static void turn(swp__sweep *sweep)
{
    if (has_unit(sweep)) {
        run_unit(sweep);
    }
    if (is_started(sweep) && swp__sweep_is_over(sweep)) {
        end_started(sweep);
    }
}

bool swp__turn(swp_engine *engine)
{
    swp__sweep *sweep = choose(engine);
    if (sweep != NULL) {
        turn(sweep);
    }
    return sweep != NULL;
}

bool swp__turn_of(swp__sweep *sweep)
{
    bool mine = has_turn(sweep);
    if (mine) {
        turn(sweep);
    }
    return mine;
}
