/* Live sessions from inside: made empty, warmed by a sweep, pushed in pieces so that a thread that serves others may stop
 * in between.
 *
 *     swp__live_open ─> [sweep over the warm-up into swp__live_warm_states ─> swp__live_warm until true] ─> ready
 *     ready ─> swp__push_begin ─> swp__push_work until true ─> swp__push_end ─> ready
 *
 * Between begin and end nothing else is asked of the session but swp_live_free, which ends the push, too. */
#ifndef SWP_ENGINE_LIVE_H
#define SWP_ENGINE_LIVE_H

#include "base/fingerprint.h"
#include "engine/engine.h"
#include "kernel/hma_cross_live.h"
#include "swp/live.h"

_Static_assert(sizeof(swp_live_state) == 40, "a state is five words, here and on the wire");

struct swp_live {
    swp_engine *engine;
    uint32_t allow;
    swp__live_bars bars;
    swp__trade_state *kept; /* [combos] states while a peek looks */

    /* the last push: what it takes to know it again */
    bool has_push;
    uint64_t push_expected;
    swp__fingerprint push_fingerprint;

    int64_t warm_next; /* first bar of the warm-up that is not in the histories; -1: not begun */
    size_t block_size; /* of the memory that holds all this */
};

typedef struct swp__push {
    /* set by the caller */
    uint64_t expected_bars; /* SWP_LIVE_ANY: not checked */
    const double *close;
    uint64_t bars_count;
    swp__fingerprint fingerprint; /* of the push; not of a peek */
    bool peeks;
    int8_t *positions; /* NULL: not wanted */

    /* its own */
    bool repeats;
    uint64_t done;
    swp_live *copy; /* what a peek of several bars works on */
} swp__push;

/* As swp_live_new, but `warm_up` (may be NULL) is only judged. */
SWP_MUST_CHECK swp_status swp__live_open(swp_engine *engine, const swp_live_request *request, const swp_series *warm_up,
                                         swp_live **live, swp_error *error);

/* What swp_live_new says of a request alone. */
SWP_MUST_CHECK swp_status swp__live_check(const swp_live_request *request, swp_error *error);

/* Its combos and options: of the sweep over the warm-up, too. */
swp_sweep_request swp__live_as_sweep(const swp_live_request *request);

/* What a sweep over the warm-up with this session's combos is to fill (swp__listener.states). */
swp__trade_state *swp__live_warm_states(swp_live *live);

/* After that sweep: the last closes[bars_count] into the histories, about budget_ns of work. True: done. */
bool swp__live_warm(swp_live *live, const double *close, uint64_t bars_count, double budget_ns);

/* Everything that can be refused is refused here; then `work` until true and `end` once. */
SWP_MUST_CHECK swp_status swp__push_begin(swp_live *live, swp__push *push, swp_error *error);
bool swp__push_work(swp_live *live, swp__push *push, double budget_ns);
void swp__push_end(swp_live *live, swp__push *push, swp_live_state *states);

/* ---- for live_snapshot.c ---- */

/* An empty session of checked combos. LIMIT, NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__live_make(swp_engine *engine, const int64_t *rows, uint64_t combos_count, const swp__exec *exec,
                                         uint32_t allow, swp_live **live, swp_error *error);

#endif
