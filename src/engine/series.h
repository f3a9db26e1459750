/* A series as the engine holds it. */
#ifndef SWP_ENGINE_SERIES_H
#define SWP_ENGINE_SERIES_H

#include "swp/engine.h"

struct swp_series {
    swp_engine *engine;
    const double *close; /* bars_count values: the caller's array, or `copy` */
    double *copy;        /* NULL when borrowed */
    uint64_t bars_count;
    uint64_t nan_count;
};

#endif
