/* Decimal text <-> double, exactly and alike in every locale: the decimal sign is a point. */
#ifndef SWP_BASE_NUMBER_H
#define SWP_BASE_NUMBER_H

#include <stddef.h>

typedef enum swp__number_result {
    SWP__NUMBER_OK,
    SWP__NUMBER_BAD,     /* not a number as swp__number_parse takes it; *value is untouched */
    SWP__NUMBER_TOO_BIG, /* a number beyond what a double holds; *value is untouched */
} swp__number_result;

/* Reads all of text[0..size): [+-] digits [. digits] [e [+-] digits], at least one digit before the exponent; and the
 * words "nan", "inf" and "infinity" in any case, the last two with a sign. No spaces, hexadecimal or thousands
 * separators. *value is the nearest double, ties to even. */
swp__number_result swp__number_parse(const char *text, size_t size, double *value);

/* The same where `sign` is the sign between whole part and fraction, a point or a comma; with a comma, a point is refused. */
swp__number_result swp__number_parse_with(const char *text, size_t size, char sign, double *value);

enum { SWP__NUMBER_SIZE = 40 }; /* bytes that hold any double's text and its NUL */

/* Writes the shortest decimal that reads back as `value`, NUL-terminated, and returns its length. 100, 0.1, 1e+300, -0;
 * "NaN", "Infinity", "-Infinity". */
size_t swp__number_format(double value, char text[SWP__NUMBER_SIZE]);

/* The same for JSON, which has no word for what is not finite, so that is a string; a double keeps a point or an exponent,
 * so that it is read back as one, and -0.0 with its sign. */
size_t swp__number_format_json(double value, char text[SWP__NUMBER_SIZE]);

#endif
