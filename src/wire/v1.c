/* Version 1, frozen: two calls, no errors. A frame it cannot answer closes the connection. */
#include <inttypes.h>
#include <string.h>
#include "base/error.h"
#include "wire/layout.h"

/* As it stands in the first 9 bytes of a body; the counts are not aligned there. */
enum { OPCODE_AT = 0, N_BARS_AT = 1, N_COMBOS_AT = 5 };

swp_status swp__wire_decode_v1(uint32_t body_size, const uint8_t fixed[SWP__WIRE_V1_FIXED_SIZE], swp__wire_v1 *v1,
                               swp_error *error)
{
    swp__wire_v1 made = {.opcode = fixed[OPCODE_AT]};
    memcpy(&made.n_bars, fixed + N_BARS_AT, sizeof made.n_bars);
    memcpy(&made.n_combos, fixed + N_COMBOS_AT, sizeof made.n_combos);
    if (swp__wire_version_of(made.opcode) != 1) {
        return swp__fail(error, SWP_BAD_FRAME, SWP__WIRE_LENGTH_SIZE, "opcode %u is not one of version 1", made.opcode);
    }
    uint64_t expected = SWP__WIRE_V1_FIXED_SIZE + 8 * (uint64_t)made.n_bars + 8 * SWP_PARAMS_COUNT * (uint64_t)made.n_combos;
    if (body_size != expected) {
        return swp__fail(error, SWP_BAD_FRAME, SWP__WIRE_LENGTH_SIZE + (body_size < expected ? body_size : expected),
                         "body of %" PRIu32 " bytes, %" PRIu32 " bars and %" PRIu32 " combos make %" PRIu64, body_size,
                         made.n_bars, made.n_combos, expected);
    }
    *v1 = made;
    return SWP_OK;
}

swp_status swp__wire_check_v1_params(int64_t *params, uint64_t params_count, swp_error *error)
{
    for (uint64_t i = 0; i < params_count; i++) {
        if (params[i] < 1) {
            return swp__fail(error, SWP_BAD_PARAM, i, "parameter %" PRIu64 " is %" PRId64 ", expected at least 1", i,
                             params[i]);
        }
        params[i] = params[i] > SWP_PARAM_MAX ? SWP_PARAM_MAX : params[i];
    }
    return SWP_OK;
}

void swp__wire_encode_v1(const swp__wire_v1 *v1, swp__wire_out *out)
{
    swp__wire_begin(out);
    swp__wire_extend_start(out, &v1->opcode, sizeof v1->opcode);
    swp__wire_extend_start(out, &v1->n_bars, sizeof v1->n_bars);
    swp__wire_extend_start(out, &v1->n_combos, sizeof v1->n_combos);
}

void swp__wire_encode_v1_reply(swp__wire_out *out)
{
    swp__wire_begin(out);
}
