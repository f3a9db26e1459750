/* NumPy's .npy: a header that names type, order and shape, then the numbers. */
#ifndef SWP_BARS_NPY_H
#define SWP_BARS_NPY_H

#include "bars/binary.h"

/* Format versions 1, 2 and 3; one axis; floating point of 2, 4 or 8 bytes and integers of 1 to 8, in either byte order. Anything
 * else is refused by name. BAD_PARAM (at: the byte), FILE, NO_MEMORY. `list` must be zeroed and is the caller's to free. */
SWP_MUST_CHECK swp_status swp__npy_read(swp__source *source, uint32_t allow, swp__bar_list *list, swp_error *error);

#endif
