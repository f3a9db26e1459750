#include "bars/refuse.h"

#include <string.h>
#include "support/test.h"

TEST(quote_marks_cuts_and_shows_no_control_characters)
{
    char quoted[SWP__QUOTED_SIZE];
    assert_string_equal(swp__quote("1,5", 3, quoted), "\"1,5\"");
    assert_string_equal(swp__quote("a\nb\0c", 5, quoted), "\"a?b?c\"");
    assert_string_equal(swp__quote("", 0, quoted), "\"\"");
    assert_string_equal(swp__quote("Schlu\xDF \xE2\x82\xAC \xE2\x82 \xC0\x80 \xED\xA0\x80", 20, quoted),
                        "\"Schlu? \xE2\x82\xAC ?? ?? ???\"");
    char longest[100];
    memset(longest, 'x', sizeof longest);
    assert_int_equal(strlen(swp__quote(longest, 42, quoted)), 44);
    assert_int_equal(strlen(swp__quote(longest, 43, quoted)), SWP__QUOTED_SIZE - 1);
    assert_string_equal(quoted + 40, "xxx...\"");
}

TEST(quote_does_not_cut_inside_a_character)
{
    char text[64], quoted[SWP__QUOTED_SIZE];
    memset(text, 'x', sizeof text);
    memcpy(text + 41, "\xE2\x82\xAC", 3); /* would be cut behind its first byte */
    swp__quote(text, sizeof text, quoted);
    assert_string_equal(quoted + 41, "x...\"");
}

TEST(refuse_keeps_the_end_of_a_long_path)
{
    char path[300];
    memset(path, 'd', sizeof path);
    strcpy(path + 280, "/file.csv");
    swp_error error;
    assert_int_equal(swp__refuse_line(&error, path, 17, "close %s is blank", "\"\""), SWP_BAD_PARAM);
    assert_int_equal(error.at, 17);
    assert_memory_equal(error.message, "...ddd", 6);
    assert_non_null(strstr(error.message, "/file.csv:17: close \"\" is blank"));
}
