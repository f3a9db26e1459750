#include "base/utf8.h"

/* Bytes of the character that begins with `first`, and the range of its second byte; overlong forms, surrogates and
 * what lies beyond U+10FFFF have no row (Unicode, table 3-7). */
static size_t character_size(unsigned char first, unsigned char *least, unsigned char *most)
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

size_t swp__utf8_character(const char *text, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)text;
    unsigned char least, most;
    size_t needed = size > 0 ? character_size(bytes[0], &least, &most) : 0;
    if (needed > size || (needed > 1 && (bytes[1] < least || bytes[1] > most))) {
        return 0;
    }
    for (size_t i = 2; i < needed; i++) {
        if ((bytes[i] & 0xC0u) != 0x80u) {
            return 0;
        }
    }
    return needed;
}

void swp__utf8_clean(char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        size_t bytes = swp__utf8_character(text + i, size - i);
        if (bytes == 0) {
            text[i] = '?';
            bytes = 1;
        }
        i += bytes;
    }
}
