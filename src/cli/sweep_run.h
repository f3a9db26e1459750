/* The sweep of `sweepd sweep`: the whole grid at once, or, where a log holds a part of it, what is missing there. */
#ifndef SWP_CLI_SWEEP_RUN_H
#define SWP_CLI_SWEEP_RUN_H

#include "cli/sweep_log.h"

typedef struct swp__sweep_run {
    const swp__arguments *arguments;
    const swp__input *input;
    swp_cancel *cancel;
    swp__sweep_log *log; /* NULL: none is kept */
    double seconds;      /* it took; set by the run */
} swp__sweep_run;

/* Fills `columns`, where finished rows are left as they are; about once a second what is finished goes to the log. A log that
 * cannot be written is given up, and said so: the sweep goes on. What swp_sweep or swp_client_sweep says. */
SWP_MUST_CHECK swp_status swp__sweep_to_columns(swp__sweep_run *run, swp__columns *columns, swp_error *error);

#endif
