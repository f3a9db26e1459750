#include "bars/text.h"

#include <string.h>
#include "bars/refuse.h"

enum { MARK_SIZE = 4 }; /* bytes that tell the encoding */

static swp_status refuse_encoding(const swp__text *text, const char *name, swp_error *error)
{
    return swp__refuse_line(error, text->source->path, 1, "the text is %s; this converts it: iconv -f %s -t UTF-8 FILE", name,
                            name);
}

swp_status swp__text_begin(swp__text *text, swp__source *source, swp_error *error)
{
    *text = (swp__text){.source = source, .encoding = "UTF-8"};
    const unsigned char *raw = text->raw;
    swp_status status = swp__source_read(source, text->raw, MARK_SIZE, &text->raw_size, error);
    if (status != SWP_OK) {
        return status;
    }
    if (text->raw_size >= 3 && memcmp(raw, "\xEF\xBB\xBF", 3) == 0) {
        text->encoding = "UTF-8 with its mark";
        text->raw_at = 3;
    } else if (text->raw_size == 4 && (memcmp(raw, "\xFF\xFE\0\0", 4) == 0 || memcmp(raw, "\0\0\xFE\xFF", 4) == 0)) {
        return refuse_encoding(text, "UTF-32", error);
    } else if (text->raw_size >= 2 && (memcmp(raw, "\xFF\xFE", 2) == 0 || memcmp(raw, "\xFE\xFF", 2) == 0)) {
        text->is_utf16 = true;
        text->is_big_endian = raw[0] == 0xFE;
        text->encoding = text->is_big_endian ? "UTF-16, big-endian" : "UTF-16, little-endian";
        text->raw_at = 2;
    } else if (text->raw_size == 4 && raw[0] != 0 && raw[1] == 0 && raw[2] != 0 && raw[3] == 0) {
        return refuse_encoding(text, "UTF-16LE", error);
    } else if (text->raw_size == 4 && raw[0] == 0 && raw[1] != 0 && raw[2] == 0 && raw[3] != 0) {
        return refuse_encoding(text, "UTF-16BE", error);
    }
    return SWP_OK;
}

/* The next 16 bits; false at the end of the text, or in the middle of them. */
static bool take_unit(swp__text *text, uint32_t *unit, swp_status *status, swp_error *error)
{
    if (text->raw_size - text->raw_at < 2) {
        size_t kept = text->raw_size - text->raw_at, got;
        memmove(text->raw, text->raw + text->raw_at, kept);
        text->raw_offset += text->raw_at;
        *status = swp__source_read(text->source, text->raw + kept, SWP__TEXT_RAW_SIZE - kept, &got, error);
        text->raw_at = 0;
        text->raw_size = kept + (*status == SWP_OK ? got : 0);
    }
    if (*status != SWP_OK || text->raw_size - text->raw_at < 2) {
        return false;
    }
    const unsigned char *bytes = text->raw + text->raw_at;
    *unit = text->is_big_endian ? (uint32_t)(bytes[0] << 8 | bytes[1]) : (uint32_t)(bytes[1] << 8 | bytes[0]);
    text->raw_at += 2;
    return true;
}

static swp_status refuse_half(const swp__text *text, swp_error *error)
{
    uint64_t at = text->raw_offset + text->raw_at;
    return swp__refuse_file(error, text->source->path, at, "half a character of UTF-16 before byte %llu",
                            (unsigned long long)at);
}

static size_t encode(uint32_t c, unsigned char bytes[4])
{
    if (c < 0x80) {
        bytes[0] = (unsigned char)c;
        return 1;
    }
    size_t size = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, c >>= 6) {
        bytes[i] = (unsigned char)(0x80u | (c & 0x3Fu));
    }
    bytes[0] = (unsigned char)((size == 2 ? 0xC0u : size == 3 ? 0xE0u : 0xF0u) | c);
    return size;
}

/* The next character as UTF-8, 0 bytes at the end. */
static swp_status take_character(swp__text *text, unsigned char bytes[4], size_t *size, swp_error *error)
{
    uint32_t unit, low;
    swp_status status = SWP_OK;
    *size = 0;
    if (!take_unit(text, &unit, &status, error)) {
        return status != SWP_OK || text->raw_at == text->raw_size ? status : refuse_half(text, error);
    }
    if (unit >= 0xD800 && unit < 0xE000) {
        if (unit >= 0xDC00 || !take_unit(text, &low, &status, error) || low < 0xDC00 || low >= 0xE000) {
            return status != SWP_OK ? status : refuse_half(text, error);
        }
        unit = 0x10000u + ((unit - 0xD800u) << 10) + (low - 0xDC00u);
    }
    *size = encode(unit, bytes);
    return SWP_OK;
}

static swp_status read_utf16(swp__text *text, unsigned char *bytes, size_t size, size_t *got, swp_error *error)
{
    swp_status status = SWP_OK;
    *got = 0;
    while (*got < size && status == SWP_OK) {
        if (text->left_size == 0) {
            status = take_character(text, text->left, &text->left_size, error);
        }
        if (status != SWP_OK || text->left_size == 0) {
            return status;
        }
        size_t fits = text->left_size < size - *got ? text->left_size : size - *got;
        memcpy(bytes + *got, text->left, fits);
        memmove(text->left, text->left + fits, text->left_size - fits);
        text->left_size -= fits;
        *got += fits;
    }
    return status;
}

swp_status swp__text_read(swp__text *text, void *bytes, size_t size, size_t *got, swp_error *error)
{
    if (text->is_utf16) {
        return read_utf16(text, bytes, size, got, error);
    }
    size_t first = text->raw_size - text->raw_at;
    first = first < size ? first : size;
    memcpy(bytes, text->raw + text->raw_at, first);
    text->raw_at += first;
    swp_status status = swp__source_read(text->source, (char *)bytes + first, size - first, got, error);
    *got += first;
    return status;
}
