/* A hash table of nodes that live inside the things they find: adding one allocates nothing that its caller would
 * have to give back. Keys are 64 bits and need not be unique; the caller compares what they stand for. Not
 * thread-safe. */
#ifndef SWP_BASE_MAP_H
#define SWP_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "swp/host.h"

typedef struct swp__map_node {
    uint64_t key;
    struct swp__map_node *next; /* in its bucket */
} swp__map_node;

typedef struct swp__map {
    const swp_allocator *allocator;
    swp__map_node **buckets;
    size_t buckets_count; /* a power of two */
    size_t nodes_count;
} swp__map;

/* False: no memory. The allocator must outlive the map. */
bool swp__map_init(swp__map *map, const swp_allocator *allocator);

/* Zeroed is fine, too. The nodes are their owners'. */
void swp__map_fini(swp__map *map);

/* Always works: when the table cannot grow, its chains do. */
void swp__map_add(swp__map *map, swp__map_node *node, uint64_t key);

/* The node must be in the map. */
void swp__map_remove(swp__map *map, swp__map_node *node);

/* A node with that key; the next one with the same key behind it; NULL. */
swp__map_node *swp__map_find(const swp__map *map, uint64_t key);
swp__map_node *swp__map_next(const swp__map_node *node);

/* The thing a node is inside of. */
#define SWP__OWNER_OF(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))

#endif
