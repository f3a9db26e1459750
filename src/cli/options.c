#include "cli/options.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/number.h"
#include "cli/arguments.h"
#include "cli/nearest.h"
#include "swp/engine.h"

static void *value_of(const swp__option *option, swp__arguments *arguments)
{
    return (char *)arguments + option->offset;
}

static uint32_t choices_count(const swp__option *option)
{
    uint32_t count = 0;
    while (option->type != SWP__OPTION_KERNEL && option->choices[count] != NULL) {
        count++;
    }
    return option->type == SWP__OPTION_KERNEL ? SWP__KERNELS_MAX : count;
}

/* NULL: a kernel that this build lacks. */
static const char *choice_at(const swp__option *option, uint32_t index)
{
    return option->type == SWP__OPTION_KERNEL ? swp_kernel_name((swp_kernel)index) : option->choices[index];
}

/* "table|json|csv" */
static void list_choices(const swp__option *option, char separator, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < choices_count(option) && used < size; i++) {
        if (choice_at(option, i) != NULL) {
            used += (size_t)snprintf(text + used, size - used, "%s%c", choice_at(option, i), separator);
        }
    }
    text[used > 0 ? (used < size ? used : size) - 1 : 0] = '\0'; /* the last separator */
}

/* ---- values ---- */

static swp_status fail_value(const swp__option *option, const char *text, const char *expected, swp_error *error)
{
    return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "--%s is \"%s\", expected %s", option->name, text, expected);
}

static swp_status parse_count(const swp__option *option, const char *text, uint64_t *value, swp_error *error)
{
    uint64_t number = 0;
    bool whole = text[0] != '\0';
    for (const char *at = text; *at != '\0' && whole; at++) {
        whole = *at >= '0' && *at <= '9' && !__builtin_mul_overflow(number, 10u, &number) &&
                !__builtin_add_overflow(number, (uint64_t)(*at - '0'), &number);
    }
    if (!whole || number < option->least || number > option->most) {
        char expected[64];
        snprintf(expected, sizeof expected, "a whole number, %" PRIu64 "..%" PRIu64, option->least, option->most);
        return fail_value(option, text, expected, error);
    }
    *value = number;
    return SWP_OK;
}

static swp_status parse_real(const swp__option *option, const char *text, double *value, swp_error *error)
{
    double number;
    swp__number_result result = swp__number_parse(text, strlen(text), &number);
    if (result != SWP__NUMBER_OK || !(number >= option->low && number <= option->high)) {
        char expected[64];
        snprintf(expected, sizeof expected, "a number, %g..%g", option->low, option->high);
        return fail_value(option, text, expected, error);
    }
    *value = number;
    return SWP_OK;
}

static swp_status parse_choice(const swp__option *option, const char *text, size_t size, uint32_t *value, swp_error *error)
{
    for (uint32_t i = 0; i < choices_count(option); i++) {
        const char *choice = choice_at(option, i);
        if (choice != NULL && strlen(choice) == size && memcmp(choice, text, size) == 0) {
            *value = i;
            return SWP_OK;
        }
    }
    char expected[160];
    list_choices(option, option->type == SWP__OPTION_SET ? ',' : '|', expected, sizeof expected);
    return fail_value(option, text, expected, error);
}

static swp_status parse_set(const swp__option *option, const char *text, uint32_t *value, swp_error *error)
{
    uint32_t bits = 0;
    for (const char *at = text;; at++) {
        uint32_t index;
        size_t size = strcspn(at, ",");
        swp_status status = parse_choice(option, at, size, &index, error);
        if (status != SWP_OK) {
            return status;
        }
        bits |= 1u << index;
        at += size;
        if (*at == '\0') {
            *value = bits;
            return SWP_OK;
        }
    }
}

static swp_status parse_list(const swp__option *option, const char *text, swp__option_list *list, swp_error *error)
{
    if (text[0] == '\0') {
        return fail_value(option, text, option->argument, error);
    }
    if (list->count == SWP__OPTION_LIST_MAX) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "--%s is given more than %d times", option->name,
                         SWP__OPTION_LIST_MAX);
    }
    list->texts[list->count++] = text;
    return SWP_OK;
}

static swp_status parse_value(const swp__option *option, const char *text, swp__arguments *arguments, swp_error *error)
{
    void *value = value_of(option, arguments);
    switch (option->type) {
    case SWP__OPTION_FLAG:
        *(bool *)value = true;
        return SWP_OK;
    case SWP__OPTION_TEXT:
        if (text[0] == '\0') {
            return fail_value(option, text, option->argument, error);
        }
        *(const char **)value = text;
        return SWP_OK;
    case SWP__OPTION_COUNT:
        return parse_count(option, text, value, error);
    case SWP__OPTION_REAL:
        return parse_real(option, text, value, error);
    case SWP__OPTION_CHOICE:
    case SWP__OPTION_KERNEL:
        return parse_choice(option, text, strlen(text), value, error);
    case SWP__OPTION_SET:
        return parse_set(option, text, value, error);
    case SWP__OPTION_LIST:
        return parse_list(option, text, value, error);
    }
    return SWP_INTERNAL;
}

/* ---- limits ---- */

static const struct {
    const char *of, *name; /* "bytes", "KiB" */
    uint64_t size;
} units[] = {
    {"bytes", "B", 1},
    {"bytes", "KiB", UINT64_C(1) << 10},
    {"bytes", "MiB", UINT64_C(1) << 20},
    {"bytes", "GiB", UINT64_C(1) << 30},
    {"ms", "ms", 1},
    {"ms", "s", 1000},
    {"ms", "min", 60000},
    {"ms", "h", 3600000},
    {"us", "us", 1},
};
enum { UNITS_COUNT = sizeof units / sizeof units[0] };

/* The size of what stands behind a number of the row's unit; 0: it is no unit. */
static uint64_t unit_size(const swp__limit_row *row, const char *name)
{
    for (size_t i = 0; i < UNITS_COUNT; i++) {
        if (strncmp(row->unit, units[i].of, strlen(units[i].of)) == 0 && strcmp(name, units[i].name) == 0) {
            return units[i].size;
        }
    }
    return name[0] == '\0' ? 1 : 0;
}

/* "4GiB", "30s", "1024": the largest unit that leaves a whole number. */
static void print_limit(const swp__limit_row *row, uint64_t value, char *text, size_t size)
{
    const char *name = "";
    uint64_t divisor = 1;
    for (size_t i = 0; i < UNITS_COUNT; i++) {
        bool fits = strncmp(row->unit, units[i].of, strlen(units[i].of)) == 0 && value != 0 && value % units[i].size == 0;
        if (fits && units[i].size >= divisor && strcmp(units[i].name, "B") != 0) {
            name = units[i].name;
            divisor = units[i].size;
        }
    }
    snprintf(text, size, "%" PRIu64 "%s", value / divisor, name);
}

static uint64_t *limit_value(const swp__option_limits *limits, const swp__limit_row *row, swp__arguments *arguments)
{
    return (uint64_t *)(void *)((char *)arguments + limits->offset + row->offset);
}

static swp_status parse_limit(const swp__option_limits *limits, const swp__limit_row *row, const char *text,
                              swp__arguments *arguments, swp_error *error)
{
    uint64_t number = 0;
    size_t digits = strspn(text, "0123456789");
    bool whole = digits > 0 && digits < 20;
    for (size_t i = 0; i < digits && whole; i++) {
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    uint64_t unit = unit_size(row, text + digits);
    whole = whole && unit > 0 && !__builtin_mul_overflow(number, unit, &number);
    if (!whole || number < row->minimum || number > row->maximum) {
        char least[32], most[32];
        print_limit(row, row->minimum, least, sizeof least);
        print_limit(row, row->maximum, most, sizeof most);
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "--%s is \"%s\", expected %s..%s %s", row->name, text, least, most,
                         row->unit);
    }
    *limit_value(limits, row, arguments) = number;
    return SWP_OK;
}

static const swp__limit_row *find_limit(const swp__command *command, const char *name, size_t size,
                                        const swp__option_limits **limits)
{
    for (*limits = command->limits; *limits != NULL && (*limits)->rows != NULL; (*limits)++) {
        for (size_t i = 0; i < *(*limits)->rows_count; i++) {
            const swp__limit_row *row = &(*limits)->rows[i];
            if (strlen(row->name) == size && memcmp(row->name, name, size) == 0) {
                return row;
            }
        }
    }
    return NULL;
}

/* ---- words ---- */

static const swp__option *find_option(const swp__command *command, const char *name, size_t size)
{
    for (const swp__option *option = swp__option_table; option->name != NULL; option++) {
        if ((option->commands & command->bit) != 0 && strlen(option->name) == size && memcmp(option->name, name, size) == 0) {
            return option;
        }
    }
    return NULL;
}

static const char *nearest_option(const swp__command *command, const char *name)
{
    const char *nearest = strcmp(name, "help") == 0 ? name : NULL;
    size_t distance = SIZE_MAX;
    for (const swp__option *option = swp__option_table; option->name != NULL; option++) {
        size_t d = swp__nearest_distance(name, option->name);
        if ((option->commands & command->bit) != 0 && d < distance) {
            nearest = option->name;
            distance = d;
        }
    }
    for (const swp__option_limits *limits = command->limits; limits != NULL && limits->rows != NULL; limits++) {
        for (size_t i = 0; i < *limits->rows_count; i++) {
            size_t d = swp__nearest_distance(name, limits->rows[i].name);
            nearest = d < distance ? limits->rows[i].name : nearest;
            distance = d < distance ? d : distance;
        }
    }
    return nearest;
}

static swp_status fail_unknown(const swp__command *command, const char *word, swp_error *error)
{
    char name[64];
    const char *begin = word + strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(begin, "="), begin);
    const char *nearest = nearest_option(command, name);
    return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "unknown option %s%s%s%s", word,
                     nearest != NULL ? "; did you mean --" : "", nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
}

/* words[*index] begins with dashes; *index moves to the last word that belongs to it. */
static swp_status parse_option(const swp__command *command, int words_count, char *const *words, int *index,
                               swp__arguments *arguments, swp_error *error)
{
    const char *word = words[*index];
    size_t size = strcspn(word, "=");
    bool named = strncmp(word, "--", 2) == 0;
    const swp__option_limits *limits = NULL;
    const swp__option *option = named ? find_option(command, word + 2, size - 2) : NULL;
    const swp__limit_row *row = named && option == NULL ? find_limit(command, word + 2, size - 2, &limits) : NULL;
    if (option == NULL && row == NULL) {
        return fail_unknown(command, word, error);
    }
    bool takes_value = row != NULL || option->type != SWP__OPTION_FLAG;
    const char *text = word[size] == '=' ? word + size + 1 : NULL;
    if (!takes_value && text != NULL) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "--%s takes no value", option->name);
    }
    if (takes_value && text == NULL) {
        if (*index + 1 == words_count) {
            return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "%.*s needs a value", (int)size, word);
        }
        text = words[++*index];
    }
    if (row != NULL) {
        return parse_limit(limits, row, text, arguments, error);
    }
    arguments->given[option - swp__option_table] = true;
    return parse_value(option, text, arguments, error);
}

static swp_status parse_operand(const swp__command *command, const char *word, swp__arguments *arguments, swp_error *error)
{
    if (command->operand == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "\"%s\" is one word too many", word);
    }
    if (arguments->operand != NULL) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "\"%s\" is one word too many after %s \"%s\"", word,
                         command->operand, arguments->operand);
    }
    arguments->operand = word;
    return SWP_OK;
}

static swp_status set_defaults(const swp__command *command, swp__arguments *arguments, swp_error *error)
{
    *arguments = (swp__arguments){0};
    swp_status status = SWP_OK;
    for (const swp__option *option = swp__option_table; option->name != NULL && status == SWP_OK; option++) {
        if ((option->commands & command->bit) != 0 && option->initial != NULL) {
            status = parse_value(option, option->initial, arguments, error);
        }
    }
    for (const swp__option_limits *limits = command->limits; limits != NULL && limits->rows != NULL; limits++) {
        for (size_t i = 0; i < *limits->rows_count; i++) {
            *limit_value(limits, &limits->rows[i], arguments) = limits->rows[i].standard;
        }
    }
    return status;
}

static swp_status check_required(const swp__command *command, const swp__arguments *arguments, swp_error *error)
{
    if (command->operand != NULL && command->operand[0] != '[' && arguments->operand == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "%s is missing", command->operand);
    }
    for (const swp__option *option = swp__option_table; option->name != NULL; option++) {
        if ((option->commands & command->bit) != 0 && option->required && !arguments->given[option - swp__option_table]) {
            return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "--%s %s is missing", option->name, option->argument);
        }
    }
    return SWP_OK;
}

swp_status swp__options_parse(const swp__command *command, int words_count, char *const *words, swp__arguments *arguments,
                              swp_error *error)
{
    bool options_ended = false;
    swp_status status = set_defaults(command, arguments, error);
    for (int i = 0; i < words_count && status == SWP_OK; i++) {
        const char *word = words[i];
        if (options_ended || word[0] != '-' || word[1] == '\0') {
            status = parse_operand(command, word, arguments, error);
        } else if (strcmp(word, "--") == 0) {
            options_ended = true;
        } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            arguments->help = true;
            return SWP_OK;
        } else {
            status = parse_option(command, words_count, words, &i, arguments, error);
        }
    }
    return status == SWP_OK ? check_required(command, arguments, error) : status;
}

bool swp__options_given(const swp__arguments *arguments, const char *name)
{
    for (const swp__option *option = swp__option_table; option->name != NULL; option++) {
        if (strcmp(option->name, name) == 0 && arguments->given[option - swp__option_table]) {
            return true;
        }
    }
    return false;
}

/* ---- help ---- */

enum { HELP_COLUMNS = 100, HELP_INDENT = 28 };

/* Words up to HELP_COLUMNS, each line but the first indented. */
static void print_wrapped(FILE *out, const char *text, size_t column)
{
    while (*text != '\0') {
        size_t size = strcspn(text, " ");
        if (column + size + 1 > HELP_COLUMNS) {
            fprintf(out, "\n%*s", HELP_INDENT - 1, "");
            column = HELP_INDENT - 1;
        }
        fprintf(out, " %.*s", (int)size, text);
        column += size + 1;
        text += size + (text[size] == ' ' ? 1 : 0);
    }
    fputc('\n', out);
}

/* "FILE", "table|json|csv", "nan,inf,nonpositive" */
static void describe_argument(const swp__option *option, char *text, size_t size)
{
    if (option->argument != NULL || option->type == SWP__OPTION_FLAG) {
        snprintf(text, size, "%s", option->argument != NULL ? option->argument : "");
    } else {
        list_choices(option, option->type == SWP__OPTION_SET ? ',' : '|', text, size);
    }
}

static void describe_option(const swp__option *option, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", option->help);
    if (option->type == SWP__OPTION_COUNT && option->most != UINT64_MAX) {
        used += (size_t)snprintf(text + used, size - used, "; %" PRIu64 "..%" PRIu64, option->least, option->most);
    }
    if (option->type == SWP__OPTION_REAL) {
        used += (size_t)snprintf(text + used, size - used, "; %g..%g", option->low, option->high);
    }
    if (option->initial != NULL) {
        snprintf(text + used, size - used, " [%s]", option->initial);
    } else if (option->required) {
        snprintf(text + used, size - used, " (required)");
    }
}

static void print_entry(FILE *out, const char *name, const char *argument, const char *help)
{
    char head[240];
    snprintf(head, sizeof head, "  --%s %s", name, argument);
    fprintf(out, "%-*s", HELP_INDENT - 1, head);
    if (strlen(head) >= HELP_INDENT) {
        fprintf(out, "\n%*s", HELP_INDENT - 1, "");
    }
    print_wrapped(out, help, HELP_INDENT - 1);
}

static void print_limits(FILE *out, const swp__option_limits *limits)
{
    for (size_t i = 0; i < *limits->rows_count; i++) {
        const swp__limit_row *row = &limits->rows[i];
        char standard[32], least[32], most[32], help[480];
        print_limit(row, row->standard, standard, sizeof standard);
        print_limit(row, row->minimum, least, sizeof least);
        print_limit(row, row->maximum, most, sizeof most);
        snprintf(help, sizeof help, "%s %s; %s..%s [%s]", row->unit, row->help, least, most, standard);
        print_entry(out, row->name, "N", help);
    }
}

static void print_option(FILE *out, const swp__option *option)
{
    char argument[160], help[480];
    describe_argument(option, argument, sizeof argument);
    describe_option(option, help, sizeof help);
    print_entry(out, option->name, argument, help);
    for (uint32_t i = 0; option->abouts != NULL && option->abouts[i] != NULL; i++) {
        fprintf(out, "%*s  %-12s %s\n", HELP_INDENT, "", option->choices[i], option->abouts[i]);
    }
}

void swp__options_print_help(FILE *out, const char *program, const swp__command *command)
{
    fprintf(out, "usage: %s%s%s%s%s [options]\n\n%s\n", program, command->name[0] != '\0' ? " " : "", command->name,
            command->operand != NULL ? " " : "", command->operand != NULL ? command->operand : "", command->summary);
    if (command->details != NULL) {
        fprintf(out, "\n%s\n", command->details);
    }
    fprintf(out, "\noptions, and in brackets what holds without them:\n");
    for (const swp__option *option = swp__option_table; option->name != NULL; option++) {
        if ((option->commands & command->bit) != 0) {
            print_option(out, option);
        }
    }
    if (command->limits != NULL) {
        fprintf(out, "\nlimits (a number may have a unit: KiB, MiB, GiB; ms, s, min, h):\n");
    }
    for (const swp__option_limits *limits = command->limits; limits != NULL && limits->rows != NULL; limits++) {
        print_limits(out, limits);
    }
    fprintf(out, "%s  --help                    this text\n\nexamples:\n%s\n", command->limits != NULL ? "\n" : "",
            command->examples);
}
