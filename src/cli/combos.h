/* The combos of a run: from --length, --length x --length3, or --params. */
#ifndef SWP_CLI_COMBOS_H
#define SWP_CLI_COMBOS_H

#include "cli/arguments.h"
#include "cli/lengths.h"
#include "swp/strategy.h"

typedef struct swp__combos {
    swp_grid grid;
    swp__lengths lengths;  /* count 0: the combos came from a file */
    swp__lengths lengths3; /* count 0: HMA3 has HMA's length */
    int64_t *values;       /* what the grid points to */
} swp__combos;

/* BAD_PARAM: --params beside --length or --length3, or what the readers of each say. LIMIT: more than SWP__COMBOS_MAX.
 * FILE, NO_MEMORY. Freed by swp__combos_free; set only on success. */
SWP_MUST_CHECK swp_status swp__combos_make(const swp__arguments *arguments, swp__combos *combos, swp_error *error);

/* All combos as rows: combos x 6, freed by free(). NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__combos_rows(const swp__combos *combos, int64_t **rows, swp_error *error);

/* The lengths that combo `index` was made from; 0 where there is none. */
int64_t swp__combos_length(const swp__combos *combos, uint64_t index);
int64_t swp__combos_length3(const swp__combos *combos, uint64_t index);

void swp__combos_free(swp__combos *combos);

#endif
