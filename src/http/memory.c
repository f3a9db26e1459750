#include "http/memory.h"

#include <jansson.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>

static uint64_t bound, used;

void swp__memory_bound(uint64_t size)
{
    bound = size;
    json_set_alloc_funcs(swp__memory_alloc, swp__memory_free);
}

uint64_t swp__memory_used(void)
{
    return __atomic_load_n(&used, __ATOMIC_RELAXED);
}

static void give_back(uint64_t size)
{
    __atomic_fetch_sub(&used, size, __ATOMIC_RELAXED);
}

static bool take(uint64_t size)
{
    if (size > bound) {
        return false;
    }
    if (__atomic_add_fetch(&used, size, __ATOMIC_RELAXED) > bound) {
        give_back(size);
        return false;
    }
    return true;
}

/* From what was asked for to what the block really takes. */
static void settle(const void *block, size_t size)
{
    __atomic_fetch_add(&used, malloc_usable_size((void *)(uintptr_t)block) - size, __ATOMIC_RELAXED);
}

void *swp__memory_alloc(size_t size)
{
    if (!take(size)) {
        return NULL;
    }
    void *block = malloc(size);
    if (block == NULL) {
        give_back(size);
        return NULL;
    }
    settle(block, size);
    return block;
}

void *swp__memory_array(uint64_t count, size_t size)
{
    size_t product;
    return __builtin_mul_overflow(count, size, &product) ? NULL : swp__memory_alloc(product > 0 ? product : 1);
}

void *swp__memory_grow(void *block, size_t size)
{
    size_t former = malloc_usable_size(block);
    if (!take(size)) { /* for a moment both blocks may be there */
        return NULL;
    }
    void *grown = realloc(block, size);
    if (grown == NULL) {
        give_back(size);
        return NULL;
    }
    settle(grown, size);
    give_back(former);
    return grown;
}

void swp__memory_free(void *block)
{
    give_back(malloc_usable_size(block));
    free(block);
}
