#include "base/map.h"

#include <string.h>
#include "base/host.h"

enum { BUCKETS_FIRST = 64 };

static size_t bucket_of(const swp__map *map, uint64_t key)
{
    /* Times 2^64 / golden ratio: the high half of the product depends on all bits. */
    uint64_t mixed = (key ^ key >> 32) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(mixed >> 32) & (map->buckets_count - 1);
}

static swp__map_node **new_buckets(const swp_allocator *allocator, size_t count)
{
    swp__map_node **buckets = swp__alloc(allocator, count, sizeof(swp__map_node *));
    if (buckets != NULL) {
        memset(buckets, 0, count * sizeof(swp__map_node *));
    }
    return buckets;
}

bool swp__map_init(swp__map *map, const swp_allocator *allocator)
{
    *map = (swp__map){.allocator = allocator, .buckets = new_buckets(allocator, BUCKETS_FIRST)};
    map->buckets_count = map->buckets != NULL ? BUCKETS_FIRST : 0;
    return map->buckets != NULL;
}

void swp__map_fini(swp__map *map)
{
    swp__free(map->allocator, map->buckets, map->buckets_count, sizeof(swp__map_node *));
    map->buckets = NULL;
}

static void link_node(swp__map *map, swp__map_node *node)
{
    swp__map_node **bucket = &map->buckets[bucket_of(map, node->key)];
    node->next = *bucket;
    *bucket = node;
}

static void grow(swp__map *map)
{
    swp__map_node **old = map->buckets;
    size_t old_count = map->buckets_count;
    swp__map_node **buckets = new_buckets(map->allocator, 2 * old_count);
    if (buckets == NULL) {
        return;
    }
    map->buckets = buckets;
    map->buckets_count = 2 * old_count;
    for (size_t i = 0; i < old_count; i++) {
        for (swp__map_node *node = old[i], *next; node != NULL; node = next) {
            next = node->next;
            link_node(map, node);
        }
    }
    swp__free(map->allocator, old, old_count, sizeof(swp__map_node *));
}

void swp__map_add(swp__map *map, swp__map_node *node, uint64_t key)
{
    if (map->nodes_count >= map->buckets_count) {
        grow(map);
    }
    map->nodes_count++;
    node->key = key;
    link_node(map, node);
}

void swp__map_remove(swp__map *map, swp__map_node *node)
{
    swp__map_node **link = &map->buckets[bucket_of(map, node->key)];
    while (*link != node) {
        link = &(*link)->next;
    }
    *link = node->next;
    map->nodes_count--;
}

static swp__map_node *first_with(swp__map_node *node, uint64_t key)
{
    while (node != NULL && node->key != key) {
        node = node->next;
    }
    return node;
}

swp__map_node *swp__map_find(const swp__map *map, uint64_t key)
{
    return first_with(map->buckets[bucket_of(map, key)], key);
}

swp__map_node *swp__map_next(const swp__map_node *node)
{
    return first_with(node->next, node->key);
}
