#include "support/test.h"

#include <string.h>
#include "wire/wire.h"

static swp_status check(const char *text, uint64_t *at)
{
    swp_error error = {.at = 0};
    swp_status status = swp__wire_check_text((const uint8_t *)text, strlen(text), 100, &error);
    *at = error.at;
    return status;
}

TEST(text_is_any_character_but_control_characters)
{
    const char *good[] = {"",
                          "EURUSD",
                          " ~",
                          "gr\xc3\xbcn",
                          "\xc2\xa0",
                          "\xe2\x82\xac",
                          "\xed\x9f\xbf",
                          "\xee\x80\x80",
                          "\xf0\x90\x80\x80",
                          "\xf4\x8f\xbf\xbf"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint64_t at;
        assert_int_equal(check(good[i], &at), SWP_OK);
    }
}

TEST(text_is_refused_at_the_first_bad_character)
{
    const struct {
        const char *text;
        uint64_t at;
    } bad[] = {
        {"\n", 100},
        {"a\x1f", 101},
        {"ab\x7f", 102},
        {"a\xc2\x80", 101},
        {"a\xc2\x9f", 101}, /* control */
        {"\x80", 100},
        {"\xbf", 100},
        {"\xff", 100},
        {"\xfe", 100},
        {"\xf5\x80\x80\x80", 100}, /* never a first byte */
        {"\xc0\x80", 100},
        {"\xc1\xbf", 100},
        {"\xe0\x9f\xbf", 100},
        {"\xf0\x8f\xbf\xbf", 100}, /* overlong */
        {"\xed\xa0\x80", 100},
        {"\xf4\x90\x80\x80", 100}, /* surrogate, beyond Unicode */
        {"a\xc3", 101},
        {"a\xe2\x82", 101},
        {"a\xf0\x90\x80", 101},
        {"\xe2\x82"
         "a",
         100},
        {"\xc3\xc3", 100}, /* cut */
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint64_t at;
        assert_int_equal(check(bad[i].text, &at), SWP_BAD_PARAM);
        assert_int_equal(at, bad[i].at);
    }
}

TEST(text_may_not_hold_a_0)
{
    assert_int_equal(swp__wire_check_text((const uint8_t *)"a\0b", 3, 0, NULL), SWP_BAD_PARAM);
}
