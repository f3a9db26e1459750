/* What a file of bars is taken for: every decision with its evidence and the option that overrides it, what is odd about
 * its bars, and the command that reads it. */
#ifndef SWP_INSPECT_H
#define SWP_INSPECT_H

#include "swp/bars.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SWP_DECISIONS_MAX = 12, SWP_ODDITIES_SHOWN = 3 };

typedef struct swp_decision {
    const char *what;    /* "delimiter", "close", ... */
    char value[96];      /* "semicolon" */
    char evidence[96];   /* "the first lines have equally many" */
    const char *options; /* that override it: "--delimiter"; "": none does */
} swp_decision;

/* Where something is in the file. */
typedef struct swp_bar_place {
    uint64_t bar;  /* index, from 0 */
    uint64_t line; /* from 1; 0: the file has no lines */
} swp_bar_place;

typedef struct swp_gap {
    swp_bar_place behind;
    int64_t length_ns; /* from that bar's stamp to the next one */
} swp_gap;

typedef struct swp_jump {
    swp_bar_place at;
    double before, close; /* the close before, and the one at that place */
} swp_jump;

/* Filled by swp_bars_inspect, emptied by swp_inspection_free. */
typedef struct swp_inspection {
    swp_bars bars;        /* as `command` reads them */
    char refusal[240];    /* why the file is not read with the options as they were given; "": it is */
    swp_bars_order order; /* the options' own, or what it takes instead to read it: all that was changed */
    swp_bars_duplicates duplicates;
    uint32_t decisions_count;
    swp_decision decisions[SWP_DECISIONS_MAX];
    uint64_t gaps_count, repeats_count, repeats_differ_count; /* bars.jumps_count and bars.nan_count are beside them */
    int64_t step_ns;                    /* the most common distance of bars; 0: fewer than two, or no stamps */
    swp_gap gaps[SWP_ODDITIES_SHOWN];   /* distances beyond the step: the longest, longest first */
    swp_jump jumps[SWP_ODDITIES_SHOWN]; /* the first ones */
    uint64_t first_repeat_line;
    swp_bar_place first_nan;
    char *command; /* what a shell takes */
    char *text;    /* all of this on one screen, of at most 24 lines */
} swp_inspection;

/* Reads `path` as swp_bars_read does. A file whose stamps do not rise is read sorted, and of bars with one stamp the first is
 * kept, where the options say nothing else: ->refusal, ->order and ->duplicates tell. "-" is read once, and as it stands.
 * Errors: those of swp_bars_read, in its order; at 3, `inspection` is NULL. *inspection is set only on success. */
SWP_API SWP_MUST_CHECK swp_status swp_bars_inspect(const char *path, const swp_bars_options *options,
                                                   swp_inspection *inspection, swp_error *error);

/* Safe on a zeroed swp_inspection. */
SWP_API void swp_inspection_free(swp_inspection *inspection);

#ifdef __cplusplus
}
#endif
#endif
