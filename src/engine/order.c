#include "engine/order.h"

#include <stdbool.h>
#include <string.h>

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool same_triple(const int64_t *a, const int64_t *b)
{
    return memcmp(a, b, 3 * sizeof *a) == 0;
}

/* Combos before the first whose triple at `slow` is another. */
static uint64_t first_change(const swp_grid *grid, size_t slow)
{
    uint64_t i = 1;
    while (i < grid->combos_count && same_triple(grid->rows + i * SWP_PARAMS_COUNT + slow, grid->rows + slow)) {
        i++;
    }
    return i;
}

/* Whether rows are a product written out: runs of `row` combos with one triple at `slow` and the same sequence of others. */
static bool is_product(const swp_grid *grid, uint64_t row, size_t slow)
{
    size_t fast = 3 - slow;
    bool holds = grid->combos_count % row == 0;
    for (uint64_t first = 0; holds && first < grid->combos_count; first += row) {
        const int64_t *run = grid->rows + first * SWP_PARAMS_COUNT;
        for (uint64_t i = 0; holds && i < row; i++) {
            const int64_t *combo = run + i * SWP_PARAMS_COUNT;
            holds =
                same_triple(combo + slow, run + slow) && same_triple(combo + fast, grid->rows + i * SWP_PARAMS_COUNT + fast);
        }
    }
    return holds;
}

/* The product's inner length, whichever of HMA and HMA3 is the inner one; 1: no product. */
static uint64_t row_of_rows(const swp_grid *grid)
{
    for (size_t slow = 0; slow <= 3; slow += 3) {
        uint64_t row = first_change(grid, slow);
        if (row > 1 && row < grid->combos_count && is_product(grid, row, slow)) {
            return row;
        }
    }
    return 1;
}

static uint64_t row_of(const swp_grid *grid)
{
    switch (grid->form) {
    case SWP_GRID_PAIRS:
        return grid->hma3_count;
    case SWP_GRID_AXES:
        return grid->axis_counts[3] * grid->axis_counts[4] * grid->axis_counts[5];
    case SWP_GRID_ROWS:
        break;
    }
    return row_of_rows(grid);
}

static uint64_t square_root(uint64_t n)
{
    uint64_t root = 1;
    while ((root + 1) * (root + 1) <= n) {
        root++;
    }
    return root;
}

/* As many pieces as pieces of `size` would be, but of one size. */
static uint64_t evened(uint64_t length, uint64_t size)
{
    uint64_t pieces = (length - 1) / size + 1;
    return (length - 1) / pieces + 1;
}

swp__order swp__order_of(const swp_grid *grid, uint64_t batch)
{
    uint64_t row = row_of(grid), rows = grid->combos_count / row;
    if (row == 1 || rows == 1) {
        return (swp__order){0};
    }
    swp__order order = {.row = row, .tile_rows = least(square_root(batch), rows)};
    order.tile_columns = evened(row, least(batch / order.tile_rows, row));
    order.tile_rows = evened(rows, least(most(batch / order.tile_columns, 1), rows));
    return order;
}

uint64_t swp__order_run(const swp__order *order, uint64_t combos)
{
    if (order->row == 0 || combos < order->row) {
        return combos;
    }
    uint64_t rows = combos / order->row;
    return order->row * (rows > order->tile_rows ? rows / order->tile_rows * order->tile_rows : rows);
}

static bool is_tiled(const swp__order *order, uint64_t run)
{
    return order->row != 0 && run % order->row == 0;
}

/* Bands of tile_rows rows; a band's tiles from left to right; a tile's combos row by row. */
uint64_t swp__order_at(const swp__order *order, uint64_t run, uint64_t position)
{
    uint64_t row = order->row;
    if (!is_tiled(order, run)) {
        return position;
    }
    uint64_t band_first = position / (order->tile_rows * row) * order->tile_rows;
    uint64_t band_rows = least(order->tile_rows, run / row - band_first);
    uint64_t in_band = position - band_first * row;
    uint64_t column_first = in_band / (band_rows * order->tile_columns) * order->tile_columns;
    uint64_t columns = least(order->tile_columns, row - column_first);
    uint64_t in_tile = in_band - column_first * band_rows;
    return (band_first + in_tile / columns) * row + column_first + in_tile % columns;
}

static uint64_t tiles_across(const swp__order *order)
{
    return (order->row - 1) / order->tile_columns + 1;
}

uint64_t swp__order_chains(const swp__order *order, uint64_t run, uint64_t batch)
{
    if (!is_tiled(order, run)) {
        return (run - 1) / batch + 1;
    }
    return ((run / order->row - 1) / order->tile_rows + 1) * tiles_across(order);
}

swp__chain_span swp__order_chain(const swp__order *order, uint64_t run, uint64_t batch, uint64_t chain)
{
    if (!is_tiled(order, run)) {
        return (swp__chain_span){chain * batch, least(run, (chain + 1) * batch)};
    }
    uint64_t row = order->row, across = tiles_across(order);
    uint64_t band_first = chain / across * order->tile_rows, column_first = chain % across * order->tile_columns;
    uint64_t band_rows = least(order->tile_rows, run / row - band_first);
    uint64_t columns = least(order->tile_columns, row - column_first);
    uint64_t begin = band_first * row + column_first * band_rows;
    return (swp__chain_span){begin, begin + band_rows * columns};
}
