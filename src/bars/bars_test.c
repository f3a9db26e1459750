#include "swp/bars.h"

#include <math.h>
#include <string.h>
#include "bars/generate.h"
#include "support/comma_locale.h"
#include "support/temp.h"
#include "support/test.h"

TEST(bars_null_pointers_and_options_are_judged_first)
{
    swp_bars bars;
    swp_error error;
    assert_int_equal(swp_bars_read(NULL, NULL, &bars, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 1);
    assert_int_equal(swp_bars_read("x.csv", NULL, NULL, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 3);
    assert_int_equal(swp_bars_read("/nowhere.csv", &(swp_bars_options){.delimiter = 'x'}, &bars, &error), SWP_BAD_PARAM);
    assert_string_equal(error.message, "delimiter is 'x', expected one of , ; | or a tab");
    assert_int_equal(swp_bars_read("/nowhere.csv", &(swp_bars_options){.allow = 8}, &bars, &error), SWP_BAD_PARAM);
    assert_string_equal(error.message, "allow is 8, expected a sum of 1, 2 and 4");
}

TEST(bars_a_file_that_cannot_be_read_is_said_so_by_the_system)
{
    swp_bars bars;
    swp_error error;
    assert_int_equal(swp_bars_read("/nowhere.csv", NULL, &bars, &error), SWP_FILE);
    assert_string_equal(error.message, "/nowhere.csv: cannot be read: No such file or directory");
    assert_int_equal(swp_bars_read("/tmp", NULL, &bars, &error), SWP_FILE);
    assert_string_equal(error.message, "/tmp: cannot be read: Is a directory");
}

TEST(bars_free_is_safe_on_a_zeroed_struct_and_twice)
{
    swp_bars bars = {0};
    swp_bars_free(&bars);
    swp_bars_free(NULL);
}

/* Every format, through every shape, to the bit. */
TEST(bars_read_what_was_written_to_the_same_bits)
{
    enum { BARS = 3000 };
    static double close[BARS];
    static const char *const names[] = {"shape.npy", "shape.f64", "shape.csv"};
    for (size_t shape = 0; swp__generate_shapes[shape] != NULL; shape++) {
        const swp__generate_options options = {swp__generate_shapes[shape], BARS, 42, 0.0008, 100.0};
        assert_int_equal(swp__generate(&options, close, NULL), SWP_OK);
        for (size_t i = 0; i < 3; i++) {
            swp_bars bars;
            const char *path = temp_path(names[i]);
            assert_int_equal(swp__closes_write(path, close, BARS, NULL, NULL), SWP_OK);
            assert_int_equal(swp_bars_read(path, &(swp_bars_options){.allow = SWP_ALLOW_ALL}, &bars, NULL), SWP_OK);
            assert_int_equal(bars.bars_count, BARS);
            for (size_t bar = 0; bar < BARS; bar++) {
                assert_bits_equal(bars.close[bar], close[bar]);
            }
            swp_bars_free(&bars);
        }
    }
}

TEST(bars_are_the_same_in_a_decimal_comma_locale)
{
    const double closes[] = {1.5, 0.1, 1e-300};
    swp_bars bars = {0};
    if (!comma_locale_enter()) {
        SKIP("no decimal-comma locale (Debian: apt-get install locales)");
    }
    const char *path = temp_path("locale.csv");
    swp_status written = swp__closes_write(path, closes, 3, NULL, NULL);
    swp_status read = swp_bars_read(path, NULL, &bars, NULL);
    comma_locale_leave();
    assert_int_equal(written, SWP_OK);
    assert_int_equal(read, SWP_OK);
    assert_int_equal(bars.bars_count, 3);
    assert_memory_equal(bars.close, closes, sizeof closes);
    swp_bars_free(&bars);
}

TEST(bars_f64_refuses_at_the_index)
{
    const double closes[] = {3, 2, 1, 0, -1, -2, 1, 3};
    swp_bars bars;
    swp_error error;
    const char *path = temp_write("in.f64", closes, sizeof closes);
    assert_int_equal(swp_bars_read(path, NULL, &bars, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 3);
    assert_non_null(strstr(error.message, "in.f64: close of bar 3, 0, is not above zero; allow \"nonpositive\" to let it in"));
    assert_int_equal(swp_bars_read(path, &(swp_bars_options){.allow = SWP_ALLOW_NONPOSITIVE}, &bars, &error), SWP_OK);
    assert_memory_equal(bars.close, closes, sizeof closes);
    swp_bars_free(&bars);
}

TEST(bars_f64_of_an_odd_size_or_empty_is_refused)
{
    const double closes[] = {1, 2, 3};
    swp_bars bars;
    swp_error error;
    assert_int_equal(swp_bars_read(temp_write("in.f64", closes, 23), NULL, &bars, &error), SWP_BAD_PARAM);
    assert_non_null(strstr(error.message, "in.f64: the file ends inside bar 2: its size is no multiple of 8 bytes"));
    assert_int_equal(swp_bars_read(temp_write("in.f64", closes, 0), NULL, &bars, &error), SWP_BAD_PARAM);
    assert_non_null(strstr(error.message, "in.f64: the file is empty"));
}

static void assert_raw(const char *name, const void *bytes, size_t size, swp_bars_options options, size_t count,
                       const double *expected)
{
    swp_bars bars;
    swp_error error;
    if (swp_bars_read(temp_write(name, bytes, size), &options, &bars, &error) != SWP_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(bars.bars_count, count);
    assert_memory_equal(bars.close, expected, count * sizeof *expected);
    swp_bars_free(&bars);
}

static void assert_raw_refused(const char *name, const char *text, swp_bars_options options, const char *message)
{
    swp_bars bars;
    swp_error error;
    assert_int_equal(swp_bars_read(temp_write(name, text, strlen(text)), &options, &bars, &error), SWP_BAD_PARAM);
    if (strstr(error.message, message) == NULL) {
        fail_msg("\"%s\", expected \"%s\"", error.message, message);
    }
}

TEST(bars_raw_numbers_are_of_the_type_and_byte_order_that_are_said)
{
    const float singles[] = {1.5f, 16777217.0f};
    const unsigned char big[] = {0x40, 0x59, 0, 0, 0, 0, 0, 0}, words[] = {0x01, 0x02, 0xFF, 0x00};
    assert_raw("in.bin", singles, sizeof singles, (swp_bars_options){.dtype = "f4"}, 2, (const double[]){1.5, 16777216.0});
    assert_raw("in.f64", singles, sizeof singles, (swp_bars_options){.dtype = "float32"}, 2, (const double[]){1.5, 16777216.0});
    assert_raw("in.f64", big, sizeof big, (swp_bars_options){.big_endian = true}, 1, (const double[]){100});
    assert_raw("in.bin", big, sizeof big, (swp_bars_options){.dtype = ">f8"}, 1, (const double[]){100});
    assert_raw("in.bin", words, sizeof words, (swp_bars_options){.dtype = "u2"}, 2, (const double[]){0x0201, 0x00FF});
    assert_raw("in.bin", words, sizeof words, (swp_bars_options){.dtype = "u2", .big_endian = true}, 2,
               (const double[]){0x0102, 0xFF00});
}

TEST(bars_raw_numbers_of_another_type_are_refused)
{
    static const char *const none[] = {"f3", "", "f", "c16", "float128", "<float32", "b1", "O"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_raw_refused("in.bin", "12345678", (swp_bars_options){.dtype = none[i]}, "expected f2, f4, f8, i1, i2");
    }
    assert_raw_refused("in.f64", "12345678", (swp_bars_options){.close = "1"}, "--close has no meaning here");
    assert_raw_refused("in.csv", "close\n1\n", (swp_bars_options){.big_endian = true}, "--big-endian is of raw numbers");
}

TEST(bars_a_text_is_not_read_as_raw_numbers)
{
    const char *text = "date,close\n2024-01-01,1\n2024-01-02,2\n2024-01-03,3\n";
    assert_raw_refused("in.f64", text, (swp_bars_options){0}, "this is a text, and was to be read as raw numbers of 8 bytes");
    assert_raw_refused("in.csv", text, (swp_bars_options){.dtype = "f4"}, "this is a text");
    assert_raw("in.bin", "0123456789abcdefghijklmnopqrstuv", 32, (swp_bars_options){.dtype = "u1"}, 32,
               (const double[]){48,  49,  50,  51,  52,  53,  54,  55,  56,  57,  97,  98,  99,  100, 101, 102,
                                103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118});
}

TEST(bars_summary_counts_nan)
{
    const double closes[] = {1, (double)NAN, 3};
    swp_bars bars;
    const char *path = temp_write("in.f64", closes, sizeof closes);
    assert_int_equal(swp_bars_read(path, &(swp_bars_options){.allow = SWP_ALLOW_NAN}, &bars, NULL), SWP_OK);
    assert_string_equal(bars.summary, "read 3 bars, no time stamps, 1 NaN");
    assert_int_equal(bars.nan_count, 1);
    swp_bars_free(&bars);
}
