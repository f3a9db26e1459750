/* The system's allocator and clock, and the calls every module uses instead of malloc and clock_gettime. */
#ifndef SWP_BASE_HOST_H
#define SWP_BASE_HOST_H

#include "swp/host.h"

extern const swp_allocator swp__system_allocator; /* aligned_alloc, free */
extern const swp_clock swp__system_clock;         /* CLOCK_MONOTONIC */

/* `count` items of `size` bytes, 64-byte aligned, or NULL when refused or when the product does not fit a size_t.
 * A product of zero gives NULL too: callers ask for what they need. */
void *swp__alloc(const swp_allocator *allocator, size_t count, size_t size);

/* NULL is a no-op; count and size as they were given to swp__alloc. */
void swp__free(const swp_allocator *allocator, void *block, size_t count, size_t size);

/* Has the system lay pages under a new block at once, at most `most` bytes from its beginning: a fault for each while it is
 * filled takes several times as long. A hint: where it is refused nothing is different. */
void swp__prefault(void *block, size_t size, size_t most);

static inline uint64_t swp__now_ns(const swp_clock *clock)
{
    return clock->now_ns(clock->context);
}

#endif
