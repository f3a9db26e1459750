#include "engine/order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "support/test.h"

static swp_grid pairs(uint64_t hma_count, uint64_t hma3_count)
{
    return (swp_grid){
        .form = SWP_GRID_PAIRS, .combos_count = hma_count * hma3_count, .hma_count = hma_count, .hma3_count = hma3_count};
}

TEST(order_takes_each_combo_of_a_run_once)
{
    const uint64_t shapes[][3] = {{1, 1, 8},    {1, 50, 8},   {50, 1, 8},  {7, 5, 12},   {90, 90, 512},
                                  {3, 700, 64}, {700, 3, 64}, {13, 17, 1}, {40, 33, 100}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        swp_grid grid = pairs(shapes[s][0], shapes[s][1]);
        swp__order order = swp__order_of(&grid, shapes[s][2]);
        uint64_t runs[] = {grid.combos_count, swp__order_run(&order, grid.combos_count / 2 + 1), shapes[s][1]};
        for (size_t r = 0; r < 3; r++) {
            char *seen = calloc(runs[r], 1);
            assert_non_null(seen);
            for (uint64_t i = 0; i < runs[r]; i++) {
                uint64_t at = swp__order_at(&order, runs[r], i);
                assert_true(at < runs[r]);
                assert_int_equal(seen[at]++, 0);
            }
            free(seen);
        }
    }
}

TEST(chains_hold_each_position_once_and_a_batch_at_most)
{
    const uint64_t shapes[][3] = {{1, 1, 8},    {1, 50, 8},   {50, 1, 8},  {7, 5, 12},   {90, 90, 512},
                                  {3, 700, 64}, {700, 3, 64}, {13, 17, 1}, {40, 33, 100}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        swp_grid grid = pairs(shapes[s][0], shapes[s][1]);
        uint64_t batch = shapes[s][2];
        swp__order order = swp__order_of(&grid, batch);
        uint64_t runs[] = {grid.combos_count, swp__order_run(&order, grid.combos_count / 2 + 1), shapes[s][1]};
        for (size_t r = 0; r < 3; r++) {
            uint64_t next = 0, chains = swp__order_chains(&order, runs[r], batch);
            for (uint64_t i = 0; i < chains; i++) {
                swp__chain_span span = swp__order_chain(&order, runs[r], batch, i);
                assert_int_equal(span.begin, next);
                assert_in_range(span.end, span.begin + 1, span.begin + batch);
                next = span.end;
            }
            assert_int_equal(next, runs[r]);
        }
    }
}

/* Every chain of it: none straddles two tiles. */
TEST(a_chain_of_a_product_holds_few_averages)
{
    swp_grid grid = pairs(90, 90);
    swp__order order = swp__order_of(&grid, 512);
    uint64_t chains = swp__order_chains(&order, 8100, 512);
    assert_in_range(chains, 16, 20);
    for (uint64_t c = 0; c < chains; c++) {
        char hma[90] = {0}, hma3[90] = {0};
        int averages = 0;
        swp__chain_span span = swp__order_chain(&order, 8100, 512, c);
        for (uint64_t i = span.begin; i < span.end; i++) {
            uint64_t at = swp__order_at(&order, 8100, i);
            averages += (hma[at / 90]++ == 0) + (hma3[at % 90]++ == 0);
        }
        assert_in_range(averages, 2, 45);
    }
}

static int64_t *product_rows(int64_t hma_count, int64_t hma3_count, bool hma3_inside)
{
    int64_t *rows = malloc((size_t)(hma_count * hma3_count) * SWP_PARAMS_COUNT * sizeof *rows);
    assert_non_null(rows);
    for (int64_t i = 0; i < hma_count * hma3_count; i++) {
        int64_t hma = hma3_inside ? i / hma3_count : i % hma_count, hma3 = hma3_inside ? i % hma3_count : i / hma_count;
        const int64_t combo[] = {hma + 1, 2 * hma + 1, 3, hma3 + 1, 5, 7 + hma3};
        memcpy(rows + i * SWP_PARAMS_COUNT, combo, sizeof combo);
    }
    return rows;
}

TEST(rows_that_are_a_product_are_taken_in_tiles)
{
    for (int inside = 0; inside < 2; inside++) {
        int64_t *rows = product_rows(30, 20, inside == 1);
        swp_grid grid = {.form = SWP_GRID_ROWS, .combos_count = 600, .rows = rows};
        swp__order order = swp__order_of(&grid, 64);
        assert_int_equal(order.row, inside == 1 ? 20 : 30);
        assert_int_equal(order.tile_rows, inside == 1 ? 8 : 7);
        rows[599 * SWP_PARAMS_COUNT + 5]++;
        assert_int_equal(swp__order_of(&grid, 64).row, 0);
        free(rows);
    }
}

TEST(other_rows_and_single_lists_are_taken_in_input_order)
{
    int64_t rows[1000][SWP_PARAMS_COUNT];
    for (int64_t i = 0; i < 1000; i++) {
        assert_int_equal(swp_params_from_length(i % 300 + 1, (swp_params *)rows[i], NULL), SWP_OK);
    }
    swp_grid grid = {.form = SWP_GRID_ROWS, .combos_count = 1000, .rows = rows[0]};
    swp__order order = swp__order_of(&grid, 64);
    swp_grid line = pairs(1, 1000);
    swp__order of_line = swp__order_of(&line, 64);
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(swp__order_at(&order, 1000, i), i);
        assert_int_equal(swp__order_at(&of_line, 1000, i), i);
    }
}
