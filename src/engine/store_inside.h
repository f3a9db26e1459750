/* What the store's files share. Everything here is guarded by store->lock but for what a load owns alone, and for
 * the bytes of a held series, which never change. */
#ifndef SWP_ENGINE_STORE_INSIDE_H
#define SWP_ENGINE_STORE_INSIDE_H

#include "base/map.h"
#include "engine/series.h"
#include "engine/store.h"

enum { SWP__SERIES_COLUMNS = 6 };

/* An identity that has scopes, series or names; gone with the last of them. */
typedef struct swp__owner {
    swp__map_node node; /* store->owners */
    swp__identity identity;
    uint64_t number; /* tells owners apart in keys */
    uint64_t references;
    uint64_t names_count;
    struct swp__held *series; /* list */
} swp__owner;

typedef struct swp__name {
    swp__map_node node; /* store->names */
    swp__owner *owner;
    struct swp__held *held;
    struct swp__name *next; /* of the same series */
    size_t size;
    char text[SWP__SERIES_NAME_MAX + 1];
} swp__name;

/* A series, or one on its way in. Its columns follow in the same block of memory, unless it was adopted. */
typedef struct swp__held {
    swp_series series; /* first: a sweep knows a held series by this */
    swp__store *store;
    swp__owner *owner;
    swp__map_node by_content;
    struct swp__held *next, *previous;           /* of its owner */
    struct swp__held *less_recent, *more_recent; /* while nobody uses it: store->oldest ... store->newest */
    struct swp__held *next_pinned;
    swp__shape shape;
    const char *columns[SWP__SERIES_COLUMNS]; /* NULL: not there */
    uint64_t handle;
    swp__fingerprint fingerprint;
    bool is_judged, is_hashed, is_pinned;
    uint64_t users; /* scopes, sweeps, comparisons, and the pin */
    swp__name *names;
    size_t block_size;
    uint64_t charge; /* bytes counted against max_memory */
    const void *adopted;
    void (*release)(void *context, const void *memory, uint64_t size);
    void *release_context;
} swp__held;

/* A scope's uses of one series. */
typedef struct swp__use {
    swp__map_node node; /* store->uses */
    swp__scope *scope;
    swp__held *held;
    uint64_t count;
    struct swp__use *next, *previous; /* of the scope */
} swp__use;

struct swp__scope {
    swp__store *store;
    swp__owner *owner;
    uint64_t number;
    swp__use *uses;
    uint64_t uses_count;
    swp__load *uploads;
    uint64_t uploads_count;
    uint64_t loads_count;
};

struct swp__store {
    swp_engine *engine;
    const swp_allocator *allocator;
    const swp__limits *limits;
    uint32_t epoch;
    pthread_mutex_t lock;
    uint64_t serial; /* of the last handle or upload given */
    uint64_t scopes_made, owners_made;
    swp__map owners, names, contents, uses;
    swp__owner *everybody;
    swp__held *oldest, *newest; /* nobody uses these */
    swp__held *pinned;
    swp__store_counters counters;
};

/* Series that are out of all lists and wait to be freed without the lock. */
typedef struct swp__graveyard {
    swp__held *first;
} swp__graveyard;

/* ---- held.c; all but the first three called locked ---- */

uint64_t swp__content_bytes(const swp__shape *shape);
swp_status swp__shape_check(const swp__shape *shape, swp_error *error);
void swp__graveyard_empty(swp__store *store, swp__graveyard *graveyard);

/* Counts `bytes` more against max_memory, with the least recently used series going to the graveyard as needed.
 * LIMIT. */
swp_status swp__store_charge(swp__store *store, uint64_t bytes, swp__graveyard *graveyard, swp_error *error);
void swp__store_discharge(swp__store *store, uint64_t bytes);

/* Makes a series one of the store's. It has the next handle and a user. */
void swp__held_enter(swp__held *held);

/* Takes it out of everything, with its names. */
void swp__held_bury(swp__held *held, swp__graveyard *graveyard);

void swp__held_add_user(swp__held *held);
void swp__held_remove_user(swp__held *held, swp__graveyard *graveyard);

/* Once it is hashed: found by content. */
void swp__held_enter_content(swp__held *held);

/* The next number for a handle or an upload. LIMIT: the epoch has none left. */
swp_status swp__store_next_handle(const swp__store *store, uint64_t *handle, swp_error *error);

/* The owner of that identity, made if need be, with a reference more; NULL: no memory. */
swp__owner *swp__owner_get(swp__store *store, swp__identity identity);
void swp__owner_release(swp__store *store, swp__owner *owner);

uint64_t swp__key_of(uint64_t hash, uint64_t number);
swp__series_info swp__held_info(const swp__held *held);

/* ---- scope.c ---- */

/* A use more. LIMIT (max_handles), NO_MEMORY. Called locked. */
swp_status swp__scope_add_use(swp__scope *scope, swp__held *held, uint64_t handle, swp_error *error);
swp_status swp__scope_check_room(const swp__scope *scope, swp_error *error);

/* ---- load.c ---- */

/* False: no such upload. */
bool swp__upload_drop(swp__scope *scope, uint64_t upload);

/* ---- scan.c ---- */

/* Content looked at from the first byte to the last: closes judged, times compared, all hashed. */
typedef struct swp__scan {
    swp__fingerprinter fingerprinter;
    bool hashes;
    uint64_t position; /* bytes of the content done */
    swp__closes_seen seen;
    int64_t last_time;
    swp_status status; /* of what was refused; it goes no further */
    swp_error error;
} swp__scan;

void swp__scan_init(swp__scan *scan, bool hashes);

/* On to `position` (a multiple of 8) of the content. */
void swp__scan_run(swp__scan *scan, const swp__held *held, uint64_t position);

/* The column and the bytes of it from `position` of the content on, at most up to `end`. */
const char *swp__content_at(const swp__held *held, uint64_t position, uint64_t end, size_t *column, uint64_t *bytes);

#endif
