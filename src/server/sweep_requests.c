/* SWEEP and TRADES: from the request's arrays to the engine, and from its results to frames. */
#include "server/requests.h"

#include <inttypes.h>
#include "base/error.h"
#include "engine/rows.h"

_Static_assert((int)SWP__RESULT_PNL == (int)SWP__ROW_PNL && (int)SWP__RESULT_TRADES == (int)SWP__ROW_TRADES &&
                   (int)SWP__RESULT_FIRST_BAR == (int)SWP__ROW_FIRST_BAR &&
                   (int)SWP__RESULT_OPEN_SIDE == (int)SWP__ROW_OPEN_SIDE &&
                   (int)SWP__RESULT_OPEN_ENTRY_BAR == (int)SWP__ROW_OPEN_ENTRY_BAR &&
                   (int)SWP__RESULT_OPEN_ENTRY == (int)SWP__ROW_OPEN_ENTRY &&
                   (int)SWP__RESULT_OPEN_LAST == (int)SWP__ROW_OPEN_LAST &&
                   (int)SWP__RESULT_OPEN_PNL == (int)SWP__ROW_OPEN_PNL && (int)SWP__RESULT_ALL == (int)SWP__ROW_ALL,
               "result columns are handed to the engine by the bits they travel with");

/* Memory for the whole result, in the layout of its frame. */
static swp_status make_result(swp__call *call, uint64_t rows_count, swp_sweep_result *result, swp_error *error)
{
    const swp__wire_sweep *sweep = &call->request.sweep;
    uint64_t limit = call->connection->server->options.limits.max_frame, size;
    if (!swp__wire_result_size(sweep, sweep->n_combos, &size) || size > limit - SWP__WIRE_HEADER_SIZE) {
        return swp__fail_limit(error, limit, size,
                               "a result of %" PRIu64 " combos x %" PRIu32 " windows is larger than a frame (max-frame "
                               "%" PRIu64 "): ask for it in blocks",
                               sweep->n_combos, sweep->n_windows > 0 ? sweep->n_windows : 1, limit);
    }
    swp_status status = swp__call_alloc(call, (size_t)size, "the results", &call->result, error);
    if (status == SWP_OK) {
        call->result_size = (size_t)size;
        *result = swp__rows_over(call->result, sweep->columns, rows_count);
    }
    return status;
}

/* The request, and the series it names. */
static swp_status read_request(swp__call *call, swp_sweep_request *request, swp_error *error)
{
    swp__scope *scope;
    swp_status status = swp__wire_decode_sweep(&call->request, call->tail, request, error);
    if (status == SWP_OK) {
        status = swp__connection_scope(call->connection, &scope, error);
    }
    return status == SWP_OK ? swp__store_take(scope, call->request.sweep.handle, &call->held, error) : status;
}

swp_status swp__run_sweep(swp__call *call, swp_error *error)
{
    const swp__wire_sweep *sweep = &call->request.sweep;
    swp_sweep_request request;
    swp_sweep_result result;
    swp_status status = read_request(call, &request, error);
    bool in_blocks = (call->request.flags & SWP__FLAG_SWEEP_BLOCKS) != 0;
    if (status == SWP_OK && !in_blocks) {
        uint64_t windows = sweep->n_windows > 0 ? sweep->n_windows : 1;
        status = make_result(call, sweep->n_combos * windows, &result, error);
    }
    if (status != SWP_OK) {
        return status;
    }
    return swp__call_sweep(call, call->held, &request, in_blocks ? NULL : &result, sweep->columns,
                           (call->request.flags & SWP__FLAG_SWEEP_PROGRESS) != 0, error);
}

swp_status swp__run_trades(swp__call *call, swp_error *error)
{
    swp_sweep_request request;
    swp_status status = read_request(call, &request, error);
    return status == SWP_OK ? swp__call_sweep(call, call->held, &request, NULL, 0, false, error) : status;
}

static swp_status lay_out_trades(swp__call *call, swp_error *error)
{
    size_t size = call->trades.count * SWP__TRADE_BYTES;
    if (call->trades.no_memory) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for more than %zu trades", call->trades.count);
    }
    swp_status status = swp__call_alloc(call, size, "the trades", &call->result, error);
    if (status == SWP_OK) {
        call->result_size = size;
        swp__trade_list_write(&call->trades, call->result);
    }
    return status;
}

static void trades_done(swp__call *call)
{
    swp_error error;
    if (lay_out_trades(call, &error) != SWP_OK) {
        swp__call_fail(call, &error);
        return;
    }
    swp__wire_reply reply = {.trades = {.n_trades = call->trades.count}};
    swp__call_answer(call, &reply, call->result, call->result_size);
}

void swp__v2_done(swp__call *call)
{
    if (call->status == SWP_OK && call->frame.opcode == SWP__OP_LIVE_OPEN) {
        swp__live_warmed(call);
        return;
    }
    if (call->status == SWP_OK && call->frame.opcode == SWP__OP_TRADES) {
        trades_done(call);
        return;
    }
    if (call->status == SWP_OK) {
        swp__call_answer(call, &(swp__wire_reply){0}, call->result, call->result_size);
        return;
    }
    swp_error error;
    if (call->status == SWP_CANCELLED) {
        (void)swp__fail(&error, SWP_CANCELLED, SWP_AT_NONE, "the sweep was cancelled");
    } else {
        swp__call_incident(call, &error, "its sweep ended as %s", swp_status_name(call->status));
    }
    swp__call_fail(call, &error);
}
