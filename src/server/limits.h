/* What the server takes on beside the engine's limits (engine/limits.h): frames, connections, time. The table is where
 * the options of `sweepd serve`, their help and docs/service.md take names, defaults and bounds from. */
#ifndef SWP_SERVER_LIMITS_H
#define SWP_SERVER_LIMITS_H

#include "engine/limits.h"

typedef struct swp__server_limits {
    uint64_t max_frame; /* bytes of a body, either way */
    uint64_t max_connections;
    uint64_t max_in_flight;   /* requests of one connection */
    uint64_t max_sessions;    /* live ones, of one connection */
    uint64_t max_waiting;     /* bytes of replies of one connection; above it, nothing more is read from it */
    uint64_t max_buffers;     /* bytes of requests and results of all connections */
    uint64_t idle_timeout_ms; /* 0: none */
    uint64_t stall_timeout_ms;
    uint64_t slow_window_ms;
    uint64_t slow_rate; /* bytes a second */
    uint64_t drain_timeout_ms;
    uint64_t max_ring; /* bytes of a ring in shared memory */
    uint64_t spin_us;
} swp__server_limits;

extern const swp__limit_row swp__server_limit_rows[];
extern const size_t swp__server_limit_rows_count;

swp__server_limits swp__server_limits_standard(void);

/* BAD_PARAM: a limit outside its bounds (at: its row); the text names it. */
swp_status swp__server_limits_check(const swp__server_limits *limits, swp_error *error);

#endif
