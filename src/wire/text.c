/* Names and other texts of a peer: shown in logs, lists and terminals, so they carry nothing but characters. */
#include <inttypes.h>
#include "base/error.h"
#include "base/utf8.h"
#include "wire/wire.h"

swp_status swp__wire_check_text(const uint8_t *text, size_t size, uint64_t offset, swp_error *error)
{
    size_t step;
    for (size_t i = 0; i < size; i += step) {
        step = swp__utf8_character((const char *)text + i, size - i);
        if (step == 0) {
            return swp__fail(error, SWP_BAD_PARAM, offset + i, "text: byte %zu, 0x%02x, is not UTF-8 or a control character", i,
                             text[i]);
        }
    }
    return SWP_OK;
}
