/* Names and other texts of a peer: shown in logs, lists and terminals, so they carry nothing but characters. */
#include <inttypes.h>
#include "base/error.h"
#include "wire/wire.h"

/* Bytes of the character that begins with `first`, and the range of its second byte; overlong forms, surrogates and
 * what lies beyond U+10FFFF have no row (Unicode, table 3-7). */
static size_t character_size(uint8_t first, uint8_t *least, uint8_t *most)
{
    *least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    *most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (first >= 0x20 && first < 0x7F) {
        return 1;
    }
    if (first == 0xC2) {
        *least = 0xA0; /* U+0080..U+009F are control characters */
    }
    if (first >= 0xC2 && first <= 0xDF) {
        return 2;
    }
    if (first >= 0xE0 && first <= 0xEF) {
        return 3;
    }
    return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

/* Bytes of the character at text[0], 0 when there is none that may stand there. */
static size_t read_character(const uint8_t *text, size_t left)
{
    uint8_t least, most;
    size_t size = character_size(text[0], &least, &most);
    if (size > left || (size > 1 && (text[1] < least || text[1] > most))) {
        return 0;
    }
    for (size_t i = 2; i < size; i++) {
        if ((text[i] & 0xC0u) != 0x80u) {
            return 0;
        }
    }
    return size;
}

swp_status swp__wire_check_text(const uint8_t *text, size_t size, uint64_t offset, swp_error *error)
{
    size_t step;
    for (size_t i = 0; i < size; i += step) {
        step = read_character(text + i, size - i);
        if (step == 0) {
            return swp__fail(error, SWP_BAD_PARAM, offset + i,
                             "text: byte %zu, 0x%02x, is not UTF-8 or a control character", i, text[i]);
        }
    }
    return SWP_OK;
}
