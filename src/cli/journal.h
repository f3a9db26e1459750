/* The journal of `sweepd live`: every bar and what it led to, so that a session goes on after a crash and what was traded can be
 * proved afterwards. The layout is in protocol/protocol.md, section 14. It holds all that the numbers depend on, so a journal
 * needs no other file. */
#ifndef SWP_CLI_JOURNAL_H
#define SWP_CLI_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include "swp/live.h"

typedef struct swp__journal {
    const char *path;
    int descriptor;
    bool syncs;   /* each record is on the disk before its bar counts */
    uint64_t sum; /* of the last record, which the next one goes on from */

    /* what it was begun with, or was found to hold */
    swp_live_request request; /* params point into `params` */
    int64_t *params;
    uint64_t warm_count, bars_count; /* closes: of the warm-up; in all */
    double *closes;                  /* [bars_count]: when opened; not grown by appending */
    swp_live_state *states;          /* [bars_count - warm_count][combos] after each recorded bar */
    uint64_t torn_bytes;             /* dropped from its end */
    unsigned char *record;           /* room for one */
} swp__journal;

/* Begins a journal at `path`, which does not exist, with a session's options and the closes of its warm-up. FILE; NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__journal_begin(const char *path, const swp_live_request *request, const double *warm_up,
                                             uint64_t warm_count, bool syncs, swp__journal *journal, swp_error *error);

/* Reads a whole journal. With `appends` nobody else may have it open, and a torn end is cut off; else the file is left as it is.
 * NOT_FOUND: there is none. BAD_PARAM (at: the byte) no journal, or damaged before its end; UNKNOWN another version or other
 * numbers; FILE; NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__journal_open(const char *path, bool appends, bool syncs, swp__journal *journal,
                                            swp_error *error);

/* One bar and the states after it. FILE. */
SWP_MUST_CHECK swp_status swp__journal_append(swp__journal *journal, double close, const swp_live_state *states,
                                              swp_error *error);

/* Safe on a zeroed one. */
void swp__journal_close(swp__journal *journal);

#endif
