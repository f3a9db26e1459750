#include "bars/time_stamp.h"

#include <stdio.h>
#include <string.h>

static const int64_t ns_per_second = 1000000000;
static const char unrecognised[] =
    "is not a time stamp that is recognised: 2024-01-31 09:30[:00[.000]][Z|+02:00], or s, ms, us, ns since 1970";
static const char beyond_range[] = "is beyond the years 1678..2261";

/* What is left of the text. */
typedef struct cursor {
    const char *at, *end;
} cursor;

static bool is_digit_at(const cursor *c)
{
    return c->at < c->end && *c->at >= '0' && *c->at <= '9';
}

/* Takes `least` to `most` digits; false, with the cursor anywhere, when there are fewer or more. */
static bool take_number(cursor *c, int least, int most, int64_t *value)
{
    int count = 0;
    for (*value = 0; is_digit_at(c) && count <= most; c->at++, count++) {
        *value = *value * 10 + (*c->at - '0');
    }
    return count >= least && count <= most;
}

static bool is_separator(char c)
{
    return c == '-' || c == '/' || c == '.';
}

static bool take_char(cursor *c, char expected)
{
    if (c->at == c->end || *c->at != expected) {
        return false;
    }
    c->at++;
    return true;
}

/* Takes ".123" as 123,000,000 billionths, nothing as 0. False for no digits behind the point, or for one that is not
 * zero beyond the ninth. */
static bool take_fraction(cursor *c, int64_t *billionths)
{
    *billionths = 0;
    if (!take_char(c, '.')) {
        return true;
    }
    const char *first = c->at;
    for (int64_t weight = ns_per_second / 10; is_digit_at(c); c->at++, weight /= 10) {
        if (weight == 0 && *c->at != '0') {
            return false;
        }
        *billionths += weight * (*c->at - '0');
    }
    return c->at > first;
}

/* Days since 1970-01-01 in the Gregorian calendar: years are counted from March, so that the leap day comes last. */
static int64_t days_from_date(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2 ? 1 : 0;
    int64_t era = year / 400, year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

static bool is_date(int64_t year, int64_t month, int64_t day)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12 || day < 1) {
        return false;
    }
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day <= days[month - 1] + (month == 2 && leap ? 1 : 0);
}

/* 2024-01-31 */
static const char *take_date(cursor *c, int64_t *days)
{
    int64_t year, month, day;
    if (!take_number(c, 4, 4, &year) || c->at == c->end || !is_separator(*c->at)) {
        return unrecognised;
    }
    char separator = *c->at++;
    if (!take_number(c, 1, 2, &month) || !take_char(c, separator) || !take_number(c, 1, 2, &day)) {
        return unrecognised;
    }
    if (!is_date(year, month, day)) {
        return "is no date of the calendar (year, month, day)";
    }
    *days = days_from_date(year, month, day);
    return year < 1678 || year > 2261 ? beyond_range : NULL;
}

/* 09:30[:00[.000]] */
static const char *take_time_of_day(cursor *c, int64_t *ns)
{
    int64_t hour, minute, second = 0, fraction = 0;
    if (!take_number(c, 1, 2, &hour) || !take_char(c, ':') || !take_number(c, 2, 2, &minute)) {
        return unrecognised;
    }
    if (take_char(c, ':') && (!take_number(c, 2, 2, &second) || !take_fraction(c, &fraction))) {
        return unrecognised;
    }
    if (hour > 23 || minute > 59 || second > 59) {
        return "is no time of a day";
    }
    *ns = ((hour * 60 + minute) * 60 + second) * ns_per_second + fraction;
    return NULL;
}

/* Z, +02:00, +0200, +02, or nothing. */
static const char *take_offset(cursor *c, int64_t *ns, bool *given)
{
    int64_t hours, minutes = 0;
    *ns = 0;
    *given = c->at < c->end;
    if (!*given || take_char(c, 'Z') || take_char(c, 'z')) {
        return NULL;
    }
    char sign = *c->at++;
    if (sign != '+' && sign != '-') {
        return unrecognised;
    }
    cursor compact = *c;
    if (take_number(&compact, 4, 4, &hours)) {
        *c = compact;
        minutes = hours % 100;
        hours /= 100;
    } else if (!take_number(c, 2, 2, &hours) || (take_char(c, ':') && !take_number(c, 2, 2, &minutes))) {
        return unrecognised;
    }
    if (hours > 15 || minutes > 59) {
        return "has an offset from UTC that no place has";
    }
    *ns = (sign == '+' ? 1 : -1) * (hours * 60 + minutes) * 60 * ns_per_second;
    return NULL;
}

static const char *parse_calendar(cursor c, swp__time_stamp *stamp)
{
    int64_t days, of_day = 0, offset = 0;
    bool offset_given = false;
    const char *why = take_date(&c, &days);
    swp__time_form form = SWP__TIME_DATE;
    if (why == NULL && c.at < c.end) {
        if (!take_char(&c, ' ') && !take_char(&c, 'T') && !take_char(&c, 't')) {
            return unrecognised;
        }
        why = take_time_of_day(&c, &of_day);
        why = why == NULL ? take_offset(&c, &offset, &offset_given) : why;
        form = offset_given ? SWP__TIME_OFFSET : SWP__TIME_LOCAL;
    }
    if (why != NULL || c.at < c.end) {
        return why != NULL ? why : unrecognised;
    }
    *stamp = (swp__time_stamp){days * 86400 * ns_per_second + of_day - offset, form};
    return NULL;
}

static const char *parse_epoch(cursor c, int digits, swp__time_stamp *stamp)
{
    static const struct {
        int digits_min;
        swp__time_form form;
        int64_t ns;
    } units[] = {{9, SWP__TIME_SECONDS, 1000000000},
                 {12, SWP__TIME_MILLISECONDS, 1000000},
                 {15, SWP__TIME_MICROSECONDS, 1000},
                 {18, SWP__TIME_NANOSECONDS, 1}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        int64_t count = 0, billionths;
        if (digits != units[i].digits_min && digits != units[i].digits_min + 1) {
            continue;
        }
        bool fits = true;
        for (; is_digit_at(&c); c.at++) {
            fits = fits && !__builtin_mul_overflow(count, (int64_t)10, &count) &&
                   !__builtin_add_overflow(count, (int64_t)(*c.at - '0'), &count);
        }
        if (!take_fraction(&c, &billionths) || c.at < c.end) {
            return unrecognised;
        }
        if (billionths % (ns_per_second / units[i].ns) != 0) {
            return "has parts of a nanosecond";
        }
        int64_t ns;
        if (!fits || __builtin_mul_overflow(count, units[i].ns, &ns) ||
            __builtin_add_overflow(ns, billionths / (ns_per_second / units[i].ns), &ns)) {
            return beyond_range;
        }
        *stamp = (swp__time_stamp){ns, units[i].form};
        return NULL;
    }
    return unrecognised;
}

bool swp__time_is_ambiguous(const char *text, size_t size)
{
    cursor c = {text, text + size};
    int64_t number;
    if (!take_number(&c, 1, 2, &number) || c.at == c.end || !is_separator(*c.at)) {
        return false;
    }
    char separator = *c.at++;
    return take_number(&c, 1, 2, &number) && take_char(&c, separator) && take_number(&c, 2, 4, &number);
}

const char *swp__time_parse(const char *text, size_t size, swp__time_stamp *stamp)
{
    cursor c = {text, text + size};
    int digits = 0;
    while (digits < 20 && (size_t)digits < size && text[digits] >= '0' && text[digits] <= '9') {
        digits++;
    }
    if (digits >= 9) {
        return parse_epoch(c, digits, stamp);
    }
    if (swp__time_is_ambiguous(text, size)) {
        return "is not year-month-day: day and month could stand either way round";
    }
    return parse_calendar(c, stamp);
}

const char *swp__time_form_name(swp__time_form form)
{
    static const char *const names[] = {
        [SWP__TIME_DATE] = "a date without a time",
        [SWP__TIME_LOCAL] = "a date and time without an offset",
        [SWP__TIME_OFFSET] = "a date and time with an offset",
        [SWP__TIME_SECONDS] = "seconds since 1970",
        [SWP__TIME_MILLISECONDS] = "milliseconds since 1970",
        [SWP__TIME_MICROSECONDS] = "microseconds since 1970",
        [SWP__TIME_NANOSECONDS] = "nanoseconds since 1970",
    };
    return names[form];
}

swp__time_detail swp__time_detail_of(int64_t ns)
{
    if (ns % ns_per_second != 0) {
        return SWP__TIME_IN_FULL;
    }
    return ns % (60 * ns_per_second) != 0 ? SWP__TIME_TO_THE_SECOND : SWP__TIME_TO_THE_MINUTE;
}

/* The inverse of days_from_date. */
static void date_from_days(int64_t days, int64_t *year, int64_t *month, int64_t *day)
{
    days += 719468;
    int64_t era = days / 146097, day_of_era = days - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    *day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    *month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
    *year = year_of_era + era * 400 + (*month <= 2 ? 1 : 0);
}

void swp__time_format(int64_t ns, swp__time_detail detail, char text[SWP__TIME_TEXT_SIZE])
{
    static const size_t sizes[] = {10, 16, 19, 29}; /* characters to keep */
    int64_t second = ns / ns_per_second - (ns % ns_per_second < 0 ? 1 : 0);
    int64_t fraction = ns - second * ns_per_second;
    int64_t days = second / 86400 - (second % 86400 < 0 ? 1 : 0);
    int64_t of_day = second - days * 86400;
    int64_t year, month, day;
    date_from_days(days, &year, &month, &day);
    char full[64];
    snprintf(full, sizeof full, "%04d-%02d-%02d %02d:%02d:%02d.%09d", (int)year, (int)month, (int)day, (int)(of_day / 3600),
             (int)(of_day / 60 % 60), (int)(of_day % 60), (int)fraction);
    memcpy(text, full, sizes[detail]);
    text[sizes[detail]] = '\0';
}
