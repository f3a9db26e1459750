#include "support/test.h"
#include "base/fingerprint.h"

/* Expected values: the Python package xxhash 3.5.0, xxh3_128_hexdigest. */
TEST(fingerprint_is_xxh3_128_with_seed_0)
{
    swp__fingerprint f = swp__fingerprint_of("hma-cross 1", 11);
    assert_int_equal(f.high, UINT64_C(0xa6d31de5d45a202a));
    assert_int_equal(f.low, UINT64_C(0x97352e971f12482a));
    f = swp__fingerprint_of(NULL, 0);
    assert_int_equal(f.high, UINT64_C(0x99aa06d3014798d8));
    assert_int_equal(f.low, UINT64_C(0x6001c324468d497f));
}

TEST(fingerprint_in_pieces_of_any_size_equals_the_whole)
{
    unsigned char bytes[3000];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(i * 131 >> 3);
    }
    const size_t steps[] = {1, 7, 64, 240, 256, 1025, 3000};
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
        swp__fingerprinter f;
        swp__fingerprinter_init(&f);
        for (size_t at = 0; at < sizeof bytes; at += steps[s]) {
            size_t left = sizeof bytes - at;
            swp__fingerprinter_add(&f, bytes + at, left < steps[s] ? left : steps[s]);
        }
        assert_true(swp__fingerprint_equal(swp__fingerprinter_end(&f), swp__fingerprint_of(bytes, sizeof bytes)));
    }
}
