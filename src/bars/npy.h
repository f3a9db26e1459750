/* NumPy's .npy: a header that names type, order and shape, then the numbers. */
#ifndef SWP_BARS_NPY_H
#define SWP_BARS_NPY_H

#include "bars/binary.h"
#include "bars/facts.h"

enum { SWP__NPY_AXES_MAX = 32 };

typedef struct swp__npy_header {
    swp__dtype dtype;
    bool is_fortran; /* with two axes and more: the first one varies fastest */
    uint64_t shape[SWP__NPY_AXES_MAX];
    size_t axes_count;
    uint64_t begin;       /* byte of the header's dictionary: what errors about it name */
    uint64_t data_offset; /* byte of the first number */
} swp__npy_header;

/* Reads up to the first number. Format versions 1, 2 and 3; floating point of 2, 4 or 8 bytes and integers of 1 to 8,
 * in either byte order; anything else is refused by name. The shape is as the file states it. BAD_PARAM (at: the byte),
 * FILE. */
SWP_MUST_CHECK swp_status swp__npy_header_read(swp__source *source, swp__npy_header *header, swp_error *error);

/* "2000, 3" */
void swp__npy_shape_format(const swp__npy_header *header, char *text, size_t size);

/* A series: what swp__npy_header_read takes, with one axis; or with two, bars by columns, of which `close` is the number of one,
 * from 1 (NULL: there is only one). BAD_PARAM (at: the byte), FILE, NO_MEMORY. `list` must be zeroed and is the caller's to
 * free. */
SWP_MUST_CHECK swp_status swp__npy_read(swp__source *source, const char *close, uint32_t allow, swp__bar_list *list,
                                        swp__facts *facts, swp_error *error);

#endif
