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

/* A bar of a text that may never end. */
typedef struct swp__followed {
    double close;
    bool has_time, is_date; /* a stamp, and one of a day only */
    int64_t time_ns;
    uint64_t line; /* from 1 */
} swp__followed;

typedef struct swp__follower {
    swp_status (*bar)(void *context, const swp__followed *bar, swp_error *error); /* anything but OK ends the reading */
    void (*repeated)(void *context, uint64_t line); /* with SWP_DUPLICATES_FIRST: this row was passed over */
    void *context;
} swp__follower;

/* Reads a descriptor to its end and hands on each bar once its line is there, by the rules of swp__table_read but for these: an
 * empty text is none that is refused; UTF-16 is; a single column without a header is the closes; blank lines are passed over; the first line
 * alone tells the delimiter, and nothing is decided by lines that have yet to come, so dates of which nobody can tell the day from
 * the month are refused; stamps that fall are refused whatever the options say. A row that is refused ends the reading: BAD_PARAM
 * at its line, after every row before it was handed on. */
SWP_MUST_CHECK swp_status swp__table_follow(int fd, const char *path, const swp_bars_options *options,
                                            const swp__follower *follower, swp_error *error);

#endif
