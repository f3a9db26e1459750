#include "support/test.h"
#include "kernel/params.h"

static void assert_params(int64_t length, swp_params e)
{
    swp_params c;
    assert_int_equal(swp_params_from_length(length, &c, NULL), SWP_OK);
    assert_int_equal(c.half, e.half);
    assert_int_equal(c.full, e.full);
    assert_int_equal(c.smooth, e.smooth);
    assert_int_equal(c.third, e.third);
    assert_int_equal(c.mid, e.mid);
    assert_int_equal(c.p, e.p);
}

TEST(length_rounds_half_to_even_and_at_least_one)
{
    assert_params(1, (swp_params){1, 1, 1, 1, 1, 1}); /* round(0.5) is 0: at least 1 */
    assert_params(3, (swp_params){2, 3, 2, 1, 1, 2}); /* round(1.5) is 2 */
    assert_params(5, (swp_params){2, 5, 2, 1, 1, 2}); /* round(2.5) is 2 */
    assert_params(6, (swp_params){3, 6, 2, 1, 2, 3});
    assert_params(7, (swp_params){4, 7, 3, 1, 2, 4});
    assert_params(200, (swp_params){100, 200, 14, 33, 50, 100});
}

TEST(length_beyond_its_range_is_refused)
{
    swp_params c;
    swp_error error;
    assert_int_equal(swp_params_from_length(0, &c, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 1);
    assert_string_equal(error.message, "length 0 is not within 1..2147483647");
    assert_int_equal(swp_params_from_length(SWP_PARAM_MAX + 1, &c, NULL), SWP_BAD_PARAM);
    assert_int_equal(swp_params_from_length(SWP_PARAM_MAX, &c, NULL), SWP_OK);
}

TEST(grid_product_is_computed_in_64_bits_and_checked)
{
    const int64_t one[] = {1};
    swp_grid grid = {.form = SWP_GRID_AXES, .combos_count = 0x100000000u};
    for (size_t i = 0; i < SWP_PARAMS_COUNT; i++) {
        grid.axes[i] = one;
        grid.axis_counts[i] = 1;
    }
    swp_error error;
    assert_int_equal(swp_grid_check(&grid, &error), SWP_BAD_PARAM);
    assert_string_equal(error.message, "combos: the lists make 1, but combos_count is 4294967296");
    grid.axis_counts[0] = grid.axis_counts[1] = UINT64_C(1) << 32; /* wraps to 0 in 64 bits */
    assert_int_equal(swp_grid_check(&grid, &error), SWP_BAD_PARAM);
    assert_string_equal(error.message, "combos: the product of the lists is beyond 2^64");
}

TEST(grid_names_the_first_value_out_of_range)
{
    const int64_t rows[] = {3, 6, 2, 1, 2, 3, 3, 6, 2, 1, 0, 3};
    swp_grid grid = {.form = SWP_GRID_ROWS, .combos_count = 2, .rows = rows};
    swp_error error;
    assert_int_equal(swp_grid_check(&grid, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 10);
    assert_string_equal(error.message, "combo 1: mid is 0, expected 1..2147483647");
}

TEST(grid_axes_have_the_last_parameter_fastest)
{
    const int64_t ones[] = {1}, p[] = {7, 8}, half[] = {3, 4, 5};
    swp_grid grid = {
        .form = SWP_GRID_AXES, .combos_count = 6, .axes = {half, ones, ones, ones, ones, p}, .axis_counts = {3, 1, 1, 1, 1, 2}};
    assert_int_equal(swp_grid_check(&grid, NULL), SWP_OK);
    assert_int_equal(swp_grid_at(&grid, 1).p, 8);
    assert_int_equal(swp_grid_at(&grid, 1).half, 3);
    assert_int_equal(swp_grid_at(&grid, 4).half, 5);
    assert_int_equal(swp_grid_at(&grid, 4).p, 7);
}

TEST(grid_largest_reads_the_lists_and_passes_over_what_is_above_the_limit)
{
    const int64_t ones[] = {1, 1}, many[] = {7, 300, 8};
    swp_grid axes = {.form = SWP_GRID_AXES,
                     .combos_count = 6,
                     .axes = {many, ones, ones, ones, ones, ones},
                     .axis_counts = {3, 2, 1, 1, 1, 1}};
    assert_int_equal(swp__grid_largest(&axes, 299).half, 8);
    assert_int_equal(swp__grid_largest(&axes, 300).half, 300);
    const int64_t hma[] = {3, 6, 2, 4, 8, 3}, hma3[] = {1, 2, 9};
    swp_grid pairs = {.form = SWP_GRID_PAIRS, .combos_count = 2, .hma = hma, .hma_count = 2, .hma3 = hma3, .hma3_count = 1};
    swp_params largest = swp__grid_largest(&pairs, 8);
    assert_int_equal(largest.full, 8);
    assert_int_equal(largest.smooth, 3);
    assert_int_equal(largest.mid, 2);
    assert_int_equal(largest.p, 1);
    const int64_t rows[] = {3, 6, 2, 1, 2, 3, 5, 5, 5, 5, 5, 5};
    swp_grid grid = {.form = SWP_GRID_ROWS, .combos_count = 2, .rows = rows};
    largest = swp__grid_largest(&grid, 100);
    assert_int_equal(largest.half, 5);
    assert_int_equal(largest.full, 6);
    assert_int_equal(largest.p, 5);
}
