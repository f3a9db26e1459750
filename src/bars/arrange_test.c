#include "bars/arrange.h"

#include <string.h>
#include "support/temp.h"
#include "support/test.h"

static void assert_closes(const char *text, swp_bars_options options, const char *expected)
{
    swp_bars bars;
    swp_error error;
    char got[200] = "";
    if (swp_bars_read(temp_write("in.csv", text, strlen(text)), &options, &bars, &error) != SWP_OK) {
        fail_msg("%s", error.message);
    }
    for (uint64_t i = 0; i < bars.bars_count; i++) {
        assert_true(i == 0 || bars.time_ns[i] > bars.time_ns[i - 1]);
        snprintf(got + strlen(got), sizeof got - strlen(got), "%g ", bars.close[i]);
    }
    assert_string_equal(got, expected);
    swp_bars_free(&bars);
}

static void assert_refused(const char *text, swp_bars_options options, const char *part)
{
    swp_bars bars;
    swp_error error;
    assert_int_equal(swp_bars_read(temp_write("in.csv", text, strlen(text)), &options, &bars, &error), SWP_BAD_PARAM);
    if (strstr(error.message, part) == NULL) {
        fail_msg("\"%s\", expected \"%s\"", error.message, part);
    }
}

static const char newest_first[] = "time,close\n2024-01-03,3\n2024-01-02,2\n2024-01-01,1\n";
static const char mixed[] = "time,close\n2024-01-02,2\n2024-01-01,1\n2024-01-02,9\n2024-01-03,3\n";
static const char repeated[] = "time,close\n2024-01-01,1\n2024-01-01,5\n2024-01-01,6\n2024-01-02,2\n";

TEST(arrange_sorts_when_it_is_told_to)
{
    assert_closes(newest_first, (swp_bars_options){.order = SWP_ORDER_SORT}, "1 2 3 ");
    assert_closes(mixed, (swp_bars_options){.order = SWP_ORDER_SORT, .duplicates = SWP_DUPLICATES_FIRST}, "1 2 3 ");
    assert_closes(mixed, (swp_bars_options){.order = SWP_ORDER_SORT, .duplicates = SWP_DUPLICATES_LAST}, "1 9 3 ");
    assert_refused(mixed, (swp_bars_options){.order = SWP_ORDER_SORT},
                   "in.csv:4: time 2024-01-02 00:00 repeats that of line 2; --duplicates first or last keeps one");
    assert_refused(mixed, (swp_bars_options){.duplicates = SWP_DUPLICATES_LAST}, "in.csv:3: time \"2024-01-01\" is before");
}

TEST(arrange_keeps_one_bar_of_a_stamp)
{
    assert_closes(repeated, (swp_bars_options){.duplicates = SWP_DUPLICATES_FIRST}, "1 2 ");
    assert_closes(repeated, (swp_bars_options){.duplicates = SWP_DUPLICATES_LAST}, "6 2 ");
    assert_refused(repeated, (swp_bars_options){0}, "in.csv:3: time \"2024-01-01\" repeats \"2024-01-01\" of line 2");
}

TEST(arrange_range_is_inclusive_and_a_date_counts_to_its_end)
{
    const char *text = "time,close\n2024-01-01 10:00,1\n2024-01-02 10:00,2\n2024-01-02 23:59,3\n2024-01-03 00:00,4\n";
    assert_closes(text, (swp_bars_options){.from = "2024-01-02", .to = "2024-01-02"}, "2 3 ");
    assert_closes(text, (swp_bars_options){.from = "2024-01-02 23:59"}, "3 4 ");
    assert_closes(text, (swp_bars_options){.to = "2024-01-02 10:00"}, "1 2 ");
    assert_refused(text, (swp_bars_options){.from = "2025-01-01"}, "no bars between --from and --to");
    assert_refused(text, (swp_bars_options){.from = "01/02/2024"}, "--from \"01/02/2024\" is not year-month-day");
    assert_refused("close\n1\n", (swp_bars_options){.from = "2024-01-01"}, "--from and --to need time stamps");
}

TEST(arrange_jumps_are_kept_and_told_with_their_line)
{
    const char *text = "time,close\n2024-01-03,1\n2024-01-02,110\n2024-01-01,1\n";
    swp_bars bars;
    const swp_bars_options sort_timeless = {.order = SWP_ORDER_SORT};
    assert_int_equal(swp_bars_read(temp_write("in.csv", "close\n1\n100\n101\n1\n", 18), &sort_timeless, &bars, NULL), SWP_OK);
    assert_int_equal(bars.jumps_count, 2);
    assert_int_equal(bars.bars_count, 4);
    assert_non_null(strstr(bars.summary, ", 2 jumps of 100x or more: line 3, ..."));
    swp_bars_free(&bars);
    const swp_bars_options sorted = {.order = SWP_ORDER_SORT};
    assert_int_equal(swp_bars_read(temp_write("in.csv", text, strlen(text)), &sorted, &bars, NULL), SWP_OK);
    assert_int_equal(bars.jumps_count, 2);
    assert_non_null(strstr(bars.summary, "line 3, ..."));
    swp_bars_free(&bars);
}
