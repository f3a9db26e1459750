#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "support/comma_locale.h"
#include "support/test.h"

static double parsed(const char *text)
{
    double value = -12345.0;
    assert_int_equal(swp__number_parse(text, strlen(text), &value), SWP__NUMBER_OK);
    return value;
}

static void assert_refused(const char *text, swp__number_result expected)
{
    double value = -12345.0;
    swp__number_result result = swp__number_parse(text, strlen(text), &value);
    if (result != expected) {
        fail_msg("\"%s\": got %d, expected %d", text, (int)result, (int)expected);
    }
    assert_true(value == -12345.0);
}

TEST(number_parse_gives_the_nearest_double)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0", 0.0},
        {"-0", -0.0},
        {"100", 100.0},
        {"+1.5", 1.5},
        {"1.", 1.0},
        {".5", 0.5},
        {"007", 7.0},
        {"0.00002854", 2.854e-05},
        {"1.07219", 1.07219},
        {"1E3", 1000.0},
        {"1e+3", 1000.0},
        {"25e-1", 2.5},
        {"9007199254740993", 9007199254740992.0}, /* a tie, to even */
        {"9007199254740993.00000000000000000001", 9007199254740994.0},
        {"0.1000000000000000055511151231257827021181583404541015625", 0.1},
        {"123456789012345678901234567890", 123456789012345678901234567890.0},
        {"1e22", 1e22},
        {"1e23", 1e23},
        {"8.5e-23", 8.5e-23},
        {"2.2250738585072011e-308", 0x1.ffffffffffffep-1023},
        {"5e-324", 0x1p-1074},
        {"1e-400", 0.0},
        {"1.7976931348623157e308", 0x1.fffffffffffffp1023},
        {"0e999999999999999999999", 0.0},
        {"0.000000000000000000000000000000000000000000000000000000000000000001e66", 1.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_bits_equal(parsed(cases[i].text), cases[i].value);
    }
}

TEST(number_parse_reads_the_words_for_nan_and_infinity)
{
    assert_true(isnan(parsed("NaN")));
    assert_bits_equal(parsed("inf"), HUGE_VAL);
    assert_bits_equal(parsed("-Infinity"), -HUGE_VAL);
}

TEST(number_parse_refuses_what_is_not_all_a_decimal_number)
{
    static const char *const texts[] = {"",    " ",   "1 ",     " 1",      "+",     "-",    ".",     "e5",
                                        "1e",  "1e+", "1,5",    "1,000",   "1.2.3", "0x10", "1_000", "--1",
                                        "+-1", "1f",  "nan(1)", "infinit", "in",    "$5",   "1'000", "\302\2401"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_refused(texts[i], SWP__NUMBER_BAD);
    }
    char nines[1300];
    memset(nines, '9', sizeof nines - 1);
    nines[sizeof nines - 1] = '\0';
    assert_refused(nines, SWP__NUMBER_BAD);
}

TEST(number_parse_says_when_a_number_is_beyond_a_double)
{
    assert_refused("1e309", SWP__NUMBER_TOO_BIG);
    assert_refused("-1.7976931348623159e308", SWP__NUMBER_TOO_BIG);
    assert_refused("1e99999999999999999999", SWP__NUMBER_TOO_BIG);
}

static void assert_formats(double value, const char *expected)
{
    char text[SWP__NUMBER_SIZE];
    assert_int_equal(swp__number_format(value, text), strlen(expected));
    assert_string_equal(text, expected);
}

TEST(number_format_is_the_shortest_that_reads_back)
{
    assert_formats(100.0, "100");
    assert_formats(0.1, "0.1");
    assert_formats(1.0 / 3.0, "0.3333333333333333");
    assert_formats(-5165.584358, "-5165.584358");
    assert_formats(0.1 + 0.2, "0.30000000000000004");
    assert_formats(1e300, "1e+300");
    assert_formats(0x1p-1074, "5e-324");
    assert_formats(0x1p-1017, "7.120236347223045e-307"); /* the nearest 16 digits, ...044, read back as another double */
    assert_formats(-0.0, "-0");
    assert_formats((double)NAN, "NaN");
    assert_formats(-HUGE_VAL, "-Infinity");
}

TEST(number_text_and_back_is_the_same_double)
{
    uint64_t bits = 0x9E3779B97F4A7C15u;
    for (int i = 0; i < 200000; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) {
            continue;
        }
        char text[SWP__NUMBER_SIZE];
        swp__number_format(value, text);
        assert_bits_equal(parsed(text), value);
    }
}

TEST(numbers_have_a_point_in_a_decimal_comma_locale)
{
    if (!comma_locale_enter()) {
        SKIP("no decimal-comma locale (Debian: apt-get install locales)");
    }
    double slow = parsed("0.1000000000000000055511151231257827"), refused;
    swp__number_result comma = swp__number_parse("1,5", 3, &refused);
    char text[SWP__NUMBER_SIZE];
    swp__number_format(0.1 + 0.2, text);
    comma_locale_leave();
    assert_bits_equal(slow, 0.1);
    assert_int_equal(comma, SWP__NUMBER_BAD);
    assert_string_equal(text, "0.30000000000000004");
}

TEST(number_format_json_keeps_a_double_a_double_and_quotes_what_json_lacks)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {100.0, "100.0"},
        {-0.0, "-0.0"},
        {0.1, "0.1"},
        {1e300, "1e+300"},
        {-5165.58, "-5165.58"},
        {(double)NAN, "\"NaN\""},
        {HUGE_VAL, "\"Infinity\""},
        {-HUGE_VAL, "\"-Infinity\""},
        {-123456789012345680.0, "-1.2345678901234568e+17"},
        {-12345678901234567.0, "-12345678901234568.0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[SWP__NUMBER_SIZE];
        assert_int_equal(swp__number_format_json(cases[i].value, text), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
}

#if defined(__x86_64__)
#include <xmmintrin.h>

TEST(number_keeps_subnormals_where_the_thread_flushes_them)
{
    char text[SWP__NUMBER_SIZE];
    double read = 0.0;
    unsigned saved = _mm_getcsr();
    _mm_setcsr(saved | 0x8040u); /* flush to zero, subnormals are zero */
    swp__number_format(0x4a5p-1074, text);
    swp__number_result result = swp__number_parse(text, strlen(text), &read);
    bool still_flushes = _mm_getcsr() == (saved | 0x8040u);
    _mm_setcsr(saved);
    assert_string_equal(text, "5.874e-321");
    assert_int_equal(result, SWP__NUMBER_OK);
    assert_bits_equal(read, 0x4a5p-1074);
    assert_true(still_flushes);
}
#endif
