/* What an embedding program may hand in instead of the system's own: memory and time. The whole server can so run in a
 * simulation, and a test can count or refuse allocations. NULL anywhere means the system's. */
#ifndef SWP_HOST_H
#define SWP_HOST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Both functions may be called from any thread. */
typedef struct swp_allocator {
    /* `size` >= 1 bytes aligned to 64; NULL when refused. The bytes need not be zero. */
    void *(*alloc)(void *context, size_t size);
    /* `block` came from alloc with the same size; never NULL. */
    void (*free)(void *context, void *block, size_t size);
    void *context;
} swp_allocator;

typedef struct swp_clock {
    uint64_t (*now_ns)(void *context); /* monotonic nanoseconds; never goes back */
    void *context;
} swp_clock;

#ifdef __cplusplus
}
#endif
#endif
