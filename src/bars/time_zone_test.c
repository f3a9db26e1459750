#include "bars/time_zone.h"

#include <string.h>
#include "bars/time_stamp.h"
#include "support/test.h"

static swp__zone zone;

static void assert_utc(const char *local, const char *utc)
{
    swp__time_stamp got, expected;
    const char *why = swp__time_parse_by(&(swp__time_rule){.zone = &zone}, local, strlen(local), &got);
    if (why != NULL) {
        fail_msg("\"%s\" %s", local, why);
    }
    assert_null(swp__time_parse(utc, strlen(utc), &expected));
    if (got.ns != expected.ns) {
        fail_msg("\"%s\" is %lld, expected %lld", local, (long long)got.ns, (long long)expected.ns);
    }
}

TEST(zone_offsets)
{
    assert_int_equal(swp__zone_find("+05:30", &zone, NULL), SWP_OK);
    assert_utc("2024-01-01 05:30", "2024-01-01 00:00");
    assert_utc("2024-01-01 05:30Z", "2024-01-01 05:30");
    assert_int_equal(swp__zone_find("-04", &zone, NULL), SWP_OK);
    assert_utc("2024-01-01 00:00", "2024-01-01 04:00");
    assert_int_equal(swp__zone_find("UTC", &zone, NULL), SWP_OK);
    assert_utc("2024-01-01 00:00", "2024-01-01 00:00");
}

TEST(zone_places_follow_their_clocks)
{
    swp__time_stamp stamp;
    const swp__time_rule rule = {.zone = &zone};
    if (swp__zone_find("America/New_York", &zone, NULL) != SWP_OK) {
        SKIP("no files of time zones (Debian: apt-get install tzdata)");
    }
    assert_utc("2024-01-15 09:30", "2024-01-15 14:30");
    assert_utc("2024-07-15 09:30", "2024-07-15 13:30");
    assert_utc("2024-11-03 01:30", "2024-11-03 05:30"); /* shown twice: the first */
    assert_utc("2024-11-03 02:00", "2024-11-03 07:00");
    assert_utc("2024-03-10 01:59", "2024-03-10 06:59");
    assert_utc("2024-03-10 03:00", "2024-03-10 07:00");
    const char *why = swp__time_parse_by(&rule, "2024-03-10 02:30", 16, &stamp);
    assert_non_null(why);
    assert_string_equal(why, "is skipped by the clocks of the time zone");
}

TEST(zone_that_is_none_is_refused)
{
    static const char *const names[] = {"", "Nowhere/Town", "/etc/passwd", "../../../etc/passwd", "+2", "+25:00", "zone.tab"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        swp_error error;
        assert_int_equal(swp__zone_find(names[i], &zone, &error), SWP_BAD_PARAM);
        assert_non_null(strstr(error.message, "is not known here; expected UTC, +02:00"));
    }
}
