/* Version 2: what each opcode means. Refusals name the place by the offsets of the wire module. */
#include "server/internal.h"

#include <inttypes.h>
#include <string.h>
#include "base/error.h"
#include "base/fingerprint.h"
#include "server/requests.h"
#include "swp/version.h"

void swp__v2_refuse(swp__connection *c, const swp__wire_frame *frame, const swp_error *error)
{
    swp__call *call = swp__call_new(c);
    if (call == NULL) {
        swp__connection_drop(c, "no memory");
        return;
    }
    call->frame = *frame;
    swp__call_fail(call, error);
}

/* ---- who may ask what ---- */

static bool id_is_in_flight(const swp__connection *c, uint32_t id)
{
    for (const swp__call *call = c->calls; call != NULL; call = call->next) {
        if (!call->answered && call->frame.id == id) {
            return true;
        }
    }
    return false;
}

/* Refusals that need no look at the payload. */
static swp_status check_admission(const swp__connection *c, const swp__op *op, swp_error *error)
{
    const swp__server *server = c->server;
    if (id_is_in_flight(c, c->frame.id)) {
        return swp__fail(error, SWP_BAD_FRAME, 8, "request id %" PRIu32 " is in flight already", c->frame.id);
    }
    if (op == NULL) {
        return swp__fail(error, SWP_UNKNOWN, 4, "opcode 0x%02x is not served here", c->frame.opcode);
    }
    if (!c->authorised && c->frame.opcode != SWP__OP_HELLO) {
        return swp__fail(error, SWP_DENIED, SWP_AT_NONE, "this server asks for a token: send HELLO first");
    }
    if (server->draining && op->is_new_work) {
        return swp__fail(error, SWP_SHUTTING_DOWN, SWP_AT_NONE, "the server is shutting down: no new work is taken");
    }
    uint64_t limit = server->options.limits.max_in_flight;
    if (!op->is_cancel && c->in_flight >= limit) {
        return swp__fail_limit(error, limit, (uint64_t)c->in_flight + 1,
                               "%" PRIu32 " requests are in flight on this connection: max-in-flight is %" PRIu64, c->in_flight,
                               limit);
    }
    if (op->is_cancel && c->cancels_count >= limit) {
        return swp__fail_limit(error, limit, (uint64_t)c->cancels_count + 1,
                               "%" PRIu32 " CANCELs wait on this connection: max-in-flight is %" PRIu64, c->cancels_count,
                               limit);
    }
    return SWP_OK;
}

/* The usual place of a request's arrays: one block of its own. */
static swp_status into_tail(swp__call *call, swp_error *error)
{
    swp__connection *c = call->connection;
    size_t size = (size_t)call->request.tail_size;
    swp_status status = swp__call_alloc(call, size, "the request", &call->tail, error);
    if (status != SWP_OK) {
        return status;
    }
    call->tail_size = size;
    c->targets[0] = (struct iovec){call->tail, size};
    c->targets_count = 1;
    return SWP_OK;
}

void swp__v2_begin(swp__connection *c)
{
    swp_error error;
    const swp__op *op = swp__op_find(c->frame.opcode);
    swp__wire_request request;
    swp_status status = check_admission(c, op, &error);
    if (status == SWP_OK) {
        status = swp__wire_decode_request(&c->frame, c->head + SWP__WIRE_PAYLOAD_AT, &request, &error);
    }
    if (status != SWP_OK) {
        if (status == SWP_UNKNOWN && c->frame.opcode == SWP__OP_HELLO) { /* no common version: nothing to go on with */
            c->failed = true;
            swp__connection_finish(c);
        }
        swp__v2_refuse(c, &c->frame, &error);
        return;
    }
    swp__call *call = swp__call_new(c);
    if (call == NULL) {
        swp__connection_drop(c, "no memory");
        return;
    }
    call->frame = c->frame;
    call->request = request;
    status = op->begin != NULL ? op->begin(call, &error) : into_tail(call, &error);
    if (status != SWP_OK) {
        swp__call_fail(call, &error);
        return;
    }
    if (!op->is_cancel) {
        swp__call_count(call);
    }
    c->reading = call;
}

void swp__v2_run(swp__call *call)
{
    swp_error error;
    swp_status status = swp__op_find(call->frame.opcode)->run(call, &error);
    if (status != SWP_OK && !call->answered) {
        swp__call_fail(call, &error);
    }
}
