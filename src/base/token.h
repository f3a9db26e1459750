/* The token that a service and its clients share: read from a file that only its owner can read, compared in a time that
 * tells nothing of it. */
#ifndef SWP_BASE_TOKEN_H
#define SWP_BASE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "swp/error.h"

enum { SWP__TOKEN_SIZE_MAX = 1024 };

typedef struct swp__token {
    uint8_t bytes[SWP__TOKEN_SIZE_MAX + 2]; /* a newline, and a byte that shows that there is more */
    size_t size;                            /* 0: none */
} swp__token;

/* All of the file but its last newline. FILE: it cannot be read, others can read it, it has no token or a longer one. */
SWP_MUST_CHECK swp_status swp__token_read(const char *path, swp__token *token, swp_error *error);

/* Takes the same time wherever the first difference is. */
bool swp__token_equal(const void *a, size_t a_size, const void *b, size_t b_size);

#endif
