/* Series on their way in: memory first, then bytes, then the question whether the content is held already. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include "base/error.h"
#include "base/host.h"
#include "engine/store_inside.h"

#define PREFAULT_BYTES (UINT64_C(4) << 20) /* what comes after is not long enough in coming to be waited for */
#define STEP_BYTES (UINT64_C(1) << 20)     /* looked at between two looks at the budget */

struct swp__load {
    swp__scope *scope;
    swp__held *held; /* NULL once it is one of the store's */
    swp__scan scan;
    uint64_t ready; /* bytes of content */

    /* Which held series of the same fingerprint has the same bytes: one after the other, by rising handle. */
    swp__held *candidate;    /* has a user more while it is compared and when it was found equal */
    uint64_t compared;       /* bytes of it found equal */
    uint64_t last_different; /* handle of the last one that is another after all */

    /* an upload */
    uint64_t upload; /* its number; 0: none */
    swp__load *next, *previous;
    uint64_t *covered; /* a bit a bar, column behind column; bits of the last word beyond the bars are set */
    size_t covered_words;
};

/* ---- memory ---- */

static size_t round_up_64(size_t size)
{
    return (size + 63) / 64 * 64;
}

/* Bytes of a held series with its columns; UINT64_MAX when they cannot be counted. */
static uint64_t block_bytes(const swp__shape *shape)
{
    if (shape->bars_count > UINT64_MAX / 64 / 8) {
        return UINT64_MAX;
    }
    uint64_t columns = (uint64_t)__builtin_popcount(shape->columns);
    return round_up_64(sizeof(swp__held)) + columns * round_up_64(shape->bars_count * 8);
}

static swp_status charge(swp__store *store, uint64_t bytes, swp_error *error)
{
    swp__graveyard graveyard = {NULL};
    pthread_mutex_lock(&store->lock);
    swp_status status = swp__store_charge(store, bytes, &graveyard, error);
    pthread_mutex_unlock(&store->lock);
    swp__graveyard_empty(store, &graveyard);
    return status;
}

static void discharge(swp__store *store, uint64_t bytes)
{
    pthread_mutex_lock(&store->lock);
    swp__store_discharge(store, bytes);
    pthread_mutex_unlock(&store->lock);
}

static void lay_out_columns(swp__held *held, const char *at, uint64_t stride)
{
    for (size_t i = 0; i < SWP__SERIES_COLUMNS; i++) {
        if ((held->shape.columns >> i & 1) != 0) {
            held->columns[i] = at;
            at += stride;
        }
    }
    held->series.close = (const double *)(const void *)held->columns[0];
}

/* A series that is nobody's yet, with memory for its columns unless it is adopted. `charge_bytes` count against
 * max_memory. */
static swp_status new_held(swp__scope *scope, const swp__shape *shape, const void *adopted, uint64_t charge_bytes,
                           swp__held **held, swp_error *error)
{
    swp__store *store = scope->store;
    swp_status status = charge(store, charge_bytes, error);
    if (status != SWP_OK) {
        return status;
    }
    size_t head = round_up_64(sizeof(swp__held));
    size_t block_size = adopted != NULL ? head : (size_t)block_bytes(shape);
    swp__held *made = swp__alloc(store->allocator, 1, block_size);
    if (made == NULL) {
        discharge(store, charge_bytes);
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "series: no memory for %" PRIu64 " bytes", charge_bytes);
    }
    swp__prefault(made, block_size, PREFAULT_BYTES);
    *made = (swp__held){
        .series = {.engine = store->engine, .bars_count = shape->bars_count},
        .store = store,
        .owner = scope->owner,
        .shape = *shape,
        .users = 1, /* its maker */
        .block_size = block_size,
        .charge = charge_bytes,
        .adopted = adopted,
    };
    uint64_t column_bytes = shape->bars_count * 8;
    lay_out_columns(made, adopted != NULL ? adopted : (const char *)made + head,
                    adopted != NULL ? column_bytes : round_up_64(column_bytes));
    *held = made;
    return SWP_OK;
}

static void free_held(swp__store *store, swp__held *held)
{
    discharge(store, held->charge);
    swp__free(store->allocator, held, 1, held->block_size);
}

static swp_status check_load(swp__scope *scope, const swp__shape *shape, swp_error *error)
{
    swp_status status = swp__shape_check(shape, error);
    return status != SWP_OK ? status : swp__scope_check_room(scope, error);
}

static swp_status make_load(swp__scope *scope, const swp__shape *shape, swp__load **load, swp_error *error)
{
    swp__load *made = swp__alloc(scope->store->allocator, 1, sizeof *made);
    if (made == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "series: no memory");
    }
    *made = (swp__load){.scope = scope};
    swp_status status = new_held(scope, shape, NULL, block_bytes(shape), &made->held, error);
    if (status != SWP_OK) {
        swp__free(scope->store->allocator, made, 1, sizeof *made);
        return status;
    }
    swp__scan_init(&made->scan, true);
    scope->loads_count++;
    *load = made;
    return SWP_OK;
}

swp_status swp__load_new(swp__scope *scope, const swp__shape *shape, swp__load **load, swp_error *error)
{
    swp_status status = check_load(scope, shape, error);
    return status != SWP_OK ? status : make_load(scope, shape, load, error);
}

static uint64_t covered_bytes(const swp__load *load)
{
    return load->covered_words * sizeof *load->covered;
}

/* It is an upload no more. */
static void leave_uploads(swp__load *load)
{
    swp__scope *scope = load->scope;
    *(load->previous != NULL ? &load->previous->next : &scope->uploads) = load->next;
    if (load->next != NULL) {
        load->next->previous = load->previous;
    }
    scope->uploads_count--;
    swp__free(scope->store->allocator, load->covered, load->covered_words, sizeof *load->covered);
    discharge(scope->store, covered_bytes(load));
    load->upload = 0;
}

void swp__load_free(swp__load *load)
{
    if (load == NULL) {
        return;
    }
    swp__scope *scope = load->scope;
    if (load->upload != 0) {
        leave_uploads(load);
    }
    if (load->candidate != NULL) {
        swp__store_give(scope->store, &load->candidate->series);
    }
    if (load->held != NULL) {
        free_held(scope->store, load->held);
    }
    scope->loads_count--;
    swp__free(scope->store->allocator, load, 1, sizeof *load);
}

void *swp__load_column(swp__load *load, uint32_t column)
{
    assert(column != 0 && (column & (column - 1)) == 0 && (load->held->shape.columns & column) != 0);
    return (void *)(uintptr_t)load->held->columns[__builtin_ctz(column)];
}

/* ---- looking at it ---- */

void swp__load_ready(swp__load *load, uint64_t bytes)
{
    assert(bytes <= swp__content_bytes(&load->held->shape));
    load->ready = bytes;
}

static void look_for_candidate(swp__load *load, const swp__owner *owner, swp__held **best)
{
    const swp__held *mine = load->held;
    swp__map_node *node = swp__map_find(&mine->store->contents, swp__key_of(mine->fingerprint.low, owner->number));
    for (; node != NULL; node = swp__map_next(node)) {
        swp__held *held = SWP__OWNER_OF(node, swp__held, by_content);
        if (held->owner == owner && swp__fingerprint_equal(held->fingerprint, mine->fingerprint) &&
            held->shape.bars_count == mine->shape.bars_count && held->shape.columns == mine->shape.columns &&
            held->handle > load->last_different && (*best == NULL || held->handle < (*best)->handle)) {
            *best = held;
        }
    }
}

/* The next series to compare with, taken; false: none. Called locked. */
static bool take_candidate(swp__load *load)
{
    swp__held *best = NULL;
    look_for_candidate(load, load->scope->owner, &best);
    if (load->scope->owner != load->scope->store->everybody) {
        look_for_candidate(load, load->scope->store->everybody, &best);
    }
    if (best != NULL) {
        swp__held_add_user(best);
        load->candidate = best;
        load->compared = 0;
    }
    return best != NULL;
}

static bool is_same(const swp__load *load)
{
    return load->candidate != NULL && load->compared == swp__content_bytes(&load->held->shape);
}

/* Up to `bytes` more of the candidate; gives it back when it differs. */
static void compare(swp__load *load, uint64_t bytes)
{
    uint64_t left = swp__content_bytes(&load->held->shape) - load->compared;
    uint64_t end = load->compared + (bytes < left ? bytes : left);
    while (load->compared < end) {
        size_t column;
        uint64_t count;
        const char *mine = swp__content_at(load->held, load->compared, end, &column, &count);
        const char *other = swp__content_at(load->candidate, load->compared, end, &column, &count);
        if (memcmp(mine, other, count) != 0) {
            load->last_different = load->candidate->handle;
            swp__store_give(load->scope->store, &load->candidate->series);
            load->candidate = NULL;
            return;
        }
        load->compared += count;
    }
}

static void scan(swp__load *load, uint64_t bytes)
{
    uint64_t left = load->ready - load->ready % 8 - load->scan.position;
    swp__scan_run(&load->scan, load->held, load->scan.position + (bytes < left ? bytes : left));
    if (load->scan.status == SWP_OK && load->scan.position == swp__content_bytes(&load->held->shape)) {
        load->held->fingerprint = swp__fingerprinter_end(&load->scan.fingerprinter);
        load->held->series.seen = load->scan.seen;
    }
}

/* One step; true: nothing is left. */
static bool step(swp__load *load, uint64_t bytes)
{
    swp__store *store = load->scope->store;
    uint64_t size = swp__content_bytes(&load->held->shape);
    if (load->scan.status != SWP_OK) {
        return true;
    }
    if (load->scan.position < size) {
        scan(load, bytes);
        return false;
    }
    if (load->candidate == NULL) {
        pthread_mutex_lock(&store->lock);
        bool taken = take_candidate(load);
        pthread_mutex_unlock(&store->lock);
        return !taken;
    }
    if (!is_same(load)) {
        compare(load, bytes);
    }
    return is_same(load);
}

bool swp__load_work(swp__load *load, uint64_t bytes)
{
    uint64_t size = swp__content_bytes(&load->held->shape);
    bytes = bytes / 8 * 8;
    for (uint64_t done = 0; done < bytes;) {
        uint64_t before = load->scan.position + load->compared;
        uint64_t piece = bytes - done < STEP_BYTES ? bytes - done : STEP_BYTES;
        if (step(load, piece)) {
            return true;
        }
        uint64_t after = load->scan.position + load->compared;
        if (load->scan.position < size && load->scan.position == load->ready / 8 * 8) {
            return false; /* no more is there yet */
        }
        done += after > before ? after - before : 8;
    }
    return load->scan.status != SWP_OK || is_same(load);
}

/* ---- the end of it ---- */

/* Makes the load a held series. Called locked. */
static swp_status enter(swp__load *load, swp_error *error)
{
    swp__held *held = load->held;
    swp_status status = swp__store_next_handle(held->store, &held->handle, error);
    if (status == SWP_OK) {
        status = swp__scope_add_use(load->scope, held, held->handle, error);
    }
    if (status == SWP_OK) {
        held->is_judged = true;
        swp__held_enter(held);
        swp__held_enter_content(held);
        held->users--; /* the maker's; the scope's stays */
        load->held = NULL;
    }
    return status;
}

static swp_status settle(swp__load *load, swp__series_info *info, swp_error *error)
{
    swp__store *store = load->scope->store;
    swp_status status;
    pthread_mutex_lock(&store->lock);
    while (!is_same(load) && take_candidate(load)) { /* one that came in meanwhile */
        pthread_mutex_unlock(&store->lock);
        compare(load, UINT64_MAX);
        pthread_mutex_lock(&store->lock);
    }
    swp__held *found = is_same(load) ? load->candidate : load->held;
    if (found == load->candidate) {
        status = swp__scope_add_use(load->scope, found, found->handle, error);
    } else {
        status = enter(load, error);
    }
    if (status == SWP_OK) {
        store->counters.loads++;
        store->counters.merges += found == load->candidate ? 1 : 0;
        *info = swp__held_info(found);
    }
    pthread_mutex_unlock(&store->lock);
    return status;
}

swp_status swp__load_commit(swp__load *load, swp__series_info *info, swp_error *error)
{
    swp__load_ready(load, swp__content_bytes(&load->held->shape));
    while (!swp__load_work(load, UINT64_MAX)) {
    }
    swp_status status = load->scan.status;
    if (status != SWP_OK) {
        swp__fail(error, status, load->scan.error.at, "%s", load->scan.error.message);
    } else {
        status = settle(load, info, error);
    }
    swp__load_free(load);
    return status;
}

swp_status swp__store_adopt(swp__scope *scope, const swp__shape *shape, const void *memory,
                            void (*release)(void *context, const void *memory, uint64_t size), void *context,
                            swp__series_info *info, swp_error *error)
{
    swp__store *store = scope->store;
    swp__held *held;
    swp_status status = check_load(scope, shape, error);
    if (status == SWP_OK) {
        status = new_held(scope, shape, memory, block_bytes(shape), &held, error);
    }
    if (status != SWP_OK) {
        return status;
    }
    pthread_mutex_lock(&store->lock);
    status = swp__store_next_handle(store, &held->handle, error);
    if (status == SWP_OK) {
        status = swp__scope_add_use(scope, held, held->handle, error);
    }
    if (status == SWP_OK) {
        swp__held_enter(held);
        held->release = release;
        held->release_context = context;
        held->users--;
        store->counters.loads++;
        *info = swp__held_info(held);
    }
    pthread_mutex_unlock(&store->lock);
    if (status != SWP_OK) {
        free_held(store, held);
    }
    return status;
}

/* ---- uploads ---- */

static uint64_t words_of(uint64_t bars_count)
{
    return (bars_count - 1) / 64 + 1;
}

/* Sets bits [from, to) of a column's cover. */
static void cover(uint64_t *words, uint64_t from, uint64_t to)
{
    for (uint64_t word = from / 64; word <= (to - 1) / 64; word++) {
        uint64_t begin = word == from / 64 ? from % 64 : 0;
        uint64_t end = word == (to - 1) / 64 ? (to - 1) % 64 + 1 : 64;
        words[word] |= (end == 64 ? ~UINT64_C(0) : (UINT64_C(1) << end) - 1) & ~((UINT64_C(1) << begin) - 1);
    }
}

static swp_status add_cover(swp__load *load, swp_error *error)
{
    const swp__shape *shape = &load->held->shape;
    swp__store *store = load->scope->store;
    uint64_t columns = (uint64_t)__builtin_popcount(shape->columns), words = words_of(shape->bars_count);
    load->covered_words = (size_t)(columns * words);
    swp_status status = charge(store, covered_bytes(load), error);
    if (status != SWP_OK) {
        return status;
    }
    load->covered = swp__alloc(store->allocator, load->covered_words, sizeof *load->covered);
    if (load->covered == NULL) {
        discharge(store, covered_bytes(load));
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "upload: no memory");
    }
    memset(load->covered, 0, load->covered_words * sizeof *load->covered);
    for (uint64_t i = 0; i < columns && shape->bars_count % 64 != 0; i++) {
        cover(load->covered + i * words, shape->bars_count, words * 64);
    }
    return SWP_OK;
}

static swp_status number_upload(swp__load *load, swp_error *error)
{
    swp__store *store = load->scope->store;
    pthread_mutex_lock(&store->lock);
    swp_status status = swp__store_next_handle(store, &load->upload, error);
    store->serial += status == SWP_OK ? 1 : 0;
    pthread_mutex_unlock(&store->lock);
    return status;
}

swp_status swp__upload_new(swp__scope *scope, const swp__shape *shape, uint64_t *upload, swp_error *error)
{
    uint64_t limit = scope->store->limits->max_uploads;
    swp_status status = check_load(scope, shape, error);
    if (status == SWP_OK && scope->uploads_count >= limit) {
        status =
            swp__fail_limit(error, limit, scope->uploads_count + 1,
                            "upload: %" PRIu64 " are in progress on this connection, which is the limit", scope->uploads_count);
    }
    swp__load *load = NULL;
    if (status == SWP_OK) {
        status = make_load(scope, shape, &load, error);
    }
    if (status == SWP_OK) {
        status = number_upload(load, error);
    }
    if (status == SWP_OK) {
        status = add_cover(load, error);
    }
    if (status != SWP_OK) {
        if (load != NULL) {
            load->upload = 0;
        }
        swp__load_free(load);
        return status;
    }
    load->next = scope->uploads;
    if (scope->uploads != NULL) {
        scope->uploads->previous = load;
    }
    scope->uploads = load;
    scope->uploads_count++;
    *upload = load->upload;
    return SWP_OK;
}

static swp__load *find_upload(const swp__scope *scope, uint64_t upload)
{
    swp__load *load = scope->uploads;
    while (load != NULL && load->upload != upload) {
        load = load->next;
    }
    return load;
}

static swp_status no_such_upload(uint64_t upload, swp_error *error)
{
    return swp__fail(error, SWP_NOT_FOUND, SWP_AT_NONE, "upload %#" PRIx64 " is not in progress on this connection", upload);
}

bool swp__upload_drop(swp__scope *scope, uint64_t upload)
{
    swp__load *load = find_upload(scope, upload);
    swp__load_free(load);
    return load != NULL;
}

/* Which of the columns there are, by number, this one is. */
static uint64_t nth_column(const swp__load *load, uint32_t column)
{
    return (uint64_t)__builtin_popcount(load->held->shape.columns & (column - 1));
}

swp_status swp__upload_part(swp__scope *scope, uint64_t upload, uint32_t column, uint64_t first_bar, uint64_t bars_count,
                            void **memory, swp_error *error)
{
    swp__load *load = find_upload(scope, upload);
    if (load == NULL) {
        return no_such_upload(upload, error);
    }
    const swp__shape *shape = &load->held->shape;
    if (column == 0 || (column & (column - 1)) != 0 || (shape->columns & column) == 0) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "upload: column is %#" PRIx32 ", expected one of %#" PRIx32, column,
                         shape->columns);
    }
    if (bars_count == 0 || first_bar >= shape->bars_count || bars_count > shape->bars_count - first_bar) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE,
                         "upload: %" PRIu64 " bars from bar %" PRIu64 " on, expected 1 or more within %" PRIu64, bars_count,
                         first_bar, shape->bars_count);
    }
    cover(load->covered + nth_column(load, column) * words_of(shape->bars_count), first_bar, first_bar + bars_count);
    *memory = (char *)swp__load_column(load, column) + first_bar * 8;
    return SWP_OK;
}

swp_status swp__upload_end(swp__scope *scope, uint64_t upload, swp__load **load, swp_error *error)
{
    swp__load *found = find_upload(scope, upload);
    if (found == NULL) {
        return no_such_upload(upload, error);
    }
    uint64_t words = words_of(found->held->shape.bars_count);
    for (size_t i = 0; i < found->covered_words; i++) {
        if (found->covered[i] != ~UINT64_C(0)) {
            uint64_t bar = i % words * 64 + (uint64_t)__builtin_ctzll(~found->covered[i]);
            return swp__fail(error, SWP_BAD_PARAM, bar, "upload: bar %" PRIu64 " of column %" PRIu64 " is missing", bar,
                             (uint64_t)i / words);
        }
    }
    leave_uploads(found);
    found->ready = swp__content_bytes(&found->held->shape);
    *load = found;
    return SWP_OK;
}
