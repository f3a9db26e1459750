#include "bars/normal.h"

#include <math.h>
#include <string.h>
#include "bars/ziggurat_table.h"
#include "support/test.h"

/* One number for a whole stream. Draws in the tail count as 0: their last bit is libm's. In Python:
 *   z = numpy.random.default_rng(seed).standard_normal(count); z[abs(z) > 3.6541528853610087963519472518] = 0
 *   hex(int((z.view('u8') * (2 * numpy.arange(count, dtype='u8') + numpy.uint64(1))).sum(dtype='u8'))) */
static uint64_t stream_digest(uint64_t seed, uint64_t count)
{
    swp__pcg64 pcg;
    swp__pcg64_init(&pcg, seed);
    uint64_t digest = 0;
    for (uint64_t i = 0; i < count; i++) {
        double z = swp__normal_next(&pcg);
        uint64_t bits = 0;
        if (fabs(z) <= ZIGGURAT_R) {
            memcpy(&bits, &z, sizeof bits);
        }
        digest += bits * (2 * i + 1);
    }
    return digest;
}

/* Digests made by NumPy 2.4.6. */
TEST(normal_stream_is_numpys_on_ten_million_draws)
{
    assert_true(stream_digest(0, 10000000) == 0x49481fd307b6f65fu);
    assert_true(stream_digest(42, 10000000) == 0x19865d57e507a7c9u);
    assert_true(stream_digest(UINT64_C(1) << 63, 10000000) == 0xf35a9a7ee4b37904u);
}

TEST(normal_stream_is_numpys_for_seeds_of_one_and_two_words)
{
    assert_true(stream_digest(1, 1000000) == 0x20608075eb9c56e1u);
    assert_true(stream_digest(UINT32_MAX, 1000000) == 0xe70e4e44abed5884u);
    assert_true(stream_digest(UINT64_C(1) << 32, 1000000) == 0x9ad3daaa2b54ae4du);
    assert_true(stream_digest(UINT64_MAX, 1000000) == 0x92ccfe2a82ab7b5eu);
}

/* NumPy's documentation of default_rng(12345).random(). */
TEST(uniform_is_numpys_random)
{
    swp__pcg64 pcg;
    swp__pcg64_init(&pcg, 12345);
    assert_bits_equal(swp__uniform_next(&pcg), 0.22733602246716966);
    assert_bits_equal(swp__uniform_next(&pcg), 0.31675833970975287);
    assert_bits_equal(swp__uniform_next(&pcg), 0.7973654573327341);
}

/* Guards the carried numbers against a slip: within 1e-12 they satisfy the formulas that they come from. */
TEST(ziggurat_table_has_256_steps_of_equal_area)
{
    const double area = ZIGGURAT_R * exp(-0.5 * ZIGGURAT_R * ZIGGURAT_R) + sqrt(acos(-1.0) / 2) * erfc(ZIGGURAT_R / sqrt(2));
    double x_above = 0.0;
    for (int i = 1; i < 256; i++) {
        double x = ziggurat_width[i] * 0x1p52;
        double height = ziggurat_height[i];
        assert_true(fabs(height - exp(-0.5 * x * x)) < 1e-12);
        assert_true(fabs(x * (ziggurat_height[i - 1] - height) - area) < 1e-12);
        assert_true(fabs((double)ziggurat_inside[i] * 0x1p-52 - x_above / x) < 1e-12);
        x_above = x;
    }
    assert_bits_equal(x_above, ZIGGURAT_R);
    assert_bits_equal(ziggurat_height[0], 1.0);
    assert_true(fabs(ziggurat_width[0] * 0x1p52 - area / ziggurat_height[255]) < 1e-12);
    assert_true(fabs((double)ziggurat_inside[0] * 0x1p-52 * (area / ziggurat_height[255]) - ZIGGURAT_R) < 1e-12);
}
