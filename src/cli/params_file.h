/* Combos from a file, six whole numbers a row: half, full, smooth, third, mid, p.
 *
 * Text: a row a line, separated by commas, semicolons, tabs or spaces. The first line may be a header of exactly these six
 * names; empty lines are passed over. */
#ifndef SWP_CLI_PARAMS_FILE_H
#define SWP_CLI_PARAMS_FILE_H

#include "swp/strategy.h"

typedef struct swp__params_rows {
    int64_t *values; /* count x 6 */
    uint64_t count;  /* at least 1 */
} swp__params_rows;

/* FILE: the file cannot be read. BAD_PARAM: a line that is no combo (at: its number from 1; the message begins with
 * `path:line:`), a value outside 1..2^31-1, or no combo at all. LIMIT: more than SWP__COMBOS_MAX rows. NO_MEMORY.
 * *rows is set only on success. */
SWP_MUST_CHECK swp_status swp__params_file_read(const char *path, swp__params_rows *rows, swp_error *error);

void swp__params_rows_free(swp__params_rows *rows);

#endif
