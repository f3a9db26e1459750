#include "support/test.h"
#include "cli/arguments.h"

#include <string.h>

static const swp__command sweep = {.bit = SWP__COMMAND_SWEEP, .name = "sweep", .operand = "FILE"};
static const swp__command generate = {.bit = SWP__COMMAND_GENERATE, .name = "generate"};

enum { WORDS_MAX = 8 };

/* Words end at the first NULL. */
static swp_status parse(const swp__command *command, const char *const words[WORDS_MAX], swp__arguments *arguments,
                        swp_error *error)
{
    static char kept[WORDS_MAX][64]; /* the arguments point into the words */
    char *pointers[WORDS_MAX] = {NULL};
    int count = 0;
    for (; count < WORDS_MAX && words[count] != NULL; count++) {
        snprintf(kept[count], sizeof kept[count], "%s", words[count]);
        pointers[count] = kept[count];
    }
    return swp__options_parse(command, count, pointers, arguments, error);
}

#define PARSE(command, ...) parse((command), (const char *const[WORDS_MAX]){__VA_ARGS__}, &arguments, &error)

TEST(options_have_their_defaults_and_none_is_given)
{
    swp__arguments arguments;
    swp_error error;
    assert_int_equal(PARSE(&sweep, "bars.csv"), SWP_OK);
    assert_string_equal(arguments.operand, "bars.csv");
    assert_string_equal(arguments.length, "6:200/80");
    assert_bits_equal(arguments.fee, 0.09);
    assert_int_equal(arguments.top, 20);
    assert_int_equal(arguments.format, SWP__FORMAT_TABLE);
    assert_null(arguments.params);
    assert_false(swp__options_given(&arguments, "length"));
}

TEST(options_take_their_value_from_the_same_or_the_next_word)
{
    swp__arguments arguments;
    swp_error error;
    assert_int_equal(PARSE(&sweep, "--fee=-0.5", "f.csv", "--format", "csv", "--allow=nan,nonpositive", "--top=1"), SWP_OK);
    assert_bits_equal(arguments.fee, -0.5);
    assert_int_equal(arguments.format, SWP__FORMAT_CSV);
    assert_int_equal(arguments.allow, 5);
    assert_true(swp__options_given(&arguments, "top"));
    assert_int_equal(PARSE(&sweep, "f.csv", "--fee", "-0.25", "--fee", "0.75"), SWP_OK);
    assert_bits_equal(arguments.fee, 0.75);
    assert_int_equal(PARSE(&sweep, "--", "--fee"), SWP_OK);
    assert_string_equal(arguments.operand, "--fee");
    assert_int_equal(PARSE(&sweep, "-"), SWP_OK);
    assert_string_equal(arguments.operand, "-");
}

TEST(options_hold_the_bounds)
{
    swp__arguments arguments;
    swp_error error;
    assert_int_equal(PARSE(&sweep, "f", "--threads=1024", "--fee=100"), SWP_OK);
    assert_int_equal(PARSE(&sweep, "f", "--threads=1025"), SWP_BAD_PARAM);
    assert_string_equal(error.message, "--threads is \"1025\", expected a whole number, 0..1024");
    assert_int_equal(PARSE(&sweep, "f", "--top=0"), SWP_BAD_PARAM);
    assert_int_equal(PARSE(&sweep, "f", "--fee=100.00000000000002"), SWP_BAD_PARAM);
    assert_string_equal(error.message, "--fee is \"100.00000000000002\", expected a number, -100..100");
    assert_int_equal(PARSE(&generate, "--out=a.npy", "--seed=18446744073709551615"), SWP_OK);
    assert_true(arguments.seed == UINT64_MAX);
    assert_int_equal(PARSE(&generate, "--out=a.npy", "--seed=18446744073709551616"), SWP_BAD_PARAM);
}

TEST(options_refuse_numbers_that_are_none)
{
    const char *const counts[] = {"", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x10", "1,000"};
    const char *const reals[] = {"", "nan", "inf", "0x1p3", "0,09", " 1", "1 ", "1e", "."};
    swp__arguments arguments;
    swp_error error;
    char word[64];
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        snprintf(word, sizeof word, "--top=%s", counts[i]);
        assert_int_equal(PARSE(&sweep, "f", word), SWP_BAD_PARAM);
    }
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        snprintf(word, sizeof word, "--fee=%s", reals[i]);
        assert_int_equal(PARSE(&sweep, "f", word), SWP_BAD_PARAM);
    }
}

TEST(options_refuse_choices_that_are_none_and_list_those_that_are)
{
    swp__arguments arguments;
    swp_error error;
    assert_int_equal(PARSE(&sweep, "f", "--format=xml"), SWP_BAD_PARAM);
    assert_string_equal(error.message, "--format is \"xml\", expected table|json|csv");
    assert_int_equal(PARSE(&sweep, "f", "--format=js"), SWP_BAD_PARAM);
    assert_int_equal(PARSE(&sweep, "f", "--allow=nan,"), SWP_BAD_PARAM);
    assert_string_equal(error.message, "--allow is \"\", expected nan,inf,nonpositive");
    assert_int_equal(PARSE(&sweep, "f", "--kernel=fast"), SWP_BAD_PARAM);
    assert_non_null(strstr(error.message, "auto|strict|strict-checked"));
}

TEST(options_suggest_the_nearest_name)
{
    swp__arguments arguments;
    swp_error error;
    assert_int_equal(PARSE(&sweep, "f", "--lenght", "5"), SWP_BAD_PARAM);
    assert_string_equal(error.message, "unknown option --lenght; did you mean --length?");
    assert_int_equal(PARSE(&sweep, "f", "--thr=5"), SWP_BAD_PARAM);
    assert_string_equal(error.message, "unknown option --thr=5; did you mean --threads?");
    assert_int_equal(PARSE(&sweep, "f", "-fee"), SWP_BAD_PARAM);
    assert_string_equal(error.message, "unknown option -fee; did you mean --fee?");
    assert_int_equal(PARSE(&sweep, "f", "--xyzzy"), SWP_BAD_PARAM);
    assert_string_equal(error.message, "unknown option --xyzzy");
    assert_int_equal(PARSE(&sweep, "f", "--seed=1"), SWP_BAD_PARAM); /* another command's */
}

TEST(options_miss_what_is_required_and_refuse_what_is_too_much)
{
    swp__arguments arguments;
    swp_error error;
    assert_int_equal(PARSE(&sweep, NULL), SWP_BAD_PARAM);
    assert_string_equal(error.message, "FILE is missing");
    assert_int_equal(PARSE(&generate, NULL), SWP_BAD_PARAM);
    assert_string_equal(error.message, "--out FILE is missing");
    assert_int_equal(PARSE(&sweep, "a", "b"), SWP_BAD_PARAM);
    assert_string_equal(error.message, "\"b\" is one word too many after FILE \"a\"");
    assert_int_equal(PARSE(&sweep, "a", "--fee"), SWP_BAD_PARAM);
    assert_string_equal(error.message, "--fee needs a value");
    assert_int_equal(PARSE(&sweep, "--help"), SWP_OK);
    assert_true(arguments.help);
}

TEST(options_table_rows_are_whole_and_named_once_a_command)
{
    size_t count = 0;
    for (const swp__option *a = swp__option_table; a->name != NULL; a++, count++) {
        assert_non_null(a->help);
        assert_true(a->commands != 0);
        for (const swp__option *b = a + 1; b->name != NULL; b++) {
            if (strcmp(a->name, b->name) == 0) {
                assert_int_equal(a->commands & b->commands, 0);
            }
        }
    }
    assert_true(count <= SWP__OPTIONS_MAX);
}
