#include "engine/limits.h"

#include <inttypes.h>
#include "base/error.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define ROW(field, name, standard, minimum, maximum, unit, help)                                                               \
    {                                                                                                                          \
        name, offsetof(swp__limits, field), standard, minimum, maximum, unit, help                                             \
    }

const swp__limit_row swp__limit_rows[] = {
    ROW(max_memory, "max-memory", 4 * GIB, 64 * KIB, UINT64_C(1) << 62, "bytes", "series held, loads and uploads in progress"),
    ROW(max_sweep_memory, "max-sweep-memory", 1 * GIB, 64 * KIB, UINT64_C(1) << 62, "bytes",
        "working memory and result blocks of all sweeps in progress"),
    ROW(max_sweeps, "max-sweeps", 1024, 1, UINT64_C(1) << 32, "sweeps", "in progress at once"),
    ROW(max_combos, "max-combos", UINT64_C(1) << 40, 1, UINT64_C(1) << 40, "combos", "windows x combos of one sweep"),
    ROW(max_blocks, "max-blocks", 4, 1, 1024, "blocks", "results of one sweep, filling or waiting for their reader"),
    ROW(max_block_bytes, "max-block-bytes", 1 * MIB, 64, GIB, "bytes", "results in one block"),
    ROW(max_handles, "max-handles", 65536, 1, UINT64_C(1) << 32, "series", "used by one connection at once"),
    ROW(max_uploads, "max-uploads", 16, 1, UINT64_C(1) << 32, "uploads", "in progress on one connection"),
    ROW(max_names, "max-names", 65536, 1, UINT64_C(1) << 32, "names", "given by one user or token"),
    ROW(max_live_memory, "max-live-memory", 1 * GIB, 64 * KIB, UINT64_C(1) << 62, "bytes", "of all live sessions"),
};
const size_t swp__limit_rows_count = sizeof swp__limit_rows / sizeof swp__limit_rows[0];

static uint64_t *field_of(swp__limits *limits, const swp__limit_row *row)
{
    return (uint64_t *)(void *)((char *)limits + row->offset);
}

swp__limits swp__limits_standard(void)
{
    swp__limits limits;
    for (size_t i = 0; i < swp__limit_rows_count; i++) {
        *field_of(&limits, &swp__limit_rows[i]) = swp__limit_rows[i].standard;
    }
    return limits;
}

swp__limits swp__limits_most(void)
{
    swp__limits limits;
    for (size_t i = 0; i < swp__limit_rows_count; i++) {
        *field_of(&limits, &swp__limit_rows[i]) = swp__limit_rows[i].maximum;
    }
    return limits;
}

swp_status swp__limits_check(const swp__limits *limits, swp_error *error)
{
    swp__limits copy = *limits;
    for (size_t i = 0; i < swp__limit_rows_count; i++) {
        const swp__limit_row *row = &swp__limit_rows[i];
        uint64_t value = *field_of(&copy, row);
        if (value < row->minimum || value > row->maximum) {
            return swp__fail(error, SWP_BAD_PARAM, i, "%s is %" PRIu64 " %s, expected %" PRIu64 "..%" PRIu64, row->name, value,
                             row->unit, row->minimum, row->maximum);
        }
    }
    return SWP_OK;
}
