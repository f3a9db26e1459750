/* The bytes of a gzip or zstd file as they were before it was compressed, block by block: memory does not depend on what the
 * file says of itself, and a file that unpacks to absurdly more than it holds is refused. */
#ifndef SWP_BARS_UNPACK_H
#define SWP_BARS_UNPACK_H

#include <stddef.h>
#include "swp/error.h"

enum {
    SWP__UNPACK_MAGIC_SIZE = 4,
    SWP__UNPACK_RATIO_MAX = 200,      /* of bytes out to bytes in, */
    SWP__UNPACK_FREE_SIZE = 64 << 20, /* beyond so many bytes out */
};

typedef struct swp__unpack swp__unpack;

/* Gives the next compressed bytes, as read does; *got is 0 at the end. */
typedef swp_status (*swp__unpack_more)(void *context, void *bytes, size_t size, size_t *got, swp_error *error);

/* By the first bytes: *unpack is NULL for a file that is not compressed. BAD_PARAM: this build does not read that
 * compression; NO_MEMORY. `path` must outlive it. */
SWP_MUST_CHECK swp_status swp__unpack_new(const unsigned char *magic, size_t size, const char *path, swp__unpack **unpack,
                                          swp_error *error);

/* Fills `bytes` unless the end comes first, as swp__source_read. BAD_PARAM: damaged, cut short, or a bomb. */
SWP_MUST_CHECK swp_status swp__unpack_read(swp__unpack *unpack, swp__unpack_more more, void *context, void *bytes, size_t size,
                                           size_t *got, swp_error *error);

const char *swp__unpack_name(const swp__unpack *unpack); /* "gzip"; of NULL: NULL */

void swp__unpack_free(swp__unpack *unpack); /* NULL is a no-op */

#endif
