/* Parsing: most prices have few digits, so their digits fit a double exactly and one exact power of ten settles the
 * value in one correctly rounded operation (W. Clinger, 1990). The others go to strtod in the C locale. */
#include "base/number.h"

#include <fenv.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/fpenv.h"

enum {
    EXACT_POWER_MAX = 22,   /* 10^22 is the last power of ten that a double holds exactly */
    DIGITS_MAX = 19,        /* digits that a uint64_t holds whatever they are */
    TEXT_SIZE_MAX = 1200,   /* the exact decimal of the smallest double has 1,077 characters */
    EXPONENT_MAX = 1000000, /* beyond this more digits of an exponent change nothing */
};
static const uint64_t exact_integer_max = UINT64_C(1) << 53;

static const double powers_of_ten[EXACT_POWER_MAX + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static locale_t get_c_locale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    return c_locale;
}

/* What the text says, before any rounding: digits x 10^exponent. */
typedef struct decimal {
    uint64_t digits;  /* the significant digits, when there are at most DIGITS_MAX */
    int64_t exponent; /* of ten */
    int digits_count; /* significant ones: leading zeros do not count */
    bool negative;
} decimal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads digits into *d and returns the first byte that is none; `scale` is -1 behind the point, else 0. */
static const char *scan_digits(const char *at, const char *end, int scale, decimal *d)
{
    for (; at < end && is_digit(*at); at++) {
        d->digits = d->digits * 10u + (uint64_t)(*at - '0');
        d->digits_count += d->digits_count > 0 || *at != '0' ? 1 : 0;
        d->exponent += scale;
    }
    return at;
}

/* Reads "e-5" when there is one; NULL when an exponent has no digits. */
static const char *scan_exponent(const char *at, const char *end, decimal *d)
{
    if (at == end || (*at != 'e' && *at != 'E')) {
        return at;
    }
    at++;
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+') ? 1 : 0;
    const char *first = at;
    int64_t exponent = 0;
    for (; at < end && is_digit(*at); at++) {
        exponent = exponent < EXPONENT_MAX ? exponent * 10 + (*at - '0') : exponent;
    }
    d->exponent += negative ? -exponent : exponent;
    return at > first ? at : NULL;
}

/* True when all of the text is a decimal number. */
static bool scan(const char *text, size_t size, decimal *d)
{
    const char *at = text, *end = text + size;
    d->negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+') ? 1 : 0;
    const char *first = at;
    at = scan_digits(at, end, 0, d);
    ptrdiff_t digits = at - first;
    if (at < end && *at == '.') {
        first = ++at;
        at = scan_digits(at, end, -1, d);
        digits += at - first;
    }
    return digits > 0 && scan_exponent(at, end, d) == end;
}

static bool parse_word(const char *text, size_t size, double *value)
{
    if (size == 3 && strncasecmp(text, "nan", 3) == 0) {
        *value = (double)NAN;
        return true;
    }
    bool negative = size > 0 && text[0] == '-';
    size_t sign = size > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    text += sign;
    size -= sign;
    if ((size == 3 && strncasecmp(text, "inf", 3) == 0) || (size == 8 && strncasecmp(text, "infinity", 8) == 0)) {
        *value = negative ? -HUGE_VAL : HUGE_VAL;
        return true;
    }
    return false;
}

static swp__number_result parse_slowly(const char *text, size_t size, double *value)
{
    char copy[TEXT_SIZE_MAX + 1];
    if (size > TEXT_SIZE_MAX) {
        return SWP__NUMBER_BAD;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    uint64_t fpenv = swp__fpenv_enter();
    double parsed = strtod_l(copy, NULL, get_c_locale());
    swp__fpenv_leave(fpenv);
    if (isinf(parsed)) {
        return SWP__NUMBER_TOO_BIG;
    }
    *value = parsed;
    return SWP__NUMBER_OK;
}

swp__number_result swp__number_parse(const char *text, size_t size, double *value)
{
    decimal d = {0};
    if (!scan(text, size, &d)) {
        return parse_word(text, size, value) ? SWP__NUMBER_OK : SWP__NUMBER_BAD;
    }
    if (d.digits_count > DIGITS_MAX || d.digits > exact_integer_max || d.exponent < -EXACT_POWER_MAX ||
        d.exponent > EXACT_POWER_MAX) {
        return parse_slowly(text, size, value);
    }
    double magnitude = (double)d.digits;
    magnitude = d.exponent < 0 ? magnitude / powers_of_ten[-d.exponent] : magnitude * powers_of_ten[d.exponent];
    *value = d.negative ? -magnitude : magnitude;
    return SWP__NUMBER_OK;
}

swp__number_result swp__number_parse_with(const char *text, size_t size, char sign, double *value)
{
    char copy[TEXT_SIZE_MAX];
    if (sign != ',') {
        return swp__number_parse(text, size, value);
    }
    if (size > sizeof copy || memchr(text, '.', size) != NULL) {
        return SWP__NUMBER_BAD;
    }
    memcpy(copy, text, size);
    char *comma = memchr(copy, ',', size);
    if (comma != NULL) {
        *comma = '.';
    }
    return swp__number_parse(copy, size, value); /* a second comma is no number */
}

/* The 16-digit decimal next to a power of two on the side away from zero, where doubles lie twice as far apart as on
 * the other: there it may read back although the nearest 16-digit decimal, on the near side, does not. */
static bool format_away_from_zero(double value, char text[SWP__NUMBER_SIZE])
{
    int exponent;
    if (fabs(frexp(value, &exponent)) != 0.5) {
        return false;
    }
    fesetround(value > 0 ? FE_UPWARD : FE_DOWNWARD);
    snprintf(text, SWP__NUMBER_SIZE, "%.16g", value);
    fesetround(FE_TONEAREST);
    return strtod(text, NULL) == value;
}

/* 15 digits always survive the way into a normal double and back, so no shorter attempt can win there; %g drops the
 * zeros at the end. */
static void format_shortest(double value, char text[SWP__NUMBER_SIZE])
{
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits < 17; digits++) {
        snprintf(text, SWP__NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            return;
        }
    }
    if (!format_away_from_zero(value, text)) {
        snprintf(text, SWP__NUMBER_SIZE, "%.17g", value);
    }
}

size_t swp__number_format(double value, char text[SWP__NUMBER_SIZE])
{
    if (!isfinite(value)) {
        strcpy(text, isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity");
        return strlen(text);
    }
    locale_t former = uselocale(get_c_locale());
    uint64_t fpenv = swp__fpenv_enter(); /* subnormals are told apart, whatever the caller's thread does with them */
    format_shortest(value, text);
    swp__fpenv_leave(fpenv);
    uselocale(former);
    return strlen(text);
}

size_t swp__number_format_json(double value, char text[SWP__NUMBER_SIZE])
{
    size_t length = swp__number_format(value, text);
    if (!isfinite(value)) {
        memmove(text + 1, text, length);
        text[0] = '"';
        memcpy(text + 1 + length, "\"", sizeof "\"");
        return length + 2;
    }
    if (strpbrk(text, ".e") == NULL) {
        memcpy(text + length, ".0", sizeof ".0");
        return length + 2;
    }
    return length;
}
