#include "swp/bars.h"

#include <math.h>
#include <string.h>
#include "support/temp.h"
#include "support/test.h"

/* A .npy of the given version, dictionary and data. */
static const char *write_npy(int version, const char *dictionary, const void *data, size_t size)
{
    static unsigned char file[65536];
    size_t length = strlen(dictionary), at = 0;
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (unsigned char)version;
    file[7] = 0;
    file[8] = (unsigned char)length;
    file[9] = (unsigned char)(length >> 8);
    at = 10;
    if (version > 1) {
        file[10] = file[11] = 0;
        at = 12;
    }
    memcpy(file + at, dictionary, length);
    memcpy(file + at + length, data, size);
    return temp_write("in.npy", file, at + length + size);
}

static void assert_reads(const char *path, uint32_t allow, const double *expected, size_t count)
{
    swp_bars bars;
    swp_error error;
    if (swp_bars_read(path, &(swp_bars_options){.allow = allow}, &bars, &error) != SWP_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(bars.bars_count, count);
    assert_null(bars.time_ns);
    for (size_t i = 0; i < count; i++) {
        assert_bits_equal(bars.close[i], expected[i]);
    }
    swp_bars_free(&bars);
}

static void assert_refused(const char *path, uint64_t at, const char *message)
{
    swp_bars bars = {.bars_count = 7};
    swp_error error;
    assert_int_equal(swp_bars_read(path, NULL, &bars, &error), SWP_BAD_PARAM);
    assert_int_equal(bars.bars_count, 7);
    const char *text = strstr(error.message, "in.npy: ");
    assert_non_null(text);
    assert_string_equal(text + 8, message);
    assert_int_equal(error.at, at);
}

TEST(npy_reads_versions_1_2_and_3)
{
    const double closes[] = {100.0, 100.5};
    for (int version = 1; version <= 3; version++) {
        assert_reads(write_npy(version, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n", closes, 16), 0, closes,
                     2);
    }
}

TEST(npy_takes_the_dictionary_in_any_order_and_either_memory_order)
{
    const double closes[] = {100.0, 100.5};
    assert_reads(write_npy(1, "{\"shape\":(2,),\"descr\":\"<f8\",\"fortran_order\":True}", closes, 16), 0, closes, 2);
}

TEST(npy_float32_is_widened_first)
{
    const float closes[] = {2e38f, 16777216.0f, 0.1f};
    const double expected[] = {(double)2e38f, 16777216.0, (double)0.1f};
    assert_reads(write_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", closes, 12), 0, expected, 3);
}

TEST(npy_float16_is_widened_first)
{
    const uint16_t bits[] = {0x3C00, 0x7BFF, 0x0001, 0x0400, 0x3555};
    const double expected[] = {1.0, 65504.0, 0x1p-24, 0x1p-14, 0x1.554p-2};
    assert_reads(write_npy(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (5,), }", bits, 10), 0, expected, 5);
    const uint16_t specials[] = {0x7E00, 0x7C00, 0xFC00, 0x8000};
    const double expected_specials[] = {(double)NAN, HUGE_VAL, -HUGE_VAL, -0.0};
    assert_reads(write_npy(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (4,), }", specials, 8), SWP_ALLOW_ALL,
                 expected_specials, 4);
}

TEST(npy_reads_big_endian)
{
    const unsigned char bytes[] = {0x40, 0x59, 0, 0, 0, 0, 0, 0};
    assert_reads(write_npy(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (1,), }", bytes, 8), 0,
                 (const double[]){100.0}, 1);
}

TEST(npy_reads_integers_that_a_double_holds)
{
    const int8_t small[] = {1, -2, 127, -128};
    assert_reads(write_npy(1, "{'descr': '|i1', 'fortran_order': False, 'shape': (4,), }", small, 4), SWP_ALLOW_NONPOSITIVE,
                 (const double[]){1.0, -2.0, 127.0, -128.0}, 4);
    const int64_t whole[] = {INT64_C(9007199254740992), -INT64_C(9007199254740992)};
    assert_reads(write_npy(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }", whole, 16), SWP_ALLOW_NONPOSITIVE,
                 (const double[]){0x1p53, -0x1p53}, 2);
    const uint16_t plain[] = {65535};
    assert_reads(write_npy(1, "{'descr': '<u2', 'fortran_order': False, 'shape': (1,), }", plain, 2), 0,
                 (const double[]){65535.0}, 1);
}

TEST(npy_an_integer_beyond_2_to_the_53_is_refused_at_its_byte)
{
    const int64_t beyond[] = {1, INT64_C(9007199254740993)};
    assert_refused(write_npy(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }", beyond, 16), 10 + 57 + 8,
                   "close of bar 1 is an integer beyond 2^53, which a double does not hold");
    const uint64_t top[] = {UINT64_MAX};
    assert_refused(write_npy(1, "{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }", top, 8), 10 + 57,
                   "close of bar 0 is an integer beyond 2^53, which a double does not hold");
    const int64_t bottom[] = {INT64_MIN};
    assert_refused(write_npy(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", bottom, 8), 10 + 57,
                   "close of bar 0 is an integer beyond 2^53, which a double does not hold");
}

TEST(npy_a_close_that_is_not_let_in_is_refused_at_its_byte)
{
    const double closes[] = {3, 2, 1, 0, -1};
    assert_refused(write_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (5,), }", closes, 40), 10 + 57 + 24,
                   "close of bar 3, 0, is not above zero; allow \"nonpositive\" to let it in");
}

static void assert_column(const char *path, const char *close, size_t count, const double *expected)
{
    swp_bars bars;
    swp_error error;
    if (swp_bars_read(path, &(swp_bars_options){.close = close}, &bars, &error) != SWP_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(bars.bars_count, count);
    assert_memory_equal(bars.close, expected, count * sizeof *expected);
    swp_bars_free(&bars);
}

static void assert_column_refused(const char *path, const char *close, const char *message)
{
    swp_bars bars;
    swp_error error;
    assert_int_equal(swp_bars_read(path, &(swp_bars_options){.close = close}, &bars, &error), SWP_BAD_PARAM);
    if (strstr(error.message, message) == NULL) {
        fail_msg("\"%s\", expected \"%s\"", error.message, message);
    }
}

TEST(npy_of_two_axes_gives_the_column_that_is_chosen_in_either_memory_order)
{
    const float rows[] = {1, 2, 3, 4, 5, 6}; /* (2, 3), or (3, 2) by columns */
    const char *path = write_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", rows, sizeof rows);
    assert_column(path, "1", 2, (const double[]){1, 4});
    assert_column(path, "3", 2, (const double[]){3, 6});
    assert_column_refused(path, "4", "no column \"4\": the shape is (2, 3), columns count from 1");
    assert_column_refused(path, "0", "no column \"0\"");
    assert_column_refused(path, "Close", "no column \"Close\"");
    path = write_npy(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }", rows, sizeof rows);
    assert_column(path, "1", 3, (const double[]){1, 2, 3});
    assert_column(path, "2", 3, (const double[]){4, 5, 6});
    path = write_npy(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (6, 1), }", rows, sizeof rows);
    assert_column(path, NULL, 6, (const double[]){1, 2, 3, 4, 5, 6}); /* there is only one */
}

TEST(npy_closes_that_are_not_chosen_are_not_judged)
{
    const double rows[] = {1, -1, 2, (double)NAN};
    const char *path = write_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", rows, sizeof rows);
    assert_column(path, "1", 2, (const double[]){1, 2});
    assert_column_refused(path, "2", "close of bar 0, -1, is not above zero");
}

TEST(npy_of_two_axes_ends_with_its_last_number_whichever_column_is_read)
{
    const double numbers[] = {1, 2, 3, 4, 5, 6, 7};
    static const char *const orders[] = {"False", "True"};
    for (size_t i = 0; i < 2; i++) {
        char dictionary[96];
        snprintf(dictionary, sizeof dictionary, "{'descr': '<f8', 'fortran_order': %s, 'shape': (3, 2), }", orders[i]);
        assert_column_refused(write_npy(1, dictionary, numbers, 40), "1",
                              "the file is cut short: the header says 6 numbers of 8 bytes");
        assert_column_refused(write_npy(1, dictionary, numbers, 56), "1",
                              "the file goes on behind its last bar: the header says 6 numbers of 8 bytes");
    }
    assert_column_refused(
        write_npy(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (4294967296, 4294967296), }", numbers, 56), "1",
        "the file is cut short: the header says 4294967296 x 4294967296 numbers");
    assert_column_refused(
        write_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 18446744073709551615), }", numbers, 56), "1",
        "the file is cut short: the header says 1 x 18446744073709551615 numbers");
}

TEST(npy_options_that_need_stamps_are_refused_and_not_passed_over)
{
    const double closes[] = {1, 2};
    const swp_bars_options from = {.from = "2024-01-01"}, time = {.time = "1"}, none = {.time = "none"},
                           big = {.big_endian = true};
    const char *path = write_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", closes, sizeof closes);
    swp_bars bars;
    swp_error error;
    assert_int_equal(swp_bars_read(path, &from, &bars, &error), SWP_BAD_PARAM);
    assert_non_null(strstr(error.message, "--from has no meaning here: the file holds numbers without names or stamps"));
    assert_int_equal(swp_bars_read(path, &time, &bars, &error), SWP_BAD_PARAM);
    assert_non_null(strstr(error.message, "--time has no meaning here"));
    assert_int_equal(swp_bars_read(path, &big, &bars, &error), SWP_BAD_PARAM);
    assert_non_null(strstr(error.message, "--big-endian is of raw numbers"));
    assert_int_equal(swp_bars_read(path, &none, &bars, &error), SWP_OK);
    swp_bars_free(&bars);
}

TEST(npy_other_dtypes_and_shapes_are_refused_by_name)
{
    static const char *const dtypes[] = {"|b1", "<c16", "|O", "<f16", "|S8", "<M8[ns]", "<i3", "f8", "<f88"};
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        char dictionary[128], message[160];
        snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }", dtypes[i]);
        snprintf(message, sizeof message, "dtype '%s' is not read; expected f2, f4, f8 or an integer of 1 to 8 bytes",
                 dtypes[i]);
        assert_refused(write_npy(1, dictionary, "12345678", 8), 10, message);
    }
    assert_refused(write_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", "", 0), 10,
                   "shape (2, 3): bars by 3 columns; choose the closes by --close N, from 1");
    assert_refused(write_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "12345678", 8), 10,
                   "shape (): expected one axis, the closes, or two, bars by columns");
    assert_refused(write_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }", "", 0), 10,
                   "no bars: the shape is (0,)");
}

TEST(npy_headers_that_lie_are_refused_and_nothing_is_allocated_by_them)
{
    const double closes[] = {1, 2, 3};
    assert_refused(write_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }", closes, 24), 10 + 57 + 24,
                   "the file is cut short: the header says 4 numbers of 8 bytes");
    assert_refused(write_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", closes, 20), 10 + 57 + 16,
                   "the file is cut short: the header says 3 numbers of 8 bytes");
    assert_refused(write_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", closes, 24), 10 + 57 + 16,
                   "the file goes on behind its last bar: the header says 2 numbers of 8 bytes");
    assert_refused(write_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551614,), }", closes, 24),
                   10 + 76 + 24, "the file is cut short: the header says 18446744073709551614 numbers of 8 bytes");
}

TEST(npy_broken_headers_are_refused)
{
    static const char *const broken[] = {"",
                                         "{",
                                         "{}",
                                         "{'descr': '<f8'}",
                                         "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }",
                                         "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
                                         "{'descr': '<f8', 'fortran_order': 0, 'shape': (1,), }",
                                         "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), } x",
                                         "{'descr': '<f8', 'descr': '<f8', 'shape': (1,), }",
                                         "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }",
                                         "{'descr': '<f8', 'fortran_order': False, 'shape': (1",
                                         "{'descr': '<f8', 'fortran_order': False, 'shape': 1, }",
                                         "{'descr': '<f8', 'fortran_order': False, 'shape': (,), }"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        assert_refused(write_npy(1, broken[i], "12345678", 8), 10,
                       "the .npy header is not {'descr': ..., 'fortran_order': ..., 'shape': (...), } of a plain array");
    }
}

TEST(npy_files_that_are_none_are_refused)
{
    assert_refused(temp_write("in.npy", "", 0), 0, "the file is empty");
    assert_refused(temp_write("in.npy", "\x93NUMP", 5), 0, "not a .npy file: its first bytes differ");
    assert_refused(temp_write("in.npy", "date,close\n2024-01-01,1\n", 24), 0, "not a .npy file: its first bytes differ");
    assert_refused(temp_write("in.npy", "\x93NUMPY\x04\x00\x10\x00", 10), 6, ".npy version 4, expected 1, 2 or 3");
    assert_refused(temp_write("in.npy", "\x93NUMPY\x01\x00\x76\x00{'descr'", 18), 18, "the file ends inside its .npy header");
    assert_refused(temp_write("in.npy", "\x93NUMPY\x01\x00\x20\x4e", 10), 8, "the .npy header has more than 10000 bytes");
    assert_refused(temp_write("in.npy", "\x93NUMPY\x02\x00\x20\x00\xff\xff", 12), 8,
                   "the .npy header has more than 10000 bytes");
    assert_refused(temp_write("in.npy", "\x93NUMPY\x02\x00\x20\x00\xff", 11), 11, "the file ends inside its .npy header");
}
