/* Which character separates the fields of a text, judged by its first lines. */
#ifndef SWP_BARS_DELIMITER_H
#define SWP_BARS_DELIMITER_H

#include <stdbool.h>
#include <stddef.h>

bool swp__is_delimiter(char c); /* one of , ; tab | */

/* Looks at the first lines of text[0..size), the last one only when `is_all` says that the text is all there is. A
 * delimiter is taken when it alone splits the header, and, where several do, when it alone splits the following lines
 * into as many fields.
 * A comma that is the decimal sign is none. ',' (';') for a header of a single field; 0 when it is not clear. */
char swp__delimiter_find(const char *text, size_t size, bool is_all, bool comma_is_decimal);

#endif
