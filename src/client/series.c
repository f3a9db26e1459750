/* Series that the engine holds for us: sent, found, named, found again after a reconnect, given back. */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include "base/error.h"
#include "base/host.h"
#include "client/internal.h"
#include "transport/shm.h"

#define HAND_OVER_BYTES                                                                                                        \
    (UINT64_C(16) << 20)                /* from here on a memfd is quicker than a socket, if not by much; never than a ring */
#define PART_BYTES (UINT64_C(64) << 20) /* of a series in parts, where a frame may be longer */

/* ---- columns ---- */

static void column_arrays(const swp_columns *columns, const void *arrays[SWP__COLUMNS_COUNT])
{
    const void *const in_order[SWP__COLUMNS_COUNT] = {columns->close, columns->open,   columns->high,
                                                      columns->low,   columns->volume, columns->time_ns};
    memcpy(arrays, in_order, sizeof in_order);
}

static uint32_t columns_set(const swp_columns *columns)
{
    const void *arrays[SWP__COLUMNS_COUNT];
    uint32_t set = 0;
    column_arrays(columns, arrays);
    for (uint32_t i = 0; i < SWP__COLUMNS_COUNT; i++) {
        set |= arrays[i] != NULL ? UINT32_C(1) << i : 0;
    }
    return set;
}

/* The columns there are, in the order of their bits. */
static size_t column_spans(const swp_columns *columns, struct iovec spans[SWP__COLUMNS_COUNT])
{
    const void *arrays[SWP__COLUMNS_COUNT];
    size_t count = 0;
    column_arrays(columns, arrays);
    for (size_t i = 0; i < SWP__COLUMNS_COUNT; i++) {
        if (arrays[i] != NULL) {
            spans[count++] = (struct iovec){(void *)(uintptr_t)arrays[i], columns->bars_count * 8};
        }
    }
    return count;
}

static swp_status check_columns(const swp_columns *columns, uint32_t allow, swp_error *error)
{
    if (columns->bars_count == 0 || columns->bars_count > UINT64_MAX / 8 / SWP__COLUMNS_COUNT) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "series: %" PRIu64 " bars", columns->bars_count);
    }
    if (columns->close == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "series: no close among its columns");
    }
    if ((allow & ~(uint32_t)SWP_ALLOW_ALL) != 0) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "series: allow is %" PRIu32 ", expected a sum of 1, 2 and 4",
                         allow);
    }
    return SWP_OK;
}

static swp__fingerprint fingerprint_of(const swp_columns *columns)
{
    struct iovec spans[SWP__COLUMNS_COUNT];
    swp__fingerprinter f;
    size_t count = column_spans(columns, spans);
    swp__fingerprinter_init(&f);
    for (size_t i = 0; i < count; i++) {
        swp__fingerprinter_add(&f, spans[i].iov_base, spans[i].iov_len);
    }
    return swp__fingerprinter_end(&f);
}

/* ---- what the server says of a series ---- */

static void take_info(swp_client_series *s, const swp_pending *p)
{
    const swp__wire_series *told = &p->reply.series;
    s->handle = told->handle;
    s->generation = p->generation;
    memcpy(s->info.fingerprint, &told->fingerprint, sizeof s->info.fingerprint);
    s->info.fingerprint_known = (told->known & SWP__KNOWN_FINGERPRINT) != 0;
    s->info.bars_count = told->n_bars;
    s->info.nan_count = told->n_nan;
    s->info.first = told->first;
    s->info.last = told->last;
}

static swp_client_series *new_series(swp_client *c, const swp_columns *columns, uint32_t allow, swp_keep keep, swp_error *error)
{
    swp_client_series *s = swp__alloc(&c->allocator, 1, sizeof *s);
    if (s == NULL) {
        (void)swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "series: no memory");
        return NULL;
    }
    *s = (swp_client_series){.client = c, .allow = allow, .keep = keep};
    if (columns != NULL) {
        s->columns_set = columns_set(columns);
        s->columns = keep == SWP_KEEP_BORROWED ? *columns : s->columns;
    }
    return s;
}

static swp_pending call_of(swp_client *c, uint8_t opcode, uint64_t deadline_ns)
{
    return (swp_pending){.client = c, .deadline_ns = deadline_ns, .request = {.opcode = opcode}};
}

/* ---- the client's own list: what was not dropped goes with the client ---- */

static void link_series(swp_client *c, swp_client_series *s)
{
    pthread_mutex_lock(&c->lock);
    s->next = c->series;
    if (s->next != NULL) {
        s->next->previous = s;
    }
    c->series = s;
    pthread_mutex_unlock(&c->lock);
}

static void unlink_series(swp_client *c, swp_client_series *s)
{
    pthread_mutex_lock(&c->lock);
    *(s->previous != NULL ? &s->previous->next : &c->series) = s->next;
    if (s->next != NULL) {
        s->next->previous = s->previous;
    }
    pthread_mutex_unlock(&c->lock);
}

void swp__series_free_all(swp_client *c)
{
    for (swp_client_series *s = c->series, *next; s != NULL; s = next) {
        next = s->next;
        swp__free(&c->allocator, s, 1, sizeof *s);
    }
}

/* A call that answers with a series: `made` is that one then, and given back otherwise. */
static swp_status finish_series(swp_client *c, swp_pending *p, swp_status status, swp_client_series *made,
                                swp_client_series **series)
{
    if (status != SWP_OK) {
        swp__free(&c->allocator, made, 1, sizeof *made);
        return status;
    }
    take_info(made, p);
    made->bars_count = made->info.bars_count;
    link_series(c, made);
    *series = made;
    return SWP_OK;
}

/* ---- loading ---- */

static swp__wire_shape shape_of(const swp_columns *columns, uint32_t allow)
{
    return (swp__wire_shape){.n_bars = columns->bars_count, .columns = columns_set(columns), .policy = allow};
}

static swp_status load_whole(swp_client *c, swp_pending *p, const swp_columns *columns, uint32_t allow, swp_error *error)
{
    swp__ask ask = {0};
    p->request.opcode = SWP__OP_LOAD;
    p->request.shape = shape_of(columns, allow);
    ask.tail_count = column_spans(columns, ask.tail);
    return swp__client_call(c, p, &ask, error);
}

/* Bars [first, first + count) of one column. */
static swp_status load_part(swp_client *c, const swp_pending *begun, const void *column, uint32_t bit, uint64_t first,
                            uint64_t count, swp_error *error)
{
    swp_pending p = call_of(c, SWP__OP_LOAD_PART, begun->deadline_ns);
    swp__ask ask = {
        .tail = {{(char *)(uintptr_t)column + first * 8, count * 8}}, .tail_count = 1, .generation = begun->generation};
    p.request.load_part = (swp__wire_load_part){
        .upload = begun->reply.upload.upload, .column = UINT32_C(1) << bit, .first_bar = first, .n_bars = count};
    return swp__client_call(c, &p, &ask, error);
}

static swp_status load_columns(swp_client *c, const swp_pending *begun, const swp_columns *columns, uint64_t part_bars,
                               swp_error *error)
{
    const void *arrays[SWP__COLUMNS_COUNT];
    swp_status status = SWP_OK;
    column_arrays(columns, arrays);
    for (uint32_t bit = 0; bit < SWP__COLUMNS_COUNT; bit++) {
        for (uint64_t at = 0; arrays[bit] != NULL && at < columns->bars_count && status == SWP_OK; at += part_bars) {
            uint64_t left = columns->bars_count - at, count = left < part_bars ? left : part_bars;
            status = load_part(c, begun, arrays[bit], bit, at, count, error);
        }
    }
    return status;
}

static swp_status load_in_parts(swp_client *c, swp_pending *p, const swp_columns *columns, uint32_t allow, uint64_t max_body,
                                swp_error *error)
{
    uint64_t room = max_body - SWP__WIRE_HEADER_SIZE - sizeof(swp__wire_load_part);
    uint64_t part_bars = (room < PART_BYTES ? room : PART_BYTES) / 8;
    swp_pending begun = call_of(c, SWP__OP_LOAD_BEGIN, p->deadline_ns);
    begun.request.shape = shape_of(columns, allow);
    swp_status status = swp__client_call(c, &begun, &(swp__ask){0}, error);
    status = status == SWP_OK ? load_columns(c, &begun, columns, part_bars, error) : status;
    if (status == SWP_OK) {
        p->request.opcode = SWP__OP_LOAD_COMMIT;
        p->request.upload = begun.reply.upload;
        status = swp__client_call(c, p, &(swp__ask){.generation = begun.generation}, error);
    }
    return status;
}

/* By a memfd that is sealed and handed over: one copy instead of the socket's two. What LOAD would have judged and found out HASH
 * does. */
static swp_status load_by_fd(swp_client *c, swp_pending *p, int fd, const swp_columns *columns, uint32_t allow,
                             swp_error *error)
{
    swp_pending taken = call_of(c, SWP__OP_LOAD_FD, p->deadline_ns);
    taken.request.shape = shape_of(columns, allow);
    swp_status status = swp__client_call(c, &taken, &(swp__ask){.fd = &fd}, error);
    if (status != SWP_OK) {
        return status;
    }
    p->request.opcode = SWP__OP_HASH;
    p->request.handle.handle = taken.reply.series.handle;
    status = swp__client_call(c, p, &(swp__ask){.generation = taken.generation}, error);
    if (status != SWP_OK) {
        swp_pending dropped = call_of(c, SWP__OP_DROP, swp__client_deadline(c, 0));
        dropped.request.handle.handle = taken.reply.series.handle;
        (void)swp__client_call(c, &dropped, &(swp__ask){.generation = taken.generation}, NULL);
    }
    return status;
}

/* A sealed memfd with the closes, where that is worth it and can be; else -1. */
static int fd_of(swp_client *c, const swp_columns *columns, uint64_t bytes)
{
    if (bytes < HAND_OVER_BYTES || columns_set(columns) != 1 || c->address.scheme != SWP__SCHEME_UNIX ||
        !swp__client_takes_fds(c)) {
        return -1;
    }
    int fd = swp__memfd_of("sweepd-series", columns->close, bytes);
    if (fd >= 0 && fcntl(fd, F_ADD_SEALS, SWP__SERIES_SEALS) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static swp_status load(swp_client *c, swp_pending *p, const swp_columns *columns, uint32_t allow, swp_error *error)
{
    enum { LEAST_BODY = 64 }; /* a part of one bar fits */
    uint64_t bytes = columns->bars_count * 8 * (uint64_t)__builtin_popcount(columns_set(columns));
    uint64_t max_body = swp_client_server(c).max_body;
    int fd = fd_of(c, columns, bytes);
    if (fd >= 0) {
        swp_status status = load_by_fd(c, p, fd, columns, allow, error);
        close(fd);
        return status;
    }
    bool fits = bytes + SWP__WIRE_HEADER_SIZE + sizeof(swp__wire_shape) <= max_body;
    return fits || max_body < LEAST_BODY ? load_whole(c, p, columns, allow, error)
                                         : load_in_parts(c, p, columns, allow, max_body, error);
}

/* The arguments that load and find share. */
static swp_status check_arguments(const swp_client *c, const swp_columns *columns, uint32_t allow,
                                  swp_client_series *const *series, swp_error *error)
{
    if (c == NULL || columns == NULL || series == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, c == NULL ? 1 : columns == NULL ? 2 : 6, "series: NULL pointer");
    }
    swp_status status = swp__client_check(c, error);
    return status == SWP_OK ? check_columns(columns, allow, error) : status;
}

swp_status swp_client_load(swp_client *c, const swp_columns *columns, uint32_t allow, swp_keep keep, uint32_t timeout_ms,
                           swp_client_series **series, swp_error *error)
{
    swp_status status = check_arguments(c, columns, allow, series, error);
    if (status != SWP_OK) {
        return status;
    }
    swp_pending p = call_of(c, SWP__OP_LOAD, swp__client_deadline(c, timeout_ms));
    swp_client_series *made = new_series(c, columns, allow, keep, error);
    if (made == NULL) {
        return SWP_NO_MEMORY;
    }
    status = load(c, &p, columns, allow, error);
    return finish_series(c, &p, status, made, series);
}

bool swp__client_takes_fds(swp_client *c)
{
    pthread_mutex_lock(&c->lock);
    bool takes = (c->features & SWP__FEATURE_LOAD_FD) != 0;
    pthread_mutex_unlock(&c->lock);
    return takes;
}

swp_status swp__series_load_fd(swp_client *c, int fd, const swp_columns *columns, uint32_t allow, uint64_t deadline_ns,
                               swp_client_series **series, swp_error *error)
{
    swp_pending p = call_of(c, SWP__OP_LOAD_FD, deadline_ns);
    swp_client_series *made = new_series(c, columns, allow, SWP_KEEP_NOTHING, error);
    if (made == NULL) {
        return SWP_NO_MEMORY;
    }
    p.request.shape = shape_of(columns, allow);
    swp_status status = swp__client_call(c, &p, &(swp__ask){.fd = &fd}, error);
    return finish_series(c, &p, status, made, series);
}

/* ---- finding ---- */

static swp_status find(swp_client *c, swp_pending *p, swp__fingerprint fingerprint, const swp__wire_shape *shape,
                       swp_error *error)
{
    p->request.opcode = SWP__OP_FIND;
    p->request.find = (swp__wire_find){
        .fingerprint = fingerprint, .n_bars = shape->n_bars, .columns = shape->columns, .policy = shape->policy};
    return swp__client_call(c, p, &(swp__ask){0}, error);
}

swp_status swp_client_find(swp_client *c, const swp_columns *columns, uint32_t allow, swp_keep keep, uint32_t timeout_ms,
                           swp_client_series **series, swp_error *error)
{
    swp_status status = check_arguments(c, columns, allow, series, error);
    if (status != SWP_OK) {
        return status;
    }
    swp_pending p = call_of(c, SWP__OP_FIND, swp__client_deadline(c, timeout_ms));
    swp_client_series *made = new_series(c, columns, allow, keep, error);
    if (made == NULL) {
        return SWP_NO_MEMORY;
    }
    swp__wire_shape shape = shape_of(columns, allow);
    status = find(c, &p, fingerprint_of(columns), &shape, error);
    return finish_series(c, &p, status, made, series);
}

static swp_status check_name(const char *name, swp_error *error)
{
    size_t size = strlen(name);
    if (size == 0 || size > SWP__NAME_MAX) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "series: name of %zu bytes, expected 1..%" PRIu64, size,
                         SWP__NAME_MAX);
    }
    if (swp__wire_check_text((const uint8_t *)name, size, 0, NULL) != SWP_OK) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "series: name is not UTF-8 text without control characters");
    }
    return SWP_OK;
}

static swp_status open_named(swp_client *c, swp_pending *p, const char *name, swp_error *error)
{
    swp__ask ask = {.tail = {{(void *)(uintptr_t)name, strlen(name)}}, .tail_count = 1};
    p->request.opcode = SWP__OP_OPEN;
    return swp__client_call(c, p, &ask, error);
}

swp_status swp_client_open_series(swp_client *c, const char *name, uint32_t timeout_ms, swp_client_series **series,
                                  swp_error *error)
{
    if (c == NULL || name == NULL || series == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, c == NULL ? 1 : name == NULL ? 2 : 4, "series: NULL pointer");
    }
    swp_status status = swp__client_check(c, error);
    status = status == SWP_OK ? check_name(name, error) : status;
    if (status != SWP_OK) {
        return status;
    }
    swp_pending p = call_of(c, SWP__OP_OPEN, swp__client_deadline(c, timeout_ms));
    swp_client_series *made = new_series(c, NULL, 0, SWP_KEEP_NOTHING, error);
    if (made == NULL) {
        return SWP_NO_MEMORY;
    }
    memcpy(made->name, name, strlen(name) + 1);
    status = open_named(c, &p, name, error);
    return finish_series(c, &p, status, made, series);
}

/* ---- finding again ---- */

static bool is_same_content(const swp_client_series *s, const swp__wire_series *told)
{
    return s->info.fingerprint_known && (told->known & SWP__KNOWN_FINGERPRINT) != 0 &&
           memcmp(s->info.fingerprint, &told->fingerprint, sizeof s->info.fingerprint) == 0 && s->bars_count == told->n_bars;
}

static swp_status open_again(swp_client *c, const swp_client_series *s, swp_pending *p, swp_error *error)
{
    swp_status status = open_named(c, p, s->name, error);
    if (status == SWP_OK && !is_same_content(s, &p->reply.series)) {
        return swp__fail(error, SWP_NOT_FOUND, SWP_AT_NONE,
                         "series \"%.100s\": the connection was lost, and that name is not known to be the same content now",
                         s->name);
    }
    return status;
}

static swp_status find_again(swp_client *c, const swp_client_series *s, swp_pending *p, swp_error *error)
{
    swp__fingerprint fingerprint;
    memcpy(&fingerprint, s->info.fingerprint, sizeof fingerprint);
    swp__wire_shape shape = {s->bars_count, s->columns_set, s->allow};
    swp_status status = s->name[0] != '\0'          ? open_again(c, s, p, error)
                        : s->info.fingerprint_known ? find(c, p, fingerprint, &shape, error)
                                                    : SWP_NOT_FOUND;
    if (status != SWP_NOT_FOUND || s->name[0] != '\0') {
        return status;
    }
    if (s->keep == SWP_KEEP_BORROWED) {
        return load(c, p, &s->columns, s->allow, error);
    }
    return swp__fail(error, SWP_NOT_FOUND, SWP_AT_NONE,
                     "%.80s: the connection was lost and the server no longer holds this series of %" PRIu64
                     " bars; its columns were not kept (SWP_KEEP_BORROWED): load it again",
                     c->url, s->bars_count);
}

swp_status swp__series_renew(swp_client *c, swp_client_series *s, uint64_t deadline_ns, swp_error *error)
{
    while (s->finding) {
        if (!swp__client_wait_change(c, deadline_ns)) {
            return swp__timed_out(c, error);
        }
    }
    if (s->generation == c->generation) {
        return SWP_OK;
    }
    swp_pending p = call_of(c, SWP__OP_FIND, deadline_ns);
    s->finding = true;
    pthread_mutex_unlock(&c->lock);
    swp_status status = find_again(c, s, &p, error);
    pthread_mutex_lock(&c->lock);
    if (status == SWP_OK) {
        take_info(s, &p);
    }
    s->finding = false;
    swp__client_tell_change(c);
    return status;
}

/* ---- the rest ---- */

swp_series_info swp_client_series_info(swp_client_series *s)
{
    pthread_mutex_lock(&s->client->lock);
    swp_series_info info = s->info;
    pthread_mutex_unlock(&s->client->lock);
    return info;
}

swp_status swp_client_name_series(swp_client *c, swp_client_series *s, const char *name, uint32_t timeout_ms, swp_error *error)
{
    if (c == NULL || s == NULL || name == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, c == NULL ? 1 : s == NULL ? 2 : 3, "series: NULL pointer");
    }
    swp_status status = swp__client_check(c, error);
    status = status == SWP_OK ? check_name(name, error) : status;
    if (status != SWP_OK) {
        return status;
    }
    swp_pending p = call_of(c, SWP__OP_NAME, swp__client_deadline(c, timeout_ms));
    swp__ask ask = {.series = s, .tail = {{(void *)(uintptr_t)name, strlen(name)}}, .tail_count = 1};
    return swp__client_call(c, &p, &ask, error);
}

swp_status swp_client_hash(swp_client *c, swp_client_series *s, uint32_t timeout_ms, swp_error *error)
{
    if (c == NULL || s == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, c == NULL ? 1 : 2, "series: NULL pointer");
    }
    swp_status status = swp__client_check(c, error);
    if (status != SWP_OK) {
        return status;
    }
    swp_pending p = call_of(c, SWP__OP_HASH, swp__client_deadline(c, timeout_ms));
    status = swp__client_call(c, &p, &(swp__ask){.series = s}, error);
    if (status == SWP_OK) {
        pthread_mutex_lock(&c->lock);
        take_info(s, &p);
        pthread_mutex_unlock(&c->lock);
    }
    return status;
}

/* A connection that has ended gave all of its series back. */
static bool must_be_told(swp_client *c, const swp_client_series *s)
{
    pthread_mutex_lock(&c->lock);
    bool is_known_there = c->local != NULL || (c->state == SWP__LINK_UP && s->generation == c->generation);
    pthread_mutex_unlock(&c->lock);
    return is_known_there;
}

swp_status swp_client_drop(swp_client *c, swp_client_series *s, uint32_t timeout_ms, swp_error *error)
{
    if (c == NULL || s == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, c == NULL ? 1 : 2, "series: NULL pointer");
    }
    swp_status status = swp__client_check(c, error);
    if (status != SWP_OK) {
        return status; /* a forked child: another thread may have held the lock; the series goes with the client */
    }
    if (must_be_told(c, s)) {
        swp_pending p = call_of(c, SWP__OP_DROP, swp__client_deadline(c, timeout_ms));
        p.request.handle.handle = s->handle;
        status = swp__client_call(c, &p, &(swp__ask){.generation = s->generation}, error);
        status = status == SWP_CLOSED || status == SWP_REFUSED ? SWP_OK : status;
    }
    unlink_series(c, s);
    swp__free(&c->allocator, s, 1, sizeof *s);
    return status;
}
