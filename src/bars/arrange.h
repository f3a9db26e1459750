/* Bars in the order of their stamps, and one bar a stamp, as the options say; after a file has been read. */
#ifndef SWP_BARS_ARRANGE_H
#define SWP_BARS_ARRANGE_H

#include "bars/bar_list.h"
#include "bars/facts.h"
#include "swp/bars.h"

/* A close 100 times the one before, or a hundredth of it, and beyond: another unit, perhaps. */
bool swp__is_jump(double before, double close);

/* `list` has stamps and lines. With SWP_ORDER_SORT equal stamps stay in the order of the file. BAD_PARAM at the line of a
 * stamp that repeats another, unless `duplicates` says which bar is kept; NO_MEMORY. Bars and their lines move together; what
 * repeats is counted in `facts`. */
SWP_MUST_CHECK swp_status swp__arrange(swp__bar_list *list, const swp_bars_options *options, const char *path,
                                       swp__facts *facts, swp_error *error);

#endif
