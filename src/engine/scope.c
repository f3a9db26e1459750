/* What one client has of the store: uses, names, lookups. */
#include "engine/store_inside.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include "base/error.h"
#include "base/host.h"
#include "base/text.h"

swp_status swp__scope_new(swp__store *store, swp__identity identity, swp__scope **scope, swp_error *error)
{
    swp__scope *made = swp__alloc(store->allocator, 1, sizeof *made);
    swp__owner *owner = NULL;
    if (made != NULL) {
        pthread_mutex_lock(&store->lock);
        owner = swp__owner_get(store, identity);
        *made = (swp__scope){.store = store, .owner = owner, .number = ++store->scopes_made};
        store->counters.scopes += owner != NULL ? 1 : 0;
        pthread_mutex_unlock(&store->lock);
    }
    if (owner == NULL) {
        swp__free(store->allocator, made, 1, sizeof *made);
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "store: no memory for a connection");
    }
    *scope = made;
    return SWP_OK;
}

/* ---- uses ---- */

static swp__use *find_use(const swp__scope *scope, uint64_t handle)
{
    const swp__map *uses = &scope->store->uses;
    swp__map_node *node = swp__map_find(uses, swp__key_of(handle, scope->number));
    for (; node != NULL; node = swp__map_next(node)) {
        swp__use *use = SWP__OWNER_OF(node, swp__use, node);
        if (use->scope == scope && use->held->handle == handle) {
            return use;
        }
    }
    return NULL;
}

static swp_status no_such_handle(const swp__scope *scope, uint64_t handle, swp_error *error)
{
    const char *why = handle >> 32 != scope->store->epoch       ? "is from another run of the server"
                      : (uint32_t)handle > scope->store->serial ? "was never given"
                                                                : "is not in use on this connection, or was dropped";
    return swp__fail(error, SWP_NOT_FOUND, SWP_AT_NONE, "handle %#" PRIx64 " %s", handle, why);
}

swp_status swp__scope_check_room(const swp__scope *scope, swp_error *error)
{
    uint64_t limit = scope->store->limits->max_handles;
    if (scope->uses_count >= limit) {
        return swp__fail_limit(error, limit, scope->uses_count + 1,
                               "series: %" PRIu64 " are in use on this connection, which is the limit", scope->uses_count);
    }
    return SWP_OK;
}

swp_status swp__scope_add_use(swp__scope *scope, swp__held *held, uint64_t handle, swp_error *error)
{
    swp__use *use = find_use(scope, handle);
    if (use != NULL) {
        use->count++;
        return SWP_OK;
    }
    swp_status status = swp__scope_check_room(scope, error);
    if (status != SWP_OK) {
        return status;
    }
    use = swp__alloc(scope->store->allocator, 1, sizeof *use);
    if (use == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "store: no memory for a handle");
    }
    *use = (swp__use){.scope = scope, .held = held, .count = 1, .next = scope->uses};
    if (scope->uses != NULL) {
        scope->uses->previous = use;
    }
    scope->uses = use;
    scope->uses_count++;
    swp__map_add(&scope->store->uses, &use->node, swp__key_of(handle, scope->number));
    swp__held_add_user(held);
    return SWP_OK;
}

static void remove_use(swp__use *use, swp__graveyard *graveyard)
{
    swp__scope *scope = use->scope;
    *(use->previous != NULL ? &use->previous->next : &scope->uses) = use->next;
    if (use->next != NULL) {
        use->next->previous = use->previous;
    }
    scope->uses_count--;
    swp__map_remove(&scope->store->uses, &use->node);
    swp__held_remove_user(use->held, graveyard);
    swp__free(scope->store->allocator, use, 1, sizeof *use);
}

swp_status swp__scope_drop(swp__scope *scope, uint64_t handle, swp_error *error)
{
    if (swp__upload_drop(scope, handle)) {
        return SWP_OK;
    }
    swp__store *store = scope->store;
    swp__graveyard graveyard = {NULL};
    swp_status status = SWP_OK;
    pthread_mutex_lock(&store->lock);
    swp__use *use = find_use(scope, handle);
    if (use == NULL) {
        status = no_such_handle(scope, handle, error);
    } else if (--use->count == 0) {
        remove_use(use, &graveyard);
    }
    pthread_mutex_unlock(&store->lock);
    swp__graveyard_empty(store, &graveyard);
    return status;
}

void swp__scope_free(swp__scope *scope)
{
    if (scope == NULL) {
        return;
    }
    swp__store *store = scope->store;
    swp__graveyard graveyard = {NULL};
    while (scope->uploads != NULL) {
        swp__load_free(scope->uploads);
    }
    assert(scope->loads_count == 0);
    pthread_mutex_lock(&store->lock);
    while (scope->uses != NULL) {
        remove_use(scope->uses, &graveyard);
    }
    swp__owner_release(store, scope->owner);
    store->counters.scopes--;
    pthread_mutex_unlock(&store->lock);
    swp__graveyard_empty(store, &graveyard);
    swp__free(store->allocator, scope, 1, sizeof *scope);
}

/* ---- by content ---- */

typedef struct match {
    swp__held *held;
    bool is_refused; /* there is one, but the policy does not let it in */
} match;

static void match_content(const swp__store *store, const swp__owner *owner, swp__fingerprint fingerprint,
                          const swp__shape *shape, match *m)
{
    swp__map_node *node = swp__map_find(&store->contents, swp__key_of(fingerprint.low, owner->number));
    for (; node != NULL && m->held == NULL; node = swp__map_next(node)) {
        swp__held *held = SWP__OWNER_OF(node, swp__held, by_content);
        if (held->owner == owner && swp__fingerprint_equal(held->fingerprint, fingerprint) &&
            held->shape.bars_count == shape->bars_count && held->shape.columns == shape->columns) {
            m->is_refused = (held->series.seen.needs & ~shape->policy) != 0;
            m->held = m->is_refused ? NULL : held;
        }
    }
}

static match find_content(const swp__scope *scope, swp__fingerprint fingerprint, const swp__shape *shape)
{
    match m = {NULL, false};
    match_content(scope->store, scope->owner, fingerprint, shape, &m);
    if (m.held == NULL) {
        match_content(scope->store, scope->store->everybody, fingerprint, shape, &m);
    }
    return m;
}

swp_status swp__scope_find(swp__scope *scope, swp__fingerprint fingerprint, const swp__shape *shape, swp__series_info *info,
                           swp_error *error)
{
    swp__store *store = scope->store;
    swp_status status = swp__shape_check(shape, error);
    if (status != SWP_OK) {
        return status;
    }
    pthread_mutex_lock(&store->lock);
    match m = find_content(scope, fingerprint, shape);
    if (m.held != NULL) {
        status = swp__scope_add_use(scope, m.held, m.held->handle, error);
    } else {
        status = swp__fail(error, SWP_NOT_FOUND, SWP_AT_NONE, "series: %s",
                           m.is_refused ? "the content is held, but has closes that this policy refuses"
                                        : "no such content was loaded, or it was evicted");
    }
    if (status == SWP_OK) {
        *info = swp__held_info(m.held);
    }
    *(m.held != NULL ? &store->counters.finds : &store->counters.misses) += 1;
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* ---- by name ---- */

static uint64_t name_key(const swp__owner *owner, const char *text, size_t size)
{
    return swp__key_of(swp__fingerprint_of(text, size).low, owner->number);
}

static swp__name *find_name_of(const swp__store *store, const swp__owner *owner, const char *text, size_t size)
{
    swp__map_node *node = swp__map_find(&store->names, name_key(owner, text, size));
    for (; node != NULL; node = swp__map_next(node)) {
        swp__name *name = SWP__OWNER_OF(node, swp__name, node);
        if (name->owner == owner && name->size == size && memcmp(name->text, text, size) == 0) {
            return name;
        }
    }
    return NULL;
}

static swp__name *find_name(const swp__scope *scope, const char *text, size_t size)
{
    swp__name *name = find_name_of(scope->store, scope->owner, text, size);
    return name != NULL ? name : find_name_of(scope->store, scope->store->everybody, text, size);
}

static swp_status check_name_size(size_t size, swp_error *error)
{
    if (size < 1 || size > SWP__SERIES_NAME_MAX) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "name is %zu bytes, expected 1..%d", size, SWP__SERIES_NAME_MAX);
    }
    return SWP_OK;
}

swp_status swp__scope_open(swp__scope *scope, const char *text, size_t size, swp__series_info *info, swp_error *error)
{
    swp__store *store = scope->store;
    swp_status status = check_name_size(size, error);
    if (status != SWP_OK) {
        return status;
    }
    pthread_mutex_lock(&store->lock);
    swp__name *name = find_name(scope, text, size);
    if (name == NULL) {
        status =
            swp__fail(error, SWP_NOT_FOUND, SWP_AT_NONE, "no series is named \"%.*s\", or it was evicted", (int)size, text);
    } else {
        status = swp__scope_add_use(scope, name->held, name->held->handle, error);
    }
    if (status == SWP_OK) {
        *info = swp__held_info(name->held);
    }
    pthread_mutex_unlock(&store->lock);
    return status;
}

static swp_status add_name(swp__scope *scope, swp__held *held, const char *text, size_t size, swp_error *error)
{
    swp__store *store = scope->store;
    swp__owner *owner = scope->owner;
    if (owner->names_count >= store->limits->max_names) {
        return swp__fail_limit(error, store->limits->max_names, owner->names_count + 1,
                               "name: %" PRIu64 " are given, which is the limit", owner->names_count);
    }
    swp__name *name = swp__alloc(store->allocator, 1, sizeof *name);
    if (name == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "store: no memory for a name");
    }
    *name = (swp__name){.owner = owner, .held = held, .next = held->names, .size = size};
    memcpy(name->text, text, size);
    held->names = name;
    owner->references++;
    owner->names_count++;
    swp__map_add(&store->names, &name->node, name_key(owner, text, size));
    return SWP_OK;
}

static swp_status name_use(swp__scope *scope, uint64_t handle, const char *text, size_t size, swp_error *error)
{
    swp__use *use = find_use(scope, handle);
    if (use == NULL) {
        return no_such_handle(scope, handle, error);
    }
    const swp__name *taken = find_name(scope, text, size);
    if (taken == NULL) {
        return add_name(scope, use->held, text, size, error);
    }
    if (taken->held != use->held) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "name \"%.*s\" is taken by another series", (int)size, text);
    }
    return SWP_OK;
}

swp_status swp__scope_name(swp__scope *scope, uint64_t handle, const char *text, size_t size, swp_error *error)
{
    swp_status status = check_name_size(size, error);
    if (status == SWP_OK) {
        pthread_mutex_lock(&scope->store->lock);
        status = name_use(scope, handle, text, size, error);
        pthread_mutex_unlock(&scope->store->lock);
    }
    return status;
}

swp_status swp__scope_pin(swp__scope *scope, uint64_t handle, swp_error *error)
{
    swp__store *store = scope->store;
    swp_status status = SWP_OK;
    pthread_mutex_lock(&store->lock);
    swp__use *use = find_use(scope, handle);
    if (use == NULL) {
        status = no_such_handle(scope, handle, error);
    } else if (!use->held->is_pinned) {
        use->held->is_pinned = true;
        use->held->next_pinned = store->pinned;
        store->pinned = use->held;
        swp__held_add_user(use->held);
    }
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* ---- use ---- */

void swp__store_give(swp__store *store, const swp_series *series)
{
    swp__graveyard graveyard = {NULL};
    pthread_mutex_lock(&store->lock);
    swp__held_remove_user((swp__held *)(void *)(uintptr_t)series, &graveyard);
    pthread_mutex_unlock(&store->lock);
    swp__graveyard_empty(store, &graveyard);
}

/* Judges adopted memory, and hashes it if asked, without the lock; two threads that do so at once come to the same.
 * The caller has a use of it. */
static swp_status look_at(swp__held *held, bool hashes, swp_error *error)
{
    swp__store *store = held->store;
    swp__scan scan;
    swp__scan_init(&scan, hashes);
    swp__scan_run(&scan, held, swp__content_bytes(&held->shape));
    if (scan.status != SWP_OK) {
        return swp__fail(error, scan.status, scan.error.at, "%s", scan.error.message);
    }
    pthread_mutex_lock(&store->lock);
    held->series.seen = scan.seen;
    held->is_judged = true;
    if (hashes && !held->is_hashed) {
        held->fingerprint = swp__fingerprinter_end(&scan.fingerprinter);
        swp__held_enter_content(held);
    }
    pthread_mutex_unlock(&store->lock);
    return SWP_OK;
}

/* The held series, with a user more, judged and when asked hashed. */
static swp_status take(swp__scope *scope, uint64_t handle, bool hashes, swp__held **held, swp_error *error)
{
    swp__store *store = scope->store;
    pthread_mutex_lock(&store->lock);
    swp__use *use = find_use(scope, handle);
    swp_status status = use != NULL ? SWP_OK : no_such_handle(scope, handle, error);
    bool is_done = true;
    *held = NULL;
    if (use != NULL) {
        *held = use->held;
        swp__held_add_user(use->held);
        is_done = use->held->is_judged && (use->held->is_hashed || !hashes);
    }
    pthread_mutex_unlock(&store->lock);
    if (!is_done) {
        status = look_at(*held, hashes, error);
        if (status != SWP_OK) {
            swp__store_give(store, &(*held)->series);
        }
    }
    return status;
}

swp_status swp__store_take(swp__scope *scope, uint64_t handle, const swp_series **series, swp_error *error)
{
    swp__held *held;
    swp_status status = take(scope, handle, false, &held, error);
    if (status == SWP_OK) {
        *series = &held->series;
    }
    return status;
}

swp_status swp__scope_hash(swp__scope *scope, uint64_t handle, swp__series_info *info, swp_error *error)
{
    swp__store *store = scope->store;
    swp__held *held;
    swp_status status = take(scope, handle, true, &held, error);
    if (status == SWP_OK) {
        pthread_mutex_lock(&store->lock);
        *info = swp__held_info(held);
        pthread_mutex_unlock(&store->lock);
        swp__store_give(store, &held->series);
    }
    return status;
}

/* ---- the list ---- */

static void add_columns(swp__text *text, uint32_t columns)
{
    static const char *const names[SWP__SERIES_COLUMNS] = {"close", "open", "high", "low", "volume", "time"};
    const char *comma = "";
    for (size_t i = 0; i < SWP__SERIES_COLUMNS; i++) {
        if ((columns >> i & 1) != 0) {
            swp__text_add(text, "%s\"%s\"", comma, names[i]);
            comma = ", ";
        }
    }
}

static void add_line(swp__text *text, const swp__held *held, const swp__name *name)
{
    swp__text_add(text, "%s\n{\"name\": ", text->length > 1 ? "," : "");
    if (name != NULL) {
        swp__text_add_json(text, name->text, name->size);
    } else {
        swp__text_add(text, "null");
    }
    swp__text_add(text, ", \"handle\": \"%#" PRIx64 "\", \"bars\": %" PRIu64 ", \"columns\": [", held->handle,
                  held->shape.bars_count);
    add_columns(text, held->shape.columns);
    swp__text_add(text, "], \"bytes\": %" PRIu64 ", \"fingerprint\": ", swp__content_bytes(&held->shape));
    if (held->is_hashed) {
        swp__text_add(text, "\"%016" PRIx64 "%016" PRIx64 "\"", held->fingerprint.high, held->fingerprint.low);
    } else {
        swp__text_add(text, "null");
    }
    swp__text_add(text, ", \"pinned\": %s}", held->is_pinned ? "true" : "false");
}

static void add_lines(swp__text *text, const swp__scope *scope, const swp__owner *owner)
{
    for (const swp__held *held = owner->series; held != NULL; held = held->next) {
        bool is_named = false;
        for (const swp__name *name = held->names; name != NULL; name = name->next) {
            if (name->owner == scope->owner || name->owner == scope->store->everybody) {
                add_line(text, held, name);
                is_named = true;
            }
        }
        if (!is_named) {
            add_line(text, held, NULL);
        }
    }
}

size_t swp__scope_list(swp__scope *scope, char *at, size_t size)
{
    swp__store *store = scope->store;
    swp__text text = {.at = at, .size = size};
    pthread_mutex_lock(&store->lock);
    swp__text_add(&text, "[");
    add_lines(&text, scope, scope->owner);
    if (scope->owner != store->everybody) {
        add_lines(&text, scope, store->everybody);
    }
    swp__text_add(&text, "]\n");
    pthread_mutex_unlock(&store->lock);
    return text.length;
}
