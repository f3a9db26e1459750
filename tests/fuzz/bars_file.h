/* What the targets of file readers share: the input as a file, read by the public call, and what holds of whatever came. */
#ifndef SWP_TESTS_FUZZ_BARS_FILE_H
#define SWP_TESTS_FUZZ_BARS_FILE_H

#include "swp/bars.h"

/* Writes a file of that name into memory's own file system and reads it. What is accepted obeys the options: closes the policy lets
 * in, stamps that rise, counts that are true; what is refused says so with a place, and leaves *bars alone. */
void check_bars_file(const char *name, const void *bytes, size_t size, const swp_bars_options *options);

#endif
