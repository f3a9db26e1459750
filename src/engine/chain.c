/* Where a unit's time goes: chains of bars through the kernel. */
#include "engine/turns.h"

#include <math.h>
#include "base/host.h"

#define COMBO_NS 30.0 /* to expand a combo and write its row, whatever its bars */

static swp__slice window_slice(const double *close, const swp_window *window)
{
    return (swp__slice){
        .close = close + window->warm,
        .bars_count = (int64_t)(window->end - window->warm),
        .trade_from = (int64_t)(window->begin - window->warm),
    };
}

/* Keeps the combos of the chain that have bars enough; the others never trade and are written at once. */
static void expand_combos(swp__slot *slot)
{
    const swp__sweep *sweep = slot->sweep;
    const swp__part *part = slot->part;
    uint64_t begin = slot->chain % part->window_chains * sweep->batch;
    uint64_t left = part->block.combos_count - begin;
    uint64_t end = left < sweep->batch ? part->block.combos_count : begin + sweep->batch;
    uint64_t first_row = slot->chain / part->window_chains * part->block.combos_count;
    slot->combos_count = 0;
    for (uint64_t i = begin; i < end; i++) {
        size_t kept = slot->combos_count;
        swp_params combo = swp_grid_at(&sweep->request.grid, part->block.first_combo + i);
        swp__trade_state_init(&slot->states[kept]);
        if (swp_params_bars_needed(&combo) > slot->slice.bars_count) {
            swp__row_write(&part->result, first_row + i, &slot->states[kept], slot->window, 0.0);
            continue;
        }
        slot->combos[kept] = combo;
        slot->rows[kept] = first_row + i;
        slot->combos_count++;
    }
    slot->chain_rows = end - begin;
    slot->chain_ns = COMBO_NS * (double)(end - begin);
}

static void begin_chain(swp__slot *slot)
{
    const swp__sweep *sweep = slot->sweep;
    slot->window = &sweep->windows[slot->chain / slot->part->window_chains];
    slot->slice = window_slice(sweep->close, slot->window);
    slot->begun = true;
    expand_combos(slot);
    slot->spent_ns += slot->chain_ns;
    if (slot->combos_count == 0) {
        slot->bar = slot->slice.bars_count;
        return;
    }
    slot->bar = 0;
    slot->quantum_bars = sweep->kernel->quantum_bars(&slot->slice, slot->combos, slot->combos_count);
    slot->bar_ns = sweep->kernel->cost_ns(slot->combos, slot->combos_count);
    slot->chain_ns += slot->bar_ns * (double)slot->slice.bars_count;
}

/* As many bars as the budget has, a quantum at least. */
static void run_bars(swp__slot *slot)
{
    const swp__sweep *sweep = slot->sweep;
    double bars = fmax(slot->budget_ns - slot->spent_ns, 0.0) / slot->bar_ns;
    int64_t quanta = (int64_t)fmin(bars, 1e15) / slot->quantum_bars;
    int64_t unit_bars = slot->quantum_bars * (quanta > 1 ? quanta : 1);
    int64_t left = slot->slice.bars_count - slot->bar;
    int64_t to = unit_bars < left ? slot->bar + unit_bars : slot->slice.bars_count;
    sweep->kernel->run(&slot->slice, &sweep->exec, slot->combos, slot->combos_count, slot->bar, to, slot->states,
                       slot->scratch);
    slot->spent_ns += slot->bar_ns * (double)(to - slot->bar);
    slot->bar_combos += (uint64_t)(to - slot->bar) * slot->combos_count;
    slot->bar = to;
}

static void finish_chain(swp__slot *slot)
{
    double last = slot->combos_count > 0 ? swp__last_number(&slot->slice) : 0.0;
    for (size_t i = 0; i < slot->combos_count; i++) {
        swp__row_write(&slot->part->result, slot->rows[i], &slot->states[i], slot->window, last);
    }
    slot->begun = false;
    slot->chain++;
    slot->chains_done++;
    slot->rows_done += slot->chain_rows;
}

void swp__slot_run(swp__slot *slot)
{
    const swp_clock *clock = &slot->sweep->engine->clock;
    uint64_t start_ns = swp__now_ns(clock);
    while (slot->chain < slot->chains_end && slot->spent_ns < slot->budget_ns && !swp__sweep_is_cancelled(slot->sweep)) {
        if (!slot->begun) {
            begin_chain(slot);
        }
        if (slot->bar < slot->slice.bars_count) {
            run_bars(slot);
        }
        if (slot->bar == slot->slice.bars_count) {
            finish_chain(slot);
        }
    }
    slot->elapsed_ns = swp__now_ns(clock) - start_ns;
}
