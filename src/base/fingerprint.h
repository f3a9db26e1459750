/* The fingerprint of bytes: XXH3-128 with seed 0. Content is found and merged by it (a series' columns in bit order,
 * a live push, the ids of the specification); equal fingerprints are a hint that is followed by a comparison, not a
 * proof. */
#ifndef SWP_BASE_FINGERPRINT_H
#define SWP_BASE_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* On the wire: low, then high, each little-endian. */
typedef struct swp__fingerprint {
    uint64_t low, high;
} swp__fingerprint;

static inline bool swp__fingerprint_equal(swp__fingerprint a, swp__fingerprint b)
{
    return a.low == b.low && a.high == b.high;
}

/* bytes may be NULL when size_bytes is 0. */
swp__fingerprint swp__fingerprint_of(const void *bytes, size_t size_bytes);

/* The same in pieces: init, add in order, end. Holds no memory of its own; `end` may be called more than once. */
typedef struct swp__fingerprinter {
    _Alignas(64) unsigned char state[576];
} swp__fingerprinter;

void swp__fingerprinter_init(swp__fingerprinter *f);
void swp__fingerprinter_add(swp__fingerprinter *f, const void *bytes, size_t size_bytes);
swp__fingerprint swp__fingerprinter_end(const swp__fingerprinter *f);

/* Which numbers this library computes: the fingerprint of "sweepd-numbers 1" and, of one strategy, of "hma-cross 1".
 * Raised when the numbers would change, not with the build: live sessions move across builds and instruction sets. */
swp__fingerprint swp__numbers_id(void);
swp__fingerprint swp__hma_cross_id(void);

#endif
