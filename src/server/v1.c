/* Version 1: two calls, no handles, no errors. Whatever is wrong with a request closes the connection, with the reason
 * in the log. */
#include "server/internal.h"

#include <string.h>
#include "base/error.h"

static void give_up(swp__connection *c, const char *why)
{
    swp__log_peer(c, "closed: %s", why);
    c->failed = true;
    swp__connection_finish(c);
}

void swp__v1_begin(swp__connection *c)
{
    swp_error error;
    swp__wire_v1 v1;
    if (swp__wire_decode_v1(c->body_size, c->head + SWP__WIRE_LENGTH_SIZE, &v1, &error) != SWP_OK) {
        give_up(c, error.message);
        return;
    }
    if (c->server->draining && v1.opcode == SWP__OP_V1_SWEEP) {
        give_up(c, "the server is shutting down");
        return;
    }
    swp__call *call = swp__call_new(c);
    if (call == NULL) {
        give_up(c, "no memory");
        return;
    }
    call->v1 = v1;
    size_t close_size = (size_t)v1.n_bars * sizeof(double), params_size = (size_t)v1.n_combos * sizeof(swp_params);
    void *close = NULL, *params = NULL;
    swp_status status = swp__call_alloc(call, close_size, "the closes", &close, &error);
    call->tail = close;
    call->tail_size = status == SWP_OK ? close_size : 0;
    if (status == SWP_OK && v1.opcode == SWP__OP_V1_SWEEP) {
        status = swp__call_alloc(call, params_size, "the parameters", &params, &error);
        call->second = params;
        call->second_size = status == SWP_OK ? params_size : 0;
    }
    if (status != SWP_OK) {
        swp__call_free(call);
        give_up(c, error.message);
        return;
    }
    c->targets[0] = (struct iovec){close, close_size};
    c->targets[1] = (struct iovec){params, call->second_size};
    c->targets_count = 2;
    c->reading = call;
}

static void answer_sweep(swp__call *call)
{
    size_t half = (size_t)call->v1.n_combos * sizeof(double);
    swp__call_answer_v1(call, call->result, half, (char *)call->result + half, half);
}

static swp_status start_sweep(swp__call *call, swp_error *error)
{
    const swp__wire_v1 *v1 = &call->v1;
    swp_status status = swp__wire_check_v1_params(call->second, (uint64_t)v1->n_combos * SWP_PARAMS_COUNT, error);
    if (status != SWP_OK) {
        return status;
    }
    size_t half = (size_t)v1->n_combos * sizeof(double);
    status = swp__call_alloc(call, 2 * half, "the results", &call->result, error);
    if (status != SWP_OK) {
        return status;
    }
    call->result_size = 2 * half;
    if (v1->n_bars == 0 || v1->n_combos == 0) {
        memset(call->result, 0, call->result_size);
        answer_sweep(call);
        return SWP_OK;
    }
    swp_engine *engine = call->connection->server->engine;
    status = swp_series_new(engine, call->tail, v1->n_bars, SWP_ALLOW_ALL, SWP_BORROW, &call->series, error);
    if (status != SWP_OK) {
        return status;
    }
    swp_sweep_request request = {
        .grid = {.form = SWP_GRID_ROWS, .combos_count = v1->n_combos, .rows = call->second},
        .fee = SWP__EXEC_FEE_DEFAULT,
    };
    swp_sweep_result result = {.pnl = call->result, .trades = (int64_t *)call->result + v1->n_combos};
    return swp__call_sweep(call, call->series, &request, &result, 0, false, error);
}

void swp__v1_run(swp__call *call)
{
    swp_error error;
    swp__call_count(call);
    if (call->v1.opcode == SWP__OP_V1_ECHO) {
        swp__call_answer_v1(call, call->tail, call->tail_size, NULL, 0);
    } else if (start_sweep(call, &error) != SWP_OK) {
        swp__connection *c = call->connection;
        swp__call_free(call);
        give_up(c, error.message);
    }
}

void swp__v1_done(swp__call *call)
{
    if (call->status == SWP_OK) {
        answer_sweep(call);
        return;
    }
    swp__connection *c = call->connection;
    swp_error error = {.message = "the sweep was cancelled"};
    if (call->status != SWP_CANCELLED) {
        swp__call_incident(call, &error, "its sweep ended as %s", swp_status_name(call->status));
    }
    swp__call_free(call);
    give_up(c, error.message);
}
