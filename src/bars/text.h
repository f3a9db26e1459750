/* A source's bytes as UTF-8, without a mark: UTF-16, which has one, is converted on the way. */
#ifndef SWP_BARS_TEXT_H
#define SWP_BARS_TEXT_H

#include <stdbool.h>
#include "bars/source.h"

enum { SWP__TEXT_RAW_SIZE = 1 << 14 };

typedef struct swp__text {
    swp__source *source;
    const char *encoding; /* "UTF-8", "UTF-8 with its mark", "UTF-16, ..." */
    bool is_utf16, is_big_endian;
    uint64_t raw_offset;     /* byte of the file that raw begins at */
    size_t raw_at, raw_size; /* bytes that were read and are still to be given, or converted */
    unsigned char raw[SWP__TEXT_RAW_SIZE];
    size_t left_size; /* bytes of a character that did not fit into the last block */
    unsigned char left[4];
} swp__text;

/* Looks at the first bytes. BAD_PARAM: UTF-32, or UTF-16 without its mark, with the command that converts it; FILE, NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__text_begin(swp__text *text, swp__source *source, swp_error *error);

/* Fills `bytes` unless the text ends first, as swp__source_read. BAD_PARAM (at: the byte of the file): half a character. */
SWP_MUST_CHECK swp_status swp__text_read(swp__text *text, void *bytes, size_t size, size_t *got, swp_error *error);

#endif
