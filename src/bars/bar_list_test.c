#include "bars/bar_list.h"

#include <math.h>
#include "support/test.h"

TEST(bar_list_grows_and_keeps_what_it_has)
{
    enum { BARS = 100000 };
    swp__bar_list list = {.has_time = true};
    for (int64_t i = 0; i < BARS; i++) {
        assert_int_equal(swp__bar_list_push(&list, &(swp__bar){.time_ns = i * 60, .close = (double)i + 0.5}, NULL), SWP_OK);
    }
    swp__bar_list_trim(&list);
    assert_int_equal(list.count, BARS);
    assert_int_equal(list.capacity, BARS);
    for (int64_t i = 0; i < BARS; i++) {
        assert_true(list.time_ns[i] == i * 60);
        assert_bits_equal(list.close[i], (double)i + 0.5);
    }
    swp__bar_list_fini(&list);
    assert_null(list.close);
}

TEST(bar_list_without_stamps_has_no_array_for_them)
{
    swp__bar_list list = {0};
    assert_int_equal(swp__bar_list_reserve(&list, 10, NULL), SWP_OK);
    assert_int_equal(swp__bar_list_push(&list, &(swp__bar){.time_ns = 7, .close = (double)NAN}, NULL), SWP_OK);
    assert_null(list.time_ns);
    assert_int_equal(list.nan_count, 1);
    swp__bar_list_fini(&list);
}

TEST(bar_list_refuses_room_that_nobody_has_and_stays_whole)
{
    swp__bar_list list = {0};
    swp_error error;
    assert_int_equal(swp__bar_list_push(&list, &(swp__bar){.close = 1.5}, NULL), SWP_OK);
    assert_int_equal(swp__bar_list_reserve(&list, UINT64_MAX / 4, &error), SWP_NO_MEMORY);
    assert_string_equal(error.message, "no memory for 4611686018427387903 bars");
    assert_int_equal(list.count, 1);
    assert_bits_equal(list.close[0], 1.5);
    swp__bar_list_fini(&list);
}
