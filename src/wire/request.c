/* Requests: what can be judged from the fixed part and the body's length, before any array is there. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include "base/error.h"
#include "wire/layout.h"

/* Offset in a frame of a field of the fixed part. */
#define AT(struct_name, field) (SWP__WIRE_PAYLOAD_AT + (uint64_t)offsetof(swp__wire_##struct_name, field))

/* The checks below share one shape: SWP_OK, or the refusal of one field of the message `name`. */

static swp_status check_count(const char *name, const char *field, uint64_t value, uint64_t at, swp_error *error)
{
    if (value == 0) {
        return swp__fail(error, SWP_BAD_PARAM, at, "%s: %s is 0, expected at least 1", name, field);
    }
    return SWP_OK;
}

static swp_status check_at_most(const char *name, const char *field, uint64_t value, uint64_t most, uint64_t at,
                                swp_error *error)
{
    if (value > most) {
        return swp__fail(error, SWP_BAD_PARAM, at, "%s: %s is %" PRIu64 ", expected at most %" PRIu64, name, field, value,
                         most);
    }
    return SWP_OK;
}

static swp_status check_bits(const char *name, const char *field, uint64_t value, uint64_t known, uint64_t at, swp_error *error)
{
    if ((value & ~known) != 0) {
        return swp__fail(error, SWP_UNKNOWN, at, "%s: %s is 0x%" PRIx64 ", known are 0x%" PRIx64, name, field, value, known);
    }
    return SWP_OK;
}

static swp_status check_columns(const char *name, uint32_t columns, uint64_t at, swp_error *error)
{
    swp_status status = check_bits(name, "columns", columns, SWP__COLUMN_ALL, at, error);
    if (status == SWP_OK && (columns & SWP__COLUMN_CLOSE) == 0) {
        return swp__fail(error, SWP_BAD_PARAM, at, "%s: columns are 0x%" PRIx32 ", expected bit 0, close, too", name, columns);
    }
    return status;
}

static swp_status check_shape(const char *name, const swp__wire_shape *shape, uint64_t at, swp_error *error)
{
    swp_status status = check_count(name, "n_bars", shape->n_bars, at + offsetof(swp__wire_shape, n_bars), error);
    if (status == SWP_OK) {
        status = check_columns(name, shape->columns, at + offsetof(swp__wire_shape, columns), error);
    }
    if (status == SWP_OK) {
        at += offsetof(swp__wire_shape, policy);
        status = check_bits(name, "policy", shape->policy, SWP_ALLOW_ALL, at, error);
    }
    return status;
}

static swp_status check_hello(const char *name, const swp__wire_hello *hello, swp_error *error)
{
    if (hello->major < SWP__PROTOCOL_MAJOR) {
        return swp__fail(error, SWP_UNKNOWN, AT(hello, major), "%s: version %u.%u is not spoken here; %d.%d is", name,
                         hello->major, hello->minor, SWP__PROTOCOL_MAJOR, SWP__PROTOCOL_MINOR);
    }
    swp_status status = check_at_most(name, "token_bytes", hello->token_bytes, SWP__TOKEN_MAX, AT(hello, token_bytes), error);
    if (status == SWP_OK) {
        status = check_at_most(name, "name_bytes", hello->name_bytes, SWP__CLIENT_NAME_MAX, AT(hello, name_bytes), error);
    }
    return status;
}

static swp_status check_load_part(const char *name, const swp__wire_load_part *part, swp_error *error)
{
    uint64_t end;
    swp_status status = check_bits(name, "column", part->column, SWP__COLUMN_ALL, AT(load_part, column), error);
    if (status != SWP_OK) {
        return status;
    }
    if (__builtin_popcount(part->column) != 1) {
        return swp__fail(error, SWP_BAD_PARAM, AT(load_part, column), "%s: column is 0x%" PRIx32 ", expected one bit", name,
                         part->column);
    }
    if (__builtin_add_overflow(part->first_bar, part->n_bars, &end)) {
        return swp__fail(error, SWP_BAD_PARAM, AT(load_part, first_bar),
                         "%s: first_bar %" PRIu64 " and n_bars %" PRIu64 " reach beyond 2^64", name, part->first_bar,
                         part->n_bars);
    }
    return check_count(name, "n_bars", part->n_bars, AT(load_part, n_bars), error);
}

static swp_status check_strategy(const char *name, uint32_t strategy, uint64_t at, swp_error *error)
{
    if (strategy != SWP_STRATEGY_HMA_CROSS) {
        return swp__fail(error, SWP_UNKNOWN, at, "%s: strategy %" PRIu32 " is not known; 1, hma-cross, is", name, strategy);
    }
    return SWP_OK;
}

static swp_status check_exec_bytes(const char *name, uint32_t exec_bytes, uint64_t at, swp_error *error)
{
    if (exec_bytes % 8 != 0) {
        return swp__fail(error, SWP_BAD_FRAME, at, "%s: exec_bytes is %" PRIu32 ", expected a multiple of 8", name, exec_bytes);
    }
    if (exec_bytes > SWP__EXEC_BYTES) {
        return swp__fail(error, SWP_UNKNOWN, at, "%s: exec_bytes is %" PRIu32 ", options are known up to %d", name, exec_bytes,
                         SWP__EXEC_BYTES);
    }
    return SWP_OK;
}

/* The two fields in which SWEEP and TRADES differ. */
static swp_status check_sweep_columns(const char *name, const swp__wire_sweep *sweep, swp_error *error)
{
    swp_status status = check_count(name, "columns", sweep->columns, AT(sweep, columns), error);
    return status == SWP_OK ? check_bits(name, "columns", sweep->columns, SWP__RESULT_ALL, AT(sweep, columns), error) : status;
}

static swp_status check_trades_counts(const char *name, const swp__wire_sweep *sweep, swp_error *error)
{
    swp_status status = check_at_most(name, "n_combos", sweep->n_combos, 1, AT(sweep, n_combos), error);
    if (status == SWP_OK) {
        status = check_at_most(name, "columns", sweep->columns, 0, AT(sweep, columns), error);
    }
    if (status == SWP_OK) {
        status = check_at_most(name, "n_windows", sweep->n_windows, 1, AT(sweep, n_windows), error);
    }
    return status;
}

static swp_status check_sweep(const char *name, uint8_t opcode, const swp__wire_sweep *sweep, swp_error *error)
{
    swp_status status = check_strategy(name, sweep->strategy, AT(sweep, strategy), error);
    if (status != SWP_OK) {
        return status;
    }
    if (sweep->param_form > SWP_GRID_PAIRS) {
        return swp__fail(error, SWP_UNKNOWN, AT(sweep, param_form), "%s: param_form %" PRIu32 " is not known; 0..%d are", name,
                         sweep->param_form, SWP_GRID_PAIRS);
    }
    status = check_count(name, "n_combos", sweep->n_combos, AT(sweep, n_combos), error);
    if (status == SWP_OK) {
        status = opcode == SWP__OP_TRADES ? check_trades_counts(name, sweep, error) : check_sweep_columns(name, sweep, error);
    }
    return status == SWP_OK ? check_exec_bytes(name, sweep->exec_bytes, AT(sweep, exec_bytes), error) : status;
}

static swp_status check_live_open(const char *name, const swp__wire_live_open *open, swp_error *error)
{
    swp_status status = check_strategy(name, open->strategy, AT(live_open, strategy), error);
    if (status == SWP_OK) {
        status = check_count(name, "n_combos", open->n_combos, AT(live_open, n_combos), error);
    }
    if (status == SWP_OK) {
        status = check_bits(name, "policy", open->policy, SWP_ALLOW_ALL, AT(live_open, policy), error);
    }
    return status == SWP_OK ? check_exec_bytes(name, open->exec_bytes, AT(live_open, exec_bytes), error) : status;
}

static swp_status check_name_size(const char *name, uint64_t size, uint64_t at, swp_error *error)
{
    if (size < 1 || size > SWP__NAME_MAX) {
        return swp__fail(error, SWP_BAD_PARAM, at, "%s: name of %" PRIu64 " bytes, expected 1..%" PRIu64, name, size,
                         SWP__NAME_MAX);
    }
    return SWP_OK;
}

/* The fixed part, field by field in the order of the wire. */
static swp_status check_fields(const char *name, const swp__wire_request *request, swp_error *error)
{
    switch (request->opcode) {
    case SWP__OP_HELLO:
        return check_hello(name, &request->hello, error);
    case SWP__OP_LOAD:
    case SWP__OP_LOAD_FD:
    case SWP__OP_LOAD_BEGIN:
        return check_shape(name, &request->shape, SWP__WIRE_PAYLOAD_AT, error);
    case SWP__OP_FIND: {
        const swp__wire_find *find = &request->find;
        swp__wire_shape shape = {find->n_bars, find->columns, find->policy};
        return check_shape(name, &shape, AT(find, n_bars), error);
    }
    case SWP__OP_SWEEP:
    case SWP__OP_TRADES:
        return check_sweep(name, request->opcode, &request->sweep, error);
    case SWP__OP_LIVE_OPEN:
        return check_live_open(name, &request->live_open, error);
    case SWP__OP_LIVE_PUSH:
        return check_columns(name, request->live_push.columns, AT(live_push, columns), error);
    case SWP__OP_LOAD_PART:
        return check_load_part(name, &request->load_part, error);
    case SWP__OP_NAME:
        return check_name_size(name, request->tail_size, SWP__WIRE_PAYLOAD_AT + sizeof(swp__wire_handle), error);
    case SWP__OP_OPEN:
        return check_name_size(name, request->tail_size, SWP__WIRE_PAYLOAD_AT, error);
    default:
        return SWP_OK;
    }
}

uint64_t swp__wire_columns_size(uint64_t n_bars, uint32_t columns)
{
    uint64_t bytes;
    uint64_t row = 8 * (uint64_t)__builtin_popcount(columns);
    return __builtin_mul_overflow(n_bars, row, &bytes) ? UINT64_MAX : bytes;
}

/* The size the tail must have, as far as the fixed part tells; a size that cannot be wrong is the one it has. */
static uint64_t expected_tail(const swp__wire_request *request)
{
    switch (request->opcode) {
    case SWP__OP_HELLO:
        return (uint64_t)request->hello.token_bytes + request->hello.name_bytes;
    case SWP__OP_LOAD:
        return swp__wire_columns_size(request->shape.n_bars, request->shape.columns);
    case SWP__OP_LIVE_PUSH:
        return swp__wire_columns_size(request->live_push.n_bars, request->live_push.columns);
    case SWP__OP_LOAD_PART:
        return swp__wire_columns_size(request->load_part.n_bars, request->load_part.column);
    case SWP__OP_SWEEP:
    case SWP__OP_TRADES:
    case SWP__OP_LIVE_OPEN:
        return swp__wire_sweep_tail_size(request);
    case SWP__OP_ECHO:
    case SWP__OP_NAME:
    case SWP__OP_OPEN:
    case SWP__OP_RESTORE:
        return request->tail_size;
    default:
        return 0;
    }
}

swp_status swp__wire_decode_request(const swp__wire_frame *frame, const uint8_t *fixed, swp__wire_request *request,
                                    swp_error *error)
{
    const swp__wire_message *message = swp__wire_message_of(frame->opcode);
    assert(message != NULL && frame->fixed_size == swp__wire_fixed_size(message->request));
    swp__wire_request made = {.opcode = frame->opcode,
                              .flags = frame->flags,
                              .id = frame->id,
                              .tail_size = frame->body_size - SWP__WIRE_HEADER_SIZE - frame->fixed_size};
    if (frame->fixed_size > 0) {
        memcpy(made.fixed, fixed, frame->fixed_size);
    }
    swp_status status = swp__wire_check_reserved(message->name, message->request, fixed, error);
    if (status == SWP_OK) {
        status = check_fields(message->name, &made, error);
    }
    if (status == SWP_OK) {
        status = swp__wire_check_tail(message->name, frame->fixed_size, made.tail_size, expected_tail(&made), error);
    }
    if (status == SWP_OK) {
        *request = made;
    }
    return status;
}
