/* A folder of a test's own. */
#ifndef SWP_TESTS_SUPPORT_TEMP_H
#define SWP_TESTS_SUPPORT_TEMP_H

#include <stddef.h>

/* Makes the folder at the first call, removes it with all that is in it when the program ends, and returns the path of
 * `name` in it: a static text, good until the fourth call after. */
const char *temp_path(const char *name);

/* Writes a file there and returns its path. */
const char *temp_write(const char *name, const void *bytes, size_t size);

/* Reads at most `size` bytes of the file at `path`; the bytes read, or -1. */
long temp_read(const char *path, void *bytes, size_t size);

#endif
