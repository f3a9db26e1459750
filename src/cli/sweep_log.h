/* What a sweep has finished so far, beside the file it will write: FILE.resume, added to while the sweep runs, so that after a
 * crash only what is missing is computed (`sweepd sweep --out FILE --resume`).
 *
 * All little-endian. A head of 96 bytes says of which sweep (sweep_log.c has the fields); then records, one behind the other:
 *
 *     first u64, count u64      combos [first, first + count) of the grid
 *     count x 64 bytes          their numbers, a column behind the other
 *     sum u64                   low half of XXH3-128 of the sum before it (of the head for the first) and this record
 *
 * What stands behind the last record that is whole is dropped and computed again. */
#ifndef SWP_CLI_SWEEP_LOG_H
#define SWP_CLI_SWEEP_LOG_H

#include "cli/columns.h"
#include "cli/input.h"

typedef struct swp__sweep_log {
    char *path;      /* FILE.resume */
    int descriptor;  /* < 0: given up, after a write that failed */
    uint64_t sum;    /* of the last record */
    uint8_t *logged; /* [combos]: 1: in the file */
    unsigned char *record;
    uint64_t logged_count;
    uint64_t torn_bytes; /* dropped from its end when it was opened */
} swp__sweep_log;

/* Opens the log of this sweep, or begins it, and puts what it holds into `columns`, whose rows are zero. BAD_PARAM: it is of
 * another sweep, or no such log; which is said. BUSY: another process has it open. FILE, NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__sweep_log_open(const swp__arguments *arguments, const swp__input *input, swp__columns *columns,
                                              swp__sweep_log *log, swp_error *error);

/* Adds the rows of `columns` that are finished and not in it yet, and has them on the disk. May run while a sweep fills the
 * columns. FILE: it has been cut back to what it held and is given up; further calls do nothing. */
SWP_MUST_CHECK swp_status swp__sweep_log_add(swp__sweep_log *log, const swp__columns *columns, swp_error *error);

/* The results are where they belong: the log goes. */
void swp__sweep_log_remove(swp__sweep_log *log);

/* Leaves it for the next time, if there is anything in it. Safe on a zeroed one. */
void swp__sweep_log_close(swp__sweep_log *log);

#endif
