#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/status_table.h"
#include "base/utf8.h"

static const swp__status_row *find_row(swp_status status)
{
    for (size_t i = 0; i < swp__status_rows_count; i++) {
        if (swp__status_rows[i].status == status) {
            return &swp__status_rows[i];
        }
    }
    return NULL;
}

const char *swp_status_name(swp_status status)
{
    const swp__status_row *row = find_row(status);
    return row ? row->name : "?";
}

const char *swp_status_text(swp_status status)
{
    const swp__status_row *row = find_row(status);
    return row ? row->text : "unknown status";
}

/* Replaces the end of a cut text by "...", going back to a character's first byte. */
static void mark_cut(char *message, size_t size)
{
    size_t end = size - 4;
    while (end > 0 && ((unsigned char)message[end] & 0xC0u) == 0x80u) {
        end--;
    }
    memcpy(message + end, "...", 4);
}

static void fill(swp_error *error, swp_status status, uint64_t at, const char *format, va_list args)
{
    error->status = status;
    error->at = at;
    error->a = 0;
    error->b = 0;
    int length = vsnprintf(error->message, sizeof error->message, format, args);
    if (length >= (int)sizeof error->message) {
        mark_cut(error->message, sizeof error->message);
    }
    swp__utf8_clean(error->message, strlen(error->message)); /* file names and words of a user may hold anything */
}

swp_status swp__fail(swp_error *error, swp_status status, uint64_t at, const char *format, ...)
{
    if (error != NULL) {
        va_list args;
        va_start(args, format);
        fill(error, status, at, format, args);
        va_end(args);
    }
    return status;
}

swp_status swp__fail_limit(swp_error *error, uint64_t limit, uint64_t request, const char *format, ...)
{
    if (error != NULL) {
        va_list args;
        va_start(args, format);
        fill(error, SWP_LIMIT, SWP_AT_NONE, format, args);
        va_end(args);
        error->a = limit;
        error->b = request;
    }
    return SWP_LIMIT;
}
