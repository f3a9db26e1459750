#include "support/test.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"

/* One line logged into a pipe and read back, without its time stamp. */
static const char *logged(swp__log_format format, const char *text)
{
    static char line[8192];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    swp__log log = {.fd = ends[1], .format = format};
    swp__log_line(&log, SWP__LOG_WARNING, "%s", text);
    close(ends[1]);
    ssize_t got = read(ends[0], line, sizeof line - 1);
    close(ends[0]);
    assert_true(got > 26);
    line[got] = '\0';
    return format == SWP__LOG_JSON ? line + 34 : line + 25;
}

TEST(log_line_is_text_or_json_and_shows_no_control_characters)
{
    assert_string_equal(logged(SWP__LOG_TEXT, "a \"b\"\n\x1b[31m \xc3\xa9 \xff"), "warning a \"b\"??[31m \xc3\xa9 ?\n");
    assert_string_equal(logged(SWP__LOG_JSON, "a \"b\"\\\n \xc3\xa9"),
                        ",\"level\":\"warning\",\"text\":\"a \\\"b\\\"\\\\? \xc3\xa9\"}\n");
    char text[3000];
    memset(text, '"', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    const char *line = logged(SWP__LOG_JSON, text);
    assert_string_equal(line + strlen(line) - 6, "...\"}\n");
}

TEST(log_drops_lines_that_would_wait_and_says_how_many)
{
    int ends[2];
    char sink[4096];
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    swp__log log = {.fd = ends[1]};
    memset(sink, 'x', sizeof sink);
    while (write(ends[1], sink, sizeof sink) > 0) {
    }
    swp__log_line(&log, SWP__LOG_INFO, "lost");
    swp__log_line(&log, SWP__LOG_INFO, "lost too");
    while (read(ends[0], sink, sizeof sink) > 0) {
    }
    swp__log_line(&log, SWP__LOG_INFO, "kept");
    ssize_t got = read(ends[0], sink, sizeof sink - 1);
    assert_true(got > 0);
    sink[got] = '\0';
    assert_non_null(strstr(sink, "log: 2 lines were dropped\n"));
    assert_non_null(strstr(sink, "info kept\n"));
    close(ends[0]);
    close(ends[1]);
}

TEST(log_limiter_lets_so_many_through_in_a_window_and_counts_the_others)
{
    swp__log_limiter limiter = {0};
    uint64_t suppressed = 9;
    assert_true(swp__log_allowed(&limiter, 100, 50, 2, &suppressed) && suppressed == 0);
    assert_true(swp__log_allowed(&limiter, 101, 50, 2, &suppressed) && suppressed == 0);
    assert_false(swp__log_allowed(&limiter, 102, 50, 2, &suppressed));
    assert_false(swp__log_allowed(&limiter, 149, 50, 2, &suppressed));
    assert_true(swp__log_allowed(&limiter, 150, 50, 2, &suppressed) && suppressed == 2);
    assert_true(swp__log_allowed(&limiter, 500, 50, 2, &suppressed) && suppressed == 0);
}
