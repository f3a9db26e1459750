#include "base/host.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ALIGNMENT_BYTES = 64 };

static void *system_alloc(void *context, size_t size)
{
    (void)context;
    if (size > SIZE_MAX - ALIGNMENT_BYTES) {
        return NULL;
    }
    return aligned_alloc(ALIGNMENT_BYTES, (size + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES);
}

static void system_free(void *context, void *block, size_t size)
{
    (void)context;
    (void)size;
    free(block);
}

static uint64_t system_now_ns(void *context)
{
    (void)context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

const swp_allocator swp__system_allocator = {system_alloc, system_free, NULL};
const swp_clock swp__system_clock = {system_now_ns, NULL};

void *swp__alloc(const swp_allocator *allocator, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes == 0) {
        return NULL;
    }
    return allocator->alloc(allocator->context, bytes);
}

void swp__free(const swp_allocator *allocator, void *block, size_t count, size_t size)
{
    if (block != NULL) {
        allocator->free(allocator->context, block, count * size);
    }
}

void swp__prefault(void *block, size_t size, size_t most)
{
#ifdef MADV_POPULATE_WRITE
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)block + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)block + (size < most ? size : most)) / page * page;
    if (begin < end) {
        madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
    }
#else
    (void)block;
    (void)size;
    (void)most;
#endif
}
