/* The JSON body of POST /v1/sweep. What is taken is whole: lists as long as they say, one of each pair of members; nothing is left
 * behind, whatever comes of it, and no more memory is held than the bound allows.
 *
 * Input: u8 (bit 0: little memory), then the text. */
#include <math.h>
#include "fuzz/fuzz.h"
#include "http/memory.h"
#include "http/sweep_body.h"

static void check_body(const swp__sweep_body *body)
{
    PROMISE((body->close == NULL) != (body->series == NULL));
    PROMISE(body->rows != NULL && body->results != 0 && body->results < 1u << SWP__SWEEP_RESULTS_COUNT);
    PROMISE((body->windows != NULL) == (body->windows_count > 0));
    touch(body->rows, body->combos_count * sizeof(swp_params));
    touch(body->windows, body->windows_count * sizeof(swp_window));
    if (body->close != NULL) {
        touch(body->close, body->bars_count * sizeof(double));
    } else {
        touch(body->series, strlen(body->series) + 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, size};
    swp__memory_bound((input_number(&in, 1) & 1) != 0 ? 4096 : 1 << 26);
    swp__sweep_body body = {0};
    swp_error error;
    uint8_t *text = exact_copy(in.at, in.left);
    swp_status status = swp__sweep_body_read((const char *)text, in.left, &body, &error);
    if (status == SWP_OK) {
        check_body(&body);
    } else {
        PROMISE(error.status == status && error.message[0] != '\0' && body.rows == NULL);
        PROMISE(status != SWP_BAD_FRAME || error.at <= in.left);
    }
    swp__sweep_body_free(&body);
    free(text);
    PROMISE(swp__memory_used() == 0);
    return 0;
}
