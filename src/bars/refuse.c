#include "bars/refuse.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "base/utf8.h"

enum { PATH_SHOWN_MAX = 80 };

/* Where the shown part of a path begins: at most its last PATH_SHOWN_MAX bytes, not inside a UTF-8 character. */
static const char *shown_path(const char *path, const char **dots)
{
    size_t size = strlen(path);
    *dots = size > PATH_SHOWN_MAX ? "..." : "";
    const char *shown = size > PATH_SHOWN_MAX ? path + (size - PATH_SHOWN_MAX) : path;
    while (((unsigned char)*shown & 0xC0u) == 0x80u) {
        shown++;
    }
    return shown;
}

swp_status swp__refuse_line(swp_error *error, const char *path, uint64_t line, const char *format, ...)
{
    char text[sizeof error->message];
    const char *dots, *shown = shown_path(path, &dots);
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return swp__fail(error, SWP_BAD_PARAM, line, "%s%s:%" PRIu64 ": %s", dots, shown, line, text);
}

swp_status swp__refuse_file(swp_error *error, const char *path, uint64_t at, const char *format, ...)
{
    char text[sizeof error->message];
    const char *dots, *shown = shown_path(path, &dots);
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return swp__fail(error, SWP_BAD_PARAM, at, "%s%s: %s", dots, shown, text);
}

const char *swp__quote(const char *text, size_t size, char quoted[SWP__QUOTED_SIZE])
{
    enum { ROOM = SWP__QUOTED_SIZE - 6 }; /* two marks, three dots, NUL */
    char *at = quoted;
    size_t done = 0;
    *at++ = '"';
    while (done < size) {
        size_t bytes = swp__utf8_character(text + done, size - done);
        if (done + (bytes > 0 ? bytes : 1) > ROOM) {
            break;
        }
        if (bytes > 0) {
            memcpy(at, text + done, bytes);
        } else {
            bytes = 1;
            *at = '?';
        }
        at += bytes;
        done += bytes;
    }
    strcpy(at, done < size ? "...\"" : "\"");
    return quoted;
}
