/* A text of columns with a header -> bars. One pass: the header decides which columns count (header.h), and of each row
 * only those are read. */
#ifndef SWP_BARS_TABLE_H
#define SWP_BARS_TABLE_H

#include "bars/bar_list.h"
#include "bars/facts.h"
#include "bars/source.h"
#include "swp/bars.h"

/* Reads `source` to its end. `options` have been checked. `list` must be zeroed, but may have has_line, and is the caller's to
 * free whatever comes of it. BAD_PARAM at the line of what is refused; FILE; NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__table_read(swp__source *source, const swp_bars_options *options, swp__bar_list *list,
                                          swp__facts *facts, swp_error *error);

#endif
