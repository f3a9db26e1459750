#include "support/test.h"

#include "wire/wire.h"

TEST(result_size_is_columns_x_windows_x_combos_x_8)
{
    uint64_t bytes;
    swp__wire_sweep sweep = {.columns = SWP__RESULT_PNL | SWP__RESULT_TRADES, .n_windows = 0};
    assert_true(swp__wire_result_size(&sweep, 80, &bytes));
    assert_int_equal(bytes, 2 * 80 * 8);
    sweep.n_windows = 3;
    assert_true(swp__wire_result_size(&sweep, 80, &bytes));
    assert_int_equal(bytes, 3 * 2 * 80 * 8);
}

TEST(result_size_beyond_64_bits_is_said_so)
{
    uint64_t bytes;
    swp__wire_sweep sweep = {.columns = SWP__RESULT_ALL, .n_windows = UINT32_MAX};
    assert_true(swp__wire_result_size(&sweep, 67108864, &bytes));
    assert_false(swp__wire_result_size(&sweep, 67108865, &bytes));
    assert_false(swp__wire_result_size(&sweep, UINT64_MAX, &bytes));
}

TEST(live_reply_size_pads_positions_to_8)
{
    uint64_t bytes;
    assert_true(swp__wire_live_reply_size(2, 4, true, &bytes));
    assert_int_equal(bytes, 2 * 40 + 8);
    assert_true(swp__wire_live_reply_size(3, 3, true, &bytes));
    assert_int_equal(bytes, 3 * 40 + 16);
    assert_true(swp__wire_live_reply_size(3, 3, false, &bytes));
    assert_int_equal(bytes, 3 * 40);
}

TEST(live_reply_size_beyond_64_bits_is_said_so)
{
    uint64_t bytes;
    assert_false(swp__wire_live_reply_size(UINT64_MAX / 40 + 1, 0, false, &bytes));
    assert_false(swp__wire_live_reply_size(UINT32_MAX, UINT64_MAX / UINT32_MAX + 1, true, &bytes));
    assert_false(swp__wire_live_reply_size(1, UINT64_MAX, true, &bytes));
    assert_false(swp__wire_live_reply_size(1, UINT64_MAX - 7, true, &bytes));
}
