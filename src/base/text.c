#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add_bytes(swp__text *text, const char *bytes, size_t size)
{
    size_t left = text->length < text->size ? text->size - text->length : 0;
    size_t fits = size < left ? size : left;
    if (fits > 0) {
        memcpy(text->at + text->length, bytes, fits);
    }
    text->length += size;
}

void swp__text_add(swp__text *text, const char *format, ...)
{
    char piece[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    add_bytes(text, piece, length < (int)sizeof piece ? (size_t)length : sizeof piece - 1);
}

void swp__text_add_json(swp__text *text, const char *bytes, size_t size)
{
    add_bytes(text, "\"", 1);
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)bytes[i] < 0x20) {
            swp__text_add(text, "\\u%04x", (unsigned char)bytes[i]);
            continue;
        }
        if (bytes[i] == '"' || bytes[i] == '\\') {
            add_bytes(text, "\\", 1);
        }
        add_bytes(text, &bytes[i], 1);
    }
    add_bytes(text, "\"", 1);
}
