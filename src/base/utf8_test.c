#include "base/utf8.h"

#include <string.h>
#include "base/error.h"
#include "support/test.h"

TEST(utf8_character_is_one_that_may_be_shown)
{
    const char *good[] = {" ",
                          "~",
                          "\xc2\xa0",
                          "\xdf\xbf",
                          "\xe0\xa0\x80",
                          "\xed\x9f\xbf",
                          "\xee\x80\x80",
                          "\xf0\x90\x80\x80",
                          "\xf4\x8f\xbf\xbf"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(swp__utf8_character(good[i], strlen(good[i])), strlen(good[i]));
        assert_int_equal(swp__utf8_character(good[i], strlen(good[i]) - 1), 0); /* cut */
    }
    const char *bad[] = {"\n",
                         "\x1b",
                         "\x7f",
                         "\xc2\x80",
                         "\x80",
                         "\xff",
                         "\xc0\x80",
                         "\xe0\x9f\xbf",
                         "\xed\xa0\x80",
                         "\xf0\x8f\xbf\xbf",
                         "\xc3\xc3",
                         ("\xe2\x82"
                          "a"),
                         "\xf4\x90\x80\x80",
                         "\xf5\x80\x80\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(swp__utf8_character(bad[i], strlen(bad[i])), 0);
    }
}

TEST(utf8_clean_keeps_the_length_and_the_characters)
{
    char text[] = "a\nb\x1b[31m \xe2\x82\xac \xe2\x82 \xff";
    size_t size = sizeof text - 1;
    swp__utf8_clean(text, size);
    assert_string_equal(text, "a?b?[31m \xe2\x82\xac ?? ?");
    assert_int_equal(strlen(text), size);
}

TEST(an_error_message_is_one_line_of_utf8_whatever_a_name_holds)
{
    swp_error error;
    assert_int_equal(swp__fail(&error, SWP_FILE, SWP_AT_NONE, "%s: gone", "a\nb\xff\x1b[2J.csv"), SWP_FILE);
    assert_string_equal(error.message, "a?b??[2J.csv: gone");
    char name[300];
    memset(name, 'x', sizeof name);
    memcpy(name + 235, "\xe2\x82\xac", 3); /* the cut is behind its first byte */
    name[sizeof name - 1] = '\0';
    assert_int_equal(swp__fail(&error, SWP_FILE, SWP_AT_NONE, "%s", name), SWP_FILE);
    assert_string_equal(error.message + 234, "x...");
}
