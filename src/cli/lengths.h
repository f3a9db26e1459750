/* Lengths as a person types them.
 *
 *     6:200       6, 7, ... 200: both ends included
 *     6:200:10    6, 16, ... 196: HI where the steps meet it
 *     6:200/80    80 values evenly spaced from 6 to 200, each rounded half to even (in exact arithmetic), duplicates dropped
 *     6,9,13      these, in this order */
#ifndef SWP_CLI_LENGTHS_H
#define SWP_CLI_LENGTHS_H

#include "swp/strategy.h"

#define SWP__COMBOS_MAX (UINT64_C(1) << 24) /* of one run of the program: its results are held in memory */

typedef struct swp__lengths {
    int64_t *values; /* each 1..2^31-1 */
    uint64_t count;  /* at least 1 */
} swp__lengths;

/* BAD_PARAM: what `text` lacks or where it is off; a value outside 1..2^31-1. LIMIT: more than SWP__COMBOS_MAX values.
 * NO_MEMORY. `option` is the name the messages begin with. *lengths is set only on success. */
SWP_MUST_CHECK swp_status swp__lengths_parse(const char *option, const char *text, swp__lengths *lengths, swp_error *error);

void swp__lengths_free(swp__lengths *lengths);

#endif
