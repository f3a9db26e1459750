/* One time stamp's text -> an instant, and back. Only forms that can be read in one way; the others are refused. */
#ifndef SWP_BARS_TIME_STAMP_H
#define SWP_BARS_TIME_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "bars/time_zone.h"

/* The forms are kept apart: a file that changes from one to another on the way is two files. */
typedef enum swp__time_form {
    SWP__TIME_DATE,         /* 2024-01-31, also with / or . */
    SWP__TIME_LOCAL,        /* 2024-01-31 09:30[:00[.000000000]], with a space or a T: taken as UTC */
    SWP__TIME_OFFSET,       /* the same with Z, +02:00, +0200 or +02, UTC, GMT, GMT+0100 */
    SWP__TIME_COMPACT_DATE, /* 20240131 */
    SWP__TIME_COMPACT,      /* 20240131 093000, also with a time as above */
    SWP__TIME_SECONDS,      /* since 1970 UTC: 9 or 10 digits */
    SWP__TIME_MILLISECONDS, /* 12 or 13 */
    SWP__TIME_MICROSECONDS, /* 15 or 16 */
    SWP__TIME_NANOSECONDS,  /* 18 or 19; all four may have a fraction down to a nanosecond */
    SWP__TIME_PATTERN,      /* as the rule's pattern says */
} swp__time_form;

typedef enum swp__date_order { SWP__YEAR_FIRST, SWP__DAY_FIRST, SWP__MONTH_FIRST } swp__date_order;

/* How the stamps of one file are read. Zeroed: by their looks, year first, without an offset as UTC. */
typedef struct swp__time_rule {
    swp__date_order order; /* of dates with separators */
    bool has_unit;         /* numbers of any length count `unit` since 1970 */
    swp__time_form unit;   /* SWP__TIME_SECONDS and so on */
    const char *pattern;   /* as strptime has it; NULL: none */
    const swp__zone *zone; /* of stamps without an offset; NULL: UTC */
} swp__time_rule;

/* ymd, dmy, mdy, s, ms, us, ns, or a pattern with %Y %y %m %b %d %H %I %M %S %f %p %z %%; false: none of them. */
bool swp__time_rule_parse(const char *text, swp__time_rule *rule);

typedef struct swp__time_stamp {
    int64_t ns; /* since 1970 UTC; years 1678..2261 */
    swp__time_form form;
} swp__time_stamp;

/* Reads all of text[0..size) by a rule. NULL, or why not; *stamp is written only on success. */
const char *swp__time_parse_by(const swp__time_rule *rule, const char *text, size_t size, swp__time_stamp *stamp);

/* Reads all of text[0..size). NULL, or why not, for the end of a sentence; *stamp is written only on success. */
const char *swp__time_parse(const char *text, size_t size, swp__time_stamp *stamp);

/* What a date with separators and the year last says of its order: -1 no such date; else bit 0: it may be day first; bit 1:
 * it may be month first. */
int swp__time_orders(const char *text, size_t size);

/* True for 3/2/2010, 03.02.2010 or 3-2-10 at the beginning of the text: nobody can tell the day from the month. */
bool swp__time_is_ambiguous(const char *text, size_t size);

/* The stamps themselves say what instants they are; the others need a zone. */
bool swp__time_form_is_instant(swp__time_form form);

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
