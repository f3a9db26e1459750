/* What is asked about in a simulation, and the right answers, from the strict kernel, made once for all seeds: series that
 * begin alike, since a session goes on where its warm-up ends. */
#ifndef SWP_TESTS_SIMULATION_MODEL_H
#define SWP_TESTS_SIMULATION_MODEL_H

#include "base/fingerprint.h"
#include "swp/engine.h"
#include "swp/live.h"

enum {
    SWP__MODEL_SERIES = 4,
    SWP__MODEL_GRIDS = 5,
    SWP__MODEL_ROWS_MAX = 300,
    SWP__MODEL_LIVE_GRIDS = 3,  /* the first ones: those a session is pushed with */
    SWP__MODEL_LIVE_BARS = 700, /* and the most bars it has then */
};

typedef struct swp__model {
    double *feed;                           /* all bars */
    const double *close[SWP__MODEL_SERIES]; /* [bars_count] of them */
    uint64_t bars_count[SWP__MODEL_SERIES];
    swp__fingerprint fingerprint[SWP__MODEL_SERIES];
    int64_t *rows[SWP__MODEL_GRIDS]; /* x SWP_PARAMS_COUNT */
    uint64_t rows_count[SWP__MODEL_GRIDS];
    double *pnl[SWP__MODEL_SERIES][SWP__MODEL_GRIDS];
    int64_t *trades[SWP__MODEL_SERIES][SWP__MODEL_GRIDS];
    swp_live_state *states[SWP__MODEL_SERIES][SWP__MODEL_GRIDS];
    swp_live_state *live[SWP__MODEL_LIVE_GRIDS]; /* [LIVE_BARS + 1][rows]: after so many bars */
} swp__model;

void swp__model_init(swp__model *model);
void swp__model_fini(swp__model *model);

/* The states after so many bars of the feed; NULL: they are not known. */
const swp_live_state *swp__model_states(const swp__model *model, size_t grid, uint64_t bars);

#endif
