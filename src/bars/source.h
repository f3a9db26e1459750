/* The bytes of a file, from its beginning, once. */
#ifndef SWP_BARS_SOURCE_H
#define SWP_BARS_SOURCE_H

#include <stddef.h>
#include "swp/error.h"

typedef struct swp__source {
    const char *path; /* as it was given */
    int descriptor;
    uint64_t size_bytes; /* of a plain file; 0 for a pipe, whose size nobody knows */
} swp__source;

/* FILE with the system's own text. `path` must outlive the source. */
SWP_MUST_CHECK swp_status swp__source_open(const char *path, swp__source *source, swp_error *error);

/* Fills `bytes` unless the file ends first; *got < size says that it has ended. FILE. */
SWP_MUST_CHECK swp_status swp__source_read(swp__source *source, void *bytes, size_t size, size_t *got, swp_error *error);

void swp__source_close(swp__source *source);

#endif
