/* What the engine asks of a grid beside swp/strategy.h. */
#ifndef SWP_KERNEL_PARAMS_H
#define SWP_KERNEL_PARAMS_H

#include "swp/strategy.h"

/* For each parameter the largest value in a checked grid that is not above `limit`; 1 where there is none. Reads the lists a
 * grid is made of, not its product. */
swp_params swp__grid_largest(const swp_grid *grid, int64_t limit);

#endif
