#include "bars/header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "bars/layout.h"
#include "bars/refuse.h"
#include "bars/time_stamp.h"
#include "base/number.h"

bool swp__header_add(swp__header *header, const char *name, size_t size)
{
    if (header->count == SWP__COLUMNS_MAX || size >= SWP__HEADER_TEXT_MAX - header->text_size) {
        return false;
    }
    header->starts[header->count++] = (uint32_t)header->text_size;
    memcpy(header->text + header->text_size, name, size);
    header->text_size += size;
    header->text[header->text_size++] = '\0';
    return true;
}

const char *swp__header_name(const swp__header *header, size_t column)
{
    return header->text + header->starts[column];
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_letter(char c)
{
    return (lower(c) >= 'a' && lower(c) <= 'z') || ((unsigned char)c & 0x80u) != 0;
}

/* A name without the brackets of <CLOSE> and the number of "4. close". */
static const char *bare(const char *name, size_t *size)
{
    *size = strlen(name);
    if (*size > 2 && name[0] == '<' && name[*size - 1] == '>') {
        *size -= 2;
        return name + 1;
    }
    if (*size > 3 && name[0] >= '0' && name[0] <= '9' && name[1] == '.' && name[2] == ' ') {
        *size -= 3;
        return name + 3;
    }
    return name;
}

/* Called `name` but for the case of ASCII letters, in every locale, and for what stands around it. */
static bool equal_in_any_case(const char *own, const char *name)
{
    size_t size;
    own = bare(own, &size);
    for (size_t i = 0; i < size; i++) {
        if (lower(own[i]) != name[i]) { /* a shorter name ends in a NUL, which no cell has */
            return false;
        }
    }
    return name[size] == '\0';
}

static bool is_data(const char *cell)
{
    double number;
    swp__time_stamp stamp;
    size_t size = strlen(cell);
    if (swp__time_parse(cell, size, &stamp) == NULL) {
        return true;
    }
    const char *letter = cell;
    while (*letter != '\0' && !is_letter(*letter)) {
        letter++;
    }
    return *letter == '\0' || swp__number_parse(cell, size, &number) != SWP__NUMBER_BAD;
}

bool swp__header_looks_like_data(const swp__header *header)
{
    for (size_t i = 0; i < header->count; i++) {
        if (!is_data(swp__header_name(header, i))) {
            return false;
        }
    }
    return true;
}

/* How many columns are called `name`; the last of them in *column. */
static size_t count_named(const swp__header *header, const char *name, bool in_any_case, size_t *column)
{
    size_t count = 0;
    for (size_t i = 0; i < header->count; i++) {
        const char *own = swp__header_name(header, i);
        if (in_any_case ? equal_in_any_case(own, name) : strcmp(own, name) == 0) {
            *column = i;
            count++;
        }
    }
    return count;
}

/* "Date", "Open", "High", as many as fit. */
static void list_columns(const swp__header *header, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < header->count && length < size; i++) {
        char quoted[SWP__QUOTED_SIZE];
        const char *name = swp__header_name(header, i);
        length +=
            (size_t)snprintf(text + length, size - length, "%s%s", i > 0 ? ", " : "", swp__quote(name, strlen(name), quoted));
    }
}

/* Where a reader must say which column is meant. */
typedef struct place {
    const swp__header *header;
    const char *path;
    uint64_t line;
    swp_error *error;
} place;

static swp_status refuse(const place *at, const char *what, const char *option)
{
    char columns[sizeof at->error->message];
    list_columns(at->header, columns, sizeof columns);
    return swp__refuse_line(at->error, at->path, at->line, "%s; choose by --%s NAME or number; columns: %s", what, option,
                            columns);
}

bool swp__column_parse(const char *text, uint64_t columns_count, uint64_t *column)
{
    uint64_t number = 0;
    const char *digit = text;
    for (; *digit >= '0' && *digit <= '9' && number <= columns_count; digit++) {
        number = number > UINT64_MAX / 10 - 1 ? UINT64_MAX : number * 10 + (uint64_t)(*digit - '0');
    }
    if (*digit != '\0' || number < 1 || number > columns_count) {
        return false;
    }
    *column = number - 1;
    return true;
}

/* The column that the option `option` names. */
static swp_status choose(const place *at, const char *option, const char *wanted, size_t *column)
{
    char what[96], quoted[SWP__QUOTED_SIZE];
    size_t named = count_named(at->header, wanted, false, column);
    if (named == 1) {
        return SWP_OK;
    }
    swp__quote(wanted, strlen(wanted), quoted);
    if (named > 1) {
        snprintf(what, sizeof what, "%zu columns are called %s", named, quoted);
        return refuse(at, what, option);
    }
    if (swp__column_parse(wanted, at->header->count, column)) {
        return SWP_OK;
    }
    snprintf(what, sizeof what, "no column %s", quoted);
    return refuse(at, what, option);
}

static const char by_option[] = "as the option says";

static swp_status find_close(const place *at, swp__roles *roles)
{
    size_t named = count_named(at->header, "close", true, &roles->close);
    roles->close_why = "the only column called close";
    if (named == 1) {
        return SWP_OK;
    }
    return refuse(at, named == 0 ? "no column is called close" : "more than one column is called close", "close");
}

static swp_status find_time(const place *at, swp__roles *roles)
{
    static const char *const names[] = {"date",          "time",         "datetime",   "date time", "date_time", "timestamp",
                                        "timestamp_utc", "datetime_utc", "date_utc",   "time_utc",  "open time", "open_time",
                                        "gmt time",      "local time",   "dtyyyymmdd", "mts"};
    size_t found = 0, date = SWP__NO_COLUMN, of_day = SWP__NO_COLUMN;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t column;
        size_t named = count_named(at->header, names[i], true, &column);
        found += named;
        roles->time = named > 0 ? column : roles->time;
        date = (i == 0 || strcmp(names[i], "dtyyyymmdd") == 0) && named == 1 ? column : date;
        of_day = i == 1 && named == 1 ? column : of_day;
    }
    if (found == 2 && date != SWP__NO_COLUMN && of_day != SWP__NO_COLUMN) {
        roles->time = date;
        roles->time_of_day = of_day;
        roles->time_why = "called date and time: joined";
        return SWP_OK;
    }
    roles->time_why = found == 1 ? "the only column called like a time" : NULL;
    if (found == 0 && at->header->count > 1 && *swp__header_name(at->header, 0) == '\0') {
        roles->time = 0;
        roles->time_why = "the first column, which has no name";
    }
    return found <= 1 ? SWP_OK : refuse(at, "more than one column may be the time", "time");
}

swp__roles swp__roles_none(void)
{
    return (swp__roles){SWP__NO_COLUMN, SWP__NO_COLUMN, SWP__NO_COLUMN, SWP__NO_COLUMN,
                        SWP__NO_COLUMN, SWP__NO_COLUMN, NULL,           NULL};
}

swp_status swp__roles_decide(const swp__header *header, const char *close, const char *time, const char *path, uint64_t line,
                             swp__roles *roles, swp_error *error)
{
    const place at = {header, path, line, error};
    swp__roles made = swp__roles_none();
    made.close_why = by_option;
    made.time_why = by_option;
    swp_status status = close != NULL ? choose(&at, "close", close, &made.close) : find_close(&at, &made);
    size_t named;
    bool unwanted = time != NULL && strcmp(time, "none") == 0 && count_named(header, time, false, &named) == 0;
    if (status == SWP_OK && !unwanted) {
        status = time != NULL ? choose(&at, "time", time, &made.time) : find_time(&at, &made);
    }
    if (status == SWP_OK && (made.close == made.time || made.close == made.time_of_day)) {
        status = refuse(&at, "the same column cannot be the time and the close", time != NULL ? "time" : "close");
    }
    if (status == SWP_OK) {
        *roles = made;
    }
    return status;
}

swp_status swp__roles_by_number(size_t columns_count, const char *close, const char *time, const struct swp__layout *layout,
                                const char *path, uint64_t line, swp__roles *roles, swp_error *error)
{
    swp__roles made = swp__roles_none();
    const swp__roles of_layout = layout != NULL ? swp__layout_roles(layout) : made;
    char quoted[SWP__QUOTED_SIZE];
    made.close = of_layout.close;
    made.close_why = close != NULL ? by_option : of_layout.close_why;
    made.time_why = time != NULL ? by_option : of_layout.time_why;
    if (time == NULL) {
        made.time = of_layout.time;
        made.time_of_day = of_layout.time_of_day;
    }
    const char *wrong = close != NULL && !swp__column_parse(close, columns_count, &made.close) ? close : NULL;
    if (wrong == NULL && time != NULL && strcmp(time, "none") != 0 && !swp__column_parse(time, columns_count, &made.time)) {
        wrong = time;
    }
    if (wrong != NULL) {
        return swp__refuse_line(error, path, line, "no column %s: the file has no header, and %zu columns, from 1",
                                swp__quote(wrong, strlen(wrong), quoted), columns_count);
    }
    if (made.close == SWP__NO_COLUMN || made.close == made.time || made.close == made.time_of_day) {
        return swp__refuse_line(error, path, line, "no header, and the close is not told: choose by --close N");
    }
    *roles = made;
    return SWP_OK;
}
