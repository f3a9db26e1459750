#include "base/token.h"

#include <string.h>
#include <sys/stat.h>
#include "support/temp.h"
#include "support/test.h"

static swp_status read_token(const void *bytes, size_t size, mode_t mode, swp__token *token, swp_error *error)
{
    const char *path = temp_write("token", bytes, size);
    assert_int_equal(chmod(path, mode), 0);
    return swp__token_read(path, token, error);
}

TEST(token_read_takes_all_but_the_last_newline)
{
    static const struct {
        const char *file, *token;
    } cases[] = {{"open sesame\n", "open sesame"}, {"x", "x"}, {"a\nb\n\n", "a\nb\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        swp__token token = {.size = 0};
        assert_int_equal(read_token(cases[i].file, strlen(cases[i].file), 0600, &token, NULL), SWP_OK);
        assert_int_equal(token.size, strlen(cases[i].token));
        assert_memory_equal(token.bytes, cases[i].token, token.size);
    }
}

TEST(token_read_refuses_what_is_empty_too_long_or_open_to_others)
{
    char longest[SWP__TOKEN_SIZE_MAX + 2];
    memset(longest, 'x', sizeof longest);
    longest[SWP__TOKEN_SIZE_MAX] = '\n';
    swp__token token = {.size = 0};
    swp_error error;
    assert_int_equal(read_token(longest, sizeof longest, 0600, &token, &error), SWP_FILE);
    assert_int_equal(read_token("\n", 1, 0600, &token, &error), SWP_FILE);
    assert_int_equal(read_token("", 0, 0600, &token, &error), SWP_FILE);
    assert_int_equal(read_token("x", 1, 0640, &token, &error), SWP_FILE);
    assert_non_null(strstr(error.message, "0640"));
    assert_int_equal(swp__token_read(temp_path("nothing"), &token, &error), SWP_FILE);
    assert_int_equal(token.size, 0);
    assert_int_equal(read_token(longest, sizeof longest - 1, 0600, &token, &error), SWP_OK);
    assert_int_equal(token.size, SWP__TOKEN_SIZE_MAX);
}

TEST(token_equal_is_of_all_bytes)
{
    assert_true(swp__token_equal("abc", 3, "abc", 3));
    assert_true(swp__token_equal("", 0, "", 0));
    assert_false(swp__token_equal("abc", 3, "abd", 3));
    assert_false(swp__token_equal("bbc", 3, "abc", 3));
    assert_false(swp__token_equal("abc", 3, "ab", 2));
    assert_false(swp__token_equal("", 0, "a", 1));
}
