/* A text of columns with a header -> bars. One pass: the header decides which columns count (header.h), and of each row
 * only those are read. */
#ifndef SWP_BARS_TABLE_H
#define SWP_BARS_TABLE_H

#include "bars/bar_list.h"
#include "bars/refuse.h"
#include "bars/source.h"
#include "bars/time_stamp.h"
#include "swp/bars.h"

/* What was recognised. */
typedef struct swp__table_facts {
    char close_column[SWP__QUOTED_SIZE]; /* its name, in quotation marks */
    swp__time_form time_form;            /* with list->has_time */
    const char *layout;                  /* of a file without a header; NULL: it has one, or is of no known layout */
    swp__date_order date_order;
    uint64_t jumps_count, jump_line; /* the first one's line */
} swp__table_facts;

/* Reads `source` to its end. `options` have been checked. `list` must be zeroed, and is the caller's to free whatever
 * comes of it. BAD_PARAM at the line of what is refused; FILE; NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__table_read(swp__source *source, const swp_bars_options *options, swp__bar_list *list,
                                          swp__table_facts *facts, swp_error *error);

#endif
