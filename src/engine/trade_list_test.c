#include "engine/trade_list.h"

#include <string.h>
#include "support/host.h"
#include "support/test.h"

TEST(trade_list_lays_any_number_out_as_six_arrays)
{
    enum { COUNT = 1000 };
    static int64_t arrays[6 * COUNT];
    swp__test_memory memory = {0};
    swp_allocator allocator = swp__test_allocator(&memory);
    swp__trade_list list = {.allocator = &allocator};
    for (int64_t i = 0; i < COUNT; i++) {
        swp__trade trade = {i, i + 1, i % 2 == 0 ? 1 : -1, (double)i, (double)i + 0.5, -(double)i};
        swp__trade_list_add(&list, &trade);
    }
    assert_int_equal(list.count, COUNT);
    swp__trade_list_write(&list, arrays);
    const double *reals = (const double *)(const void *)(arrays + 3 * COUNT);
    for (int64_t i = 0; i < COUNT; i++) {
        assert_int_equal(arrays[i], i);
        assert_int_equal(arrays[COUNT + i], i + 1);
        assert_int_equal(arrays[2 * COUNT + i], i % 2 == 0 ? 1 : -1);
        assert_true(reals[i] == (double)i && reals[COUNT + i] == (double)i + 0.5 && reals[2 * COUNT + i] == -(double)i);
    }
    swp__trade_list_free(&list);
    assert_int_equal(memory.live_count, 0);
}

TEST(trade_list_says_so_when_memory_fails_and_keeps_nothing_after)
{
    swp__test_memory memory = {.fail_at = 2};
    swp_allocator allocator = swp__test_allocator(&memory);
    swp__trade_list list = {.allocator = &allocator};
    swp__trade trade = {0};
    for (int i = 0; i < 1000; i++) {
        swp__trade_list_add(&list, &trade);
    }
    assert_true(list.no_memory);
    assert_true(list.count < 1000);
    swp__trade_list_free(&list);
    assert_int_equal(memory.live_count, 0);
}
