#include "bars/header.h"

#include <stdlib.h>
#include <string.h>
#include "support/test.h"

static swp__header header;

#define ROLES(CLOSE, TIME, OF_DAY) ((swp__roles){.close = (CLOSE), .time = (TIME), .time_of_day = (OF_DAY)})

/* Names separated by '|'. */
static void set_header(const char *names)
{
    header = (swp__header){0};
    for (const char *end; (end = strchrnul(names, '|')), true; names = end + 1) {
        assert_true(swp__header_add(&header, names, (size_t)(end - names)));
        if (*end == '\0') {
            return;
        }
    }
}

static void assert_roles(const char *names, const char *close, const char *time, swp__roles expected)
{
    swp__roles roles;
    swp_error error;
    set_header(names);
    if (swp__roles_decide(&header, &(swp_bars_options){.close = close, .time = time}, "f.csv", 1, &roles, &error) != SWP_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(roles.close, expected.close);
    assert_int_equal(roles.time, expected.time);
    assert_int_equal(roles.time_of_day, expected.time_of_day);
}

static void assert_refused(const char *names, const char *close, const char *time, const char *message)
{
    swp__roles roles = ROLES(77, 77, 77);
    swp_error error;
    set_header(names);
    assert_int_equal(swp__roles_decide(&header, &(swp_bars_options){.close = close, .time = time}, "f.csv", 3, &roles, &error),
                     SWP_BAD_PARAM);
    assert_string_equal(error.message, message);
    assert_int_equal(error.at, 3);
    assert_int_equal(roles.close, 77);
}

TEST(roles_go_by_names_in_any_case)
{
    assert_roles("Date|Open|CLOSE", NULL, NULL, ROLES(2, 0, SWP__NO_COLUMN));
    assert_roles("close|timestamp", NULL, NULL, ROLES(0, 1, SWP__NO_COLUMN));
    assert_roles("open|close", NULL, NULL, ROLES(1, SWP__NO_COLUMN, SWP__NO_COLUMN));
}

TEST(roles_take_a_nameless_first_column_as_the_time)
{
    assert_roles("|Open|Close", NULL, NULL, ROLES(2, 0, SWP__NO_COLUMN));
    assert_roles("Open||Close", NULL, NULL, ROLES(2, SWP__NO_COLUMN, SWP__NO_COLUMN));
    assert_roles("|Date|Close", NULL, NULL, ROLES(2, 1, SWP__NO_COLUMN));
}

TEST(roles_join_date_and_time)
{
    assert_roles("Date|Time|Close", NULL, NULL, ROLES(2, 0, 1));
    assert_roles("time|close|date", NULL, NULL, ROLES(1, 2, 0));
}

TEST(roles_close_is_not_adjusted_close_unless_asked_for)
{
    assert_roles("Date|Close|Adj Close", NULL, NULL, ROLES(1, 0, SWP__NO_COLUMN));
    assert_roles("Date|Close|Adj Close", "Adj Close", NULL, ROLES(2, 0, SWP__NO_COLUMN));
}

TEST(roles_an_exact_name_wins_over_a_number)
{
    assert_roles("a|b|1", "1", NULL, ROLES(2, SWP__NO_COLUMN, SWP__NO_COLUMN));
    assert_roles("a|b|1", "2", "1", ROLES(1, 2, SWP__NO_COLUMN));
    assert_roles("a|b|c", "2", "3", ROLES(1, 2, SWP__NO_COLUMN));
}

TEST(roles_refused_list_the_columns)
{
    assert_refused("Data|Zamkniecie", NULL, NULL,
                   "f.csv:3: no column is called close; choose by --close NAME or number; columns: \"Data\", \"Zamkniecie\"");
    assert_refused("a|b", "adj", NULL, "f.csv:3: no column \"adj\"; choose by --close NAME or number; columns: \"a\", \"b\"");
    assert_refused("a|b", "3", NULL, "f.csv:3: no column \"3\"; choose by --close NAME or number; columns: \"a\", \"b\"");
    assert_refused("a|b", "0", NULL, "f.csv:3: no column \"0\"; choose by --close NAME or number; columns: \"a\", \"b\"");
    assert_refused("|b", "", NULL,
                   "f.csv:3: the same column cannot be the time and the close; choose by --close NAME or number; "
                   "columns: \"\", \"b\"");
}

TEST(roles_that_two_columns_could_play_are_refused)
{
    assert_refused("close|Close", NULL, NULL,
                   "f.csv:3: more than one column is called close; choose by --close NAME or number; columns: "
                   "\"close\", \"Close\"");
    assert_refused("x|x", "x", NULL,
                   "f.csv:3: 2 columns are called \"x\"; choose by --close NAME or number; columns: \"x\", \"x\"");
    assert_refused("date|timestamp|close", NULL, NULL,
                   "f.csv:3: more than one column may be the time; choose by --time NAME or "
                   "number; columns: \"date\", \"timestamp\", \"close\"");
    assert_refused("a|close", "close", "2",
                   "f.csv:3: the same column cannot be the time and the close; choose by --time NAME or "
                   "number; columns: \"a\", \"close\"");
}

TEST(header_is_told_from_data)
{
    set_header("20110301 090100|133.9|134.01");
    assert_true(swp__header_looks_like_data(&header));
    set_header("2011-03-01T09:01Z|1e5|");
    assert_true(swp__header_looks_like_data(&header));
    set_header("2011|close");
    assert_false(swp__header_looks_like_data(&header));
    set_header("\xc5\x9b|1");
    assert_false(swp__header_looks_like_data(&header));
}

TEST(header_has_bounds)
{
    header = (swp__header){0};
    for (int i = 0; i < SWP__COLUMNS_MAX; i++) {
        assert_true(swp__header_add(&header, "c", 1));
    }
    assert_false(swp__header_add(&header, "c", 1));
    header = (swp__header){0};
    char *name = calloc(1, SWP__HEADER_TEXT_MAX);
    assert_true(swp__header_add(&header, name, SWP__HEADER_TEXT_MAX - 1));
    assert_false(swp__header_add(&header, name, 0));
    free(name);
}
