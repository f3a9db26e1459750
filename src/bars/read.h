/* A file of bars with what was recognised in it: what swp_bars_read and swp_bars_inspect share. */
#ifndef SWP_BARS_READ_H
#define SWP_BARS_READ_H

#include "bars/bar_list.h"
#include "bars/facts.h"
#include "swp/bars.h"

/* As swp_bars_read. `list` and `facts` are zeroed, but for list->has_line, which keeps the lines of a text's bars. On failure
 * the list is empty again, and the facts are those that were found by then. */
SWP_MUST_CHECK swp_status swp__bars_read(const char *path, const swp_bars_options *options, swp__bar_list *list,
                                         swp__facts *facts, swp_error *error);

/* The list's arrays become those of *bars, with their summary; the list is empty then. */
void swp__bars_take(swp__bar_list *list, const swp__facts *facts, swp_bars *bars);

#endif
