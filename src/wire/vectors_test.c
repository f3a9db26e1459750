/* Every frame of protocol/vectors, as the server and the client read it: in steps, each from memory of exactly its
 * size, so that the sanitizers see a read beyond what has arrived. */
#include "support/test.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "wire/layout.h"

typedef struct vector {
    const char *name;
    const uint8_t *bytes;
    size_t size;
    int version;
    int is_reply;
    uint64_t max_body;
    const swp__wire_request *asked; /* replies; NULL: about the connection */
    uint64_t session_combos;
    int status; /* 0: valid, and says: */
    uint64_t at;
    const char *fields;
    const char *sweep; /* NULL: none */
} vector;

static const vector vectors[] = {
#include "vectors.inc"
};

enum { VECTORS_COUNT = sizeof vectors / sizeof vectors[0] };

/* ---- A decoded frame as text ---- */

typedef struct text {
    char bytes[8192];
    size_t size;
} text;

__attribute__((format(printf, 2, 3))) static void put(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    t->size += (size_t)vsnprintf(t->bytes + t->size, sizeof t->bytes - t->size, format, args);
    va_end(args);
    assert_true(t->size < sizeof t->bytes);
}

static void put_field(text *t, const swp__wire_field *field, const uint8_t *fixed)
{
    static const size_t sizes[] = {[SWP__WIRE_U16] = 2, [SWP__WIRE_U32] = 4, [SWP__WIRE_U64] = 8,
                                   [SWP__WIRE_I64] = 8, [SWP__WIRE_F64] = 8, [SWP__WIRE_B16] = 16};
    uint64_t value = 0;
    if (field->kind == SWP__WIRE_Z32) {
        return;
    }
    put(t, " %s=", field->name);
    if (field->kind == SWP__WIRE_B16) {
        for (size_t i = 0; i < sizes[field->kind]; i++) {
            put(t, "%02x", fixed[field->offset + i]);
        }
        return;
    }
    memcpy(&value, fixed + field->offset, sizes[field->kind]);
    if (field->kind == SWP__WIRE_F64) {
        put(t, "%016" PRIx64, value);
    } else {
        put(t, "%" PRIu64, value);
    }
}

static void put_fields(text *t, const swp__wire_layout *layout, const uint8_t *fixed)
{
    for (uint32_t i = 0; layout != NULL && i < layout->fields_count; i++) {
        put_field(t, &layout->fields[i], fixed);
    }
}

static void put_values(text *t, const int64_t *values, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        put(t, "%s%" PRId64, i > 0 ? "," : "", values[i]);
    }
    put(t, ";");
}

static void put_grid(text *t, const swp_grid *grid)
{
    switch (grid->form) {
    case SWP_GRID_ROWS:
        put(t, " rows=");
        for (uint64_t i = 0; i < grid->combos_count; i++) {
            put_values(t, grid->rows + i * SWP_PARAMS_COUNT, SWP_PARAMS_COUNT);
        }
        break;
    case SWP_GRID_AXES:
        put(t, " axes=");
        for (size_t i = 0; i < SWP_PARAMS_COUNT; i++) {
            put_values(t, grid->axes[i], grid->axis_counts[i]);
        }
        break;
    case SWP_GRID_PAIRS:
        put(t, " pairs=");
        put_values(t, grid->hma, 3 * grid->hma_count);
        put_values(t, grid->hma3, 3 * grid->hma3_count);
        break;
    }
}

static void put_sweep(text *t, const swp_sweep_request *sweep)
{
    uint64_t fee;
    memcpy(&fee, &sweep->fee, sizeof fee);
    put(t, "fee=%016" PRIx64 " entry=%d kernel=%d max_threads=%" PRIu32 " windows=", fee, (int)sweep->entry, (int)sweep->kernel,
        sweep->max_threads);
    for (uint64_t i = 0; i < sweep->windows_count; i++) {
        put(t, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ";", sweep->windows[i].warm, sweep->windows[i].begin, sweep->windows[i].end);
    }
    put_grid(t, &sweep->grid);
}

/* ---- Decoding in steps ---- */

/* All that decoding a frame gives. */
typedef struct decoded {
    swp_status status;
    swp_error error;
    swp__wire_request request;
    swp__wire_reply reply;
    swp__wire_v1 v1;
    bool has_sweep;
    swp_sweep_request sweep;
    uint8_t *tail; /* freed by decoded_fini */
    text fields, sweep_text;
} decoded;

static void decoded_fini(decoded *d)
{
    free(d->tail);
}

/* `size` bytes from `at` on, in memory of their own; they must be there. */
static uint8_t *piece(const vector *v, size_t at, uint64_t size)
{
    assert_true(size <= v->size && at <= v->size - size);
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    assert_non_null(bytes);
    memcpy(bytes, v->bytes + at, size);
    return bytes;
}

static void decode_request(const vector *v, const swp__wire_frame *frame, decoded *d)
{
    uint8_t *fixed = piece(v, SWP__WIRE_PAYLOAD_AT, frame->fixed_size);
    d->status = swp__wire_decode_request(frame, fixed, &d->request, &d->error);
    free(fixed);
    if (d->status != SWP_OK) {
        return;
    }
    d->tail = piece(v, SWP__WIRE_PAYLOAD_AT + frame->fixed_size, d->request.tail_size);
    put(&d->fields, "opcode=%u flags=%u id=%" PRIu32, d->request.opcode, d->request.flags, d->request.id);
    put_fields(&d->fields, swp__wire_message_of(frame->opcode)->request, d->request.fixed);
    put(&d->fields, " tail_size=%" PRIu64, d->request.tail_size);
    uint8_t opcode = d->request.opcode;
    d->has_sweep = opcode == SWP__OP_SWEEP || opcode == SWP__OP_TRADES || opcode == SWP__OP_LIVE_OPEN;
    if (d->has_sweep) {
        d->status = swp__wire_decode_sweep(&d->request, d->tail, &d->sweep, &d->error);
    }
    if (d->has_sweep && d->status == SWP_OK) {
        put_sweep(&d->sweep_text, &d->sweep);
    }
}

static void decode_reply(const vector *v, const swp__wire_frame *frame, decoded *d)
{
    uint8_t *fixed = piece(v, SWP__WIRE_PAYLOAD_AT, frame->fixed_size);
    d->status = swp__wire_decode_reply(frame, v->asked, v->session_combos, fixed, &d->reply, &d->error);
    free(fixed);
    if (d->status != SWP_OK) {
        return;
    }
    const swp__wire_layout *layout;
    d->tail = piece(v, SWP__WIRE_PAYLOAD_AT + frame->fixed_size, d->reply.tail_size);
    assert_true(swp__wire_reply_layout(swp__wire_message_of(frame->opcode), frame->status, &layout));
    put(&d->fields, "opcode=%u status=%u id=%" PRIu32, d->reply.opcode, d->reply.status, d->reply.id);
    put_fields(&d->fields, layout, d->reply.fixed);
    put(&d->fields, " tail_size=%" PRIu64, d->reply.tail_size);
}

static void decode_v2(const vector *v, uint32_t body_size, decoded *d)
{
    swp__wire_frame frame;
    uint8_t *header = piece(v, SWP__WIRE_LENGTH_SIZE, SWP__WIRE_HEADER_SIZE);
    d->status = v->is_reply ? swp__wire_decode_reply_header(body_size, header, &frame, &d->error)
                            : swp__wire_decode_request_header(body_size, header, &frame, &d->error);
    free(header);
    if (d->status == SWP_OK && v->is_reply) {
        decode_reply(v, &frame, d);
    } else if (d->status == SWP_OK) {
        decode_request(v, &frame, d);
    }
}

static void decode_v1(const vector *v, uint32_t body_size, decoded *d)
{
    uint8_t *fixed = piece(v, SWP__WIRE_LENGTH_SIZE, SWP__WIRE_V1_FIXED_SIZE);
    d->status = swp__wire_decode_v1(body_size, fixed, &d->v1, &d->error);
    free(fixed);
    put(&d->fields, "opcode=%u n_bars=%" PRIu32 " n_combos=%" PRIu32, d->v1.opcode, d->v1.n_bars, d->v1.n_combos);
}

/* Decodes v->bytes; what it says is in *d, to be given to decoded_fini. */
static void decode(const vector *v, decoded *d)
{
    uint32_t body_size;
    *d = (decoded){.error.at = SWP_AT_NONE};
    uint8_t *length = piece(v, 0, SWP__WIRE_LENGTH_SIZE);
    d->status = swp__wire_decode_length(v->version, length, v->max_body, &body_size, &d->error);
    free(length);
    if (d->status == SWP_OK && v->version == 1) {
        decode_v1(v, body_size, d);
    } else if (d->status == SWP_OK) {
        decode_v2(v, body_size, d);
    }
}

/* ---- Encoding what was decoded ---- */

/* The frame that says the same; its bytes are written to `bytes`, its size returned. */
static size_t encode(const vector *v, const decoded *d, uint8_t *bytes)
{
    swp__wire_out out;
    if (v->is_reply) {
        swp__wire_encode_reply(&d->reply, &out);
        swp__wire_append(&out, d->tail, d->reply.tail_size);
    } else {
        swp__wire_encode_request(&d->request, &out);
        swp__wire_append(&out, d->tail, d->request.tail_size);
    }
    assert_int_equal(swp__wire_finish(&out, SWP__BODY_MAX, NULL), SWP_OK);
    assert_true(out.size <= v->size);
    swp__wire_copy(&out, bytes);
    return out.size;
}

static void assert_encodes_to_itself(const vector *v, const decoded *d)
{
    uint8_t *bytes = malloc(v->size);
    size_t size = encode(v, d, bytes);
    assert_int_equal(size, v->size);
    assert_memory_equal(bytes, v->bytes, size);
    free(bytes);
}

/* ---- The promises ---- */

TEST(vectors_valid_frames_say_what_they_should)
{
    for (size_t i = 0; i < VECTORS_COUNT; i++) {
        const vector *v = &vectors[i];
        decoded d;
        if (v->fields == NULL) {
            continue;
        }
        decode(v, &d);
        if (d.status != SWP_OK) {
            fail_msg("%s: %s", v->name, d.error.message);
        }
        if (strcmp(d.fields.bytes, v->fields) != 0 || (v->sweep != NULL && strcmp(d.sweep_text.bytes, v->sweep) != 0)) {
            fail_msg("%s: got %s %s, expected %s %s", v->name, d.fields.bytes, d.sweep_text.bytes, v->fields,
                     v->sweep != NULL ? v->sweep : "");
        }
        assert_int_equal(d.has_sweep, v->sweep != NULL);
        decoded_fini(&d);
    }
}

TEST(vectors_invalid_frames_are_refused_with_status_and_offset)
{
    for (size_t i = 0; i < VECTORS_COUNT; i++) {
        const vector *v = &vectors[i];
        decoded d;
        if (v->fields != NULL) {
            continue;
        }
        decode(v, &d);
        if ((int)d.status != v->status || d.error.status != d.status || d.error.at != v->at) {
            fail_msg("%s: got %s at %" PRIu64 " (%s), expected status %d at %" PRIu64, v->name, swp_status_name(d.status),
                     d.error.at, d.error.message, v->status, v->at);
        }
        decoded_fini(&d);
    }
}

TEST(vectors_every_message_is_there_valid_and_invalid)
{
    for (size_t m = 0; m < swp__wire_messages_count; m++) {
        int seen[2][2] = {{0}};
        for (size_t i = 0; i < VECTORS_COUNT; i++) {
            const vector *v = &vectors[i];
            uint8_t opcode = v->version == 2 && v->size > 4 ? v->bytes[4] & 0x7f : 0;
            seen[v->is_reply][v->fields != NULL] += opcode == swp__wire_messages[m].opcode;
        }
        assert_true(seen[0][0] > 0 && seen[0][1] > 0 && seen[1][1] > 0);
    }
}

TEST(vectors_what_is_decoded_encodes_to_the_same_bytes)
{
    for (size_t i = 0; i < VECTORS_COUNT; i++) {
        decoded d;
        if (vectors[i].fields != NULL && vectors[i].version == 2) {
            decode(&vectors[i], &d);
            assert_encodes_to_itself(&vectors[i], &d);
            decoded_fini(&d);
        }
    }
}

TEST(vectors_sweeps_encode_to_the_same_bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < VECTORS_COUNT; i++) {
        const vector *v = &vectors[i];
        decoded d;
        if (v->sweep == NULL) {
            continue;
        }
        decode(v, &d);
        uint32_t exec_bytes =
            d.request.opcode == SWP__OP_LIVE_OPEN ? d.request.live_open.exec_bytes : d.request.sweep.exec_bytes;
        if (exec_bytes == SWP__EXEC_BYTES) { /* the encoder writes all options */
            swp__wire_out out;
            swp__wire_request again = d.request;
            uint8_t *bytes = malloc(v->size);
            swp__wire_encode_sweep(&again, &d.sweep, &out);
            assert_int_equal(swp__wire_finish(&out, SWP__BODY_MAX, NULL), SWP_OK);
            assert_int_equal(out.size, v->size);
            swp__wire_copy(&out, bytes);
            assert_memory_equal(bytes, v->bytes, v->size);
            assert_memory_equal(&again, &d.request, sizeof again);
            free(bytes);
            count++;
        }
        decoded_fini(&d);
    }
    assert_true(count >= 10);
}

/* The frame of `v` with its first `size` bytes only, its length saying so. */
static vector cut(const vector *v, size_t size, uint8_t *bytes)
{
    vector out = *v;
    uint32_t body_size = (uint32_t)(size - SWP__WIRE_LENGTH_SIZE);
    memcpy(bytes, v->bytes, size);
    memcpy(bytes, &body_size, sizeof body_size);
    out.bytes = bytes;
    out.size = size;
    return out;
}

/* Messages of which a shorter one may be as good. */
static bool may_be_shorter(const vector *v)
{
    uint8_t opcode = v->bytes[4] & 0x7f;
    if (opcode == SWP__OP_RESTORE || opcode == SWP__OP_ECHO) {
        return true;
    }
    if (!v->is_reply) {
        return opcode == SWP__OP_NAME || opcode == SWP__OP_OPEN;
    }
    return v->bytes[5] > SWP_MORE || opcode == SWP__OP_HELLO || opcode == SWP__OP_STATS || opcode == SWP__OP_STRATEGIES ||
           opcode == SWP__OP_SNAPSHOT || opcode == SWP__OP_LIST;
}

TEST(vectors_cut_at_every_byte_are_refused_at_their_end)
{
    uint8_t *bytes = malloc(1u << 16);
    for (size_t i = 0; i < VECTORS_COUNT; i++) {
        const vector *v = &vectors[i];
        if (v->fields == NULL || v->version != 2) {
            continue;
        }
        for (size_t size = SWP__WIRE_LENGTH_SIZE; size < v->size; size++) {
            decoded d;
            vector shorter = cut(v, size, bytes);
            decode(&shorter, &d);
            if (size < SWP__WIRE_PAYLOAD_AT) {
                assert_true(d.status == SWP_BAD_FRAME && d.error.at == 0);
            } else if (d.status == SWP_OK) {
                assert_true(may_be_shorter(v));
                assert_encodes_to_itself(&shorter, &d);
            } else if (!may_be_shorter(v) && (d.status != SWP_BAD_FRAME || d.error.at != size)) {
                fail_msg("%s cut to %zu: %s at %" PRIu64, v->name, size, swp_status_name(d.status), d.error.at);
            }
            decoded_fini(&d);
        }
    }
    free(bytes);
}

TEST(vectors_with_any_byte_changed_are_refused_inside_or_mean_what_they_say)
{
    static const uint8_t masks[] = {0x01, 0x80, 0xff};
    uint8_t *bytes = malloc(1u << 16);
    for (size_t i = 0; i < VECTORS_COUNT; i++) {
        const vector *v = &vectors[i];
        for (size_t at = SWP__WIRE_LENGTH_SIZE; v->version == 2 && v->fields != NULL && at < v->size; at++) {
            for (size_t m = 0; m < sizeof masks; m++) {
                decoded d;
                vector changed = cut(v, v->size, bytes);
                bytes[at] ^= masks[m];
                decode(&changed, &d);
                if (d.status == SWP_OK) {
                    assert_encodes_to_itself(&changed, &d);
                } else {
                    assert_true(d.error.at <= v->size);
                }
                decoded_fini(&d);
            }
        }
    }
    free(bytes);
}

TEST(vectors_the_limit_of_a_body_is_exact)
{
    for (size_t i = 0; i < VECTORS_COUNT; i++) {
        const vector *v = &vectors[i];
        uint32_t body_size;
        swp_error error;
        if (v->fields == NULL) {
            continue;
        }
        uint64_t size = v->size - SWP__WIRE_LENGTH_SIZE;
        assert_int_equal(swp__wire_decode_length(v->version, v->bytes, size, &body_size, &error), SWP_OK);
        assert_int_equal(body_size, size);
        assert_int_equal(swp__wire_decode_length(v->version, v->bytes, size - 1, &body_size, &error), SWP_LIMIT);
        assert_true(error.a == size - 1 && error.b == size);
    }
}
