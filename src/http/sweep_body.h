/* The body of POST /v1/sweep: JSON text in, what a sweep needs out.
 *
 *     {"close": [100.0, 101.5, "NaN"],              or "series": "name", one that the engine holds
 *      "length": [6, 7, 8],                         or "params": [[3, 6, 2, 1, 2, 3], ...]
 *      "allow": ["nan"], "fee": 0.09, "entry": "first", "windows": [[0, 100, 200]], "results": ["pnl", "trades"],
 *      "kernel": "auto", "threads": 0}
 *
 * Members that are left out have the values shown, lists nothing in them. A number is read to the nearest double, whichever way
 * it is written; what JSON has no number for is a string: "NaN", "Infinity", "-Infinity". */
#ifndef SWP_HTTP_SWEEP_BODY_H
#define SWP_HTTP_SWEEP_BODY_H

#include "swp/engine.h"

enum { SWP__SWEEP_RESULTS_COUNT = 8 };

/* "pnl", "trades" ...: the members of swp_sweep_result, in its order. */
extern const char *const swp__sweep_results[SWP__SWEEP_RESULTS_COUNT];

/* The arrays are the memory of http/memory.h. */
typedef struct swp__sweep_body {
    double *close; /* NULL: `series` */
    uint64_t bars_count;
    char *series; /* NULL: `close` */
    uint32_t allow;
    int64_t *rows; /* combos_count x 6 */
    uint64_t combos_count;
    swp_window *windows; /* NULL: none */
    uint64_t windows_count;
    uint32_t results; /* bit i: swp__sweep_results[i] */
    double fee;
    swp_entry entry;
    swp_kernel kernel;
    uint32_t max_threads;
} swp__sweep_body;

/* In this order: BAD_FRAME, the text is not JSON (at: the byte), or says a member twice; LIMIT, memory; BAD_PARAM, it is no
 * object; UNKNOWN, a member that there is not; BAD_PARAM, a member, or the item of a list (at: its index, of params the value's)
 * is not of its kind; BAD_PARAM, not exactly one of close and series, or of length and params. Values are left to the engine
 * to judge. *body is set only on success. */
SWP_MUST_CHECK swp_status swp__sweep_body_read(const char *text, size_t size, swp__sweep_body *body, swp_error *error);

/* Safe on a zeroed one. */
void swp__sweep_body_free(swp__sweep_body *body);

#endif
