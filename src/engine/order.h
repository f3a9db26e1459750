/* In which order a sweep takes the combos of a grid. In input order a batch of a product of HMAs and HMA3s holds one HMA and as
 * many HMA3s as combos; taken in tiles, it holds a few of each, and a kernel computes each once. Results are in input order all
 * the same. */
#ifndef SWP_ENGINE_ORDER_H
#define SWP_ENGINE_ORDER_H

#include <stdint.h>
#include "swp/strategy.h"

/* Tiles of a run of whole rows: combos of a row have the same HMA, or the same HMA3. */
typedef struct swp__order {
    uint64_t row;                     /* combos in a row; 0: input order */
    uint64_t tile_rows, tile_columns; /* at most a batch together; all tiles of a run are about as large */
} swp__order;

/* Rows that are a product written out are found to be one, too. */
swp__order swp__order_of(const swp_grid *grid, uint64_t batch);

/* The largest run of at most `combos` combos that is best taken at once, a multiple of a row where a row fits. */
uint64_t swp__order_run(const swp__order *order, uint64_t combos);

/* Which combo of the run of `run` combos, counted from its first, is number `position` to be taken. Runs begin at whole rows,
 * or take no notice of rows. */
uint64_t swp__order_at(const swp__order *order, uint64_t run, uint64_t position);

/* Positions [begin, end) of a run: one chain's. */
typedef struct swp__chain_span {
    uint64_t begin, end;
} swp__chain_span;

/* How many chains of at most `batch` combos (that of swp__order_of) a run is cut into: a tile each where it is taken in tiles. */
uint64_t swp__order_chains(const swp__order *order, uint64_t run, uint64_t batch);
swp__chain_span swp__order_chain(const swp__order *order, uint64_t run, uint64_t batch, uint64_t chain);

#endif
