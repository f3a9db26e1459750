/* The memory that requests hold, counted in one place and bounded: bodies, what the JSON library makes of them, results. What
 * one request may hold is not known before it was read, so the bound is over all of them. It is the process's own, not handed
 * in, as the JSON library's hooks have no room for more. Any thread. */
#ifndef SWP_HTTP_MEMORY_H
#define SWP_HTTP_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Sets the bound, and has the JSON library take its memory from here. Once, before any other call. */
void swp__memory_bound(uint64_t size);

/* `size` bytes, or NULL when that would pass the bound. */
void *swp__memory_alloc(size_t size);

/* An array; NULL also when the product does not fit a size_t. A product of 0 gives a block of its own. */
void *swp__memory_array(uint64_t count, size_t size);

/* The block grown to `size`, as realloc; NULL: it is as it was. */
void *swp__memory_grow(void *block, size_t size);

/* NULL is a no-op. */
void swp__memory_free(void *block);

uint64_t swp__memory_used(void);

#endif
