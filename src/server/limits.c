#include "server/limits.h"

#include <inttypes.h>
#include "base/error.h"
#include "wire/wire.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define DAY_MS (UINT64_C(24) * 3600 * 1000)
#define ROW(field, name, standard, minimum, maximum, unit, help)                                                               \
    {                                                                                                                          \
        name, offsetof(swp__server_limits, field), standard, minimum, maximum, unit, help                                      \
    }

const swp__limit_row swp__server_limit_rows[] = {
    ROW(max_frame, "max-frame", SWP__BODY_DEFAULT, 4096, SWP__BODY_MAX, "bytes", "of one frame, either way"),
    ROW(max_connections, "max-connections", 1024, 1, 1000000, "connections", "at once; one more is told BUSY"),
    ROW(max_in_flight, "max-in-flight", 64, 1, 65536, "requests", "of one connection at once"),
    ROW(max_sessions, "max-sessions", 1024, 1, 1000000, "sessions", "live, open on one connection at once"),
    ROW(max_waiting, "max-waiting", 4 * MIB, 4096, UINT64_C(1) << 40, "bytes",
        "of replies one connection has not taken yet; above it, nothing more is read from it"),
    ROW(max_buffers, "max-buffers", 4 * GIB, 1 * MIB, UINT64_C(1) << 62, "bytes", "of requests and results of all connections"),
    ROW(idle_timeout_ms, "idle-timeout", 0, 0, 365 * DAY_MS, "ms",
        "after which a connection without requests is closed; 0: never"),
    ROW(stall_timeout_ms, "stall-timeout", 30000, 10, DAY_MS, "ms",
        "without a byte, while a frame is half read or a reply waits, after which a connection is closed"),
    ROW(slow_window_ms, "slow-window", 60000, 10, DAY_MS, "ms",
        "over which the rate of a half-read frame or a waiting reply is judged"),
    ROW(slow_rate, "slow-rate", 65536, 0, GIB, "bytes/s",
        "below which a connection that is inside a frame, or that a reply waits for, is closed"),
    ROW(drain_timeout_ms, "drain-timeout", 30000, 0, DAY_MS, "ms", "that running requests have to finish after SIGTERM"),
    ROW(max_ring, "max-ring", 16 * MIB, 1 << 16, GIB, "bytes",
        "of a ring of shared memory; a connection over shared memory has one of ours and one of the client's"),
    ROW(spin_us, "spin", 20, 0, 1000, "us",
        "at most, to look for the next request before sleeping; only where the process may use two CPUs"),
};
const size_t swp__server_limit_rows_count = sizeof swp__server_limit_rows / sizeof swp__server_limit_rows[0];

static uint64_t *field_of(swp__server_limits *limits, const swp__limit_row *row)
{
    return (uint64_t *)(void *)((char *)limits + row->offset);
}

swp__server_limits swp__server_limits_standard(void)
{
    swp__server_limits limits;
    for (size_t i = 0; i < swp__server_limit_rows_count; i++) {
        *field_of(&limits, &swp__server_limit_rows[i]) = swp__server_limit_rows[i].standard;
    }
    return limits;
}

swp_status swp__server_limits_check(const swp__server_limits *limits, swp_error *error)
{
    swp__server_limits copy = *limits;
    for (size_t i = 0; i < swp__server_limit_rows_count; i++) {
        const swp__limit_row *row = &swp__server_limit_rows[i];
        uint64_t value = *field_of(&copy, row);
        if (value < row->minimum || value > row->maximum) {
            return swp__fail(error, SWP_BAD_PARAM, i, "%s is %" PRIu64 " %s, expected %" PRIu64 "..%" PRIu64, row->name, value,
                             row->unit, row->minimum, row->maximum);
        }
    }
    return SWP_OK;
}
