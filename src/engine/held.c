/* The store itself: held series, who owns them, what they weigh, which go first. */
#include "engine/store_inside.h"

#include <assert.h>
#include <inttypes.h>
#include "base/error.h"
#include "base/host.h"

uint64_t swp__content_bytes(const swp__shape *shape)
{
    return shape->bars_count * 8 * (uint64_t)__builtin_popcount(shape->columns);
}

swp_status swp__shape_check(const swp__shape *shape, swp_error *error)
{
    if (shape->bars_count == 0) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "series: no bars");
    }
    if ((shape->columns & SWP__SERIES_CLOSE) == 0 || (shape->columns & ~(uint32_t)SWP__SERIES_ALL) != 0) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE,
                         "series: columns are %#" PRIx32 ", expected bit 0 (close) and any of 1..5", shape->columns);
    }
    if ((shape->policy & ~(uint32_t)SWP_ALLOW_ALL) != 0) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "series: policy is %" PRIu32 ", expected a sum of 1, 2 and 4",
                         shape->policy);
    }
    return SWP_OK;
}

/* ---- owners ---- */

uint64_t swp__key_of(uint64_t hash, uint64_t number)
{
    return hash ^ number * UINT64_C(0x9E3779B97F4A7C15);
}

static swp__owner *find_owner(const swp__store *store, swp__identity identity)
{
    for (swp__map_node *node = swp__map_find(&store->owners, identity.low); node != NULL; node = swp__map_next(node)) {
        swp__owner *owner = SWP__OWNER_OF(node, swp__owner, node);
        if (owner->identity.high == identity.high) {
            return owner;
        }
    }
    return NULL;
}

swp__owner *swp__owner_get(swp__store *store, swp__identity identity)
{
    swp__owner *owner = find_owner(store, identity);
    if (owner == NULL) {
        owner = swp__alloc(store->allocator, 1, sizeof *owner);
        if (owner == NULL) {
            return NULL;
        }
        *owner = (swp__owner){.identity = identity, .number = ++store->owners_made};
        swp__map_add(&store->owners, &owner->node, identity.low);
    }
    owner->references++;
    return owner;
}

void swp__owner_release(swp__store *store, swp__owner *owner)
{
    if (--owner->references == 0) {
        swp__map_remove(&store->owners, &owner->node);
        swp__free(store->allocator, owner, 1, sizeof *owner);
    }
}

/* ---- who goes first ---- */

static void become_unused(swp__held *held)
{
    swp__store *store = held->store;
    held->more_recent = NULL;
    held->less_recent = store->newest;
    *(store->newest != NULL ? &store->newest->more_recent : &store->oldest) = held;
    store->newest = held;
    store->counters.series_unused++;
    store->counters.bytes_unused += held->charge;
}

static void become_used(swp__held *held)
{
    swp__store *store = held->store;
    *(held->less_recent != NULL ? &held->less_recent->more_recent : &store->oldest) = held->more_recent;
    *(held->more_recent != NULL ? &held->more_recent->less_recent : &store->newest) = held->less_recent;
    store->counters.series_unused--;
    store->counters.bytes_unused -= held->charge;
}

static bool is_unused(const swp__held *held)
{
    return held->users == 0;
}

void swp__held_add_user(swp__held *held)
{
    if (is_unused(held)) {
        become_used(held);
    }
    held->users++;
}

void swp__held_remove_user(swp__held *held, swp__graveyard *graveyard)
{
    if (--held->users > 0) {
        return;
    }
    become_unused(held);
    if (!held->is_hashed && held->names == NULL) { /* nobody can come back to it */
        swp__held_bury(held, graveyard);
    }
}

/* ---- memory ---- */

static uint64_t saturated_sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

swp_status swp__store_charge(swp__store *store, uint64_t bytes, swp__graveyard *graveyard, swp_error *error)
{
    swp__store_counters *c = &store->counters;
    uint64_t limit = store->limits->max_memory, kept = c->bytes - c->bytes_unused;
    uint64_t least = saturated_sum(kept, bytes);
    if (least > limit) {
        return swp__fail_limit(error, limit, least,
                               "series: needs %" PRIu64 " bytes beside %" PRIu64 " in use, max-memory is %" PRIu64, bytes, kept,
                               limit);
    }
    while (c->bytes + bytes > limit) {
        c->evictions++;
        swp__held_bury(store->oldest, graveyard);
    }
    c->bytes += bytes;
    return SWP_OK;
}

void swp__store_trim(swp__store *store, uint64_t bytes)
{
    swp__graveyard graveyard = {NULL};
    pthread_mutex_lock(&store->lock);
    while (store->counters.bytes_unused > bytes) {
        store->counters.evictions++;
        swp__held_bury(store->oldest, &graveyard);
    }
    pthread_mutex_unlock(&store->lock);
    swp__graveyard_empty(store, &graveyard);
}

void swp__store_discharge(swp__store *store, uint64_t bytes)
{
    store->counters.bytes -= bytes;
}

void swp__graveyard_empty(swp__store *store, swp__graveyard *graveyard)
{
    while (graveyard->first != NULL) {
        swp__held *held = graveyard->first;
        graveyard->first = held->more_recent;
        if (held->release != NULL) {
            held->release(held->release_context, held->adopted, swp__content_bytes(&held->shape));
        }
        swp__free(store->allocator, held, 1, held->block_size);
    }
}

/* ---- in and out ---- */

swp_status swp__store_next_handle(const swp__store *store, uint64_t *handle, swp_error *error)
{
    if (store->serial == UINT32_MAX) {
        return swp__fail_limit(error, UINT32_MAX, UINT64_C(1) << 32,
                               "series: this run of the server has no more handles to give");
    }
    *handle = (uint64_t)store->epoch << 32 | (store->serial + 1);
    return SWP_OK;
}

void swp__held_enter_content(swp__held *held)
{
    held->is_hashed = true;
    swp__map_add(&held->store->contents, &held->by_content, swp__key_of(held->fingerprint.low, held->owner->number));
}

void swp__held_enter(swp__held *held)
{
    swp__store *store = held->store;
    swp__owner *owner = held->owner;
    assert(held->users > 0);
    store->serial++;
    store->counters.series++;
    owner->references++;
    held->previous = NULL;
    held->next = owner->series;
    if (owner->series != NULL) {
        owner->series->previous = held;
    }
    owner->series = held;
}

static void remove_names(swp__held *held)
{
    swp__store *store = held->store;
    while (held->names != NULL) {
        swp__name *name = held->names;
        held->names = name->next;
        swp__map_remove(&store->names, &name->node);
        name->owner->names_count--;
        swp__owner_release(store, name->owner);
        swp__free(store->allocator, name, 1, sizeof *name);
    }
}

void swp__held_bury(swp__held *held, swp__graveyard *graveyard)
{
    swp__store *store = held->store;
    swp__owner *owner = held->owner;
    assert(is_unused(held));
    become_used(held); /* out of the list of unused ones */
    remove_names(held);
    if (held->is_hashed) {
        swp__map_remove(&store->contents, &held->by_content);
    }
    *(held->previous != NULL ? &held->previous->next : &owner->series) = held->next;
    if (held->next != NULL) {
        held->next->previous = held->previous;
    }
    swp__owner_release(store, owner);
    store->counters.series--;
    swp__store_discharge(store, held->charge);
    held->more_recent = graveyard->first;
    graveyard->first = held;
}

swp__series_info swp__held_info(const swp__held *held)
{
    const double *close = held->series.close;
    return (swp__series_info){
        .handle = held->handle,
        .fingerprint = held->is_hashed ? held->fingerprint : (swp__fingerprint){0, 0},
        .is_fingerprinted = held->is_hashed,
        .is_counted = held->is_judged,
        .bars_count = held->shape.bars_count,
        .nan_count = held->series.seen.nan_count,
        .first = close[0],
        .last = close[held->shape.bars_count - 1],
    };
}

/* ---- the store ---- */

static bool init_maps(swp__store *store)
{
    return swp__map_init(&store->owners, store->allocator) && swp__map_init(&store->names, store->allocator) &&
           swp__map_init(&store->contents, store->allocator) && swp__map_init(&store->uses, store->allocator);
}

static void free_store(swp__store *store)
{
    swp__map *maps[] = {&store->owners, &store->names, &store->contents, &store->uses};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        if (maps[i]->buckets != NULL) {
            swp__map_fini(maps[i]);
        }
    }
    pthread_mutex_destroy(&store->lock);
    swp__free(store->allocator, store, 1, sizeof *store);
}

swp_status swp__store_new(swp_engine *engine, uint32_t epoch, swp__store **store, swp_error *error)
{
    swp__store *made = swp__alloc(&engine->allocator, 1, sizeof *made);
    if (made != NULL) {
        *made = (swp__store){.engine = engine, .allocator = &engine->allocator, .limits = &engine->limits, .epoch = epoch};
        pthread_mutex_init(&made->lock, NULL);
        if (init_maps(made)) {
            made->everybody = swp__owner_get(made, (swp__identity){0, 0});
        }
        if (made->everybody == NULL) {
            free_store(made);
            made = NULL;
        }
    }
    if (made == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "store: no memory");
    }
    *store = made;
    return SWP_OK;
}

void swp__store_free(swp__store *store)
{
    if (store == NULL) {
        return;
    }
    swp__graveyard graveyard = {NULL};
    for (swp__held *held = store->pinned; held != NULL; held = held->next_pinned) {
        swp__held_remove_user(held, &graveyard);
    }
    while (store->oldest != NULL) {
        swp__held_bury(store->oldest, &graveyard);
    }
    assert(store->counters.series == 0 && store->counters.scopes == 0 && store->counters.bytes == 0);
    swp__graveyard_empty(store, &graveyard);
    swp__owner_release(store, store->everybody);
    free_store(store);
}

swp__store_counters swp__store_count(swp__store *store)
{
    pthread_mutex_lock(&store->lock);
    swp__store_counters counters = store->counters;
    counters.bytes_limit = store->limits->max_memory;
    pthread_mutex_unlock(&store->lock);
    return counters;
}
