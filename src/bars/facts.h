/* What was recognised in a file, and why: filled while it is read, for the line that says so and for swp_bars_inspect. */
#ifndef SWP_BARS_FACTS_H
#define SWP_BARS_FACTS_H

#include <stdbool.h>
#include "bars/bar_list.h" /* SWP__BESIDE_COUNT */
#include "bars/refuse.h"   /* SWP__QUOTED_SIZE */
#include "bars/time_stamp.h"

typedef struct swp__facts {
    const char *packing;  /* "gzip", "zstd"; NULL: none */
    const char *encoding; /* of a text */
    char numbers[120];    /* of .npy and raw files: type, byte order, shape; "": a text */

    char delimiter;
    size_t columns_count;
    uint64_t header_line; /* or of the first bar, where there is none */
    bool is_headerless;
    const char *layout; /* of a file without a header; NULL: it has one, or is of no known layout */

    size_t close, time, time_of_day; /* columns, from 0; SWP__NO_COLUMN */
    size_t beside[SWP__BESIDE_COUNT];
    char close_column[SWP__QUOTED_SIZE]; /* its name in quotation marks, or its number from 1 */
    char time_column[SWP__QUOTED_SIZE], time_of_day_column[SWP__QUOTED_SIZE];
    const char *close_why, *time_why;

    char first_stamp[SWP__QUOTED_SIZE];
    swp__time_form time_form; /* with stamps */
    swp__date_order date_order;
    bool is_order_weighed; /* the dates of the first block told it */

    bool is_falling;       /* newest first, and sorted */
    bool is_order_refused; /* what was refused is how the stamps follow each other */
    uint64_t repeats_count, repeats_differ_count,
        repeat_line;                 /* bars that a --duplicates dropped; with another close; the first one's line */
    uint64_t jumps_count, jump_line; /* the first one's line */
} swp__facts;

#endif
