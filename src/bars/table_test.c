#include "swp/bars.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "support/temp.h"
#include "support/test.h"

static const swp_bars_options defaults;
static const swp_bars_options allow_nan = {.allow = SWP_ALLOW_NAN};

static swp_bars read_text(const char *text, const swp_bars_options *options)
{
    swp_bars bars;
    swp_error error;
    if (swp_bars_read(temp_write("in.csv", text, strlen(text)), options, &bars, &error) != SWP_OK) {
        fail_msg("%s", error.message);
    }
    return bars;
}

static void assert_closes(const char *text, const swp_bars_options *options, size_t count, const double *expected)
{
    swp_bars bars = read_text(text, options);
    assert_int_equal(bars.bars_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_bits_equal(bars.close[i], expected[i]);
    }
    swp_bars_free(&bars);
}

static void assert_summary(const char *text, const swp_bars_options *options, const char *expected)
{
    swp_bars bars = read_text(text, options);
    assert_string_equal(bars.summary, expected);
    swp_bars_free(&bars);
}

static void assert_refused_bytes(const char *text, size_t size, const swp_bars_options *options, uint64_t line,
                                 const char *message)
{
    swp_bars bars = {.bars_count = 7};
    swp_error error = {0};
    char expected[300];
    snprintf(expected, sizeof expected, "in.csv:%d: %s", (int)line, message);
    swp_status status = swp_bars_read(temp_write("in.csv", text, size), options, &bars, &error);
    if (status != SWP_BAD_PARAM || strstr(error.message, expected) == NULL) {
        fail_msg("status %d, \"%s\", expected \"%s\"", (int)status, error.message, expected);
    }
    assert_int_equal(error.at, line);
    assert_int_equal(bars.bars_count, 7);
}

static void assert_refused(const char *text, const swp_bars_options *options, uint64_t line, const char *message)
{
    assert_refused_bytes(text, strlen(text), options, line, message);
}

TEST(table_reads_every_delimiter_and_line_ending)
{
    const double closes[] = {1.5, 2.25};
    assert_closes("date,close\n2024-01-01,1.5\n2024-01-02,2.25\n", &defaults, 2, closes);
    assert_closes("date;close\r\n2024-01-01;1.5\r\n2024-01-02;2.25", &defaults, 2, closes);
    assert_closes("date\tclose\r2024-01-01\t1.5\r2024-01-02\t2.25\r", &defaults, 2, closes);
    assert_closes("\"date\"|\"close\"\n2024-01-01|\"1.5\"\n\n2024-01-02| 2.25 \n\n\n", &defaults, 2, closes);
    assert_closes("\xEF\xBB\xBFtime,close\n2024-01-01,1.5\n2024-01-02,2.25\n", &defaults, 2, closes);
    assert_closes("close\n1.5\n2.25\n", &defaults, 2, closes);
}

TEST(table_takes_the_delimiter_that_is_given)
{
    const double closes[] = {3};
    assert_closes("a;b,close\n1;2,3\n", &(swp_bars_options){.delimiter = ','}, 1, closes);
    assert_refused("a;b,close\n1;2,3\n", &defaults, 1, "the delimiter is not clear; choose it by --delimiter");
}

TEST(table_summary_says_what_was_recognised)
{
    assert_summary("date,Close\n2024-01-01,1\n2024-01-02,2\n", &defaults,
                   "read 2 bars, 2024-01-01 .. 2024-01-02, close column \"Close\"");
    assert_summary("time,close\n2024-01-01 09:00:00,1\n2024-01-01 09:00:30,2\n", &defaults,
                   "read 2 bars, 2024-01-01 09:00:00 .. 2024-01-01 09:00:30, close column \"close\"");
    assert_summary("time,close\n2024-01-01T00:00:00+02:00,1\n", &defaults,
                   "read 1 bar, 2023-12-31 22:00 .. 2023-12-31 22:00 UTC, close column \"close\"");
    assert_summary("open,close\n1,2\n", &defaults, "read 1 bar, no time stamps, close column \"close\"");
    assert_summary("d,x\n2024-01-01,1\n2024-01-02,\n", &(swp_bars_options){.close = "x", .time = "d", .allow = SWP_ALLOW_NAN},
                   "read 2 bars, 2024-01-01 .. 2024-01-02, close column \"x\", 1 NaN");
}

TEST(table_time_is_told_by_its_cells_under_an_unknown_name)
{
    swp_bars bars = read_text("Data,Zamkniecie\n2024-01-01,1\n2024-01-02,2\n", &(swp_bars_options){.close = "Zamkniecie"});
    assert_non_null(bars.time_ns);
    assert_true(bars.time_ns[1] == INT64_C(1704153600000000000));
    swp_bars_free(&bars);
    assert_refused("Data,Zamkniecie\n2024-01-02,1\n2024-01-01,2\n2023-12-31,3\n", &(swp_bars_options){.close = "2"}, 3,
                   "newest first");
    assert_refused("a,b,close\n2024-01-02,2024-01-03,1\n", &defaults, 2,
                   "2 columns hold dates; choose by --time NAME or number");
    assert_refused("Datum,close\n03/02/2010,1\n", &defaults, 2, "time \"03/02/2010\" is not year-month-day");
}

TEST(table_time_none_leaves_the_stamps_out_but_a_column_of_that_name_wins)
{
    const swp_bars_options none = {.time = "none"};
    const char *summary = "read 2 bars, no time stamps, close column \"Close\"";
    assert_summary("Date,Close\n2020-01-02,1\n2020-01-02,2\n", &none, summary);
    assert_summary(",Close\n2020-01-02,1\n2020-01-01,2\n", &none, summary);
    assert_summary("Data,Close\n2020-01-02,1\n03/02/2010,2\n", &none, summary);
    assert_summary("none,Close\n2020-01-01,1\n2020-01-02,2\n", &none,
                   "read 2 bars, 2020-01-01 .. 2020-01-02, close column \"Close\"");
    assert_refused("Date,none,none,Close\n2020-01-02,1,1,1\n", &none, 1, "2 columns are called \"none\"");
}

TEST(table_date_and_time_of_day_are_joined)
{
    swp_bars bars = read_text("Date,Time,Close\n2006-01-02,09:05:00,1\n2006-01-02,09:10:00,2\n", &defaults);
    assert_true(bars.time_ns[0] == INT64_C(1136192700000000000));
    assert_true(bars.time_ns[1] == INT64_C(1136193000000000000));
    swp_bars_free(&bars);
}

TEST(table_epoch_stamps_are_instants)
{
    swp_bars bars = read_text("timestamp,close\n1637971200000,1\n1637971260000,2\n", &defaults);
    assert_true(bars.time_ns[0] == INT64_C(1637971200000000000));
    assert_string_equal(bars.summary, "read 2 bars, 2021-11-27 00:00 .. 2021-11-27 00:01 UTC, close column \"close\"");
    swp_bars_free(&bars);
}

TEST(table_a_change_of_unit_or_of_form_is_refused_with_its_line)
{
    assert_refused("time,close\n1637971200000,1\n1637971260000,2\n1637971320000000,3\n", &defaults, 4,
                   "time \"1637971320000000\" is microseconds since 1970; the lines above have milliseconds since 1970");
    assert_refused(
        "time,close\n2024-01-01 00:00,1\n2024-01-01 01:00Z,2\n", &defaults, 3,
        "time \"2024-01-01 01:00Z\" is a date and time with an offset; the lines above have a date and time without");
    assert_refused("time,close\n2024-01-01,1\n2024-01-02 10:00,2\n", &defaults, 3,
                   "time \"2024-01-02 10:00\" is a date and time");
}

TEST(table_stamps_must_rise_and_both_lines_are_named)
{
    assert_refused("time,close\n2024-01-01,1\n2024-01-03,2\n2024-01-02,3\n", &defaults, 4,
                   "time \"2024-01-02\" is before \"2024-01-03\" of line 3; time stamps must rise");
    assert_refused("time,close\n2024-01-01,1\n\n2024-01-01,2\n", &defaults, 4,
                   "time \"2024-01-01\" repeats \"2024-01-01\" of line 2; time stamps must rise");
    assert_refused("time,close\n2024-01-01 10:00+02:00,1\n2024-01-01 08:00Z,2\n", &defaults, 3,
                   "time \"2024-01-01 08:00Z\" repeats \"2024-01-01 10:00+02:00\" of line 2");
}

TEST(table_offsets_are_ordered_by_instant_in_the_hour_the_clock_changes)
{
    const double closes[] = {1, 2, 3};
    assert_closes("time,close\n2023-10-29 02:30:00+02:00,1\n2023-10-29 02:00:00+01:00,2\n2023-10-29 02:30:00+01:00,3\n",
                  &defaults, 3, closes);
    assert_refused("time,close\n2023-10-29 02:30:00,1\n2023-10-29 02:45:00,2\n2023-10-29 02:30:00,3\n", &defaults, 4,
                   "time \"2023-10-29 02:30:00\" is before \"2023-10-29 02:45:00\" of line 3");
}

TEST(table_newest_first_is_recognised_only_when_all_of_it_is)
{
    assert_refused("time,close\n2024-01-03,1\n2024-01-02,2\n2024-01-01,3\n", &defaults, 3,
                   "newest first: \"2024-01-02\" comes after \"2024-01-03\" of line 2, and so on to the end; bars must "
                   "be oldest first");
    assert_refused("time,close\n2024-01-03,1\n2024-01-02,2\n2024-01-05,3\n", &defaults, 3,
                   "time \"2024-01-02\" is before \"2024-01-03\"");
    assert_refused("time,close\n2024-01-03,1\n2024-01-02,2\n2024-01-02,3\n", &defaults, 3,
                   "time \"2024-01-02\" is before \"2024-01-03\"");
}

TEST(table_a_close_that_is_not_let_in_is_named_with_line_and_text)
{
    assert_refused("close\n3\n2\n1\n0\n-1\n", &defaults, 5,
                   "close \"0\" is not above zero; allow \"nonpositive\" to let it in");
    assert_refused("close\n3\ninf\n", &defaults, 3, "close \"inf\" is infinite; allow \"inf\" to let it in");
    assert_refused("close\n3\nNaN\n", &defaults, 3, "close \"NaN\" is not a number; allow \"nan\" to let it in");
    assert_refused("date,close\n2024-01-01,\n", &defaults, 2, "close \"\" is blank; allow \"nan\" to read it as NaN");
    assert_refused("close\nn/a\n", &defaults, 2, "close \"n/a\" is not a number; allow \"nan\" to read it as NaN");
    assert_refused("close\n1e999\n", &allow_nan, 2, "close \"1e999\" is beyond what a double holds");
}

TEST(table_closes_that_are_allowed_are_read_as_they_are)
{
    assert_closes("close\n3\n0\n-1e-3\n-inf\nnan\n", &(swp_bars_options){.allow = SWP_ALLOW_ALL}, 5,
                  (const double[]){3, 0, -0.001, -HUGE_VAL, (double)NAN});
    assert_closes("date,close\n2024-01-01,\n2024-01-02,n/a\n2024-01-03,-\n2024-01-04,1\n", &allow_nan, 4,
                  (const double[]){(double)NAN, (double)NAN, (double)NAN, 1});
}

TEST(table_a_number_in_another_form_is_never_read_as_missing)
{
    assert_refused("d;close\n2024-01-01;1,5\n", &allow_nan, 2, "close \"1,5\" is not a number with a decimal point");
    assert_refused("d,close\n2024-01-01,\"1,234.5\"\n", &allow_nan, 2,
                   "close \"1,234.5\" is not a number with a decimal point");
    assert_refused("close\n1,5\n", &allow_nan, 2, "2 fields, but the header has 1");
}

TEST(table_blank_lines_are_passed_over_but_not_where_they_are_closes)
{
    assert_closes("date,close\n\n2024-01-01,1\n\n2024-01-02,2\n", &defaults, 2, (const double[]){1, 2});
    assert_closes("close\n1\n2\n\n\n", &defaults, 2, (const double[]){1, 2});
    assert_refused("close\n1\n\n2\n", &defaults, 3, "close \"\" is blank");
    assert_closes("close\n1\n\n\n2\n", &allow_nan, 4, (const double[]){1, (double)NAN, (double)NAN, 2});
}

TEST(table_rows_have_as_many_fields_as_the_header)
{
    assert_refused("date,close\n2024-01-01,1\n2024-01-02\n", &defaults, 3, "1 fields, but the header has 2");
    assert_refused("date,close\n2024-01-01,1,\n", &defaults, 2, "3 fields, but the header has 2");
    assert_refused("date,close\n2024-01-01,1\nTotal: 1 bar\n", &defaults, 3, "1 fields, but the header has 2");
    assert_refused("http://example.com/data\ndate,close\n2024-01-01,1\n", &defaults, 1, "no column is called close");
}

TEST(table_a_header_in_the_middle_is_refused)
{
    assert_refused("date,close\n2024-01-01,1\ndate,close\n2024-01-02,1\n", &allow_nan, 3, "time \"date\" is not a time stamp");
    assert_refused("open,close\n2,1\nopen,close\n2,1\n", &allow_nan, 3, "close \"close\": the header stands here again");
}

TEST(table_a_file_without_a_header_is_refused)
{
    assert_refused("1637971200000,0.00002853,0.00002854\n", &defaults, 1,
                   "no header: the first line begins with \"1637971200000\"");
    assert_refused("1\n2\n", &defaults, 1, "no header: ");
    assert_refused("1;2\n", &(swp_bars_options){.close = "x"}, 1, "no column \"x\": the file has no header, and 2 columns");
    assert_refused("1;2\n", &(swp_bars_options){.header = SWP_HEADER_NO, .close = "3"}, 1, "no column \"3\"");
    assert_refused("close;2\n1;2\n", &(swp_bars_options){.header = SWP_HEADER_NO, .close = "1"}, 1,
                   "close \"close\" is not a number");
}

TEST(table_columns_of_a_file_without_a_header_go_by_number)
{
    assert_closes("1;5\n2;6\n", &(swp_bars_options){.close = "2"}, 2, (const double[]){5, 6});
    assert_closes("2024;5\n2025;6\n", &(swp_bars_options){.header = SWP_HEADER_YES, .close = "5"}, 1, (const double[]){6});
    assert_summary("20110301 090100;133.9\n", &(swp_bars_options){.close = "2"},
                   "read 1 bar, 2011-03-01 09:01 .. 2011-03-01 09:01, close column 2");
    assert_summary("1600000000;133.9\n", &(swp_bars_options){.close = "2", .time = "1"},
                   "read 1 bar, 2020-09-13 12:26:40 .. 2020-09-13 12:26:40 UTC, close column 2");
}

TEST(table_lines_above_the_header_are_passed_over_when_told_to)
{
    const swp_bars_options skip_one = {.skip_lines = 1}, skip_nine = {.skip_lines = 9};
    const char *text = "https://example.com/data\ndate,close\n2024-01-01,1\n2024-01-02,x\n";
    assert_closes("https://example.com/data\r\ndate,close\r\n2024-01-01,1\r\n", &skip_one, 1, (const double[]){1});
    assert_refused(text, &skip_one, 4, "close \"x\" is not a number");
    assert_refused(text, &skip_nine, 4, "nothing is left behind the lines that --skip-lines passes over");
}

TEST(table_m2_a_decimal_comma_is_read_only_when_told_to)
{
    const swp_bars_options comma = {.decimal = ','};
    assert_closes("d;close\n2024-01-01;1,5\n2024-01-02;2\n", &comma, 2, (const double[]){1.5, 2});
    assert_closes("close\n1,5\n", &comma, 1, (const double[]){1.5});
    assert_refused("d;close\n2024-01-01;1.5\n", &comma, 2, "close \"1.5\" is not a number with a decimal comma");
    assert_refused("d;close\n2024-01-01;1.234,5\n", &comma, 2, "close \"1.234,5\" is not a number with a decimal comma");
    assert_refused("d;close\n2024-01-01;1,5\n", &defaults, 2,
                   "close \"1,5\" is not a number with a decimal point; --decimal comma reads 1,5");
}

TEST(table_dates_in_another_order_are_read_when_the_file_or_an_option_says_which)
{
    const swp_bars_options dmy = {.time_format = "dmy"}, mdy = {.time_format = "mdy"};
    const char *open_order = "date,close\n03/02/2010,1\n04/02/2010,2\n";
    assert_refused(
        open_order, &defaults, 2,
        "time \"03/02/2010\" is not year-month-day: day and month could stand either way round; --time-format dmy or mdy");
    assert_summary(open_order, &dmy, "read 2 bars, 2010-02-03 .. 2010-02-04, close column \"close\", day first");
    assert_summary(open_order, &mdy, "read 2 bars, 2010-03-02 .. 2010-04-02, close column \"close\", month first");
    assert_summary("date,close\n12.02.2010,1\n13.02.2010,2\n", &defaults,
                   "read 2 bars, 2010-02-12 .. 2010-02-13, close column \"close\", day first");
    assert_summary("date,close\n2/12/2010,1\n2/13/2010,2\n", &defaults,
                   "read 2 bars, 2010-02-12 .. 2010-02-13, close column \"close\", month first");
    assert_refused("date,close\n2/13/2010,1\n13/2/2010,2\n", &defaults, 2,
                   "time \"2/13/2010\" is not year-month-day: day and month could stand either way round");
    assert_refused("date,close\n31/01/2010,1\n", &mdy, 2, "time \"31/01/2010\" is no date of the calendar");
}

TEST(table_time_patterns_and_units_are_read_as_they_say)
{
    assert_summary("when,close\n31-Jan-2024 16:00,1\n", &(swp_bars_options){.time = "when", .time_format = "%d-%b-%Y %H:%M"},
                   "read 1 bar, 2024-01-31 16:00 .. 2024-01-31 16:00 UTC, close column \"close\"");
    assert_summary("time,close\n1000,1\n", &(swp_bars_options){.time_format = "s"},
                   "read 1 bar, 1970-01-01 00:16:40 .. 1970-01-01 00:16:40 UTC, close column \"close\"");
    assert_refused("time,close\n2024-01-31,1\n", &(swp_bars_options){.time_format = "%d-%b-%Y"}, 2,
                   "time \"2024-01-31\" does not have the form that --time-format says");
}

TEST(table_m6_metatrader_5_export)
{
    assert_summary("<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\n"
                   "2024.01.02\t00:00:00\t1.1\t1.2\t1.0\t1.15\t10\t0\t3\n",
                   &defaults, "read 1 bar, 2024-01-02 00:00 .. 2024-01-02 00:00, close column \"<CLOSE>\"");
    assert_summary(
        "<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>\nA.US,5,20240102,153000,1,2,1,1.5,9,0\n",
        &defaults, "read 1 bar, 2024-01-02 15:30 .. 2024-01-02 15:30, close column \"<CLOSE>\"");
}

static const swp_bars_options whole = {.open = "Open", .high = "High", .low = "Low", .volume = "Vol"};

TEST(table_columns_that_are_named_are_kept_beside_the_closes)
{
    swp_bars bars = read_text("Open,High,Low,Close,Vol\n1,4,0.5,2,0\n2,5,1,3,7.5\n", &whole);
    assert_memory_equal(bars.open, ((const double[]){1, 2}), 16);
    assert_memory_equal(bars.high, ((const double[]){4, 5}), 16);
    assert_memory_equal(bars.low, ((const double[]){0.5, 1}), 16);
    assert_memory_equal(bars.volume, ((const double[]){0, 7.5}), 16);
    swp_bars_free(&bars);
    bars = read_text("Date,Open,Close\n2024-01-02,1,2\n2024-01-01,3,4\n2024-01-01,5,6\n",
                     &(swp_bars_options){.open = "2", .order = SWP_ORDER_SORT, .duplicates = SWP_DUPLICATES_LAST});
    assert_int_equal(bars.bars_count, 2);
    assert_memory_equal(bars.open, ((const double[]){5, 1}), 16); /* moves with its bar */
    assert_null(bars.high);
    swp_bars_free(&bars);
    bars = read_text("20110301 090100;133.9;134.01;133.9;133.98;3778\n", &(swp_bars_options){.volume = "6", .high = "3"});
    assert_bits_equal(bars.volume[0], 3778.0); /* of a layout, whose own columns stand */
    assert_bits_equal(bars.high[0], 134.01);
    assert_bits_equal(bars.close[0], 133.98);
    swp_bars_free(&bars);
}

TEST(table_columns_that_are_not_named_are_not_judged)
{
    assert_closes("Open,High,Low,Close,Vol\nx,1,9,2,-\n", &defaults, 1, (const double[]){2});
    assert_closes("Open,High,Low,Close,Vol\nx,1,9,2,0\n", &(swp_bars_options){.volume = "Vol"}, 1, (const double[]){2});
}

TEST(table_columns_that_are_named_are_judged_in_each_row)
{
    assert_refused("Open,High,Low,Close,Vol\n1,4,1,2,0\n1,4,,2,0\n", &whole, 3, "low \"\" is blank; allow \"nan\"");
    assert_refused("Open,High,Low,Close,Vol\n1,4x,1,2,0\n", &whole, 2, "high \"4x\" is not a number with a decimal point");
    assert_refused("Open,High,Low,Close,Vol\n0,4,1,2,0\n", &whole, 2, "open \"0\" is not above zero");
    assert_refused("Open,High,Low,Close,Vol\n1,4,1,2,-1\n", &whole, 2, "volume \"-1\" is not above zero");
    assert_refused("Open,High,Low,Close,Vol\n2,1.5,1,1,0\n", &whole, 2, "high 1.5 is below open 2; --high named this column");
    assert_refused("Open,High,Low,Close,Vol\n1,1.5,1,2,0\n", &whole, 2, "high 1.5 is below close 2; --high named this column");
    assert_refused("Open,High,Low,Close,Vol\n1,3,2,2,0\n", &whole, 2, "open 1 is below low 2; --low named this column");
    assert_refused("High,Low,Close\n1,2,2\n", &(swp_bars_options){.high = "1", .low = "2"}, 2, "high 1 is below low 2");
    assert_refused("Low,Close\n2,1\n", &(swp_bars_options){.low = "Low"}, 2, "close 1 is below low 2");
    assert_closes("Open,High,Low,Close,Vol\n1,4,,2,\n",
                  &(swp_bars_options){.low = "Low", .volume = "Vol", .allow = SWP_ALLOW_NAN}, 1, (const double[]){2});
}

TEST(table_one_column_plays_one_role)
{
    assert_refused("Open,Close\n1,2\n", &(swp_bars_options){.open = "Close"}, 1,
                   "the same column cannot be the close and the open; choose by --open NAME or number");
    assert_refused("a,b,Close\n1,2,3\n", &(swp_bars_options){.high = "a", .low = "1"}, 1,
                   "the same column cannot be the high and the low");
    assert_refused("Date,Close\n2024-01-01,2\n", &(swp_bars_options){.volume = "Date"}, 1,
                   "the same column cannot be the time and the volume");
    assert_refused("1;2\n", &(swp_bars_options){.close = "2", .open = "2"}, 1,
                   "the same column cannot be the close and the open; choose by --open N");
    assert_refused("Open,Close\n1,2\n", &(swp_bars_options){.volume = "Vol"}, 1,
                   "no column \"Vol\"; choose by --volume NAME or number; columns: \"Open\", \"Close\"");
}

TEST(table_without_bars_is_refused)
{
    assert_refused("", &defaults, 1, "the file is empty");
    assert_refused("\xEF\xBB\xBF", &defaults, 1, "the file is empty");
    assert_refused("\n\n", &defaults, 1, "the file is empty");
    assert_refused("date,close\n", &defaults, 2, "no bars below the header");
    assert_refused("date,close", &defaults, 2, "no bars below the header");
}

TEST(table_what_is_no_text_is_refused)
{
    assert_refused_bytes("\x1F\x8B\x07\x00", 4, &defaults, 1, "not a text: byte 3 is 0");
    assert_refused_bytes("close\n1\0\n", 9, &defaults, 1, "not a text: byte 7 is 0");
}

TEST(table_long_texts_are_cut_in_messages_and_never_read)
{
    char text[400];
    snprintf(text, sizeof text, "time,close\n2024-01-01 00:00:00.%0100d,1\n", 0);
    assert_closes("time,close\n2024-01-01 00:00:00.00000000000000000000,1\n", &defaults, 1, (const double[]){1});
    assert_refused(text, &defaults, 2, "time \"2024-01-01 00:00:00.0000000000000000000000...\" is not a time stamp");
    snprintf(text, sizeof text, "close\n0.%0100d1\n", 0);
    assert_closes(text, &defaults, 1, (const double[]){1e-101});
}

TEST(table_of_many_blocks_keeps_its_lines)
{
    enum { BARS = 20000 };
    static char text[BARS * 32];
    size_t size = (size_t)sprintf(text, "close,note\n");
    for (int i = 0; i < BARS; i++) {
        size += (size_t)sprintf(text + size, "%d.25,\"bar\n%d\"\r\n", i + 1, i);
    }
    swp_bars bars = read_text(text, &defaults);
    assert_int_equal(bars.bars_count, BARS);
    assert_bits_equal(bars.close[BARS - 1], BARS + 0.25);
    swp_bars_free(&bars);
    strcpy(text + size, "x,\n");
    assert_refused(text, &defaults, 2 * BARS + 2, "close \"x\" is not a number");
}
