/* The bytes of a file, from its beginning, once. */
#ifndef SWP_BARS_SOURCE_H
#define SWP_BARS_SOURCE_H

#include "bars/unpack.h"
#include "swp/error.h"

typedef struct swp__source {
    const char *path; /* as it was given */
    int descriptor;
    uint64_t size_bytes; /* of a plain file; 0 for a pipe or a compressed file, whose size nobody knows */
    swp__unpack *unpack; /* NULL: not compressed */
    unsigned char first[SWP__UNPACK_MAGIC_SIZE]; /* bytes that were looked at and are still to be read */
    size_t first_at, first_size;
} swp__source;

/* "-" is standard input. FILE with the system's own text. `path` must outlive the source. */
SWP_MUST_CHECK swp_status swp__source_open(const char *path, swp__source *source, swp_error *error);

/* Before the first read: what is compressed by gzip or zstd, by its first bytes, is unpacked from here on. BAD_PARAM, FILE,
 * NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__source_unpack(swp__source *source, swp_error *error);

/* Fills `bytes` unless the file ends first; *got < size says that it has ended. FILE. */
SWP_MUST_CHECK swp_status swp__source_read(swp__source *source, void *bytes, size_t size, size_t *got, swp_error *error);

void swp__source_close(swp__source *source);

#endif
