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

/* As in protocol/protocol.md; values from the same package. */
TEST(fingerprint_bytes_in_memory_are_those_on_the_wire)
{
    const double close[] = {1.0, 2.0};
    const uint8_t expected[] = {0x31, 0x35, 0xb6, 0x30, 0x3e, 0x72, 0x29, 0x20, 0xb2, 0x36, 0xbb, 0xd0, 0xd9, 0x4e, 0x5d, 0xcd};
    swp__fingerprint f = swp__fingerprint_of(close, sizeof close);
    assert_memory_equal(&f, expected, sizeof expected);
}

TEST(ids_of_the_numbers_are_those_of_the_specification)
{
    swp__fingerprint numbers = {UINT64_C(0xa4741ca873fb4bd6), UINT64_C(0x2f2abf6cd3df9b28)};
    swp__fingerprint hma_cross = {UINT64_C(0x97352e971f12482a), UINT64_C(0xa6d31de5d45a202a)};
    assert_true(swp__fingerprint_equal(swp__numbers_id(), numbers));
    assert_true(swp__fingerprint_equal(swp__hma_cross_id(), hma_cross));
}
