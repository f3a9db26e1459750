#include "bars/time_stamp.h"

#include <string.h>
#include "support/test.h"

static void assert_reads(const char *text, int64_t ns, swp__time_form form)
{
    swp__time_stamp stamp = {0};
    const char *why = swp__time_parse(text, strlen(text), &stamp);
    if (why != NULL) {
        fail_msg("\"%s\" %s", text, why);
    }
    if (stamp.ns != ns || stamp.form != form) {
        fail_msg("\"%s\" is %lld ns, form %d", text, (long long)stamp.ns, (int)stamp.form);
    }
}

static void assert_refused(const char *text, const char *part)
{
    swp__time_stamp stamp = {.ns = 7};
    const char *why = swp__time_parse(text, strlen(text), &stamp);
    if (why == NULL || strstr(why, part) == NULL || stamp.ns != 7) {
        fail_msg("\"%s\": %s", text, why != NULL ? why : "was read");
    }
}

enum { SECOND = 1000000000 };

TEST(time_reads_dates)
{
    assert_reads("1970-01-01", 0, SWP__TIME_DATE);
    assert_reads("2024-02-29", INT64_C(1709164800) * SECOND, SWP__TIME_DATE);
    assert_reads("2000/02/29", INT64_C(951782400) * SECOND, SWP__TIME_DATE);
    assert_reads("2017.4.9", INT64_C(1491696000) * SECOND, SWP__TIME_DATE);
    assert_reads("1969-12-31", -INT64_C(86400) * SECOND, SWP__TIME_DATE);
    assert_reads("1678-01-01", -INT64_C(9214560000) * SECOND, SWP__TIME_DATE);
    assert_reads("2261-12-31", INT64_C(9214560000) * SECOND, SWP__TIME_DATE);
}

TEST(time_reads_dates_with_times_and_fractions)
{
    assert_reads("2017-04-19 09:00:00", INT64_C(1492592400) * SECOND, SWP__TIME_LOCAL);
    assert_reads("2017-04-19 9:00", INT64_C(1492592400) * SECOND, SWP__TIME_LOCAL);
    assert_reads("2017-04-19T09:00:00.5", INT64_C(1492592400) * SECOND + 500000000, SWP__TIME_LOCAL);
    assert_reads("2017-04-19T09:00:00.000000001", INT64_C(1492592400) * SECOND + 1, SWP__TIME_LOCAL);
    assert_reads("2017-04-19T09:00:00.123456789000", INT64_C(1492592400) * SECOND + 123456789, SWP__TIME_LOCAL);
}

TEST(time_reads_offsets_as_instants)
{
    const int64_t ns = INT64_C(1492592400) * SECOND;
    assert_reads("2017-04-19T09:00:00Z", ns, SWP__TIME_OFFSET);
    assert_reads("2017-04-19 11:00:00+02:00", ns, SWP__TIME_OFFSET);
    assert_reads("2017-04-19 05:00:00-0400", ns, SWP__TIME_OFFSET);
    assert_reads("2017-04-19 14:30:00.000+05:30", ns, SWP__TIME_OFFSET);
    assert_reads("2017-04-19 10:00+01", ns, SWP__TIME_OFFSET);
}

TEST(time_tells_epoch_units_by_their_digits)
{
    assert_reads("999999999", INT64_C(999999999) * SECOND, SWP__TIME_SECONDS);
    assert_reads("1637971200", INT64_C(1637971200) * SECOND, SWP__TIME_SECONDS);
    assert_reads("1637971200.25", INT64_C(1637971200) * SECOND + 250000000, SWP__TIME_SECONDS);
    assert_reads("1637971200000", INT64_C(1637971200) * SECOND, SWP__TIME_MILLISECONDS);
    assert_reads("1637971200000.0", INT64_C(1637971200) * SECOND, SWP__TIME_MILLISECONDS);
    assert_reads("1637971200000000", INT64_C(1637971200) * SECOND, SWP__TIME_MICROSECONDS);
    assert_reads("1637971200000000001", INT64_C(1637971200) * SECOND + 1, SWP__TIME_NANOSECONDS);
}

TEST(time_reads_what_terminals_write)
{
    const int64_t ns = INT64_C(1492592400) * SECOND;
    assert_reads("20170419", ns - INT64_C(32400) * SECOND, SWP__TIME_COMPACT_DATE);
    assert_reads("20170419 090000", ns, SWP__TIME_COMPACT);
    assert_reads("20170419  09:00:00", ns, SWP__TIME_COMPACT);
    assert_reads("2017-04-19 0900", ns, SWP__TIME_LOCAL);
    assert_reads("2017-04-19 09:00 AM", ns, SWP__TIME_LOCAL);
    assert_reads("2017-04-18 12:00:00 AM", ns - INT64_C(118800) * SECOND, SWP__TIME_LOCAL);
    assert_reads("2017-04-19 10:00:00 GMT+0100", ns, SWP__TIME_OFFSET);
    assert_reads("2017-04-19 09:00:00 UTC", ns, SWP__TIME_OFFSET);
    assert_refused("20171319", "no date of the calendar");
    assert_refused("2017-04-19 13:00 PM", "no time of a day");
    assert_refused("2017-04-19 09:00 XM", "not a time stamp that is recognised");
}

TEST(time_refuses_what_can_be_read_in_two_ways)
{
    assert_refused("03/02/2010", "either way round");
    assert_refused("13.12.2010 10:00", "either way round");
    assert_refused("5/1/2023 00:00:00", "either way round");
    assert_true(swp__time_is_ambiguous("1-2-10", 6));
    assert_false(swp__time_is_ambiguous("1.0721", 6));
    assert_false(swp__time_is_ambiguous("2010-02-03", 10));
}

TEST(time_refuses_what_it_does_not_know)
{
    static const char *const texts[] = {
        "",
        " ",
        "2024-01",
        "2024-01/31",
        "2024-01-31 ",
        "2024-01-31 09",
        "2024-01-31 09:5",
        "2024-01-31 09:00:5",
        "2024-01-31  09:00",
        "2024-01-31 09:00:00.",
        "2024-01-31 09:00+2",
        "2024-01-31 09:00+02:0",
        "2024-01-31 09:00Zx",
        "-1637971200",
        "16379712000",
        "16379712000000",
        "1637971200e3",
        "12345678901234567890",
        "Jan 31 2024",
        "2024-01-31T09:00:00.0000000001",
        "+2024-01-31",
        "1637971200,5",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_refused(texts[i], "not a time stamp that is recognised");
    }
    swp__time_stamp stamp;
    assert_non_null(swp__time_parse("2024-01-31\0", 11, &stamp));
    assert_non_null(swp__time_parse("2024\00001\00031", 10, &stamp));
}

TEST(time_refuses_dates_and_times_that_are_none)
{
    assert_refused("2023-02-29", "no date of the calendar");
    assert_refused("1900-02-29", "no date of the calendar");
    assert_refused("2024-13-01", "no date of the calendar");
    assert_refused("2024-00-01", "no date of the calendar");
    assert_refused("2024-04-31", "no date of the calendar");
    assert_refused("2024-01-31 24:00", "no time of a day");
    assert_refused("2024-01-31 23:60", "no time of a day");
    assert_refused("2024-01-31 23:59:60", "no time of a day");
    assert_refused("2024-01-31 23:59+16:00", "offset");
    assert_refused("1677-12-31", "beyond the years");
    assert_refused("2262-01-01", "beyond the years");
    assert_refused("9999999999", "beyond the years");
    assert_refused("9999999999999999999", "beyond the years");
    assert_refused("1637971200000000000.5", "parts of a nanosecond");
}

static void assert_written(int64_t ns, swp__time_detail detail, const char *expected)
{
    char text[SWP__TIME_TEXT_SIZE];
    swp__time_format(ns, detail, text);
    assert_string_equal(text, expected);
}

TEST(time_is_written_to_the_detail_asked_for)
{
    const int64_t ns = INT64_C(1492592405) * SECOND + 123;
    assert_written(ns, SWP__TIME_TO_THE_DAY, "2017-04-19");
    assert_written(ns, SWP__TIME_TO_THE_MINUTE, "2017-04-19 09:00");
    assert_written(ns, SWP__TIME_TO_THE_SECOND, "2017-04-19 09:00:05");
    assert_written(ns, SWP__TIME_IN_FULL, "2017-04-19 09:00:05.000000123");
    assert_written(-1, SWP__TIME_IN_FULL, "1969-12-31 23:59:59.999999999");
    assert_int_equal(swp__time_detail_of(ns), SWP__TIME_IN_FULL);
    assert_int_equal(swp__time_detail_of(INT64_C(1492592405) * SECOND), SWP__TIME_TO_THE_SECOND);
    assert_int_equal(swp__time_detail_of(INT64_C(1492592400) * SECOND), SWP__TIME_TO_THE_MINUTE);
}

TEST(time_written_in_full_reads_back_over_all_years)
{
    const int64_t from = -INT64_C(9214560000) * SECOND, step = INT64_C(36000123456789);
    for (int64_t ns = from; ns < -from; ns += step) {
        char text[SWP__TIME_TEXT_SIZE];
        swp__time_format(ns, SWP__TIME_IN_FULL, text);
        assert_reads(text, ns, SWP__TIME_LOCAL);
    }
}
