/* Sweeps and trades: what is asked for, and how its results come back. */
#include <inttypes.h>
#include <string.h>
#include "base/error.h"
#include "base/host.h"
#include "client/internal.h"
#include "engine/rows.h"
#include "engine/sweep.h"

/* ---- arguments ---- */

static swp_status check_pointers(const void *const *pointers, size_t count, swp_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (pointers[i] == NULL) {
            return swp__fail(error, SWP_BAD_PARAM, i + 1, "sweep: NULL pointer");
        }
    }
    return SWP_OK;
}

static swp_status check_call(swp_client *c, const swp_client_series *s, const swp_sweep_request *request, swp_error *error)
{
    swp_status status = swp__client_check(c, error);
    return status == SWP_OK ? swp__sweep_check(request, s->bars_count, error) : status;
}

static swp_status check_size(const swp_sweep_request *request, uint64_t windows, swp_error *error)
{
    uint64_t cells, most = swp__limits_most().max_combos;
    bool wraps = __builtin_mul_overflow(windows, request->grid.combos_count, &cells);
    if (wraps || cells > most) {
        return swp__fail_limit(error, most, wraps ? UINT64_MAX : cells,
                               "sweep: %" PRIu64 " windows x %" PRIu64 " combos, the limit is %" PRIu64 " results", windows,
                               request->grid.combos_count, most);
    }
    return SWP_OK;
}

/* ---- sweeps ---- */

static uint8_t flags_of(swp_client *c, const swp_sweep_request *request, uint64_t reply_bytes)
{
    bool in_blocks = request->cancel != NULL || reply_bytes > swp_client_server(c).max_body - SWP__WIRE_HEADER_SIZE;
    return (uint8_t)((in_blocks ? SWP__FLAG_SWEEP_BLOCKS : 0) | (request->progress != NULL ? SWP__FLAG_SWEEP_PROGRESS : 0));
}

/* Everything but sending it. */
static swp_status prepare(swp_client *c, const swp_sweep_request *request, const swp_sweep_result *result, uint64_t deadline_ns,
                          swp_pending *p, swp_error *error)
{
    uint64_t columns, windows = request->windows_count > 0 ? request->windows_count : 1;
    *p = (swp_pending){.client = c,
                       .deadline_ns = deadline_ns,
                       .request = {.opcode = SWP__OP_SWEEP},
                       .result = *result,
                       .windows_count = windows,
                       .combos_count = request->grid.combos_count,
                       .cancel = request->cancel,
                       .progress = request->progress,
                       .progress_context = request->progress_context};
    swp_status status = check_size(request, windows, error);
    if (status != SWP_OK) {
        return status;
    }
    p->sink = swp__sink_of_rows(result, windows, request->grid.combos_count, &columns);
    if (columns == 0) {
        return swp__fail(error, SWP_BAD_PARAM, 4, "sweep: no result is asked for");
    }
    uint64_t rows = windows * request->grid.combos_count;
    p->request.sweep.columns = columns;
    p->request.flags = flags_of(c, request, rows * 8 * (uint64_t)__builtin_popcountll(columns));
    p->in_blocks = (p->request.flags & SWP__FLAG_SWEEP_BLOCKS) != 0;
    if (result->finished != NULL) {
        memset(result->finished, 0, rows);
    }
    return SWP_OK;
}

/* Which rows are whole must be known to make the others zero. */
static swp_status own_finished(swp_client *c, swp_pending *p, swp_error *error)
{
    if (p->cancel == NULL || p->result.finished != NULL) {
        return SWP_OK;
    }
    size_t rows = (size_t)(p->windows_count * p->combos_count);
    p->own_finished = p->result.finished = swp__alloc(&c->allocator, rows, 1);
    if (p->own_finished == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "sweep: no memory for %zu results", rows);
    }
    memset(p->own_finished, 0, rows);
    return SWP_OK;
}

static void clear_unfinished(const swp_pending *p)
{
    char *const *columns = p->sink.columns;
    uint64_t rows = p->windows_count * p->combos_count;
    for (uint64_t row = 0; row < rows; row++) {
        for (uint32_t i = 0; p->result.finished[row] == 0 && i < p->sink.columns_count; i++) {
            memset(columns[i] + row * 8, 0, 8);
        }
    }
}

static void release_finished(swp_client *c, const swp_pending *p)
{
    swp__free(&c->allocator, p->own_finished, (size_t)(p->windows_count * p->combos_count), 1);
}

static swp_status start(swp_client *c, swp_client_series *s, const swp_sweep_request *request, const swp_sweep_result *result,
                        uint64_t deadline_ns, bool waits, swp_pending *p, swp_error *error)
{
    swp_status status = prepare(c, request, result, deadline_ns, p, error);
    if (status == SWP_OK) {
        status = own_finished(c, p, error);
    }
    if (status == SWP_OK) {
        status = swp__client_start(c, p, &(swp__ask){.series = s, .sweep = request, .caller_waits = waits}, error);
    }
    if (status != SWP_OK) {
        release_finished(c, p);
    }
    return status;
}

static swp_status finish(swp_client *c, swp_pending *p, swp_error *error)
{
    swp_status status = swp__client_finish(c, p, error);
    if (status == SWP_CANCELLED && p->result.finished != NULL) {
        clear_unfinished(p);
    }
    release_finished(c, p);
    return status;
}

swp_status swp_client_sweep(swp_client *c, swp_client_series *s, const swp_sweep_request *request,
                            const swp_sweep_result *result, uint32_t timeout_ms, swp_error *error)
{
    const void *const pointers[] = {c, s, request, result};
    swp_status status = check_pointers(pointers, 4, error);
    status = status == SWP_OK ? check_call(c, s, request, error) : status;
    if (status != SWP_OK) {
        return status;
    }
    swp_pending p;
    status = start(c, s, request, result, swp__client_deadline(c, timeout_ms), true, &p, error);
    return status == SWP_OK ? finish(c, &p, error) : status;
}

swp_status swp_client_submit_sweep(swp_client *c, swp_client_series *s, const swp_sweep_request *request,
                                   const swp_sweep_result *result, uint32_t timeout_ms, swp_pending **pending, swp_error *error)
{
    const void *const pointers[] = {c, s, request, result, c, pending}; /* the fifth is a number */
    swp_status status = check_pointers(pointers, 6, error);
    status = status == SWP_OK ? check_call(c, s, request, error) : status;
    if (status != SWP_OK) {
        return status;
    }
    swp_pending *p = swp__alloc(&c->allocator, 1, sizeof *p);
    if (p == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "sweep: no memory");
    }
    status = start(c, s, request, result, swp__client_deadline(c, timeout_ms), false, p, error);
    if (status != SWP_OK) {
        swp__free(&c->allocator, p, 1, sizeof *p);
        return status;
    }
    *pending = p;
    return SWP_OK;
}

swp_status swp_pending_wait(swp_pending *p, swp_error *error)
{
    if (p == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, 1, "sweep: NULL pointer");
    }
    swp_client *c = p->client;
    swp_status status = swp__client_check(c, error);
    if (status != SWP_OK) {
        return status;
    }
    status = finish(c, p, error);
    swp__free(&c->allocator, p, 1, sizeof *p);
    return status;
}

/* ---- trades ---- */

static swp_status check_one(const swp_sweep_request *request, swp_error *error)
{
    if (request->grid.combos_count != 1) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "trades: %" PRIu64 " combos, expected 1",
                         request->grid.combos_count);
    }
    if (request->windows_count > 1) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "trades: %" PRIu64 " windows, expected at most 1",
                         request->windows_count);
    }
    return SWP_OK;
}

swp_status swp_client_trades(swp_client *c, swp_client_series *s, const swp_sweep_request *request, uint32_t timeout_ms,
                             swp_trades *trades, swp_error *error)
{
    const void *const pointers[] = {c, s, request, c, trades}; /* the fourth is a number */
    swp_status status = check_pointers(pointers, 5, error);
    status = status == SWP_OK ? check_call(c, s, request, error) : status;
    status = status == SWP_OK ? check_one(request, error) : status;
    if (status != SWP_OK) {
        return status;
    }
    swp_pending p = {.client = c,
                     .deadline_ns = swp__client_deadline(c, timeout_ms),
                     .request = {.opcode = SWP__OP_TRADES},
                     .windows_count = 1,
                     .combos_count = 1,
                     .sink = {.kind = SWP__SINK_OWNED}};
    swp_sweep_request plain = *request;
    plain.progress = NULL;
    plain.cancel = NULL;
    swp__ask ask = {.series = s, .sweep = &plain, .caller_waits = true};
    status = swp__client_call(c, &p, &ask, error);
    if (status != SWP_OK) {
        return status;
    }
    uint64_t n = p.reply.trades.n_trades;
    const int64_t *numbers = (const int64_t *)(const void *)p.sink.bytes;
    const double *reals = (const double *)(const void *)p.sink.bytes;
    *trades = (swp_trades){n, numbers, numbers + n, numbers + 2 * n, reals + 3 * n, reals + 4 * n, reals + 5 * n};
    return SWP_OK;
}

void swp_trades_free(swp_client *c, swp_trades *trades)
{
    if (trades != NULL && trades->entry_bar != NULL) {
        swp__owned_free(&c->allocator, (void *)(uintptr_t)trades->entry_bar);
        *trades = (swp_trades){0};
    }
}
