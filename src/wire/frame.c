/* What all messages share: lengths, headers, the checks of fixed part and tail, and frames on their way out. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include "base/error.h"
#include "wire/layout.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the structs of wire.h are the bytes on the wire");

enum { REPLY_BIT = 0x80, FIRST_V2_OPCODE = 0x10 };

const swp__wire_message *swp__wire_message_of(uint8_t opcode)
{
    size_t row = (size_t)opcode - swp__wire_messages[0].opcode;
    return row < swp__wire_messages_count ? &swp__wire_messages[row] : NULL;
}

int swp__wire_version_of(uint8_t opcode)
{
    if (opcode == SWP__OP_V1_SWEEP || opcode == SWP__OP_V1_ECHO) {
        return 1;
    }
    return opcode >= FIRST_V2_OPCODE && opcode < REPLY_BIT ? 2 : 0;
}

swp_status swp__wire_decode_length(int version, const uint8_t bytes[SWP__WIRE_LENGTH_SIZE], uint64_t max_body,
                                   uint32_t *body_size, swp_error *error)
{
    uint64_t least = version == 1 ? SWP__WIRE_V1_FIXED_SIZE : SWP__BODY_MIN;
    memcpy(body_size, bytes, sizeof *body_size);
    if (*body_size < least) {
        return swp__fail(error, SWP_BAD_FRAME, 0, "body of %" PRIu32 " bytes, expected at least %" PRIu64, *body_size, least);
    }
    if (*body_size > max_body) {
        return swp__fail_limit(error, max_body, *body_size, "body of %" PRIu32 " bytes, the limit is %" PRIu64, *body_size,
                               max_body);
    }
    return SWP_OK;
}

/* As it stands in the first 8 bytes of a body. */
typedef struct header_bytes {
    uint8_t opcode;
    uint8_t flags_or_status;
    uint16_t reserved;
    uint32_t id;
} header_bytes;

_Static_assert(sizeof(header_bytes) == SWP__WIRE_HEADER_SIZE, "a header");

/* Offsets in a frame. */
enum { OPCODE_AT = 4, FLAGS_AT = 5, RESERVED_AT = 6 };

static header_bytes read_header(uint32_t body_size, const uint8_t *bytes, swp__wire_frame *frame)
{
    header_bytes header;
    memcpy(&header, bytes, sizeof header);
    *frame = (swp__wire_frame){.body_size = body_size, .id = header.id, .opcode = header.opcode};
    return header;
}

static swp_status check_reserved_bytes(uint16_t reserved, swp_error *error)
{
    if (reserved != 0) {
        return swp__fail(error, SWP_BAD_FRAME, RESERVED_AT, "reserved bytes of the header are 0x%04x, expected 0", reserved);
    }
    return SWP_OK;
}

/* The fixed part must be there before the fields can be judged. */
static swp_status check_room(const swp__wire_frame *frame, const char *name, swp_error *error)
{
    uint32_t payload_size = frame->body_size - SWP__WIRE_HEADER_SIZE;
    if (payload_size < frame->fixed_size) {
        return swp__fail(error, SWP_BAD_FRAME, SWP__WIRE_LENGTH_SIZE + (uint64_t)frame->body_size,
                         "%s: payload of %" PRIu32 " bytes, expected at least %" PRIu32, name, payload_size, frame->fixed_size);
    }
    return SWP_OK;
}

swp_status swp__wire_decode_request_header(uint32_t body_size, const uint8_t bytes[SWP__WIRE_HEADER_SIZE],
                                           swp__wire_frame *frame, swp_error *error)
{
    header_bytes header = read_header(body_size, bytes, frame);
    frame->flags = header.flags_or_status;
    const swp__wire_message *message = swp__wire_message_of(header.opcode);
    if (message == NULL) {
        return swp__fail(error, SWP_UNKNOWN, OPCODE_AT, "opcode 0x%02x is not known; 0x%02x..0x%02x are", header.opcode,
                         swp__wire_messages[0].opcode, swp__wire_messages[swp__wire_messages_count - 1].opcode);
    }
    frame->fixed_size = swp__wire_fixed_size(message->request);
    if ((header.flags_or_status & ~(unsigned)message->flags) != 0) {
        return swp__fail(error, SWP_BAD_FRAME, FLAGS_AT, "%s: flags are 0x%02x, known are 0x%02x", message->name,
                         header.flags_or_status, message->flags);
    }
    swp_status status = check_reserved_bytes(header.reserved, error);
    return status == SWP_OK ? check_room(frame, message->name, error) : status;
}

bool swp__wire_reply_layout(const swp__wire_message *message, uint8_t status, const swp__wire_layout **layout)
{
    *layout = &swp__wire_error_layout;
    if (status == SWP_OK && message != NULL) {
        *layout = message->reply;
    }
    if (status == SWP_MORE && message != NULL) {
        *layout = message->more;
        return message->more != NULL;
    }
    return status > SWP_MORE || message != NULL;
}

swp_status swp__wire_decode_reply_header(uint32_t body_size, const uint8_t bytes[SWP__WIRE_HEADER_SIZE], swp__wire_frame *frame,
                                         swp_error *error)
{
    header_bytes header = read_header(body_size, bytes, frame);
    frame->status = header.flags_or_status;
    frame->opcode = (uint8_t)(header.opcode & ~REPLY_BIT);
    if ((header.opcode & REPLY_BIT) == 0) {
        return swp__fail(error, SWP_BAD_FRAME, OPCODE_AT, "opcode 0x%02x is not a reply's", header.opcode);
    }
    const swp__wire_message *message = swp__wire_message_of(frame->opcode);
    const swp__wire_layout *layout;
    if (message == NULL && frame->status <= SWP_MORE) {
        return swp__fail(error, SWP_BAD_FRAME, OPCODE_AT, "reply to opcode 0x%02x, which is not known", frame->opcode);
    }
    if (frame->status >= SWP_TIMED_OUT || !swp__wire_reply_layout(message, frame->status, &layout)) {
        return swp__fail(error, SWP_BAD_FRAME, FLAGS_AT, "status %u is not one of a reply's", frame->status);
    }
    frame->fixed_size = swp__wire_fixed_size(layout);
    swp_status status = check_reserved_bytes(header.reserved, error);
    return status == SWP_OK ? check_room(frame, message != NULL ? message->name : "error", error) : status;
}

swp_status swp__wire_check_reserved(const char *name, const swp__wire_layout *layout, const uint8_t *fixed, swp_error *error)
{
    for (uint32_t i = 0; layout != NULL && i < layout->fields_count; i++) {
        const swp__wire_field *field = &layout->fields[i];
        uint32_t value = 0;
        if (field->kind == SWP__WIRE_Z32) {
            memcpy(&value, fixed + field->offset, sizeof value);
        }
        if (value != 0) {
            return swp__fail(error, SWP_BAD_FRAME, SWP__WIRE_PAYLOAD_AT + (uint64_t)field->offset,
                             "%s: %s is %" PRIu32 ", expected 0", name, field->name, value);
        }
    }
    return SWP_OK;
}

swp_status swp__wire_check_tail(const char *name, uint32_t fixed_size, uint64_t got, uint64_t expected, swp_error *error)
{
    if (got != expected) {
        return swp__fail(error, SWP_BAD_FRAME, SWP__WIRE_PAYLOAD_AT + fixed_size + (got < expected ? got : expected),
                         "%s: %" PRIu64 " bytes after the fixed part, expected %" PRIu64, name, got, expected);
    }
    return SWP_OK;
}

/* ---- Writing ---- */

void swp__wire_extend_start(swp__wire_out *out, const void *bytes, size_t size)
{
    memcpy(out->start + out->parts[0].iov_len, bytes, size);
    out->parts[0].iov_len += size;
    out->size += size;
}

void swp__wire_begin(swp__wire_out *out)
{
    out->parts[0] = (struct iovec){.iov_base = out->start, .iov_len = SWP__WIRE_LENGTH_SIZE};
    out->parts_count = 1;
    out->size = SWP__WIRE_LENGTH_SIZE;
}

static void begin_v2(swp__wire_out *out, header_bytes header, const swp__wire_layout *layout, const void *fixed)
{
    swp__wire_begin(out);
    swp__wire_extend_start(out, &header, sizeof header);
    if (layout == NULL) {
        return;
    }
    uint8_t *at = out->start + SWP__WIRE_PAYLOAD_AT;
    swp__wire_extend_start(out, fixed, layout->size);
    for (uint32_t i = 0; i < layout->fields_count; i++) {
        if (layout->fields[i].kind == SWP__WIRE_Z32) {
            memset(at + layout->fields[i].offset, 0, 4);
        }
    }
}

void swp__wire_encode_request(const swp__wire_request *request, swp__wire_out *out)
{
    const swp__wire_message *message = swp__wire_message_of(request->opcode);
    assert(message != NULL);
    header_bytes header = {.opcode = request->opcode, .flags_or_status = request->flags, .id = request->id};
    begin_v2(out, header, message->request, request->fixed);
}

void swp__wire_encode_reply(const swp__wire_reply *reply, swp__wire_out *out)
{
    const swp__wire_layout *layout;
    bool exists = swp__wire_reply_layout(swp__wire_message_of(reply->opcode), reply->status, &layout);
    assert(exists);
    header_bytes header = {.opcode = (uint8_t)(reply->opcode | REPLY_BIT), .flags_or_status = reply->status, .id = reply->id};
    begin_v2(out, header, layout, reply->fixed);
}

void swp__wire_encode_error(uint8_t opcode, uint32_t id, const swp_error *error, swp__wire_out *out)
{
    swp__wire_reply reply = {
        .opcode = opcode, .status = (uint8_t)error->status, .id = id, .error = {.at = error->at, .a = error->a, .b = error->b}};
    assert(error->status > SWP_MORE && error->status < SWP_TIMED_OUT);
    swp__wire_encode_reply(&reply, out);
    swp__wire_append(out, error->message, strlen(error->message));
}

void swp__wire_append(swp__wire_out *out, const void *bytes, uint64_t size)
{
    if (size == 0) {
        return;
    }
    assert(out->parts_count < SWP__WIRE_PARTS_MAX);
    out->parts[out->parts_count++] = (struct iovec){.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
    /* A sum that wraps would look small; saturated it is refused by swp__wire_finish. */
    if (__builtin_add_overflow(out->size, size, &out->size)) {
        out->size = UINT64_MAX;
    }
}

swp_status swp__wire_finish(swp__wire_out *out, uint64_t max_body, swp_error *error)
{
    uint64_t body_size = out->size - SWP__WIRE_LENGTH_SIZE;
    uint64_t limit = max_body < SWP__BODY_MAX ? max_body : SWP__BODY_MAX;
    if (body_size > limit) {
        return swp__fail_limit(error, limit, body_size, "body of %" PRIu64 " bytes, the limit is %" PRIu64, body_size, limit);
    }
    uint32_t length = (uint32_t)body_size;
    memcpy(out->start, &length, sizeof length);
    return SWP_OK;
}

void swp__wire_copy(const swp__wire_out *out, uint8_t *bytes)
{
    for (size_t i = 0; i < out->parts_count; i++) {
        memcpy(bytes, out->parts[i].iov_base, out->parts[i].iov_len);
        bytes += out->parts[i].iov_len;
    }
}
