#include "bars/generate.h"

#include <math.h>
#include <string.h>
#include "bars/normal.h"
#include "support/test.h"

enum { BARS = 5000 };

static const swp__generate_options defaults = {
    .shape = "randwalk", .bars_count = BARS, .seed = 42, .sigma = 0.0008, .start = 100.0};

static void generate(const char *shape, double close[BARS])
{
    swp__generate_options options = defaults;
    options.shape = shape;
    assert_int_equal(swp__generate(&options, close, NULL), SWP_OK);
}

TEST(generate_randwalk_is_start_times_exp_of_the_summed_normals)
{
    static double close[BARS];
    generate("randwalk", close);
    swp__pcg64 pcg;
    swp__pcg64_init(&pcg, 42);
    double sum = 0.0;
    for (int i = 0; i < BARS; i++) {
        sum += 0.0008 * swp__normal_next(&pcg);
        assert_bits_equal(close[i], 100.0 * exp(sum));
    }
}

TEST(generate_every_shape_fills_every_bar_and_repeats_itself)
{
    static double first[BARS], second[BARS];
    for (size_t i = 0; swp__generate_shapes[i] != NULL; i++) {
        memset(first, 0xAA, sizeof first);
        memset(second, 0x55, sizeof second);
        generate(swp__generate_shapes[i], first);
        generate(swp__generate_shapes[i], second);
        assert_memory_equal(first, second, sizeof first);
        assert_non_null(swp__generate_shape_abouts[i]);
    }
}

TEST(generate_every_shape_takes_one_bar)
{
    for (size_t i = 0; swp__generate_shapes[i] != NULL; i++) {
        double close[2] = {-7.0, -7.0};
        swp__generate_options options = defaults;
        options.shape = swp__generate_shapes[i];
        options.bars_count = 1;
        assert_int_equal(swp__generate(&options, close, NULL), SWP_OK);
        assert_true(close[0] > 0.0);
        assert_true(close[1] == -7.0);
    }
}

TEST(generate_holes_are_a_hundred)
{
    static double close[BARS];
    int nans = 0, infs = 0, positive = 0;
    generate("nan-holes", close);
    for (int i = 0; i < BARS; i++) {
        nans += isnan(close[i]) ? 1 : 0;
    }
    generate("inf-holes", close);
    for (int i = 0; i < BARS; i++) {
        infs += isinf(close[i]) ? 1 : 0;
        positive += isinf(close[i]) && close[i] > 0 ? 1 : 0;
    }
    assert_int_equal(nans, 100);
    assert_int_equal(infs, 100);
    assert_int_equal(positive, 50);
}

TEST(generate_ticks_are_exact)
{
    static double cents[BARS], halves[BARS], fives[BARS];
    generate("tick-grid", cents);
    generate("tick-half", halves);
    generate("tick-five", fives);
    for (int i = 0; i < BARS; i++) {
        assert_bits_equal(cents[i], rint(cents[i] * 100.0) / 100.0);
        assert_bits_equal(fmod(halves[i], 0.5), 0.0);
        assert_bits_equal(fmod(fives[i], 5.0), 0.0);
    }
}

TEST(generate_names_the_shapes_when_one_is_unknown)
{
    double close[1];
    swp__generate_options options = defaults;
    options.shape = "sawtooth";
    options.bars_count = 1;
    swp_error error;
    assert_int_equal(swp__generate(&options, close, &error), SWP_BAD_PARAM);
    assert_non_null(strstr(error.message, "shape \"sawtooth\" is not one of randwalk, constant, tick-grid, trend-chop"));
}

TEST(generate_refuses_no_bars_and_numbers_that_are_not_finite)
{
    double close[1];
    swp_error error;
    swp__generate_options options = defaults;
    options.bars_count = 0;
    assert_int_equal(swp__generate(&options, close, &error), SWP_BAD_PARAM);
    options.bars_count = 1;
    options.sigma = (double)NAN;
    assert_int_equal(swp__generate(&options, close, &error), SWP_BAD_PARAM);
    assert_string_equal(error.message, "sigma: NaN, expected a finite number");
    options.sigma = 0.1;
    options.start = HUGE_VAL;
    assert_int_equal(swp__generate(&options, close, &error), SWP_BAD_PARAM);
    assert_string_equal(error.message, "start: Infinity, expected a finite number");
}
