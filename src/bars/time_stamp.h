/* One time stamp's text -> an instant, and back. Only forms that can be read in one way; the others are refused. */
#ifndef SWP_BARS_TIME_STAMP_H
#define SWP_BARS_TIME_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The forms are kept apart: a file that changes from one to another on the way is two files. */
typedef enum swp__time_form {
    SWP__TIME_DATE,         /* 2024-01-31, also with / or . */
    SWP__TIME_LOCAL,        /* 2024-01-31 09:30[:00[.000000000]], with a space or a T: taken as UTC */
    SWP__TIME_OFFSET,       /* the same with Z, +02:00, +0200 or +02 */
    SWP__TIME_SECONDS,      /* since 1970 UTC: 9 or 10 digits */
    SWP__TIME_MILLISECONDS, /* 12 or 13 */
    SWP__TIME_MICROSECONDS, /* 15 or 16 */
    SWP__TIME_NANOSECONDS,  /* 18 or 19; all four may have a fraction down to a nanosecond */
} swp__time_form;

typedef struct swp__time_stamp {
    int64_t ns; /* since 1970 UTC; years 1678..2261 */
    swp__time_form form;
} swp__time_stamp;

/* Reads all of text[0..size). NULL, or why not, for the end of a sentence; *stamp is written only on success. */
const char *swp__time_parse(const char *text, size_t size, swp__time_stamp *stamp);

/* True for 3/2/2010, 03.02.2010 or 3-2-10 at the beginning of the text: nobody can tell the day from the month. */
bool swp__time_is_ambiguous(const char *text, size_t size);

/* "a date without a time", "milliseconds since 1970", ... */
const char *swp__time_form_name(swp__time_form form);

enum { SWP__TIME_TEXT_SIZE = 32 };

/* How much of an instant is written. */
typedef enum swp__time_detail {
    SWP__TIME_TO_THE_DAY,    /* 2024-01-31 */
    SWP__TIME_TO_THE_MINUTE, /* 2024-01-31 09:30 */
    SWP__TIME_TO_THE_SECOND, /* 2024-01-31 09:30:05 */
    SWP__TIME_IN_FULL,       /* 2024-01-31 09:30:05.000000123 */
} swp__time_detail;

/* The least detail, from the minute on, that loses nothing of this instant. */
swp__time_detail swp__time_detail_of(int64_t ns);

void swp__time_format(int64_t ns, swp__time_detail detail, char text[SWP__TIME_TEXT_SIZE]);

#endif
