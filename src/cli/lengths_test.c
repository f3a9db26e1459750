#include "support/test.h"
#include "cli/lengths.h"

#include <string.h>

/* "6,7,8" of what `text` means; "" after an error. */
static const char *parsed(const char *text)
{
    static char out[4096];
    swp__lengths lengths;
    size_t used = 0;
    out[0] = '\0';
    if (swp__lengths_parse("length", text, &lengths, NULL) != SWP_OK) {
        return out;
    }
    for (uint64_t i = 0; i < lengths.count && used < sizeof out; i++) {
        used += (size_t)snprintf(out + used, sizeof out - used, "%s%lld", i > 0 ? "," : "", (long long)lengths.values[i]);
    }
    swp__lengths_free(&lengths);
    return out;
}

TEST(lengths_ranges_include_both_ends)
{
    assert_string_equal(parsed("6:10"), "6,7,8,9,10");
    assert_string_equal(parsed("6:6"), "6");
    assert_string_equal(parsed("6:12:3"), "6,9,12");
    assert_string_equal(parsed("6:13:3"), "6,9,12");
    assert_string_equal(parsed("6:13:2147483647"), "6");
}

TEST(lengths_lists_keep_their_order_and_repeats)
{
    assert_string_equal(parsed("9"), "9");
    assert_string_equal(parsed("9,3,9,2147483647"), "9,3,9,2147483647");
}

TEST(lengths_spaced_values_round_half_to_even_without_duplicates)
{
    assert_string_equal(parsed("1:4/3"), "1,2,4"); /* 2.5 -> 2 */
    assert_string_equal(parsed("2:5/3"), "2,4,5"); /* 3.5 -> 4 */
    assert_string_equal(parsed("1:3/9"), "1,2,3"); /* 1, 1.25, 1.5 -> 2, 1.75, 2, 2.25, 2.5 -> 2, 2.75, 3 */
    assert_string_equal(parsed("6:200/1"), "6");
    assert_string_equal(parsed("6:200/2"), "6,200");
    assert_string_equal(parsed("1:2147483647/3"), "1,1073741824,2147483647");
}

TEST(lengths_of_the_study_are_numpys)
{
    /* numpy.round(numpy.linspace(6, 200, 80)).astype(int) */
    assert_string_equal(parsed("6:200/80"),
                        "6,8,11,13,16,18,21,23,26,28,31,33,35,38,40,43,45,48,50,53,55,58,60,62,65,67,70,72,75,77,80,82,"
                        "85,87,89,92,94,97,99,102,104,107,109,112,114,117,119,121,124,126,129,131,134,136,139,141,144,"
                        "146,148,151,153,156,158,161,163,166,168,171,173,175,178,180,183,185,188,190,193,195,198,200");
}

TEST(lengths_that_are_none_are_refused)
{
    const char *const bad[] = {"",
                               "a",
                               "6:",
                               ":6",
                               "6:5",
                               "0:5",
                               "6:200/",
                               "6:200/0",
                               "6:200:0",
                               "1,",
                               ",1",
                               "1,,2",
                               "1:2:3:4",
                               "1:2/3:4",
                               "-1",
                               "1 ,2",
                               "1.5",
                               "+1",
                               "2147483648",
                               "99999999999999999999",
                               "1,99999999999999999999",
                               "1:2,3",
                               "1,2:3",
                               "6:200/80/2"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (strcmp(parsed(bad[i]), "") != 0) {
            fail_msg("\"%s\" was taken as %s", bad[i], parsed(bad[i]));
        }
    }
}

TEST(lengths_error_says_what_and_where)
{
    swp_error error;
    swp__lengths lengths;
    assert_int_equal(swp__lengths_parse("length3", "6:2x", &lengths, &error), SWP_BAD_PARAM);
    assert_string_equal(error.message, "--length3 \"6:2x\": LO 6 is above HI 2");
    assert_int_equal(swp__lengths_parse("length", "6:20x", &lengths, &error), SWP_BAD_PARAM);
    assert_string_equal(error.message, "--length \"6:20x\": something unexpected at \"x\"; expected LO:HI, LO:HI:STEP, "
                                       "LO:HI/COUNT or A,B,C");
    assert_int_equal(error.at, 4);
}

TEST(lengths_beyond_the_limit_are_refused_with_the_number)
{
    swp_error error;
    swp__lengths lengths;
    assert_int_equal(swp__lengths_parse("length", "1:16777216", &lengths, &error), SWP_OK);
    assert_int_equal(lengths.count, SWP__COMBOS_MAX);
    swp__lengths_free(&lengths);
    assert_int_equal(swp__lengths_parse("length", "1:16777217", &lengths, &error), SWP_LIMIT);
    assert_int_equal(error.b, 16777217);
    assert_int_equal(swp__lengths_parse("length", "1:2147483647/2147483647", &lengths, &error), SWP_LIMIT);
    assert_int_equal(swp__lengths_parse("length", "1:3/2147483647", &lengths, &error), SWP_OK);
    swp__lengths_free(&lengths);
}
