#include "http/limits.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define DAY_MS (UINT64_C(24) * 3600 * 1000)
#define ROW(field, name, standard, minimum, maximum, unit, help)                                                               \
    {                                                                                                                          \
        name, offsetof(swp__http_limits, field), standard, minimum, maximum, unit, help                                        \
    }

const swp__limit_row swp__http_limit_rows[] = {
    ROW(max_connections, "max-connections", 64, 1, 4096, "connections", "at once; one more is told BUSY"),
    ROW(max_body, "max-body", 64 * MIB, 1024, 4 * GIB, "bytes", "of a request's body"),
    ROW(max_memory, "max-memory", 1 * GIB, 64 * 1024, UINT64_C(1) << 42, "bytes",
        "bodies, what is read from them (about 50 bytes a number) and results, of all requests"),
    ROW(request_timeout_ms, "request-timeout", 30000, 10, DAY_MS, "ms",
        "from a connection's beginning, or its last answer, to the end of its next request"),
    ROW(sweep_timeout_ms, "sweep-timeout", 600000, 10, DAY_MS, "ms", "that the engine may take for a request"),
    ROW(reply_timeout_ms, "reply-timeout", 60000, 10, DAY_MS, "ms", "that a client may take to read its answer"),
    ROW(drain_timeout_ms, "drain-timeout", 30000, 0, DAY_MS, "ms", "that requests have to finish after SIGTERM"),
};
const size_t swp__http_limit_rows_count = sizeof swp__http_limit_rows / sizeof swp__http_limit_rows[0];
