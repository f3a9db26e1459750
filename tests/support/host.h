/* Memory and time for tests: an allocator that counts and can refuse, a clock that goes when told, a walk that no
 * libm made. */
#ifndef SWP_TESTS_SUPPORT_HOST_H
#define SWP_TESTS_SUPPORT_HOST_H

#include <stdatomic.h>
#include <stdint.h>
#include "swp/host.h"

/* Zero-initialise; `allocator` then comes from swp__test_allocator. */
typedef struct swp__test_memory {
    atomic_uint_fast64_t allocs_count, live_count, live_bytes, peak_bytes;
    uint64_t fail_at; /* the allocation that is refused, from 1; 0: none */
} swp__test_memory;

swp_allocator swp__test_allocator(swp__test_memory *memory);

/* Goes on by step_ns each time it is read, and calls on_read (may be NULL) with how often that was, from 1. */
typedef struct swp__test_clock {
    atomic_uint_fast64_t now_ns, reads_count;
    uint64_t step_ns;
    void (*on_read)(void *context, uint64_t reads_count);
    void *context;
} swp__test_clock;

swp_clock swp__test_clock_of(swp__test_clock *clock);

/* Prices around 100, at least 1, another walk for each seed. */
void swp__test_walk(double *close, size_t bars_count, uint64_t seed);

#endif
