#include "base/text.h"

#include <string.h>
#include "support/test.h"

TEST(text_that_does_not_fit_is_counted_and_left_out)
{
    char bytes[8] = "........";
    swp__text text = {.at = bytes, .size = 5};
    swp__text_add(&text, "%d-%s", 12, "abc");
    assert_int_equal(text.length, 6);
    assert_memory_equal(bytes, "12-ab...", 8);
    swp__text sized = {0};
    swp__text_add(&sized, "%d-%s", 12, "abc");
    assert_int_equal(sized.length, 6);
}

TEST(text_json_escapes_what_json_must_not_hold)
{
    static const char bytes[] = "a\"b\\c\n\x1f\x7f\xc3\xb6";
    char out[64];
    swp__text text = {.at = out, .size = sizeof out};
    swp__text_add_json(&text, bytes, sizeof bytes); /* the NUL too */
    static const char expected[] = "\"a\\\"b\\\\c\\u000a\\u001f\x7f\xc3\xb6\\u0000\"";
    assert_int_equal(text.length, strlen(expected));
    assert_memory_equal(out, expected, strlen(expected));
}
