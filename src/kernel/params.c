/* Parameter sets and grids of them. */
#include "kernel/params.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/error.h"

static int64_t at_least_one(int64_t value)
{
    return value < 1 ? 1 : value;
}

/* round(value / divisor), half to even, for value >= 0 and divisor 2 or 3 (thirds are never halves). */
static int64_t round_divided(int64_t value, int64_t divisor)
{
    int64_t quotient = value / divisor;
    int64_t twice_rest = 2 * (value % divisor);
    if (twice_rest > divisor || (twice_rest == divisor && quotient % 2 != 0)) {
        quotient++;
    }
    return quotient;
}

swp_status swp_params_from_length(int64_t length, swp_params *params, swp_error *error)
{
    if (length < 1 || length > SWP_PARAM_MAX) {
        return swp__fail(error, SWP_BAD_PARAM, 1, "length %" PRId64 " is not within 1..%lld", length, SWP_PARAM_MAX);
    }
    int64_t p = at_least_one(round_divided(length, 2));
    *params = (swp_params){
        .half = p,
        .full = length,
        .smooth = at_least_one((int64_t)nearbyint(sqrt((double)length))),
        .third = at_least_one(round_divided(p, 3)),
        .mid = at_least_one(round_divided(p, 2)),
        .p = p,
    };
    return SWP_OK;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t swp_params_bars_needed(const swp_params *c)
{
    int64_t hma = larger(c->half, c->full) + c->smooth;
    int64_t hma3 = larger(larger(c->third, c->mid), c->p) + c->p;
    return larger(hma, hma3) - 1;
}

static swp_status check_values(const int64_t *values, uint64_t count, const char *what, swp_error *error)
{
    for (uint64_t i = 0; i < count; i++) {
        if (values[i] < 1 || values[i] > SWP_PARAM_MAX) {
            return swp__fail(error, SWP_BAD_PARAM, i, "%s: value %" PRIu64 " is %" PRId64 ", expected 1..%lld", what, i,
                             values[i], SWP_PARAM_MAX);
        }
    }
    return SWP_OK;
}

/* The product of `counts` must be combos_count; a product beyond 64 bits is none. */
static swp_status check_product(const swp_grid *grid, const uint64_t *counts, size_t counts_count, swp_error *error)
{
    uint64_t product = 1;
    for (size_t i = 0; i < counts_count; i++) {
        if (counts[i] == 0) {
            return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "combos: list %zu of the product is empty", i);
        }
        if (__builtin_mul_overflow(product, counts[i], &product)) {
            return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "combos: the product of the lists is beyond 2^64");
        }
    }
    if (product != grid->combos_count) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "combos: the lists make %" PRIu64 ", but combos_count is %" PRIu64,
                         product, grid->combos_count);
    }
    return SWP_OK;
}

static const char *const param_names[SWP_PARAMS_COUNT] = {"half", "full", "smooth", "third", "mid", "p"};

static swp_status check_rows(const swp_grid *grid, swp_error *error)
{
    for (uint64_t i = 0; i < grid->combos_count; i++) {
        for (uint64_t j = 0; j < SWP_PARAMS_COUNT; j++) {
            int64_t value = grid->rows[i * SWP_PARAMS_COUNT + j];
            if (value < 1 || value > SWP_PARAM_MAX) {
                return swp__fail(error, SWP_BAD_PARAM, i * SWP_PARAMS_COUNT + j,
                                 "combo %" PRIu64 ": %s is %" PRId64 ", expected 1..%lld", i, param_names[j], value,
                                 SWP_PARAM_MAX);
            }
        }
    }
    return SWP_OK;
}

static swp_status check_axes(const swp_grid *grid, swp_error *error)
{
    swp_status status = check_product(grid, grid->axis_counts, SWP_PARAMS_COUNT, error);
    for (size_t i = 0; status == SWP_OK && i < SWP_PARAMS_COUNT; i++) {
        status = check_values(grid->axes[i], grid->axis_counts[i], param_names[i], error);
    }
    return status;
}

static swp_status check_pairs(const swp_grid *grid, swp_error *error)
{
    const uint64_t counts[] = {grid->hma_count, grid->hma3_count};
    swp_status status = check_product(grid, counts, 2, error);
    if (status == SWP_OK) {
        status = check_values(grid->hma, 3 * grid->hma_count, "hma triples", error);
    }
    if (status == SWP_OK) {
        status = check_values(grid->hma3, 3 * grid->hma3_count, "hma3 triples", error);
    }
    return status;
}

static bool has_null(const swp_grid *grid)
{
    bool axis_null = false;
    for (size_t i = 0; i < SWP_PARAMS_COUNT; i++) {
        axis_null = axis_null || grid->axes[i] == NULL;
    }
    return grid->form == SWP_GRID_ROWS   ? grid->rows == NULL
           : grid->form == SWP_GRID_AXES ? axis_null
                                         : grid->hma == NULL || grid->hma3 == NULL;
}

swp_status swp_grid_check(const swp_grid *grid, swp_error *error)
{
    if (grid->form != SWP_GRID_ROWS && grid->form != SWP_GRID_AXES && grid->form != SWP_GRID_PAIRS) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "combos: form %d is not 0..2", (int)grid->form);
    }
    if (grid->combos_count == 0) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "combos: none given");
    }
    if (has_null(grid)) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "combos: NULL pointer to a list of form %d", (int)grid->form);
    }
    return grid->form == SWP_GRID_ROWS   ? check_rows(grid, error)
           : grid->form == SWP_GRID_AXES ? check_axes(grid, error)
                                         : check_pairs(grid, error);
}

swp_params swp_grid_at(const swp_grid *grid, uint64_t index)
{
    int64_t v[SWP_PARAMS_COUNT];
    if (grid->form == SWP_GRID_ROWS) {
        const int64_t *row = grid->rows + index * SWP_PARAMS_COUNT;
        return (swp_params){row[0], row[1], row[2], row[3], row[4], row[5]};
    }
    if (grid->form == SWP_GRID_PAIRS) {
        const int64_t *hma = grid->hma + 3 * (index / grid->hma3_count);
        const int64_t *hma3 = grid->hma3 + 3 * (index % grid->hma3_count);
        return (swp_params){hma[0], hma[1], hma[2], hma3[0], hma3[1], hma3[2]};
    }
    for (size_t i = SWP_PARAMS_COUNT; i-- > 0;) {
        v[i] = grid->axes[i][index % grid->axis_counts[i]];
        index /= grid->axis_counts[i];
    }
    return (swp_params){v[0], v[1], v[2], v[3], v[4], v[5]};
}

/* The largest of values[offset], values[offset + stride] ... up to `limit`, at least 1. */
static int64_t largest_of(const int64_t *values, uint64_t count, uint64_t stride, uint64_t offset, int64_t limit)
{
    int64_t largest = 1;
    for (uint64_t i = offset; i < count * stride; i += stride) {
        largest = values[i] <= limit ? larger(largest, values[i]) : largest;
    }
    return largest;
}

swp_params swp__grid_largest(const swp_grid *grid, int64_t limit)
{
    int64_t v[SWP_PARAMS_COUNT];
    for (uint64_t i = 0; i < SWP_PARAMS_COUNT; i++) {
        if (grid->form == SWP_GRID_ROWS) {
            v[i] = largest_of(grid->rows, grid->combos_count, SWP_PARAMS_COUNT, i, limit);
        } else if (grid->form == SWP_GRID_AXES) {
            v[i] = largest_of(grid->axes[i], grid->axis_counts[i], 1, 0, limit);
        } else if (i < 3) {
            v[i] = largest_of(grid->hma, grid->hma_count, 3, i, limit);
        } else {
            v[i] = largest_of(grid->hma3, grid->hma3_count, 3, i - 3, limit);
        }
    }
    return (swp_params){v[0], v[1], v[2], v[3], v[4], v[5]};
}
