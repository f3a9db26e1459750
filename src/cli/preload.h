/* serve --load NAME=FILE: series that are there for everybody from the start. */
#ifndef SWP_CLI_PRELOAD_H
#define SWP_CLI_PRELOAD_H

#include "base/log.h"
#include "cli/arguments.h"
#include "engine/store.h"

/* Reads, holds, names and, with --pin, pins each file, and says so in the log. BAD_PARAM, no NAME=FILE; else what
 * reading the file or holding the series says, with the name in front. */
SWP_MUST_CHECK swp_status swp__preload(const swp__arguments *arguments, swp__store *store, swp__log *log, swp_error *error);

#endif
