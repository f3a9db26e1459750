#include "cli/combos.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "cli/params_file.h"

static swp_status make_values(swp__combos *combos, uint64_t count, swp_error *error)
{
    combos->values = malloc(count * sizeof *combos->values);
    return combos->values != NULL ? SWP_OK
                                  : swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for the parameters of the combos");
}

static swp_status fill_rows(swp__combos *combos, swp_error *error)
{
    uint64_t count = combos->lengths.count;
    swp_status status = make_values(combos, count * SWP_PARAMS_COUNT, error);
    for (uint64_t i = 0; status == SWP_OK && i < count; i++) {
        swp_params p;
        status = swp_params_from_length(combos->lengths.values[i], &p, error);
        int64_t row[SWP_PARAMS_COUNT] = {p.half, p.full, p.smooth, p.third, p.mid, p.p};
        for (size_t j = 0; j < SWP_PARAMS_COUNT; j++) {
            combos->values[i * SWP_PARAMS_COUNT + j] = row[j];
        }
    }
    combos->grid = (swp_grid){.form = SWP_GRID_ROWS, .combos_count = count, .rows = combos->values};
    return status;
}

/* The triple of HMA (of_hma3 false) or HMA3 for each length. */
static swp_status fill_triples(const swp__lengths *lengths, bool of_hma3, int64_t *triples, swp_error *error)
{
    swp_status status = SWP_OK;
    for (uint64_t i = 0; i < lengths->count && status == SWP_OK; i++) {
        swp_params p;
        status = swp_params_from_length(lengths->values[i], &p, error);
        triples[3 * i] = of_hma3 ? p.third : p.half;
        triples[3 * i + 1] = of_hma3 ? p.mid : p.full;
        triples[3 * i + 2] = of_hma3 ? p.p : p.smooth;
    }
    return status;
}

static swp_status fill_pairs(swp__combos *combos, swp_error *error)
{
    uint64_t hma_count = combos->lengths.count, hma3_count = combos->lengths3.count;
    uint64_t product = hma_count * hma3_count; /* each at most 2^24 */
    if (product > SWP__COMBOS_MAX) {
        return swp__fail_limit(error, SWP__COMBOS_MAX, product,
                               "--length x --length3: %" PRIu64 " x %" PRIu64 " are %" PRIu64 " combos, at most %" PRIu64,
                               hma_count, hma3_count, product, SWP__COMBOS_MAX);
    }
    swp_status status = make_values(combos, 3 * (hma_count + hma3_count), error);
    if (status != SWP_OK) {
        return status;
    }
    int64_t *hma = combos->values, *hma3 = combos->values + 3 * hma_count;
    combos->grid = (swp_grid){.form = SWP_GRID_PAIRS,
                              .combos_count = product,
                              .hma = hma,
                              .hma_count = hma_count,
                              .hma3 = hma3,
                              .hma3_count = hma3_count};
    status = fill_triples(&combos->lengths, false, hma, error);
    return status == SWP_OK ? fill_triples(&combos->lengths3, true, hma3, error) : status;
}

static swp_status make_from_lengths(const swp__arguments *arguments, swp__combos *combos, swp_error *error)
{
    swp_status status = swp__lengths_parse("length", arguments->length, &combos->lengths, error);
    if (status != SWP_OK || arguments->length3 == NULL) {
        return status == SWP_OK ? fill_rows(combos, error) : status;
    }
    status = swp__lengths_parse("length3", arguments->length3, &combos->lengths3, error);
    return status == SWP_OK ? fill_pairs(combos, error) : status;
}

static swp_status make_from_file(const char *path, swp__combos *combos, swp_error *error)
{
    swp__params_rows rows;
    swp_status status = swp__params_file_read(path, &rows, error);
    if (status == SWP_OK) {
        combos->values = rows.values;
        combos->grid = (swp_grid){.form = SWP_GRID_ROWS, .combos_count = rows.count, .rows = rows.values};
    }
    return status;
}

swp_status swp__combos_make(const swp__arguments *arguments, swp__combos *combos, swp_error *error)
{
    swp__combos made = {0};
    swp_status status;
    if (arguments->params == NULL) {
        status = make_from_lengths(arguments, &made, error);
    } else if (swp__options_given(arguments, "length") || arguments->length3 != NULL) {
        status = swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE,
                           "--params gives all six parameters; --length and --length3 cannot stand beside it");
    } else {
        status = make_from_file(arguments->params, &made, error);
    }
    if (status != SWP_OK) {
        swp__combos_free(&made);
        return status;
    }
    *combos = made;
    return SWP_OK;
}

swp_status swp__combos_rows(const swp__combos *combos, int64_t **rows, swp_error *error)
{
    uint64_t count = combos->grid.combos_count;
    int64_t *made = malloc(count * sizeof(swp_params));
    if (made == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for %" PRIu64 " combos", count);
    }
    for (uint64_t i = 0; i < count; i++) {
        swp_params p = swp_grid_at(&combos->grid, i);
        memcpy(made + i * SWP_PARAMS_COUNT, &p, sizeof p);
    }
    *rows = made;
    return SWP_OK;
}

int64_t swp__combos_length(const swp__combos *combos, uint64_t index)
{
    uint64_t inner = combos->lengths3.count > 0 ? combos->lengths3.count : 1;
    return combos->lengths.count > 0 ? combos->lengths.values[index / inner] : 0;
}

int64_t swp__combos_length3(const swp__combos *combos, uint64_t index)
{
    return combos->lengths3.count > 0 ? combos->lengths3.values[index % combos->lengths3.count] : 0;
}

void swp__combos_free(swp__combos *combos)
{
    swp__lengths_free(&combos->lengths);
    swp__lengths_free(&combos->lengths3);
    free(combos->values);
    *combos = (swp__combos){0};
}
