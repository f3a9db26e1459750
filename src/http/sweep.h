/* One sweep asked for over HTTP, done by the engine. */
#ifndef SWP_HTTP_SWEEP_H
#define SWP_HTTP_SWEEP_H

#include "http/sweep_answer.h"
#include "swp/client.h"

/* Loads the closes (or opens the series), sweeps, and gives the series back. `cancel` ends it early. Errors: LIMIT, memory for the
 * results; the engine's (swp/client.h). *answer is set only on success. */
SWP_MUST_CHECK swp_status swp__http_sweep(swp_client *client, const swp__sweep_body *body, uint32_t timeout_ms,
                                          swp_cancel *cancel, swp__sweep_answer *answer, swp_error *error);

#endif
