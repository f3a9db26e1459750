#include "simulation/model.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "simulation/random.h"
#include "support/host.h"

static void *take_memory(uint64_t count, size_t size)
{
    void *block = calloc(count, size);
    assert(block != NULL);
    return block;
}

/* What a session over the closes must show: the sweep's results, told as states. */
static void fill_states(swp_engine *engine, const swp__model *model, size_t grid, const double *close, uint64_t bars,
                        swp_live_state *states)
{
    uint64_t rows = model->rows_count[grid];
    double pnl[SWP__MODEL_ROWS_MAX], entry[SWP__MODEL_ROWS_MAX];
    int64_t trades[SWP__MODEL_ROWS_MAX], side[SWP__MODEL_ROWS_MAX];
    swp_series *series;
    swp_status status = swp_series_new(engine, close, bars, 0, SWP_BORROW, &series, NULL);
    swp_sweep_request request = {.grid = {.form = SWP_GRID_ROWS, .combos_count = rows, .rows = model->rows[grid]},
                                 .fee = 0.09,
                                 .kernel = SWP_KERNEL_STRICT};
    swp_sweep_result result = {.pnl = pnl, .trades = trades, .open_side = side, .open_entry = entry};
    status = status == SWP_OK ? swp_sweep(engine, series, &request, &result, NULL) : status;
    assert(status == SWP_OK);
    for (uint64_t i = 0; i < rows; i++) {
        states[i] = (swp_live_state){(int64_t)bars, side[i], entry[i], pnl[i], trades[i]};
    }
    swp_series_free(series);
}

static void make_results(swp__model *model, size_t s, size_t g)
{
    uint64_t rows = model->rows_count[g];
    model->pnl[s][g] = take_memory(rows, sizeof(double));
    model->trades[s][g] = take_memory(rows, sizeof(int64_t));
    for (uint64_t i = 0; i < rows; i++) {
        model->pnl[s][g][i] = model->states[s][g][i].pnl;
        model->trades[s][g][i] = model->states[s][g][i].trades;
    }
}

static void make_grids(swp__model *model)
{
    static const uint64_t rows[SWP__MODEL_GRIDS] = {1, 2, 9, 40, 300};
    swp__random random = {7};
    for (size_t g = 0; g < SWP__MODEL_GRIDS; g++) {
        model->rows_count[g] = rows[g];
        model->rows[g] = take_memory(rows[g], sizeof(swp_params));
        for (uint64_t i = 0; i < rows[g] * SWP_PARAMS_COUNT; i++) {
            model->rows[g][i] = 1 + (int64_t)swp__random_below(&random, 30);
        }
    }
}

void swp__model_init(swp__model *model)
{
    static const uint64_t bars[SWP__MODEL_SERIES] = {1, 40, 500, 3000};
    swp_engine *engine;
    swp_status status = swp_engine_new(&(swp_engine_options){.threads = 1}, &engine, NULL);
    assert(status == SWP_OK);
    make_grids(model);
    model->feed = take_memory(bars[SWP__MODEL_SERIES - 1], sizeof(double));
    swp__test_walk(model->feed, bars[SWP__MODEL_SERIES - 1], 1);
    for (size_t s = 0; s < SWP__MODEL_SERIES; s++) {
        model->bars_count[s] = bars[s];
        model->close[s] = model->feed;
        model->fingerprint[s] = swp__fingerprint_of(model->feed, bars[s] * sizeof(double));
        for (size_t g = 0; g < SWP__MODEL_GRIDS; g++) {
            model->states[s][g] = take_memory(model->rows_count[g], sizeof(swp_live_state));
            fill_states(engine, model, g, model->feed, bars[s], model->states[s][g]);
            make_results(model, s, g);
        }
    }
    for (size_t g = 0; g < SWP__MODEL_LIVE_GRIDS; g++) {
        uint64_t rows = model->rows_count[g];
        model->live[g] = take_memory((SWP__MODEL_LIVE_BARS + 1) * rows, sizeof(swp_live_state));
        for (uint64_t n = 1; n <= SWP__MODEL_LIVE_BARS; n++) { /* before the first bar all is 0 */
            fill_states(engine, model, g, model->feed, n, model->live[g] + n * rows);
        }
    }
    swp_engine_free(engine);
}

void swp__model_fini(swp__model *model)
{
    free(model->feed);
    for (size_t g = 0; g < SWP__MODEL_GRIDS; g++) {
        free(model->rows[g]);
        for (size_t s = 0; s < SWP__MODEL_SERIES; s++) {
            free(model->pnl[s][g]);
            free(model->trades[s][g]);
            free(model->states[s][g]);
        }
    }
    for (size_t g = 0; g < SWP__MODEL_LIVE_GRIDS; g++) {
        free(model->live[g]);
    }
}

const swp_live_state *swp__model_states(const swp__model *model, size_t grid, uint64_t bars)
{
    if (grid < SWP__MODEL_LIVE_GRIDS && bars <= SWP__MODEL_LIVE_BARS) {
        return model->live[grid] + bars * model->rows_count[grid];
    }
    for (size_t s = 0; s < SWP__MODEL_SERIES; s++) {
        if (bars == model->bars_count[s]) {
            return model->states[s][grid];
        }
    }
    return NULL;
}
