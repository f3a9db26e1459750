#include "support/host.h"
#include "support/test.h"
#include "base/map.h"

typedef struct thing {
    uint64_t value;
    swp__map_node node;
} thing;

static uint64_t count_with(const swp__map *map, uint64_t key)
{
    uint64_t count = 0;
    for (swp__map_node *node = swp__map_find(map, key); node != NULL; node = swp__map_next(node)) {
        assert_int_equal(SWP__OWNER_OF(node, thing, node)->value / 2, key);
        count++;
    }
    return count;
}

/* Keys 0, 0, 1, 1, 2, 2 ... */
static void add_find_and_remove(swp__map *map)
{
    enum { THINGS = 2000 };
    static thing things[THINGS];
    for (uint64_t i = 0; i < THINGS; i++) {
        things[i].value = i;
        swp__map_add(map, &things[i].node, i / 2);
    }
    for (uint64_t key = 0; key < THINGS / 2; key++) {
        assert_int_equal(count_with(map, key), 2);
    }
    for (uint64_t i = 0; i < THINGS; i += 2) {
        swp__map_remove(map, &things[i].node);
        assert_int_equal(count_with(map, i / 2), 1);
    }
    assert_null(swp__map_find(map, THINGS));
    assert_int_equal(map->nodes_count, THINGS / 2);
}

TEST(map_finds_every_node_of_a_key_and_forgets_removed_ones)
{
    swp__test_memory memory = {0};
    swp_allocator allocator = swp__test_allocator(&memory);
    swp__map map;
    assert_true(swp__map_init(&map, &allocator));
    add_find_and_remove(&map);
    assert_true(map.buckets_count >= 1024);
    swp__map_fini(&map);
    assert_int_equal(memory.live_count, 0);
}

TEST(map_goes_on_when_it_cannot_grow)
{
    swp__test_memory memory = {.fail_at = 2};
    swp_allocator allocator = swp__test_allocator(&memory);
    swp__map map;
    assert_true(swp__map_init(&map, &allocator));
    add_find_and_remove(&map);
    swp__map_fini(&map);
    memory.fail_at = memory.allocs_count + 1;
    assert_false(swp__map_init(&map, &allocator));
    swp__map_fini(&map);
    assert_int_equal(memory.live_count, 0);
}
