/* The engine that a URL on the command line names. */
#ifndef SWP_CLI_ENGINE_URL_H
#define SWP_CLI_ENGINE_URL_H

#include "cli/arguments.h"
#include "swp/client.h"

/* Connects with --timeout (0: the client's standard), --token-file, --threads and --spin, those of them that the command has. "spawn:" starts this very
 * program. What swp_client_open says; FILE the token's. */
SWP_MUST_CHECK swp_status swp__engine_connect(const swp__arguments *arguments, const char *url, swp_client **client,
                                              swp_error *error);

#endif
