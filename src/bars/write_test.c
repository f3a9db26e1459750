#include "bars/generate.h"

#include <math.h>
#include <string.h>
#include "support/temp.h"
#include "support/test.h"

static const double closes[] = {100.0, 0.1, 1e300, 0x1p-1074};

TEST(write_npy_is_version_1_with_the_data_at_byte_128)
{
    unsigned char got[256];
    const char *path = temp_path("out.npy");
    assert_int_equal(swp__closes_write(path, closes, 4, NULL, NULL), SWP_OK);
    assert_int_equal(temp_read(path, got, sizeof got), 128 + 4 * 8);
    assert_memory_equal(got, "\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }  ", 69);
    assert_int_equal(got[127], '\n');
    assert_memory_equal(got + 128, closes, sizeof closes);
}

TEST(write_f64_is_the_doubles_as_they_are)
{
    unsigned char got[64];
    const char *path = temp_path("out.f64");
    assert_int_equal(swp__closes_write(path, closes, 4, NULL, NULL), SWP_OK);
    assert_int_equal(temp_read(path, got, sizeof got), 4 * 8);
    assert_memory_equal(got, closes, sizeof closes);
}

TEST(write_csv_has_a_header_and_the_shortest_decimals)
{
    char got[64] = {0};
    const char *path = temp_path("out.csv");
    assert_int_equal(swp__closes_write(path, closes, 4, NULL, NULL), SWP_OK);
    temp_read(path, got, sizeof got - 1);
    assert_string_equal(got, "close\n100\n0.1\n1e+300\n5e-324\n");
}

TEST(write_that_is_cancelled_leaves_the_old_content)
{
    const char *endings[] = {"old.npy", "old.f64", "old.csv"};
    for (size_t i = 0; i < 3; i++) {
        char got[8] = {0};
        const char *path = temp_write(endings[i], "old", 3);
        swp_cancel cancel = {0};
        swp_cancel_request(&cancel);
        assert_int_equal(swp__closes_write(path, closes, 4, &cancel, NULL), SWP_CANCELLED);
        assert_int_equal(temp_read(path, got, sizeof got - 1), 3);
        assert_string_equal(got, "old");
    }
}

TEST(write_refuses_another_ending)
{
    swp_error error;
    assert_int_equal(swp__closes_write("out.parquet", closes, 4, NULL, &error), SWP_BAD_PARAM);
    assert_string_equal(error.message, "out.parquet: the name ends in none of .npy, .f64, .csv");
}
