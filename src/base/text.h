/* A text put together piece by piece in the caller's memory. What does not fit is counted and left out, so that one
 * call with no memory tells the size to ask for, as with snprintf. */
#ifndef SWP_BASE_TEXT_H
#define SWP_BASE_TEXT_H

#include <stddef.h>

typedef struct swp__text {
    char *at;      /* may be NULL when size is 0 */
    size_t size;   /* bytes at `at` */
    size_t length; /* of the whole text, without an ending NUL; beyond `size`: it was cut */
} swp__text;

/* A piece is at most 511 bytes long. */
void swp__text_add(swp__text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As a JSON string with its quotes. `bytes` is UTF-8. */
void swp__text_add_json(swp__text *text, const char *bytes, size_t size);

#endif
