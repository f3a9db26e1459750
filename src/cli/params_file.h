/* Combos from a file, six whole numbers a row: half, full, smooth, third, mid, p.
 *
 * A name that ends in .npy: an array of integers with the shape (n, 6), of any width, byte order and axis order.
 * Any other: text, a row a line, separated by commas, semicolons, tabs or spaces. The first line may be a header of exactly
 * these six names; empty lines are passed over. */
#ifndef SWP_CLI_PARAMS_FILE_H
#define SWP_CLI_PARAMS_FILE_H

#include "swp/strategy.h"

typedef struct swp__params_rows {
    int64_t *values; /* count x 6 */
    uint64_t count;  /* at least 1 */
} swp__params_rows;

/* FILE: the file cannot be read. BAD_PARAM: a line that is no combo, a value outside 1..2^31-1 (at: the line from 1, and the
 * message begins with `path:line:`; in .npy the byte), another dtype or shape, a file of another size than its header says, or
 * no combo at all. LIMIT: more than SWP__COMBOS_MAX rows. NO_MEMORY.
 * *rows is set only on success. */
SWP_MUST_CHECK swp_status swp__params_file_read(const char *path, swp__params_rows *rows, swp_error *error);

/* The .npy part: what swp__params_file_read calls for that ending. */
SWP_MUST_CHECK swp_status swp__params_npy_read(const char *path, swp__params_rows *rows, swp_error *error);

/* "half", "full", ... */
extern const char *const swp__params_names[SWP_PARAMS_COUNT];

void swp__params_rows_free(swp__params_rows *rows);

#endif
