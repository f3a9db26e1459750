/* Replies, read by the side that knows what it asked. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include "base/error.h"
#include "wire/layout.h"

enum { TRADE_SIZE = 6 * 8 };

bool swp__wire_result_size(const swp__wire_sweep *sweep, uint64_t n_combos, uint64_t *bytes)
{
    uint64_t windows = sweep->n_windows > 0 ? sweep->n_windows : 1;
    uint64_t row = windows * 8 * (uint64_t)__builtin_popcountll(sweep->columns);
    return !__builtin_mul_overflow(row, n_combos, bytes);
}

bool swp__wire_live_reply_size(uint64_t n_combos, uint64_t n_bars, bool positions, uint64_t *bytes)
{
    uint64_t states, cells, padded;
    if (__builtin_mul_overflow(n_combos, (uint64_t)sizeof(swp__wire_state), &states) ||
        __builtin_mul_overflow(n_combos, positions ? n_bars : 0, &cells) || __builtin_add_overflow(cells, 7, &padded)) {
        return false;
    }
    return !__builtin_add_overflow(states, padded / 8 * 8, bytes);
}

static swp_status check_progress(const swp__wire_more *more, swp_error *error)
{
    if (more->first > more->count) {
        return swp__fail(error, SWP_BAD_FRAME, SWP__WIRE_PAYLOAD_AT + offsetof(swp__wire_more, count),
                         "SWEEP: %" PRIu64 " combos done of %" PRIu64, more->first, more->count);
    }
    return SWP_OK;
}

/* What a MORE frame of SWEEP says must have been asked for. */
static swp_status check_more(const swp__wire_more *more, const swp__wire_request *asked, swp_error *error)
{
    uint8_t flag = more->kind == SWP__MORE_BLOCK ? SWP__FLAG_SWEEP_BLOCKS : SWP__FLAG_SWEEP_PROGRESS;
    if (more->kind > SWP__MORE_BLOCK || (asked->flags & flag) == 0) {
        return swp__fail(error, SWP_BAD_FRAME, SWP__WIRE_PAYLOAD_AT + offsetof(swp__wire_more, kind),
                         "SWEEP: frame of kind %" PRIu64 ", which was not asked for", more->kind);
    }
    if (more->kind == SWP__MORE_PROGRESS) {
        return check_progress(more, error);
    }
    if (more->first >= asked->sweep.n_combos) {
        return swp__fail(error, SWP_BAD_FRAME, SWP__WIRE_PAYLOAD_AT + offsetof(swp__wire_more, first),
                         "SWEEP: block from combo %" PRIu64 " of %" PRIu64, more->first, asked->sweep.n_combos);
    }
    uint64_t most = asked->sweep.n_combos - more->first;
    if (more->count == 0 || more->count > most) {
        return swp__fail(error, SWP_BAD_FRAME, SWP__WIRE_PAYLOAD_AT + offsetof(swp__wire_more, count),
                         "SWEEP: block of %" PRIu64 " combos, expected 1..%" PRIu64, more->count, most);
    }
    return SWP_OK;
}

/* UINT64_MAX for a size beyond 64 bits: no frame has it. */
static uint64_t result_size(const swp__wire_request *asked, uint64_t n_combos)
{
    uint64_t bytes;
    return swp__wire_result_size(&asked->sweep, n_combos, &bytes) ? bytes : UINT64_MAX;
}

static uint64_t live_size(uint64_t n_combos, uint64_t n_bars, bool positions)
{
    uint64_t bytes;
    return swp__wire_live_reply_size(n_combos, n_bars, positions, &bytes) ? bytes : UINT64_MAX;
}

static uint64_t sweep_tail(const swp__wire_reply *reply, const swp__wire_request *asked)
{
    if (reply->status == SWP_MORE) {
        return reply->more.kind == SWP__MORE_BLOCK ? result_size(asked, reply->more.count) : 0;
    }
    return (asked->flags & SWP__FLAG_SWEEP_BLOCKS) ? 0 : result_size(asked, asked->sweep.n_combos);
}

/* RESTORE's number of states is the session's own: any, but at least one. */
static uint64_t restored_tail(uint64_t got)
{
    uint64_t states = got / sizeof(swp__wire_state);
    return (states > 0 ? states : 1) * sizeof(swp__wire_state);
}

/* The size the tail must have; one that cannot be wrong is the one it has. */
static uint64_t expected_tail(const swp__wire_reply *reply, const swp__wire_request *asked, uint64_t session_combos)
{
    uint64_t bytes;
    if (reply->status > SWP_MORE) {
        return reply->tail_size < SWP__ERROR_TEXT_MAX ? reply->tail_size : SWP__ERROR_TEXT_MAX;
    }
    switch (reply->opcode) {
    case SWP__OP_ECHO:
        return asked->tail_size;
    case SWP__OP_SWEEP:
        return sweep_tail(reply, asked);
    case SWP__OP_TRADES:
        return __builtin_mul_overflow(reply->trades.n_trades, (uint64_t)TRADE_SIZE, &bytes) ? UINT64_MAX : bytes;
    case SWP__OP_LIVE_OPEN:
        return live_size(asked->live_open.n_combos, 0, false);
    case SWP__OP_LIVE_PUSH:
        return live_size(session_combos, asked->live_push.n_bars, (asked->flags & SWP__FLAG_LIVE_PUSH_POSITIONS) != 0);
    case SWP__OP_LIVE_CLOSE:
        return live_size(session_combos, 0, false);
    case SWP__OP_RESTORE:
        return restored_tail(reply->tail_size);
    case SWP__OP_HELLO:
    case SWP__OP_STATS:
    case SWP__OP_STRATEGIES:
    case SWP__OP_SNAPSHOT:
    case SWP__OP_LIST:
        return reply->tail_size;
    default:
        return 0;
    }
}

swp_status swp__wire_check_reply(const swp__wire_reply *reply, const swp__wire_request *asked, uint64_t session_combos,
                                 swp_error *error)
{
    const swp__wire_message *message = swp__wire_message_of(asked->opcode);
    const swp__wire_layout *layout = NULL;
    bool exists = swp__wire_reply_layout(message, reply->status, &layout);
    assert(exists && reply->opcode == asked->opcode);
    return swp__wire_check_tail(message->name, swp__wire_fixed_size(layout), reply->tail_size,
                                expected_tail(reply, asked, session_combos), error);
}

swp_status swp__wire_decode_reply(const swp__wire_frame *frame, const swp__wire_request *asked, uint64_t session_combos,
                                  const uint8_t *fixed, swp__wire_reply *reply, swp_error *error)
{
    uint8_t opcode = asked != NULL ? asked->opcode : 0;
    if (frame->opcode != opcode || (asked == NULL && frame->status <= SWP_MORE)) {
        return swp__fail(error, SWP_BAD_FRAME, SWP__WIRE_LENGTH_SIZE, "reply to opcode 0x%02x, expected 0x%02x", frame->opcode,
                         opcode);
    }
    const swp__wire_message *message = swp__wire_message_of(opcode);
    const char *name = message != NULL ? message->name : "error";
    const swp__wire_layout *layout = NULL;
    bool exists = swp__wire_reply_layout(message, frame->status, &layout);
    assert(exists && frame->fixed_size == swp__wire_fixed_size(layout));
    swp__wire_reply made = {.opcode = opcode,
                            .status = frame->status,
                            .id = frame->id,
                            .tail_size = frame->body_size - SWP__WIRE_HEADER_SIZE - frame->fixed_size};
    if (frame->fixed_size > 0) {
        memcpy(made.fixed, fixed, frame->fixed_size);
    }
    swp_status status = swp__wire_check_reserved(name, layout, fixed, error);
    if (status == SWP_OK && made.status == SWP_MORE && opcode == SWP__OP_SWEEP) {
        status = check_more(&made.more, asked, error);
    }
    if (status == SWP_OK) {
        uint64_t expected = expected_tail(&made, asked, session_combos);
        status = swp__wire_check_tail(name, frame->fixed_size, made.tail_size, expected, error);
    }
    if (status == SWP_OK) {
        *reply = made;
    }
    return status;
}
