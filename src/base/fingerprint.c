/* xxhash stays in this file: header-only, so that nothing is linked for it. */
#include "base/fingerprint.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert(sizeof(XXH3_state_t) == sizeof(swp__fingerprinter), "swp__fingerprinter stands for XXH3_state_t");
_Static_assert(_Alignof(XXH3_state_t) == _Alignof(swp__fingerprinter), "swp__fingerprinter stands for XXH3_state_t");

static swp__fingerprint from_xxh(XXH128_hash_t hash)
{
    return (swp__fingerprint){hash.low64, hash.high64};
}

swp__fingerprint swp__fingerprint_of(const void *bytes, size_t size_bytes)
{
    return from_xxh(XXH3_128bits(bytes, size_bytes));
}

void swp__fingerprinter_init(swp__fingerprinter *f)
{
    XXH3_INITSTATE((XXH3_state_t *)(void *)f);
    XXH3_128bits_reset((XXH3_state_t *)(void *)f);
}

void swp__fingerprinter_add(swp__fingerprinter *f, const void *bytes, size_t size_bytes)
{
    XXH3_128bits_update((XXH3_state_t *)(void *)f, bytes, size_bytes);
}

swp__fingerprint swp__fingerprinter_end(const swp__fingerprinter *f)
{
    return from_xxh(XXH3_128bits_digest((const XXH3_state_t *)(const void *)f));
}

swp__fingerprint swp__numbers_id(void)
{
    static const char text[] = "sweepd-numbers 1";
    return swp__fingerprint_of(text, sizeof text - 1);
}

swp__fingerprint swp__hma_cross_id(void)
{
    static const char text[] = "hma-cross 1";
    return swp__fingerprint_of(text, sizeof text - 1);
}
