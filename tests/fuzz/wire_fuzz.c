/* Frames of both versions from any bytes. What decodes encodes to the same bytes; what does not is refused at a byte of the
 * frame; nothing is read beyond what was said to be there.
 *
 * Input: u8 kind (0 version 1, 1 a request, 2 a request and a reply to it), u8 combos of the session, then the frames. */
#include "fuzz/fuzz.h"
#include "wire/layout.h"

#define MAX_BODY (UINT64_C(1) << 20)

/* One frame's pieces, each in memory of its own. */
typedef struct frame {
    uint32_t body_size;
    uint8_t *length, *header, *fixed, *tail;
    swp__wire_frame decoded;
    size_t size; /* of the whole */
    const uint8_t *bytes;
} frame;

static void free_frame(frame *f)
{
    free(f->length);
    free(f->header);
    free(f->fixed);
    free(f->tail);
}

static void check_refusal(const frame *f, swp_status status, const swp_error *error)
{
    PROMISE(status == error->status && error->message[0] != '\0');
    PROMISE(memchr(error->message, '\0', sizeof error->message) != NULL);
    PROMISE(status == SWP_LIMIT || error->at == SWP_AT_NONE || error->at <= (uint64_t)f->body_size + SWP__WIRE_LENGTH_SIZE);
}

/* Length and whole body from the input; false when the input has no more, or it is refused. */
static bool read_frame(input *in, int version, frame *f)
{
    swp_error error;
    size_t size;
    *f = (frame){.bytes = in->at};
    if (in->left < SWP__WIRE_LENGTH_SIZE) {
        return false;
    }
    f->length = exact_copy(input_bytes(in, SWP__WIRE_LENGTH_SIZE, &size), SWP__WIRE_LENGTH_SIZE);
    swp_status status = swp__wire_decode_length(version, f->length, MAX_BODY, &f->body_size, &error);
    if (status != SWP_OK) {
        check_refusal(f, status, &error);
        return false;
    }
    PROMISE(f->body_size <= MAX_BODY);
    const uint8_t *body = input_bytes(in, f->body_size, &size);
    f->size = SWP__WIRE_LENGTH_SIZE + (size_t)f->body_size;
    if (size < f->body_size) {
        return false;
    }
    f->header = exact_copy(body, version == 1 ? SWP__WIRE_V1_FIXED_SIZE : SWP__WIRE_HEADER_SIZE);
    return true;
}

static void split_body(frame *f, uint64_t tail_size)
{
    PROMISE(SWP__WIRE_PAYLOAD_AT + (uint64_t)f->decoded.fixed_size + tail_size == f->size);
    f->tail = exact_copy(f->bytes + SWP__WIRE_PAYLOAD_AT + f->decoded.fixed_size, (size_t)tail_size);
}

static void check_same(swp__wire_out *out, const frame *f)
{
    PROMISE(swp__wire_finish(out, MAX_BODY, NULL) == SWP_OK && out->size == f->size);
    uint8_t *bytes = malloc(f->size);
    swp__wire_copy(out, bytes);
    PROMISE(memcmp(bytes, f->bytes, f->size) == 0);
    free(bytes);
}

static void check_v1(input *in)
{
    frame f;
    swp__wire_v1 v1;
    swp_error error;
    if (read_frame(in, 1, &f)) {
        swp_status status = swp__wire_decode_v1(f.body_size, f.header, &v1, &error);
        if (status == SWP_OK) {
            swp__wire_out out;
            swp__wire_encode_v1(&v1, &out);
            swp__wire_append(&out, f.bytes + SWP__WIRE_LENGTH_SIZE + SWP__WIRE_V1_FIXED_SIZE,
                             f.body_size - SWP__WIRE_V1_FIXED_SIZE);
            check_same(&out, &f);
        } else {
            check_refusal(&f, status, &error);
        }
    }
    free_frame(&f);
}

static void check_sweep(const frame *f, const swp__wire_request *request)
{
    swp_sweep_request sweep;
    swp_error error;
    swp_status status = swp__wire_decode_sweep(request, f->tail, &sweep, &error);
    if (status != SWP_OK) {
        check_refusal(f, status, &error);
        return;
    }
    const swp_grid *grid = &sweep.grid;
    touch(sweep.windows, sweep.windows_count * sizeof(swp_window));
    switch (grid->form) { /* the lists lie inside the tail */
    case SWP_GRID_ROWS:
        touch(grid->rows, grid->combos_count * sizeof(swp_params));
        break;
    case SWP_GRID_AXES:
        for (size_t i = 0; i < SWP_PARAMS_COUNT; i++) {
            touch(grid->axes[i], grid->axis_counts[i] * sizeof(int64_t));
        }
        break;
    case SWP_GRID_PAIRS:
        touch(grid->hma, grid->hma_count * 3 * sizeof(int64_t));
        touch(grid->hma3, grid->hma3_count * 3 * sizeof(int64_t));
        break;
    }
}

/* True: *request is one that may be sent. */
static bool check_request(input *in, swp__wire_request *request)
{
    frame f;
    swp_error error;
    bool good = false;
    if (read_frame(in, 2, &f)) {
        swp_status status = swp__wire_decode_request_header(f.body_size, f.header, &f.decoded, &error);
        if (status == SWP_OK) {
            f.fixed = exact_copy(f.bytes + SWP__WIRE_PAYLOAD_AT, f.decoded.fixed_size);
            status = swp__wire_decode_request(&f.decoded, f.fixed, request, &error);
        }
        if (status == SWP_OK) {
            split_body(&f, request->tail_size);
            swp__wire_out out;
            swp__wire_encode_request(request, &out);
            swp__wire_append(&out, f.tail, request->tail_size);
            check_same(&out, &f);
            uint8_t op = request->opcode;
            if (op == SWP__OP_SWEEP || op == SWP__OP_TRADES || op == SWP__OP_LIVE_OPEN) {
                check_sweep(&f, request);
            }
            good = true;
        } else {
            check_refusal(&f, status, &error);
        }
    }
    free_frame(&f);
    return good;
}

static void check_reply(input *in, const swp__wire_request *asked, uint64_t session_combos)
{
    frame f;
    swp__wire_reply reply;
    swp_error error;
    if (read_frame(in, 2, &f)) {
        swp_status status = swp__wire_decode_reply_header(f.body_size, f.header, &f.decoded, &error);
        if (status == SWP_OK) {
            f.fixed = exact_copy(f.bytes + SWP__WIRE_PAYLOAD_AT, f.decoded.fixed_size);
            status = swp__wire_decode_reply(&f.decoded, asked, session_combos, f.fixed, &reply, &error);
        }
        if (status == SWP_OK) {
            split_body(&f, reply.tail_size);
            swp__wire_out out;
            swp__wire_encode_reply(&reply, &out);
            swp__wire_append(&out, f.tail, reply.tail_size);
            check_same(&out, &f);
        } else {
            PROMISE(status == SWP_BAD_FRAME);
            check_refusal(&f, status, &error);
        }
    }
    free_frame(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, size};
    swp__wire_request request;
    uint64_t kind = input_number(&in, 1) % 3, session_combos = input_number(&in, 1);
    if (kind == 0) {
        check_v1(&in);
    } else if (check_request(&in, &request) && kind == 2) {
        check_reply(&in, &request, session_combos);
    }
    return 0;
}
