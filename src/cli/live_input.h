/* Closes as they arrive: plain numbers, a line each, or the rows of a CSV file, from a pipe that may never end. */
#ifndef SWP_CLI_LIVE_INPUT_H
#define SWP_CLI_LIVE_INPUT_H

#include "cli/arguments.h"
#include "swp/bars.h"

/* What is done with each close, at once; `line` counts from 1. Anything but OK ends the reading. */
typedef swp_status (*swp__live_row)(void *context, double close, uint64_t line, swp_error *error);

/* Reads descriptor 0 to its end. The first line is a header unless it holds data; then a single column is
 * the closes, and of several --close says which by its number. A row that `options` refuse ends the reading: BAD_PARAM at its
 * line, after every row before it was handed on. */
SWP_MUST_CHECK swp_status swp__live_input(const swp_bars_options *options, swp__live_row row, void *context, swp_error *error);

#endif
