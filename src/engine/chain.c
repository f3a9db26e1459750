/* Where a unit's time goes: chains of bars through the kernel. */
#include "engine/turns.h"

#include <math.h>
#include "base/host.h"

#define COMBO_NS 30.0 /* to expand a combo and write its row, whatever its bars */

static swp__slice window_slice(const swp__sweep *sweep, const swp_window *window)
{
    return (swp__slice){
        .close = sweep->close + window->warm,
        .bars_count = (int64_t)(window->end - window->warm),
        .trade_from = (int64_t)(window->begin - window->warm),
        .unwanted = {&sweep->cancel.requested, sweep->request.cancel != NULL ? &sweep->request.cancel->requested : NULL},
    };
}

static void write_row(const swp__part *part, uint64_t row, const swp__trade_state *state, const swp_window *window, double last)
{
    swp__row_write(&part->result, row, state, window, last);
    if (part->sweep->listener.states != NULL) {
        part->sweep->listener.states[row] = *state;
    }
}

/* Keeps the combos of the chain that have bars enough; the others never trade and are written at once. */
static void expand_combos(const swp__sweep *sweep, swp__chain *chain)
{
    const swp__part *part = chain->part;
    uint64_t run = part->block.combos_count;
    swp__chain_span span = swp__order_chain(&sweep->order, run, sweep->batch, chain->index % part->window_chains);
    uint64_t first_row = chain->index / part->window_chains * run;
    chain->combos_count = 0;
    for (uint64_t i = span.begin; i < span.end; i++) {
        size_t kept = chain->combos_count;
        uint64_t at = swp__order_at(&sweep->order, run, i);
        swp_params combo = swp_grid_at(&sweep->request.grid, part->block.first_combo + at);
        swp__trade_state_init(&chain->states[kept]);
        if (swp_params_bars_needed(&combo) > chain->slice.bars_count) {
            write_row(part, first_row + at, &chain->states[kept], chain->window, 0.0);
            continue;
        }
        chain->combos[kept] = combo;
        chain->rows[kept] = first_row + at;
        chain->combos_count++;
    }
    chain->rows_count = span.end - span.begin;
    chain->chain_ns = COMBO_NS * (double)chain->rows_count;
}

static void begin_chain(swp__slot *slot)
{
    const swp__sweep *sweep = slot->sweep;
    swp__chain *chain = slot->chain = slot->own;
    chain->part = slot->part;
    chain->index = slot->chain_index;
    chain->id = 0;
    chain->window = &sweep->windows[chain->index / chain->part->window_chains];
    chain->slice = window_slice(sweep, chain->window);
    expand_combos(sweep, chain);
    slot->spent_ns += chain->chain_ns;
    if (chain->combos_count == 0) {
        chain->bar = chain->slice.bars_count;
        return;
    }
    chain->bar = 0;
    chain->quantum_bars = sweep->kernel->quantum_bars(&chain->slice, chain->combos, chain->combos_count);
    chain->bar_ns = sweep->kernel->cost_ns(chain->combos, chain->combos_count);
    chain->chain_ns += chain->bar_ns * (double)chain->slice.bars_count;
    slot->chain_ns = chain->chain_ns;
}

/* Whether it pays to let other threads find signs of the chain that was just begun. */
static bool is_long(const swp__slot *slot)
{
    const swp__chain *chain = slot->chain;
    bool is_last = slot->chain_index + 1 == slot->chains_end;
    return is_last && slot->sweep->kernel->signs != NULL && slot->sweep->slots_count > 1 && chain->combos_count > 0 &&
           chain->chain_ns >= SWP__UNIT_NS && chain->slice.bars_count > chain->quantum_bars;
}

static void prepare(swp__slot *slot)
{
    const swp__chain *chain = slot->chain;
    if (slot->sweep->kernel->prepare != NULL && chain->combos_count > 0) {
        slot->sweep->kernel->prepare(&chain->slice, chain->combos, chain->combos_count, slot->scratch);
    }
    slot->prepared_id = chain->id;
}

/* As many bars as the budget and a segment have, a quantum at least if it fits. */
static int64_t unit_bars(const swp__slot *slot)
{
    const swp__chain *chain = slot->chain;
    double bars = fmax(slot->budget_ns - slot->spent_ns, 0.0) / chain->bar_ns;
    int64_t quanta = (int64_t)fmin(bars, 1e15) / chain->quantum_bars;
    int64_t unit = chain->quantum_bars * (quanta > 1 ? quanta : 1);
    int64_t most = slot->sweep->segment_bars;
    return most > 0 && unit > most ? most : unit;
}

static void tell_trade(const swp__sweep *sweep, const swp__chain *chain, const swp__trade_state *s, int64_t exit_bar,
                       double exit)
{
    int64_t warm = (int64_t)chain->window->warm;
    double fee = exit_bar < 0 ? 0.0 : sweep->exec.fee;
    const swp__trade trade = {
        .entry_bar = s->entry_bar + warm,
        .exit_bar = exit_bar < 0 ? -1 : exit_bar + warm,
        .side = s->position,
        .entry = s->entry,
        .exit = exit,
        .pnl = swp__canonical((double)s->position * (exit - s->entry) / s->entry * 100.0 - fee),
    };
    sweep->listener.trade(sweep->listener.context, &trade);
}

/* Bar by bar: a change of the entry ends the trade that was open. */
static void run_telling_trades(const swp__slot *slot, int64_t to)
{
    const swp__sweep *sweep = slot->sweep;
    const swp__chain *chain = slot->chain;
    swp__trade_state *state = chain->states;
    for (int64_t bar = chain->bar; bar < to; bar++) {
        swp__trade_state before = *state;
        sweep->kernel->run(&chain->slice, &sweep->exec, chain->combos, 1, bar, bar + 1, state, slot->scratch);
        if (before.position != 0 && state->entry_bar != before.entry_bar) {
            tell_trade(sweep, chain, &before, bar, chain->slice.close[bar]);
        }
    }
}

static void run_bars(swp__slot *slot)
{
    const swp__sweep *sweep = slot->sweep;
    swp__chain *chain = slot->chain;
    const swp__signs *words = slot->segment != NULL ? &slot->segment->signs : NULL;
    int64_t unit = unit_bars(slot), left = chain->slice.bars_count - chain->bar;
    int64_t to = unit < left ? chain->bar + unit : chain->slice.bars_count;
    if (sweep->listener.trade != NULL) {
        run_telling_trades(slot, to);
    } else {
        swp__walk(sweep->kernel, &chain->slice, &sweep->exec, chain->combos, chain->combos_count, chain->bar, to, words,
                  chain->states, slot->scratch);
    }
    if (swp__sweep_is_cancelled(sweep)) { /* perhaps on the way */
        return;
    }
    slot->spent_ns += chain->bar_ns * (double)(to - chain->bar);
    slot->bar_combos += (uint64_t)(to - chain->bar) * chain->combos_count;
    chain->bar = to;
}

static void tell_open_trade(const swp__sweep *sweep, const swp__chain *chain)
{
    if (sweep->listener.trade != NULL && chain->combos_count > 0 && chain->states[0].position != 0) {
        tell_trade(sweep, chain, &chain->states[0], -1, swp__last_number(&chain->slice));
    }
}

static void write_rows(const swp__chain *chain)
{
    double last = chain->combos_count > 0 ? swp__last_number(&chain->slice) : 0.0;
    for (size_t i = 0; i < chain->combos_count; i++) {
        write_row(chain->part, chain->rows[i], &chain->states[i], chain->window, last);
    }
}

static void finish_chain(swp__slot *slot)
{
    tell_open_trade(slot->sweep, slot->chain);
    write_rows(slot->chain);
    slot->chains_done++;
    slot->rows_done += slot->chain->rows_count;
    slot->chain_index++;
    slot->chain = NULL;
}

/* Chains that are the slot's own. */
static void walk_chains(swp__slot *slot)
{
    while (slot->chain_index < slot->chains_end && slot->spent_ns < slot->budget_ns && !swp__sweep_is_cancelled(slot->sweep)) {
        if (slot->chain == NULL) {
            begin_chain(slot);
            if (is_long(slot)) {
                slot->opens = true;
                return;
            }
            prepare(slot);
        }
        if (slot->chain->bar < slot->chain->slice.bars_count) {
            run_bars(slot);
        }
        if (slot->chain->bar == slot->chain->slice.bars_count) {
            finish_chain(slot);
        }
    }
}

static void find_signs(swp__slot *slot)
{
    const swp__segment *segment = slot->segment;
    const swp__chain *chain = slot->chain;
    if (slot->prepared_id != chain->id) {
        prepare(slot);
    }
    slot->sweep->kernel->signs(&chain->slice, chain->combos, chain->combos_count, segment->from, segment->to, &segment->signs,
                               slot->scratch);
    slot->spent_ns += chain->bar_ns * (double)(segment->to - segment->from);
    slot->bar_combos += (uint64_t)(segment->to - segment->from) * chain->combos_count;
}

void swp__slot_run(swp__slot *slot)
{
    const swp_clock *clock = &slot->sweep->engine->clock;
    uint64_t start_ns = swp__now_ns(clock);
    if (slot->own != NULL) {
        walk_chains(slot);
    } else {
        find_signs(slot);
    }
    slot->elapsed_ns = swp__now_ns(clock) - start_ns;
}

uint64_t swp__segment_trade(const swp__segment *segment)
{
    swp__chain *chain = segment->chain;
    const swp__sweep *sweep = chain->part->sweep;
    uint64_t start_ns = swp__now_ns(&sweep->engine->clock);
    swp__trade_signs(sweep->kernel, &chain->slice, &sweep->exec, chain->combos_count, segment->from, segment->to,
                     &segment->signs, chain->states);
    if (segment->to == chain->slice.bars_count) {
        write_rows(chain);
    }
    return swp__now_ns(&sweep->engine->clock) - start_ns;
}
