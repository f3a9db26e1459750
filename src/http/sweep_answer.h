/* Results of a sweep as JSON text, made as it is read: what waits for a slow reader is the arrays, not their text.
 *
 *     {"bars": 150000, "nan": 0, "combos": 2, "pnl": [-5165.58, 12.5], "trades": [57029, 3]}
 *
 * With windows each result is an array of arrays, windows outermost. Reals are the shortest text that reads back to the same
 * bits; what is not finite is a string. */
#ifndef SWP_HTTP_SWEEP_ANSWER_H
#define SWP_HTTP_SWEEP_ANSWER_H

#include <stdbool.h>
#include "http/sweep_body.h"

typedef struct swp__sweep_answer {
    void *columns[SWP__SWEEP_RESULTS_COUNT]; /* those asked for, 8-byte cells: memory of http/memory.h */
    uint64_t bars_count, nan_count, combos_count, windows_count;

    /* internal: how far it was read */
    uint32_t column;
    uint64_t cell;
    enum { SWP__ANSWER_HEAD, SWP__ANSWER_COLUMNS, SWP__ANSWER_DONE } part;
    char piece[160];
    size_t piece_size, piece_done;
} swp__sweep_answer;

/* Arrays for what `body` asks for. LIMIT: memory. */
SWP_MUST_CHECK swp_status swp__sweep_answer_init(const swp__sweep_body *body, swp__sweep_answer *answer, swp_error *error);

/* Where a sweep puts its results. */
swp_sweep_result swp__sweep_answer_arrays(const swp__sweep_answer *answer);

/* The next bytes of the text, at most `size`; 0 at its end. */
size_t swp__sweep_answer_read(swp__sweep_answer *answer, char *bytes, size_t size);

/* Safe on a zeroed one. */
void swp__sweep_answer_fini(swp__sweep_answer *answer);

#endif
