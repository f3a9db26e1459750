/* Columns of rows lie in the caller's arrays as [window][combo]; a block of combos is one run for each column and window, and
 * a block of all combos one run for each column. */
#include "client/internal.h"

#include <string.h>
#include "base/host.h"

enum { CELL_BYTES = 8 };

swp__sink swp__sink_of_rows(const swp_sweep_result *r, uint64_t windows, uint64_t combos, uint64_t *columns)
{
    void *const arrays[SWP__RESULTS_COUNT] = {r->pnl,        r->trades,    r->first_bar, r->open_side, r->open_entry_bar,
                                              r->open_entry, r->open_last, r->open_pnl};
    swp__sink sink = {.kind = SWP__SINK_ROWS, .windows = windows, .combos = combos};
    *columns = 0;
    for (size_t i = 0; i < SWP__RESULTS_COUNT; i++) {
        if (arrays[i] != NULL) {
            sink.columns[sink.columns_count++] = arrays[i];
            *columns |= UINT64_C(1) << i;
        }
    }
    return sink;
}

/* Before owned bytes stands how many there are, for the one who frees them. */
enum { OWNED_HEAD = 64 };

static bool own_bytes(swp__sink *sink, const swp_allocator *allocator, uint64_t size)
{
    swp__sink_free(sink, allocator);
    char *block = size < SIZE_MAX - OWNED_HEAD ? swp__alloc(allocator, OWNED_HEAD + size + 1, 1) : NULL;
    if (block == NULL) {
        return false;
    }
    memcpy(block, &size, sizeof size);
    sink->bytes = block + OWNED_HEAD;
    sink->size = size;
    sink->bytes[size] = '\0';
    return true;
}

void swp__owned_free(const swp_allocator *allocator, void *bytes)
{
    if (bytes != NULL) {
        uint64_t size;
        char *block = (char *)bytes - OWNED_HEAD;
        memcpy(&size, block, sizeof size);
        swp__free(allocator, block, OWNED_HEAD + size + 1, 1);
    }
}

void swp__sink_free(swp__sink *sink, const swp_allocator *allocator)
{
    if (sink->kind == SWP__SINK_OWNED) {
        swp__owned_free(allocator, sink->bytes);
        sink->bytes = NULL;
    }
}

bool swp__sink_begin(swp__sink *sink, const swp_allocator *allocator, uint64_t size, uint64_t first, uint64_t count)
{
    if (sink->kind == SWP__SINK_OWNED && !own_bytes(sink, allocator, size)) {
        return false;
    }
    sink->first = first;
    sink->count = count;
    sink->run = sink->run_done = 0;
    sink->runs_count = sink->kind != SWP__SINK_ROWS ? 1
                       : count == sink->combos      ? sink->columns_count
                                                    : sink->columns_count * sink->windows;
    return true;
}

static struct iovec run_at(const swp__sink *sink, uint64_t run)
{
    if (sink->kind != SWP__SINK_ROWS) {
        return (struct iovec){sink->bytes, sink->size};
    }
    if (sink->count == sink->combos) {
        return (struct iovec){sink->columns[run], sink->windows * sink->combos * CELL_BYTES};
    }
    uint64_t cell = run % sink->windows * sink->combos + sink->first;
    return (struct iovec){sink->columns[run / sink->windows] + cell * CELL_BYTES, sink->count * CELL_BYTES};
}

int swp__sink_runs(const swp__sink *sink, struct iovec *runs, int most)
{
    int count = 0;
    uint64_t done = sink->run_done;
    for (uint64_t run = sink->run; run < sink->runs_count && count < most; run++) {
        struct iovec r = run_at(sink, run);
        runs[count++] = (struct iovec){(char *)r.iov_base + done, r.iov_len - done};
        done = 0;
    }
    return count;
}

void swp__sink_advance(swp__sink *sink, uint64_t size)
{
    while (size > 0) {
        uint64_t left = run_at(sink, sink->run).iov_len - sink->run_done;
        if (size < left) {
            sink->run_done += size;
            return;
        }
        size -= left;
        sink->run++;
        sink->run_done = 0;
    }
}
