#include "support/host.h"

#include <stdlib.h>

static void *test_alloc(void *context, size_t size)
{
    swp__test_memory *memory = context;
    uint64_t nth = atomic_fetch_add(&memory->allocs_count, 1) + 1;
    void *block = nth == memory->fail_at ? NULL : aligned_alloc(64, (size + 63) / 64 * 64);
    if (block != NULL) {
        memory->live_count++;
        uint64_t live = atomic_fetch_add(&memory->live_bytes, size) + size;
        if (live > memory->peak_bytes) {
            memory->peak_bytes = live;
        }
    }
    return block;
}

static void test_free(void *context, void *block, size_t size)
{
    swp__test_memory *memory = context;
    memory->live_count--;
    memory->live_bytes -= size;
    free(block);
}

swp_allocator swp__test_allocator(swp__test_memory *memory)
{
    return (swp_allocator){test_alloc, test_free, memory};
}

static uint64_t test_now_ns(void *context)
{
    swp__test_clock *clock = context;
    uint64_t reads = atomic_fetch_add(&clock->reads_count, 1) + 1;
    if (clock->on_read != NULL) {
        clock->on_read(clock->context, reads);
    }
    return atomic_fetch_add(&clock->now_ns, clock->step_ns) + clock->step_ns;
}

swp_clock swp__test_clock_of(swp__test_clock *clock)
{
    return (swp_clock){test_now_ns, clock};
}

void swp__test_walk(double *close, size_t bars_count, uint64_t seed)
{
    uint64_t x = seed;
    double price = 100.0;
    for (size_t i = 0; i < bars_count; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        price += (double)(int64_t)(x >> 40) * 0x1p-24 - 0.5;
        close[i] = price = price < 1.0 ? 1.0 : price;
    }
}
