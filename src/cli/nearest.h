/* "did you mean": the likeliest word for a misspelt one. */
#ifndef SWP_CLI_NEAREST_H
#define SWP_CLI_NEAREST_H

#include <stddef.h>

/* How far `word` is from `candidate`: letters to insert, drop, change or swap with the next; 1 for a beginning of three
 * letters or more. SIZE_MAX when too far to suggest. */
size_t swp__nearest_distance(const char *word, const char *candidate);

#endif
