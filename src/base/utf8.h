/* UTF-8 as it may be shown: in messages, logs, lists and terminals. */
#ifndef SWP_BASE_UTF8_H
#define SWP_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the character that text[0..size) begins with, 1..4; 0 when size is 0 or no character begins there that may be shown:
 * a control character, a byte out of place, a form that is longer than it need be, a surrogate, or what lies beyond U+10FFFF. */
size_t swp__utf8_character(const char *text, size_t size);

/* Puts '?' for every byte of text[0..size) that belongs to no such character. */
void swp__utf8_clean(char *text, size_t size);

#endif
