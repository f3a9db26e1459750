#include "support/test.h"
#include "swp/engine.h"

#include <math.h>

static swp_engine *new_engine(uint32_t threads)
{
    swp_engine *engine;
    assert_int_equal(swp_engine_new(&(swp_engine_options){.threads = threads}, &engine, NULL), SWP_OK);
    return engine;
}

static swp_series *new_series(swp_engine *engine, const double *close, uint64_t bars_count)
{
    swp_series *series;
    assert_int_equal(swp_series_new(engine, close, bars_count, SWP_ALLOW_ALL, SWP_BORROW, &series, NULL), SWP_OK);
    return series;
}

/* A walk no libm made. */
static void fill_walk(double *close, size_t bars_count)
{
    uint64_t x = 1;
    double price = 100.0;
    for (size_t i = 0; i < bars_count; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        price += (double)(int64_t)(x >> 40) * 0x1p-24 - 0.5;
        close[i] = price = price < 1.0 ? 1.0 : price;
    }
}

TEST(results_are_in_input_order_and_the_same_for_any_thread_count)
{
    enum { BARS = 20000, COMBOS = 40 };
    static double close[BARS];
    int64_t rows[COMBOS][SWP_PARAMS_COUNT];
    double pnl[3][COMBOS];
    int64_t trades[3][COMBOS];
    fill_walk(close, BARS);
    for (int64_t i = 0; i < COMBOS; i++) {
        assert_int_equal(swp_params_from_length(COMBOS - i, (swp_params *)rows[i], NULL), SWP_OK);
    }
    const uint32_t threads[] = {1, 2, 7};
    for (size_t t = 0; t < 3; t++) {
        swp_engine *engine = new_engine(threads[t]);
        swp_series *series = new_series(engine, close, BARS);
        swp_sweep_request request = {.grid = {.form = SWP_GRID_ROWS, .combos_count = COMBOS, .rows = rows[0]},
                                     .fee = 0.09};
        assert_int_equal(swp_sweep(engine, series, &request,
                                   &(swp_sweep_result){.pnl = pnl[t], .trades = trades[t]}, NULL), SWP_OK);
        swp_series_free(series);
        swp_engine_free(engine);
    }
    for (size_t i = 0; i < COMBOS; i++) {
        assert_bits_equal(pnl[1][i], pnl[0][i]);
        assert_bits_equal(pnl[2][i], pnl[0][i]);
        assert_int_equal(trades[1][i], trades[0][i]);
        assert_int_equal(trades[2][i], trades[0][i]);
    }
    assert_true(trades[0][COMBOS - 6] > trades[0][0]); /* length 6 reverses more often than length 40 */
}
