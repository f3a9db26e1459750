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

static const char *make_date(int64_t year, int64_t month, int64_t day, int64_t *days)
{
    if (!is_date(year, month, day)) {
        return "is no date of the calendar";
    }
    *days = days_from_date(year, month, day);
    return year < 1678 || year > 2261 ? beyond_range : NULL;
}

/* 2024-01-31, or 31.01.2024 and 01/31/2024 where the order is said. */
static const char *take_date(cursor *c, swp__date_order order, int64_t *days)
{
    int64_t parts[3];
    char separator = '\0';
    for (int i = 0; i < 3; i++) {
        bool is_year = i == (order == SWP__YEAR_FIRST ? 0 : 2);
        if (!take_number(c, is_year ? 4 : 1, is_year ? 4 : 2, &parts[i])) {
            return unrecognised;
        }
        if (i < 2 && (c->at == c->end || !is_separator(*c->at) || (i == 1 && *c->at != separator))) {
            return unrecognised;
        }
        separator = i < 2 ? *c->at++ : separator;
    }
    switch (order) {
    case SWP__DAY_FIRST:
        return make_date(parts[2], parts[1], parts[0], days);
    case SWP__MONTH_FIRST:
        return make_date(parts[2], parts[0], parts[1], days);
    default:
        return make_date(parts[0], parts[1], parts[2], days);
    }
}

/* 20240131 */
static const char *take_compact_date(cursor *c, int64_t *days)
{
    int64_t number;
    if (!take_number(c, 8, 8, &number)) {
        return unrecognised;
    }
    return make_date(number / 10000, number / 100 % 100, number % 100, days);
}

/* " AM", "pm": moves the hour. False: the hour is none of twelve. */
static bool take_half_of_day(cursor *c, int64_t *hour)
{
    const char *at = c->at;
    at += at < c->end && *at == ' ' ? 1 : 0;
    if (c->end - at < 2 || (at[1] != 'M' && at[1] != 'm') || strchr("AaPp", at[0]) == NULL) {
        return true;
    }
    if (*hour < 1 || *hour > 12) {
        return false;
    }
    bool afternoon = at[0] == 'P' || at[0] == 'p';
    *hour = *hour % 12 + (afternoon ? 12 : 0);
    c->at = at + 2;
    return true;
}

/* 0930, 093000 */
static bool take_compact_time(cursor *c, int64_t *hour, int64_t *minute, int64_t *second)
{
    cursor after = *c;
    int64_t number;
    if (take_number(&after, 4, 4, &number)) {
        number *= 100;
    } else {
        after = *c;
        if (!take_number(&after, 6, 6, &number)) {
            return false;
        }
    }
    *hour = number / 10000;
    *minute = number / 100 % 100;
    *second = number % 100;
    *c = after;
    return true;
}

/* 09:30[:00[.000]] [AM|PM], 0930, 093000 */
static const char *take_time_of_day(cursor *c, int64_t *ns)
{
    int64_t hour, minute, second = 0, fraction = 0;
    if (!take_compact_time(c, &hour, &minute, &second)) {
        if (!take_number(c, 1, 2, &hour) || !take_char(c, ':') || !take_number(c, 2, 2, &minute)) {
            return unrecognised;
        }
        if (take_char(c, ':') && (!take_number(c, 2, 2, &second) || !take_fraction(c, &fraction))) {
            return unrecognised;
        }
        if (!take_half_of_day(c, &hour)) {
            return "is no time of a day";
        }
    }
    if (hour > 23 || minute > 59 || second > 59) {
        return "is no time of a day";
    }
    *ns = ((hour * 60 + minute) * 60 + second) * ns_per_second + fraction;
    return NULL;
}

/* " UTC", " GMT"; an offset may follow. */
static void take_zone_word(cursor *c)
{
    if (c->end - c->at >= 4 && (memcmp(c->at, " UTC", 4) == 0 || memcmp(c->at, " GMT", 4) == 0)) {
        c->at += 4;
    }
}

/* Z, +02:00, +0200, +02, UTC, GMT+0200, or nothing. */
static const char *take_offset(cursor *c, int64_t *ns, bool *given)
{
    int64_t hours, minutes = 0;
    *ns = 0;
    *given = c->at < c->end;
    const char *first = c->at;
    take_zone_word(c);
    if (!*given || (c->at > first && c->at == c->end) || take_char(c, 'Z') || take_char(c, 'z')) {
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

/* Days and nanoseconds of a stamp -> an instant. `has_offset`: `offset` is in it; else the zone's. */
static const char *make_instant(const swp__time_rule *rule, int64_t days, int64_t of_day, int64_t offset, bool has_offset,
                                int64_t *ns)
{
    int64_t second = days * 86400 + of_day / ns_per_second, utc;
    if (has_offset || rule->zone == NULL) {
        *ns = second * ns_per_second + of_day % ns_per_second - offset;
        return NULL;
    }
    const char *why = swp__zone_to_utc(rule->zone, second, &utc);
    *ns = why == NULL ? utc * ns_per_second + of_day % ns_per_second : 0;
    return why;
}

static const char *parse_calendar(const swp__time_rule *rule, cursor c, bool is_compact, swp__time_stamp *stamp)
{
    int64_t days, of_day = 0, offset = 0, ns = 0;
    bool offset_given = false;
    const char *why = is_compact ? take_compact_date(&c, &days) : take_date(&c, rule->order, &days);
    swp__time_form form = is_compact ? SWP__TIME_COMPACT_DATE : SWP__TIME_DATE;
    if (why == NULL && c.at < c.end) {
        if (!take_char(&c, ' ') && !take_char(&c, 'T') && !take_char(&c, 't')) {
            return unrecognised;
        }
        if (is_compact) {
            (void)take_char(&c, ' '); /* Interactive Brokers writes two */
        }
        why = take_time_of_day(&c, &of_day);
        why = why == NULL ? take_offset(&c, &offset, &offset_given) : why;
        form = offset_given ? SWP__TIME_OFFSET : is_compact ? SWP__TIME_COMPACT : SWP__TIME_LOCAL;
    }
    if (why != NULL || c.at < c.end) {
        return why != NULL ? why : unrecognised;
    }
    why = make_instant(rule, days, of_day, offset, offset_given, &ns);
    if (why == NULL) {
        *stamp = (swp__time_stamp){ns, form};
    }
    return why;
}

static const char *parse_epoch(const swp__time_rule *rule, cursor c, int digits, swp__time_stamp *stamp)
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
        bool by_digits = digits == units[i].digits_min || digits == units[i].digits_min + 1;
        if (rule->has_unit ? rule->unit != units[i].form : !by_digits) {
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

/* Jan, january: 1 to 12; 0: none. */
static int64_t take_month_name(cursor *c)
{
    static const char names[] = "janfebmaraprmayjunjulaugsepoctnovdec";
    for (int64_t month = 0; month < 12 && c->end - c->at >= 3; month++) {
        const char *name = names + 3 * month;
        if ((c->at[0] | 0x20) == name[0] && (c->at[1] | 0x20) == name[1] && (c->at[2] | 0x20) == name[2]) {
            c->at += 3;
            return month + 1;
        }
    }
    return 0;
}

/* What a pattern has taken so far. */
typedef struct parts {
    int64_t year, month, day, hour, minute, second, fraction, offset;
    bool has_offset;
} parts;

static bool take_pattern_fraction(cursor *c, int64_t *billionths)
{
    const char *first = c->at;
    int64_t weight = ns_per_second / 10;
    for (*billionths = 0; is_digit_at(c) && weight > 0; c->at++, weight /= 10) {
        *billionths += weight * (*c->at - '0');
    }
    return c->at > first;
}

/* One %X of a pattern. */
static bool take_part(cursor *c, char kind, parts *p)
{
    int64_t two;
    switch (kind) {
    case 'Y':
        return take_number(c, 4, 4, &p->year);
    case 'y': { /* as POSIX has it */
        cursor after = {c->at, c->at + 2 < c->end ? c->at + 2 : c->end};
        bool taken = take_number(&after, 2, 2, &two);
        c->at = after.at;
        p->year = two + (two < 69 ? 2000 : 1900);
        return taken;
    }
    case 'b':
        return (p->month = take_month_name(c)) > 0;
    case 'p':
        return take_half_of_day(c, &p->hour);
    case 'f':
        return take_pattern_fraction(c, &p->fraction);
    case 'z':
        return take_offset(c, &p->offset, &p->has_offset) == NULL && p->has_offset;
    case '%':
        return take_char(c, '%');
    default:
        break;
    }
    static const char kinds[] = "mdHIMS";
    int64_t *const fields[] = {&p->month, &p->day, &p->hour, &p->hour, &p->minute, &p->second};
    const char *found = memchr(kinds, kind, sizeof kinds - 1);
    cursor after = {c->at, c->at + 2 < c->end ? c->at + 2 : c->end}; /* so that %H%M reads 0930 */
    bool taken = found != NULL && take_number(&after, 1, 2, fields[found - kinds]);
    c->at = after.at;
    return taken;
}

static const char *parse_pattern(const swp__time_rule *rule, cursor c, swp__time_stamp *stamp)
{
    parts p = {.month = 1, .day = 1};
    for (const char *at = rule->pattern; *at != '\0'; at++) {
        bool taken = *at == '%' ? take_part(&c, *++at, &p) : take_char(&c, *at);
        if (!taken) {
            return "does not have the form that --time-format says";
        }
    }
    if (c.at < c.end) {
        return "does not have the form that --time-format says";
    }
    if (p.hour > 23 || p.minute > 59 || p.second > 59) {
        return "is no time of a day";
    }
    int64_t days, ns = 0, of_day = ((p.hour * 60 + p.minute) * 60 + p.second) * ns_per_second + p.fraction;
    const char *why = make_date(p.year, p.month, p.day, &days);
    why = why == NULL ? make_instant(rule, days, of_day, p.offset, p.has_offset, &ns) : why;
    if (why == NULL) {
        *stamp = (swp__time_stamp){ns, SWP__TIME_PATTERN};
    }
    return why;
}

/* A pattern names a year and a month, and nothing unknown; without a day it is the first. */
static bool is_pattern(const char *text)
{
    bool has_year = false, has_month = false;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '%') {
            at++;
            if (*at == '\0' || strchr("YymbdHIMSfpz%", *at) == NULL) {
                return false;
            }
            has_year = has_year || *at == 'Y' || *at == 'y';
            has_month = has_month || *at == 'm' || *at == 'b';
        }
    }
    return has_year && has_month;
}

bool swp__time_rule_parse(const char *text, swp__time_rule *rule)
{
    static const char *const orders[] = {"ymd", "dmy", "mdy"};
    static const char *const units[] = {"s", "ms", "us", "ns"};
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(text, orders[i]) == 0) {
            rule->order = (swp__date_order)i;
            return true;
        }
    }
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(text, units[i]) == 0) {
            rule->has_unit = true;
            rule->unit = (swp__time_form)((size_t)SWP__TIME_SECONDS + i);
            return true;
        }
    }
    rule->pattern = text;
    return is_pattern(text);
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

int swp__time_orders(const char *text, size_t size)
{
    cursor c = {text, text + size};
    int64_t first, second;
    if (!swp__time_is_ambiguous(text, size)) {
        return -1;
    }
    take_number(&c, 1, 2, &first);
    c.at++;
    take_number(&c, 1, 2, &second);
    return (second >= 1 && second <= 12 ? 1 : 0) | (first >= 1 && first <= 12 ? 2 : 0);
}

const char *swp__time_parse_by(const swp__time_rule *rule, const char *text, size_t size, swp__time_stamp *stamp)
{
    cursor c = {text, text + size};
    int digits = 0;
    if (rule->pattern != NULL) {
        return parse_pattern(rule, c, stamp);
    }
    while (digits < 20 && (size_t)digits < size && text[digits] >= '0' && text[digits] <= '9') {
        digits++;
    }
    if (rule->has_unit ? digits > 0 && digits < 20 : digits >= 9) {
        return parse_epoch(rule, c, digits, stamp);
    }
    if (rule->order == SWP__YEAR_FIRST && swp__time_is_ambiguous(text, size)) {
        return "is not year-month-day: day and month could stand either way round; --time-format dmy or mdy says which";
    }
    return parse_calendar(rule, c, digits == 8, stamp);
}

const char *swp__time_parse(const char *text, size_t size, swp__time_stamp *stamp)
{
    static const swp__time_rule plain;
    return swp__time_parse_by(&plain, text, size, stamp);
}

const char *swp__time_form_name(swp__time_form form)
{
    static const char *const names[] = {
        [SWP__TIME_DATE] = "a date without a time",
        [SWP__TIME_LOCAL] = "a date and time without an offset",
        [SWP__TIME_OFFSET] = "a date and time with an offset",
        [SWP__TIME_COMPACT_DATE] = "a date YYYYMMDD without a time",
        [SWP__TIME_COMPACT] = "a date YYYYMMDD with a time",
        [SWP__TIME_PATTERN] = "a stamp of the given pattern",
        [SWP__TIME_SECONDS] = "seconds since 1970",
        [SWP__TIME_MILLISECONDS] = "milliseconds since 1970",
        [SWP__TIME_MICROSECONDS] = "microseconds since 1970",
        [SWP__TIME_NANOSECONDS] = "nanoseconds since 1970",
    };
    return names[form];
}

bool swp__time_form_is_instant(swp__time_form form)
{
    return form == SWP__TIME_OFFSET || (form >= SWP__TIME_SECONDS && form <= SWP__TIME_NANOSECONDS);
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
