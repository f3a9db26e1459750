/* What a person is told of a file, each decision and each oddity. */
#include "swp/inspect.h"

#include <stdlib.h>
#include <string.h>
#include "support/temp.h"
#include "support/test.h"

static swp_inspection inspect(const char *text, const swp_bars_options *options)
{
    swp_inspection in;
    swp_error error;
    if (swp_bars_inspect(temp_write("in.csv", text, strlen(text)), options, &in, &error) != SWP_OK) {
        fail_msg("%s", error.message);
    }
    return in;
}

static void assert_decision(const swp_inspection *in, const char *what, const char *value, const char *evidence,
                            const char *options)
{
    for (uint32_t i = 0; i < in->decisions_count; i++) {
        const swp_decision *d = &in->decisions[i];
        if (strcmp(d->what, what) == 0) {
            assert_string_equal(d->value, value);
            assert_string_equal(d->evidence, evidence);
            assert_string_equal(d->options, options);
            return;
        }
    }
    fail_msg("nothing is said of %s", what);
}

static void assert_command_ends(const swp_inspection *in, const char *end)
{
    size_t size = strlen(in->command), end_size = strlen(end);
    if (size < end_size || strcmp(in->command + size - end_size, end) != 0) {
        fail_msg("\"%s\", expected it to end in \"%s\"", in->command, end);
    }
}

TEST(inspect_names_every_decision_its_evidence_and_its_option)
{
    swp_inspection in = inspect("Date;Time;Close\n13/01/2024;09:30;1\n13/01/2024;09:31;2\n", NULL);
    assert_decision(&in, "text", "UTF-8", "the first bytes", "");
    assert_decision(&in, "delimiter", "semicolon, 3 columns", "the one sign that splits the first lines alike", "--delimiter");
    assert_decision(&in, "header", "line 1", "not all of its cells are numbers or stamps", "--header, --skip-lines");
    assert_decision(&in, "close", "column 3, \"Close\"", "the only column called close", "--close");
    assert_decision(&in, "time", "column 1, \"Date\"; column 2, \"Time\"", "called date and time: joined", "--time");
    assert_decision(&in, "stamps", "\"13/01/2024 09:30\"", "a date and time without an offset", "--time-format");
    assert_decision(&in, "dates", "day first", "the first 256 KiB leave no other", "--time-format");
    assert_decision(&in, "zone", "UTC", "neither the file nor an option says another", "--time-zone");
    assert_decision(&in, "decimal", "point", "always, unless an option says comma", "--decimal");
    assert_decision(&in, "order", "oldest first", "each stamp is after the one before it", "--order, --duplicates");
    assert_string_equal(in.refusal, "");
    assert_command_ends(&in, "in.csv");
    swp_inspection_free(&in);
}

TEST(inspect_says_which_decisions_were_options)
{
    const swp_bars_options options = {.close = "2",
                                      .time = "1",
                                      .delimiter = ';',
                                      .decimal = ',',
                                      .header = SWP_HEADER_NO,
                                      .time_format = "dmy",
                                      .time_zone = "+02:00",
                                      .skip_lines = 1,
                                      .allow = SWP_ALLOW_NAN | SWP_ALLOW_NONPOSITIVE};
    swp_inspection in = inspect("by me\n01/02/2024;1,5\n02/02/2024;\n", &options);
    static const char said[] = "as the option says";
    assert_decision(&in, "delimiter", "semicolon, 2 columns", said, "--delimiter");
    assert_decision(&in, "header", "none", said, "--header, --skip-lines");
    assert_decision(&in, "close", "column 2", said, "--close");
    assert_decision(&in, "time", "column 1", said, "--time");
    assert_decision(&in, "dates", "day first", said, "--time-format");
    assert_decision(&in, "zone", "+02:00", said, "--time-zone");
    assert_decision(&in, "decimal", "comma", said, "--decimal");
    assert_int_equal(in.bars.nan_count, 1);
    assert_int_equal(in.first_nan.bar, 1);
    assert_int_equal(in.first_nan.line, 3);
    assert_command_ends(&in, "in.csv --close 2 --time 1 --delimiter semicolon --decimal comma --header no --time-format dmy "
                             "--time-zone +02:00 --skip-lines 1 --allow nan,nonpositive");
    swp_inspection_free(&in);
}

TEST(inspect_a_file_that_is_newest_first_or_repeats_stamps_is_shown_as_the_command_reads_it)
{
    swp_inspection in = inspect("time,close\n2024-01-03,3\n2024-01-02,2\n2024-01-01,1\n", NULL);
    assert_decision(&in, "order", "newest first, sorted", "as it stands the file is refused", "--order, --duplicates");
    assert_non_null(strstr(in.refusal, "in.csv:3: newest first"));
    assert_command_ends(&in, "in.csv --order sort");
    swp_inspection_free(&in);

    in = inspect("time,close\n2024-01-01,1\n2024-01-01,5\n2024-01-02,2\n2024-01-02,2\n", NULL);
    assert_decision(&in, "order", "oldest first; of a stamp the first", "as it stands the file is refused",
                    "--order, --duplicates");
    assert_int_equal(in.repeats_count, 2);
    assert_int_equal(in.repeats_differ_count, 1);
    assert_int_equal(in.first_repeat_line, 3);
    assert_command_ends(&in, "in.csv --duplicates first");
    assert_non_null(strstr(in.text, "2 repeated stamps left out, 1 of them with another close; the first at line 3\n"));
    swp_inspection_free(&in);

    in = inspect("time,close\n2024-01-02,2\n2024-01-01,1\n2024-01-02,9\n",
                 &(swp_bars_options){.duplicates = SWP_DUPLICATES_LAST});
    assert_int_equal(in.bars.bars_count, 2);
    assert_bits_equal(in.bars.close[1], 9.0);
    assert_command_ends(&in, "in.csv --order sort --duplicates last");
    swp_inspection_free(&in);

    in = inspect("time,close\n2024-01-02,2\n2024-01-01,1\n2024-01-02,9\n", NULL);
    assert_command_ends(&in, "in.csv --order sort --duplicates first");
    swp_inspection_free(&in);
}

TEST(inspect_what_is_doubtful_is_refused_as_a_reader_refuses_it)
{
    swp_inspection in = {.gaps_count = 7};
    swp_error error;
    const char *path = temp_write("in.csv", "time,close\n2024-01-02,2\n2024-01-01,x\n", 37);
    assert_int_equal(swp_bars_inspect(path, NULL, &in, &error), SWP_BAD_PARAM);
    assert_non_null(strstr(error.message, "in.csv:3: close \"x\" is not a number"));
    assert_int_equal(in.gaps_count, 7);
    path = temp_write("in.csv", "a,b\n1,2\n", 8);
    assert_int_equal(swp_bars_inspect(path, NULL, &in, &error), SWP_BAD_PARAM);
    assert_non_null(strstr(error.message, "columns: \"a\", \"b\""));
    assert_int_equal(swp_bars_inspect(NULL, NULL, &in, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 1);
    assert_int_equal(swp_bars_inspect(path, NULL, NULL, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 3);
}

TEST(inspect_the_longest_gaps_come_first_and_the_step_is_the_most_common_one)
{
    swp_inspection in = inspect("close\n1\n100\n101\n1\n200\n2\n", NULL);
    assert_int_equal(in.bars.jumps_count, 4);
    assert_int_equal(in.jumps[1].at.line, 5);
    assert_bits_equal(in.jumps[1].before, 101.0);
    assert_non_null(strstr(in.text, "4 jumps of 100x or more: line 3, 1 -> 100; line 5, 101 -> 1; line 6, 1 -> 200; ...\n"));
    swp_inspection_free(&in);
}

TEST(inspect_numbers_tell_type_shape_and_column)
{
    const double closes[] = {1, 2};
    swp_inspection in;
    const char *path = temp_write("in.f64", closes, sizeof closes);
    assert_int_equal(swp_bars_inspect(path, NULL, &in, NULL), SWP_OK);
    assert_decision(&in, "numbers", "raw float64", "the name's ending", "--dtype, --big-endian");
    swp_inspection_free(&in);
    const swp_bars_options bytes = {.dtype = "u1", .allow = SWP_ALLOW_NONPOSITIVE};
    assert_int_equal(swp_bars_inspect(path, &bytes, &in, NULL), SWP_OK);
    assert_decision(&in, "numbers", "raw uint8", "as the option says", "--dtype, --big-endian");
    assert_command_ends(&in, "in.f64 --dtype u1 --allow nonpositive");
    swp_inspection_free(&in);
    static const char npy[] =
        "\x93NUMPY\x01\x00\x3c\x00{'descr': '>i2', 'fortran_order': True, 'shape': (1, 2), }  \x00\x01\x00\x02";
    assert_int_equal(swp_bars_inspect(temp_write("in.npy", npy, sizeof npy - 1), &(swp_bars_options){.close = "2"}, &in, NULL),
                     SWP_OK);
    assert_decision(&in, "numbers", ".npy of big-endian int16, (1, 2) in Fortran order", "the file's header", "");
    assert_decision(&in, "close", "column 2 of 2", "as the option says", "--close N");
    assert_bits_equal(in.bars.close[0], 2.0);
    swp_inspection_free(&in);
}
