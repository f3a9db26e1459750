/* The bars of a file while they are read: closes, and what else is asked for, in arrays that grow with what has really been
 * read, never with what a file says about itself. */
#ifndef SWP_BARS_BAR_LIST_H
#define SWP_BARS_BAR_LIST_H

#include <stdbool.h>
#include "swp/error.h"

/* Columns that may be kept beside the closes. */
enum { SWP__OPEN, SWP__HIGH, SWP__LOW, SWP__VOLUME, SWP__BESIDE_COUNT };

typedef struct swp__bar {
    int64_t time_ns;
    uint64_t line; /* where in the file it stands */
    double close;
    double beside[SWP__BESIDE_COUNT];
} swp__bar;

/* The fields has_... are set before the first bar, if at all; an array is there only with its own. */
typedef struct swp__bar_list {
    bool has_time, has_line, has_beside[SWP__BESIDE_COUNT];
    double *close;
    int64_t *time_ns;
    uint64_t *line;
    double *beside[SWP__BESIDE_COUNT];
    uint64_t count, capacity;
    uint64_t nan_count; /* closes that are NaN */
} swp__bar_list;

/* Zero-initialise. `room` bars, known from the size of the file, spare the growing; 0 when not known. NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__bar_list_reserve(swp__bar_list *list, uint64_t room, swp_error *error);

/* What the list has no array for is left out. NO_MEMORY: the list is as it was. */
SWP_MUST_CHECK swp_status swp__bar_list_push(swp__bar_list *list, const swp__bar *bar, swp_error *error);

/* A bar of the list; what it has no array for is 0. */
swp__bar swp__bar_list_get(const swp__bar_list *list, uint64_t index);
void swp__bar_list_set(swp__bar_list *list, uint64_t index, const swp__bar *bar);

/* Gives back what was reserved and not used. */
void swp__bar_list_trim(swp__bar_list *list);

void swp__bar_list_fini(swp__bar_list *list);

#endif
