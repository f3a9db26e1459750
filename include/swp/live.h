/* A live session runs combos over bars as they arrive, on the arithmetic of a sweep: after bar i its states are those of a
 * sweep over bars 0..i, bit for bit, however the bars were handed in (docs/live.md).
 * A session belongs to one thread at a time; different sessions are independent. */
#ifndef SWP_LIVE_H
#define SWP_LIVE_H

#include "swp/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct swp_live swp_live; /* opaque */

/* What one combo has done so far; laid out as on the wire. */
typedef struct swp_live_state {
    int64_t bars_seen; /* warm-up included */
    int64_t position;  /* -1 short, 0 flat, +1 long, after the last bar */
    double entry;      /* price; 0 when flat */
    double pnl;        /* percentage points, fees taken, closed trades only; a NaN is 0x7ff8000000000000 */
    int64_t trades;    /* closed trades */
} swp_live_state;

/* Zero-initialise, then set what differs from the default; fee has none and must be set. */
typedef struct swp_live_request {
    const int64_t *params; /* combos_count x 6, in the order of swp_params; copied */
    uint64_t combos_count;
    double fee; /* as in a sweep */
    swp_entry entry;
    uint32_t allow;    /* sum of SWP_ALLOW_*: which closes are let in, of the warm-up and of pushes */
    swp_kernel kernel; /* for the warm-up; the numbers are the same */
} swp_live_request;

/* Opens a session. `warm_up` may be NULL; its bars trade and count, as in a sweep, and it is free after the call. Allocates what
 * the windows need, whatever the length of the history: two copies of the longest one of closes, and for each combo of smooth
 * and p values. Checked in this order: BAD_PARAM a pointer is NULL (at: argument), no combos, a parameter (at: its index), fee,
 * entry, kernel, allow; WRONG_PROCESS; BAD_PARAM a close of the warm-up that `allow` refuses (at: bar); LIMIT memory;
 * NO_MEMORY. */
SWP_API SWP_MUST_CHECK swp_status swp_live_new(swp_engine *engine, const swp_live_request *request, const swp_series *warm_up,
                                               swp_live **live, swp_error *error);

/* Before swp_engine_free. NULL is a no-op. */
SWP_API void swp_live_free(swp_live *live);

SWP_API uint64_t swp_live_combos_count(const swp_live *live);
SWP_API uint64_t swp_live_bars_count(const swp_live *live);

/* states[combos_count]: as they are. */
SWP_API void swp_live_states(const swp_live *live, swp_live_state *states);

/* For `expected_bars`: whatever the session has. */
#define SWP_LIVE_ANY UINT64_MAX

/* Feeds bars_count closed bars, oldest first, to a session that has had `expected_bars` before them. Allocates nothing.
 * states[combos_count] and, unless NULL, positions[bars_count x combos_count] (after each bar, bars outermost) are written only
 * on success. The last push may be repeated: with the expected_bars it had and the same closes it is answered again and changes
 * nothing, which makes it safe to push again when no answer came. bars_count 0 asks for the states. Checked in this order:
 * BAD_PARAM a pointer is NULL (at: argument); STALE expected_bars is neither the session's count nor that of the last push, or
 * the closes are other ones than then, or it asks for positions of a repeat of more than one bar, which are not kept
 * (a: expected_bars, b: the count); BAD_PARAM a close is refused by the session's `allow` (at: its index). A refused push
 * changes nothing. */
SWP_API SWP_MUST_CHECK swp_status swp_live_push(swp_live *live, uint64_t expected_bars, const double *close,
                                                uint64_t bars_count, swp_live_state *states, int8_t *positions,
                                                swp_error *error);

/* As swp_live_push, but nothing is kept: the states if these bars closed now. A peek of one bar allocates nothing; one of more
 * works on a copy of the session (NO_MEMORY, LIMIT). */
SWP_API SWP_MUST_CHECK swp_status swp_live_peek(swp_live *live, const double *close, uint64_t bars_count,
                                                swp_live_state *states, int8_t *positions, swp_error *error);

/* Bytes from which swp_live_restore makes the same session, in another process, build or instruction set; a version, the id of
 * the numbers and a checksum are among them. What the last push was is kept, too. Writes at most `size` bytes and returns what
 * all of them need. */
SWP_API size_t swp_live_snapshot(const swp_live *live, void *bytes, size_t size);

/* A session that goes on as if it had never stopped. BAD_PARAM a pointer is NULL (at: argument); WRONG_PROCESS; BAD_PARAM (at:
 * the byte) not a snapshot, or damaged; UNKNOWN (at: the byte) of another version, strategy or other numbers; LIMIT memory;
 * NO_MEMORY. */
SWP_API SWP_MUST_CHECK swp_status swp_live_restore(swp_engine *engine, const void *bytes, size_t size, swp_live **live,
                                                   swp_error *error);

#ifdef __cplusplus
}
#endif
#endif
