/* Content looked at once: while it is still in the cache it was just read into, when its reader asks piece by piece. */
#include "engine/store_inside.h"

#include <inttypes.h>
#include "base/error.h"

enum { CLOSE = 0, TIME = 5 }; /* columns by number */

void swp__scan_init(swp__scan *scan, bool hashes)
{
    *scan = (swp__scan){.hashes = hashes};
    swp__fingerprinter_init(&scan->fingerprinter);
}

const char *swp__content_at(const swp__held *held, uint64_t position, uint64_t end, size_t *column, uint64_t *bytes)
{
    uint64_t column_bytes = held->shape.bars_count * 8;
    uint64_t nth = position / column_bytes, offset = position % column_bytes;
    size_t found = 0;
    for (uint32_t left = held->shape.columns; nth > 0 || (left & 1) == 0; left >>= 1) {
        nth -= left & 1;
        found++;
    }
    uint64_t left_bytes = column_bytes - offset;
    *column = found;
    *bytes = end - position < left_bytes ? end - position : left_bytes;
    return held->columns[found] + offset;
}

static void judge_times(swp__scan *scan, const int64_t *times, uint64_t count, uint64_t first_bar)
{
    int64_t last = scan->last_time;
    for (uint64_t i = 0; i < count; i++) {
        if (times[i] <= last && first_bar + i > 0) {
            scan->status = swp__fail(&scan->error, SWP_BAD_PARAM, first_bar + i,
                                     "time of bar %" PRIu64 ", %" PRId64 ", is not after %" PRId64 ", that of the bar before",
                                     first_bar + i, times[i], last);
            return;
        }
        last = times[i];
    }
    scan->last_time = last;
}

void swp__scan_run(swp__scan *scan, const swp__held *held, uint64_t position)
{
    while (scan->status == SWP_OK && scan->position < position) {
        size_t column;
        uint64_t bytes, first_bar = scan->position % (held->shape.bars_count * 8) / 8;
        const char *at = swp__content_at(held, scan->position, position, &column, &bytes);
        if (column == CLOSE) {
            scan->status = swp__closes_judge((const double *)(const void *)at, bytes / 8, first_bar, held->shape.policy,
                                             &scan->seen, &scan->error);
        } else if (column == TIME) {
            judge_times(scan, (const int64_t *)(const void *)at, bytes / 8, first_bar);
        }
        if (scan->hashes) {
            swp__fingerprinter_add(&scan->fingerprinter, at, bytes);
        }
        scan->position += bytes;
    }
}
