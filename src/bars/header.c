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
    swp__roles none = {.close = SWP__NO_COLUMN, .time = SWP__NO_COLUMN, .time_of_day = SWP__NO_COLUMN};
    for (size_t i = 0; i < SWP__BESIDE_COUNT; i++) {
        none.beside[i] = SWP__NO_COLUMN;
    }
    return none;
}

const char *swp__beside_option(const swp_bars_options *options, size_t beside, const char **name)
{
    static const char *const names[] = {"open", "high", "low", "volume"};
    const char *const given[] = {options->open, options->high, options->low, options->volume};
    *name = names[beside];
    return given[beside];
}

/* Two roles that one column plays; false: none. */
static bool find_shared(const swp__roles *roles, const char **one, const char **other)
{
    const size_t columns[] = {roles->time,      roles->time_of_day, roles->close,    roles->beside[0],
                              roles->beside[1], roles->beside[2],   roles->beside[3]};
    static const char *const names[] = {"time", "time", "close", "open", "high", "low", "volume"};
    for (size_t i = 1; i < sizeof columns / sizeof columns[0]; i++) {
        for (size_t j = 0; j < i; j++) {
            if (columns[i] == columns[j] && columns[i] != SWP__NO_COLUMN) {
                *one = names[j];
                *other = names[i];
                return true;
            }
        }
    }
    return false;
}

swp_status swp__roles_decide(const swp__header *header, const swp_bars_options *options, const char *path, uint64_t line,
                             swp__roles *roles, swp_error *error)
{
    const place at = {header, path, line, error};
    const char *close = options->close, *time = options->time, *one, *other;
    swp__roles made = swp__roles_none();
    made.close_why = by_option;
    made.time_why = by_option;
    swp_status status = close != NULL ? choose(&at, "close", close, &made.close) : find_close(&at, &made);
    size_t named;
    bool unwanted = time != NULL && strcmp(time, "none") == 0 && count_named(header, time, false, &named) == 0;
    if (status == SWP_OK && !unwanted) {
        status = time != NULL ? choose(&at, "time", time, &made.time) : find_time(&at, &made);
    }
    for (size_t i = 0; i < SWP__BESIDE_COUNT && status == SWP_OK; i++) {
        const char *name, *given = swp__beside_option(options, i, &name);
        status = given != NULL ? choose(&at, name, given, &made.beside[i]) : SWP_OK;
    }
    if (status == SWP_OK && find_shared(&made, &one, &other)) {
        char what[96];
        snprintf(what, sizeof what, "the same column cannot be the %s and the %s", one, other);
        status = refuse(&at, what, strcmp(other, "close") != 0 ? other : time != NULL ? "time" : "close");
    }
    if (status == SWP_OK) {
        *roles = made;
    }
    return status;
}

/* What stands where the layout has it, as long as the options leave it open. */
static swp__roles begin_by_number(const swp_bars_options *options, const struct swp__layout *layout)
{
    const swp__roles of_layout = layout != NULL ? swp__layout_roles(layout) : swp__roles_none();
    swp__roles made = of_layout;
    if (options->close != NULL) {
        made.close_why = by_option;
    }
    if (options->time != NULL) {
        made.time = SWP__NO_COLUMN;
        made.time_of_day = SWP__NO_COLUMN;
        made.time_why = by_option;
    }
    bool set_aside = options->close != NULL || options->time != NULL;
    for (size_t i = 0; i < SWP__BESIDE_COUNT && set_aside; i++) {
        made.beside[i] = SWP__NO_COLUMN;
    }
    return made;
}

/* The first option that is no column; NULL: none. */
static const char *take_numbers(size_t columns_count, const swp_bars_options *options, swp__roles *roles)
{
    const char *close = options->close, *time = options->time, *name;
    if (close != NULL && !swp__column_parse(close, columns_count, &roles->close)) {
        return close;
    }
    if (time != NULL && strcmp(time, "none") != 0 && !swp__column_parse(time, columns_count, &roles->time)) {
        return time;
    }
    for (size_t i = 0; i < SWP__BESIDE_COUNT; i++) {
        const char *given = swp__beside_option(options, i, &name);
        if (given != NULL && !swp__column_parse(given, columns_count, &roles->beside[i])) {
            return given;
        }
    }
    return NULL;
}

swp_status swp__roles_by_number(size_t columns_count, const swp_bars_options *options, const struct swp__layout *layout,
                                const char *path, uint64_t line, swp__roles *roles, swp_error *error)
{
    char quoted[SWP__QUOTED_SIZE];
    swp__roles made = begin_by_number(options, layout);
    const char *one, *other, *wrong = take_numbers(columns_count, options, &made);
    if (wrong != NULL) {
        return swp__refuse_line(error, path, line, "no column %s: the file has no header, and %zu columns, from 1",
                                swp__quote(wrong, strlen(wrong), quoted), columns_count);
    }
    if (made.close == SWP__NO_COLUMN) {
        return swp__refuse_line(error, path, line, "no header, and the close is not told: choose by --close N");
    }
    if (find_shared(&made, &one, &other)) {
        return swp__refuse_line(error, path, line, "the same column cannot be the %s and the %s; choose by --%s N", one, other,
                                other);
    }
    *roles = made;
    return SWP_OK;
}
