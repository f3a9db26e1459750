#include "http/memory.h"

#include <string.h>
#include "support/test.h"

TEST(memory_is_refused_past_the_bound_and_free_again_after)
{
    swp__memory_bound(100000);
    void *first = swp__memory_alloc(60000);
    assert_non_null(first);
    assert_true(swp__memory_used() >= 60000);
    assert_null(swp__memory_alloc(60000));
    assert_null(swp__memory_alloc(SIZE_MAX));
    swp__memory_free(first);
    assert_int_equal(swp__memory_used(), 0);
    first = swp__memory_alloc(100000 - 64); /* a block may take some bytes more than it was asked for */
    assert_non_null(first);
    swp__memory_free(first);
    swp__memory_free(NULL);
    assert_int_equal(swp__memory_used(), 0);
}

TEST(memory_array_of_more_than_a_size_t_holds_is_refused)
{
    swp__memory_bound(100000);
    assert_null(swp__memory_array(UINT64_MAX / 4, 8));
    void *none = swp__memory_array(0, 8);
    assert_non_null(none);
    swp__memory_free(none);
    assert_int_equal(swp__memory_used(), 0);
}

TEST(memory_grow_keeps_what_was_there_and_the_block_where_it_cannot)
{
    swp__memory_bound(100000);
    char *block = swp__memory_grow(NULL, 10);
    memcpy(block, "0123456789", 10);
    block = swp__memory_grow(block, 50000);
    assert_non_null(block);
    assert_memory_equal(block, "0123456789", 10);
    assert_null(swp__memory_grow(block, 60000)); /* both blocks may be there for a moment */
    assert_memory_equal(block, "0123456789", 10);
    swp__memory_free(block);
    assert_int_equal(swp__memory_used(), 0);
}
