/* How a reader refuses what a file holds: `path:line: what is wrong`. */
#ifndef SWP_BARS_REFUSE_H
#define SWP_BARS_REFUSE_H

#include <stddef.h>
#include "swp/error.h"

/* BAD_PARAM at `line` (from 1). A long path loses its beginning, so that the text behind it fits. */
swp_status swp__refuse_line(swp_error *error, const char *path, uint64_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* BAD_PARAM at `at`, which is no line: `path: what is wrong`. */
swp_status swp__refuse_file(swp_error *error, const char *path, uint64_t at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

enum { SWP__QUOTED_SIZE = 48 }; /* bytes that hold any quoted text and its NUL */

/* A field's text for a message, in quotation marks: control characters and bytes that are no UTF-8 as '?', a long text
 * cut, ending in "...". Returns `quoted`. */
const char *swp__quote(const char *text, size_t size, char quoted[SWP__QUOTED_SIZE]);

#endif
