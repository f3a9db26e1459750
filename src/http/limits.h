/* What the HTTP door takes on. The table is where the options of sweepd-http and their help take names, defaults and bounds
 * from; what the engine behind it takes on is the engine's own. */
#ifndef SWP_HTTP_LIMITS_H
#define SWP_HTTP_LIMITS_H

#include "engine/limits.h"

typedef struct swp__http_limits {
    uint64_t max_connections;
    uint64_t max_body;   /* bytes of a request's body */
    uint64_t max_memory; /* bytes: bodies, what is read from them, and results, of all requests */
    uint64_t request_timeout_ms;
    uint64_t sweep_timeout_ms;
    uint64_t reply_timeout_ms;
    uint64_t drain_timeout_ms;
} swp__http_limits;

extern const swp__limit_row swp__http_limit_rows[];
extern const size_t swp__http_limit_rows_count;

#endif
