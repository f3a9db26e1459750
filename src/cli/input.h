/* What `sweep` and `verify` work on: the combos, the bars of a file, and an engine that holds them as a series: one in this
 * process, or the one that --engine names. */
#ifndef SWP_CLI_INPUT_H
#define SWP_CLI_INPUT_H

#include "cli/arguments.h"
#include "cli/combos.h"
#include "swp/bars.h"
#include "swp/client.h"

typedef struct swp__input {
    swp__combos combos;
    swp_bars bars;
    swp_engine *engine;
    swp_series *series;
    swp_client *client; /* --engine; the two above are then NULL */
    swp_client_series *held;
} swp__input;

/* How a file of bars is to be read. BAD_PARAM: --delimiter is none. */
SWP_MUST_CHECK swp_status swp__input_bars_options(const swp__arguments *arguments, swp_bars_options *options, swp_error *error);

/* SWP__EXIT_OK, or the exit code after the message; combos are judged before the file is opened. Emptied by
 * swp__input_close in either case. */
int swp__input_open(const swp__arguments *arguments, uint64_t threads, swp__input *input);

/* Replaces the series by one without anything that a kernel has kept with it. What
 * swp_series_new says. */
SWP_MUST_CHECK swp_status swp__input_renew_series(const swp__arguments *arguments, swp__input *input, swp_error *error);

void swp__input_close(swp__input *input);

#endif
