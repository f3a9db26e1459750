/* What one engine and its store may take on. Each limit is refused as LIMIT with the limit and the request; the
 * table is where a program's options, their help and the document take them from. */
#ifndef SWP_ENGINE_LIMITS_H
#define SWP_ENGINE_LIMITS_H

#include <stddef.h>
#include <stdint.h>
#include "swp/error.h"

typedef struct swp__limits {
    uint64_t max_memory;       /* bytes: series held, loads and uploads in progress */
    uint64_t max_sweep_memory; /* bytes: working memory and result blocks of all sweeps in progress */
    uint64_t max_sweeps;       /* in progress at once */
    uint64_t max_combos;       /* windows x combos of one sweep */
    uint64_t max_blocks;       /* of one sweep, filling or waiting for their reader */
    uint64_t max_block_bytes;  /* of results in one block */
    uint64_t max_handles;      /* series that one scope uses at once */
    uint64_t max_uploads;      /* in progress in one scope */
    uint64_t max_names;        /* of one identity */
    uint64_t max_live_memory;  /* bytes: all live sessions */
} swp__limits;

typedef struct swp__limit_row {
    const char *name; /* "max-memory": the option's name without the dashes */
    size_t offset;    /* in swp__limits */
    uint64_t standard, minimum, maximum;
    const char *unit;
    const char *help;
} swp__limit_row;

extern const swp__limit_row swp__limit_rows[];
extern const size_t swp__limit_rows_count;

/* The table's column: what a daemon starts from, and the most each limit may be (an embedded engine's: no limit in
 * effect). */
swp__limits swp__limits_standard(void);
swp__limits swp__limits_most(void);

/* BAD_PARAM: a limit outside its bounds (at: its row); the text names it. */
swp_status swp__limits_check(const swp__limits *limits, swp_error *error);

#endif
