/* A series as the engine holds it. */
#ifndef SWP_ENGINE_SERIES_H
#define SWP_ENGINE_SERIES_H

#include "swp/engine.h"

/* What closes were found to be, so far. */
typedef struct swp__closes_seen {
    uint64_t nan_count;
    uint32_t needs; /* SWP_ALLOW_*: the least policy that lets them in */
} swp__closes_seen;

struct swp_series {
    swp_engine *engine;
    const double *close; /* bars_count values: the caller's array, or `copy` */
    double *copy;        /* NULL when borrowed */
    uint64_t bars_count;
    swp__closes_seen seen;
};

/* Judges closes[count], the first of which is bar `first_bar`, by a sum of SWP_ALLOW_* and adds to *seen. BAD_PARAM:
 * a close is refused (at: its bar). */
swp_status swp__closes_judge(const double *closes, uint64_t count, uint64_t first_bar, uint32_t allow, swp__closes_seen *seen,
                             swp_error *error);

#endif
