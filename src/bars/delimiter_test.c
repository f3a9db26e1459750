#include "bars/delimiter.h"

#include <string.h>
#include "support/test.h"

static char find(const char *text)
{
    return swp__delimiter_find(text, strlen(text), true, false);
}

TEST(delimiter_is_the_one_that_splits_the_header)
{
    assert_int_equal(find("date,close\n2024-01-01,1\n"), ',');
    assert_int_equal(find("date;close\n2024-01-01;1,5\n"), ';');
    assert_int_equal(find("date\tclose\n2024-01-01 00:00:00\t1\n"), '\t');
    assert_int_equal(find("date|close\r\n2024-01-01|1\r\n"), '|');
}

TEST(delimiter_of_a_single_column_is_a_comma)
{
    assert_int_equal(find("close\n1\n2\n"), ',');
    assert_int_equal(find("close\n1,5\n2,5\n"), ','); /* so that the rows are refused: they have a field more than the header */
}

TEST(delimiter_that_splits_every_line_alike_wins_over_one_in_a_name)
{
    assert_int_equal(find("date;close, adjusted;volume\n2024-01-01;1;2\n2024-01-02;1;2\n"), ';');
    assert_int_equal(find("date,\"a;b\",close\n2024-01-01,1,2\n"), ',');
}

TEST(delimiter_that_is_not_clear_is_not_guessed)
{
    assert_int_equal(find("a;b,c\n1;2,3\n4;5,6\n"), 0);
    assert_int_equal(find("a;b,c\n"), 0);
}

TEST(delimiter_is_judged_by_whole_lines)
{
    const char *text = "a,b;c\n1,2\n3,4\n5";
    assert_int_equal(swp__delimiter_find(text, strlen(text), false, false), ',');
    assert_int_equal(swp__delimiter_find(text, strlen(text), true, false), 0);
}
