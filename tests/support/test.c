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
    return _cmocka_run_group_tests(program_invocation_short_name, tests, tests_count, NULL, NULL) == 0 ? 0 : 1;
}
