/* Unit tests: TEST(what_is_promised) { ... } anywhere in a *_test.c registers itself; the program that links the files runs
 * them all and reports TAP. Assertions are cmocka's. SKIP("why") says aloud that this machine cannot run it. */
#ifndef SWP_TESTS_SUPPORT_TEST_H
#define SWP_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

void swp__test_register(const char *name, CMUnitTestFunction function);

#define TEST(name)                                                                                                             \
    static void test_##name(void **state);                                                                                     \
    __attribute__((constructor)) static void register_##name(void)                                                             \
    {                                                                                                                          \
        swp__test_register(#name, test_##name);                                                                                \
    }                                                                                                                          \
    static void test_##name(__attribute__((unused)) void **state)

#define SKIP(why)                                                                                                              \
    do {                                                                                                                       \
        fprintf(stderr, "skipped: %s\n", (why));                                                                               \
        skip();                                                                                                                \
    } while (0)

/* Equal to the bit, any NaN equal to any NaN. */
#define assert_bits_equal(a, b) swp__assert_bits_equal((a), (b), #a, __FILE__, __LINE__)
void swp__assert_bits_equal(double a, double b, const char *what, const char *file, int line);

#endif
