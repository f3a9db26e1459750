/* LOAD, FIND, OPEN, NAME, DROP, LIST, HASH and uploads in parts: the series store as a peer sees it. */
#include "server/requests.h"

#include <string.h>
#include "base/error.h"

enum { WORK_SLICE = 1 << 20 }; /* bytes judged, hashed or compared before others have their turn */

/* Whose series a connection sees. A token stands for whoever brings it; else the system vouches for a user, or nobody
 * does and the connection is on its own. So it is for the user whom a user namespace shows for all it does not know. */
static swp__identity identity_of(const swp__connection *c)
{
    enum { USER = 1, TOKEN = 2, NOBODY = 3, OVERFLOW_UID = 65534 };
    const swp__server_options *options = &c->server->options;
    if (options->token != NULL) {
        swp__fingerprint token = swp__fingerprint_of(options->token, options->token_size);
        return (swp__identity){token.low, token.high << 2 | TOKEN};
    }
    bool vouched_for = c->peer.known && c->peer.uid != OVERFLOW_UID;
    return vouched_for ? (swp__identity){c->peer.uid, USER} : (swp__identity){c->number, NOBODY};
}

swp_status swp__connection_scope(swp__connection *c, swp__scope **scope, swp_error *error)
{
    swp_status status = SWP_OK;
    if (c->scope == NULL) {
        status = swp__scope_new(c->server->options.store, identity_of(c), &c->scope, error);
    }
    *scope = c->scope;
    return status;
}

void swp__answer_series(swp__call *call, const swp__series_info *info)
{
    swp__wire_reply reply = {.series = {
                                 .handle = info->handle,
                                 .known = (info->is_fingerprinted ? (uint64_t)SWP__KNOWN_FINGERPRINT : 0) |
                                          (info->is_counted ? (uint64_t)SWP__KNOWN_N_NAN : 0),
                                 .n_bars = info->bars_count,
                                 .first = info->first,
                                 .last = info->last,
                             }};
    if (info->is_fingerprinted) {
        reply.series.fingerprint = info->fingerprint;
    }
    if (info->is_counted) {
        reply.series.n_nan = info->nan_count;
    }
    swp__call_answer(call, &reply, NULL, 0);
}

_Static_assert((int)SWP__COLUMN_CLOSE == (int)SWP__SERIES_CLOSE && (int)SWP__COLUMN_OPEN == (int)SWP__SERIES_OPEN &&
                   (int)SWP__COLUMN_HIGH == (int)SWP__SERIES_HIGH && (int)SWP__COLUMN_LOW == (int)SWP__SERIES_LOW &&
                   (int)SWP__COLUMN_VOLUME == (int)SWP__SERIES_VOLUME && (int)SWP__COLUMN_TIME == (int)SWP__SERIES_TIME &&
                   (int)SWP__COLUMN_ALL == (int)SWP__SERIES_ALL && (int)SWP__NAME_MAX == (int)SWP__SERIES_NAME_MAX,
               "columns are handed to the store by the bits they travel with");

static swp__shape shape_of(const swp__wire_shape *shape)
{
    return (swp__shape){.bars_count = shape->n_bars, .columns = shape->columns, .policy = shape->policy};
}

/* ---- LOAD: the columns go straight to where they will live ---- */

swp_status swp__begin_load(swp__call *call, swp_error *error)
{
    swp__connection *c = call->connection;
    swp__shape shape = shape_of(&call->request.shape);
    swp__scope *scope;
    swp_status status = swp__connection_scope(c, &scope, error);
    if (status == SWP_OK) {
        status = swp__load_new(scope, &shape, &call->load, error);
    }
    if (status != SWP_OK) {
        return status;
    }
    for (uint32_t bit = 1; bit <= SWP__SERIES_TIME; bit <<= 1) {
        if ((shape.columns & bit) != 0) {
            c->targets[c->targets_count++] =
                (struct iovec){swp__load_column(call->load, bit), (size_t)shape.bars_count * sizeof(double)};
        }
    }
    return SWP_OK;
}

void swp__load_arrived(swp__call *call, uint64_t bytes_so_far, uint64_t bytes_now)
{
    swp__load_ready(call->load, bytes_so_far);
    (void)swp__load_work(call->load, bytes_now);
}

/* One slice of what is left to do; commits when that is nothing. */
bool swp__load_go_on(swp__call *call)
{
    if (!swp__load_work(call->load, WORK_SLICE)) {
        return false;
    }
    swp__series_info info;
    swp_error error;
    swp_status status = swp__load_commit(call->load, &info, &error);
    call->load = NULL;
    if (status == SWP_OK) {
        swp__answer_series(call, &info);
    } else {
        swp__call_fail(call, &error);
    }
    return true;
}

static swp_status finish_load(swp__call *call)
{
    if (!swp__load_go_on(call)) {
        swp__server_work_later(call->connection->server, call);
    }
    return SWP_OK;
}

swp_status swp__run_load(swp__call *call, swp_error *error)
{
    (void)error;
    swp__load_ready(call->load, call->request.tail_size);
    return finish_load(call);
}

/* ---- uploads in parts ---- */

swp_status swp__run_load_begin(swp__call *call, swp_error *error)
{
    swp__shape shape = shape_of(&call->request.shape);
    swp__scope *scope;
    swp__wire_reply reply = {0};
    swp_status status = swp__connection_scope(call->connection, &scope, error);
    if (status == SWP_OK) {
        status = swp__upload_new(scope, &shape, &reply.upload.upload, error);
    }
    if (status == SWP_OK) {
        swp__call_answer(call, &reply, NULL, 0);
    }
    return status;
}

swp_status swp__begin_load_part(swp__call *call, swp_error *error)
{
    swp__connection *c = call->connection;
    const swp__wire_load_part *part = &call->request.load_part;
    swp__scope *scope;
    void *memory = NULL;
    swp_status status = swp__connection_scope(c, &scope, error);
    if (status == SWP_OK) {
        status = swp__upload_part(scope, part->upload, part->column, part->first_bar, part->n_bars, &memory, error);
    }
    if (status == SWP_OK) {
        c->targets[c->targets_count++] = (struct iovec){memory, (size_t)call->request.tail_size};
    }
    return status;
}

swp_status swp__run_load_part(swp__call *call, swp_error *error)
{
    (void)error;
    swp__call_answer(call, &(swp__wire_reply){0}, NULL, 0);
    return SWP_OK;
}

swp_status swp__run_load_commit(swp__call *call, swp_error *error)
{
    swp__scope *scope;
    swp_status status = swp__connection_scope(call->connection, &scope, error);
    if (status == SWP_OK) {
        status = swp__upload_end(scope, call->request.upload.upload, &call->load, error);
    }
    return status == SWP_OK ? finish_load(call) : status;
}

/* ---- finding and naming ---- */

swp_status swp__run_find(swp__call *call, swp_error *error)
{
    const swp__wire_find *find = &call->request.find;
    swp__shape shape = {.bars_count = find->n_bars, .columns = find->columns, .policy = find->policy};
    swp__series_info info;
    swp__scope *scope;
    swp_status status = swp__connection_scope(call->connection, &scope, error);
    if (status == SWP_OK) {
        status = swp__scope_find(scope, find->fingerprint, &shape, &info, error);
    }
    if (status == SWP_OK) {
        swp__answer_series(call, &info);
    }
    return status;
}

swp_status swp__run_open(swp__call *call, swp_error *error)
{
    swp__series_info info;
    swp__scope *scope;
    swp_status status = swp__wire_check_text(call->tail, call->tail_size, SWP__WIRE_PAYLOAD_AT, error);
    if (status == SWP_OK) {
        status = swp__connection_scope(call->connection, &scope, error);
    }
    if (status == SWP_OK) {
        status = swp__scope_open(scope, call->tail, call->tail_size, &info, error);
    }
    if (status == SWP_OK) {
        swp__answer_series(call, &info);
    }
    return status;
}

swp_status swp__run_name(swp__call *call, swp_error *error)
{
    uint64_t name_at = SWP__WIRE_PAYLOAD_AT + sizeof(swp__wire_handle);
    swp__scope *scope;
    swp_status status = swp__wire_check_text(call->tail, call->tail_size, name_at, error);
    if (status == SWP_OK) {
        status = swp__connection_scope(call->connection, &scope, error);
    }
    if (status == SWP_OK) {
        status = swp__scope_name(scope, call->request.handle.handle, call->tail, call->tail_size, error);
    }
    if (status == SWP_OK) {
        swp__call_answer(call, &(swp__wire_reply){0}, NULL, 0);
    }
    return status;
}

swp_status swp__run_drop(swp__call *call, swp_error *error)
{
    swp__scope *scope;
    swp_status status = swp__connection_scope(call->connection, &scope, error);
    if (status == SWP_OK) {
        status = swp__scope_drop(scope, call->request.handle.handle, error);
    }
    if (status == SWP_OK) {
        swp__call_answer(call, &(swp__wire_reply){0}, NULL, 0);
    }
    return status;
}

swp_status swp__run_list(swp__call *call, swp_error *error)
{
    swp__scope *scope;
    swp_status status = swp__connection_scope(call->connection, &scope, error);
    if (status != SWP_OK) {
        return status;
    }
    size_t size = swp__scope_list(scope, NULL, 0);
    status = swp__call_alloc(call, size, "the list", &call->result, error);
    if (status != SWP_OK) {
        return status;
    }
    call->result_size = size;
    size_t needed = swp__scope_list(scope, call->result, size);
    swp__call_answer(call, &(swp__wire_reply){0}, call->result, needed < size ? needed : size);
    return SWP_OK;
}

swp_status swp__run_hash(swp__call *call, swp_error *error)
{
    swp__series_info info;
    swp__scope *scope;
    swp_status status = swp__connection_scope(call->connection, &scope, error);
    if (status == SWP_OK) {
        status = swp__scope_hash(scope, call->request.handle.handle, &info, error);
    }
    if (status == SWP_OK) {
        swp__answer_series(call, &info);
    }
    return status;
}
