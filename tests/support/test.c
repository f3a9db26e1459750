#include "support/test.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { TESTS_MAX = 512 };

static struct CMUnitTest tests[TESTS_MAX];
static size_t tests_count;

void swp__test_register(const char *name, CMUnitTestFunction function)
{
    if (tests_count < TESTS_MAX) {
        tests[tests_count++] = (struct CMUnitTest){.name = name, .test_func = function};
    }
}

void swp__assert_bits_equal(double a, double b, const char *what, const char *file, int line)
{
    if ((isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0) {
        return;
    }
    print_error("%s is %.17g (%a), expected %.17g (%a)\n", what, a, a, b, b);
    _fail(file, line);
}

/* cmocka reports a skipped test as "not ok N # SKIP name", which a TAP reader counts as a failure: "ok N - name # SKIP". */
static ssize_t write_tap_line(void *cookie, const char *line, size_t size)
{
    char text[256];
    unsigned number;
    int name_at = 0;
    snprintf(text, sizeof text, "%.*s", (int)size, line);
    if (sscanf(text, "not ok %u # SKIP %n", &number, &name_at) == 1 && name_at > 0) {
        fprintf(cookie, "ok %u - %.*s # SKIP\n", number, (int)strcspn(text + name_at, "\n"), text + name_at);
    } else {
        fwrite(line, 1, size, cookie);
    }
    fflush(cookie);
    return (ssize_t)size;
}

static void open_tap_output(void)
{
    static char line[4096];
    FILE *tap = fopencookie(stdout, "w", (cookie_io_functions_t){.write = write_tap_line});
    if (tap != NULL) {
        setvbuf(tap, line, _IOLBF, sizeof line);
        stdout = tap;
    }
}

/* The first argument, if any, names the tests to run ("series_*"). */
int main(int argc, char **argv)
{
    if (tests_count == TESTS_MAX) {
        fprintf(stderr, "%d tests or more: raise TESTS_MAX\n", TESTS_MAX);
        return 2;
    }
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    open_tap_output();
    return _cmocka_run_group_tests(program_invocation_short_name, tests, tests_count, NULL, NULL) == 0 ? 0 : 1;
}
