/* The bars of a file while they are read: closes, and time stamps where the file has them, in arrays that grow with
 * what has really been read, never with what a file says about itself. */
#ifndef SWP_BARS_BAR_LIST_H
#define SWP_BARS_BAR_LIST_H

#include <stdbool.h>
#include "swp/error.h"

typedef struct swp__bar_list {
    bool has_time; /* set before the first bar, if at all */
    double *close;
    int64_t *time_ns; /* only with has_time */
    bool has_line;    /* as has_time */
    uint64_t *line;   /* where in the file a bar stands; only with has_line */
    uint64_t count, capacity;
    uint64_t nan_count;
} swp__bar_list;

/* Zero-initialise. `room` bars, known from the size of the file, spare the growing; 0 when not known. NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__bar_list_reserve(swp__bar_list *list, uint64_t room, swp_error *error);

/* `time_ns` goes nowhere without has_time. NO_MEMORY: the list is as it was. */
SWP_MUST_CHECK swp_status swp__bar_list_push(swp__bar_list *list, int64_t time_ns, uint64_t line, double close,
                                             swp_error *error);

/* Gives back what was reserved and not used. */
void swp__bar_list_trim(swp__bar_list *list);

void swp__bar_list_fini(swp__bar_list *list);

#endif
