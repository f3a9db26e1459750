/* sweepd inspect: what a file of bars is taken for, on one screen, and the command that reads it. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bars/time_stamp.h"
#include "base/number.h"
#include "cli/input.h"

enum {
    SAMPLE_MAX = 4096, /* distances between bars that tell the step */
    SHOWN = 3,         /* bars at either end */
};

typedef struct gaps {
    int64_t step_ns; /* the most common distance of the first ones; the shorter of two */
    uint64_t count;  /* distances beyond it */
    int64_t longest_ns;
    uint64_t longest_after; /* bar */
} gaps;

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left < right ? -1 : left > right ? 1 : 0;
}

static int64_t find_step(const swp_bars *bars)
{
    static int64_t distances[SAMPLE_MAX];
    size_t count = 0, best = 0;
    int64_t step = 0;
    for (uint64_t i = 1; i < bars->bars_count && count < SAMPLE_MAX; i++) {
        distances[count++] = bars->time_ns[i] - bars->time_ns[i - 1];
    }
    qsort(distances, count, sizeof *distances, compare);
    for (size_t i = 0, run; i < count; i += run) {
        for (run = 1; i + run < count && distances[i + run] == distances[i]; run++) {
        }
        step = run > best ? distances[i] : step;
        best = run > best ? run : best;
    }
    return step;
}

static gaps find_gaps(const swp_bars *bars)
{
    gaps g = {.step_ns = find_step(bars)};
    for (uint64_t i = 1; i < bars->bars_count; i++) {
        int64_t distance = bars->time_ns[i] - bars->time_ns[i - 1];
        g.count += distance > g.step_ns ? 1 : 0;
        if (distance > g.longest_ns) {
            g.longest_ns = distance;
            g.longest_after = i - 1;
        }
    }
    return g;
}

/* 5 min, 1 h, 3 d */
static void print_duration(int64_t ns)
{
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {{INT64_C(86400000000000), "d"},
                 {INT64_C(3600000000000), "h"},
                 {INT64_C(60000000000), "min"},
                 {INT64_C(1000000000), "s"},
                 {1000000, "ms"},
                 {1, "ns"}};
    size_t i = 0;
    while (ns % units[i].ns != 0) {
        i++;
    }
    printf("%" PRId64 " %s", ns / units[i].ns, units[i].name);
}

static void print_bar(const swp_bars *bars, uint64_t index)
{
    char time[SWP__TIME_TEXT_SIZE] = "", close[SWP__NUMBER_SIZE];
    if (bars->time_ns != NULL) {
        swp__time_format(bars->time_ns[index], swp__time_detail_of(bars->time_ns[index]), time);
    }
    swp__number_format(bars->close[index], close);
    printf("  bar %-10" PRIu64 " %-20s %s\n", index, time, close);
}

static void print_bars(const swp_bars *bars)
{
    uint64_t count = bars->bars_count;
    for (uint64_t i = 0; i < count; i++) {
        if (i >= SHOWN && i + SHOWN < count) {
            puts("  ...");
            i = count - SHOWN;
        }
        print_bar(bars, i);
    }
}

static void print_gaps(const swp_bars *bars)
{
    if (bars->time_ns == NULL || bars->bars_count < 2) {
        return;
    }
    gaps g = find_gaps(bars);
    fputs("step ", stdout);
    print_duration(g.step_ns);
    printf(", %" PRIu64 " gap%s", g.count, g.count == 1 ? "" : "s");
    if (g.count > 0) {
        fputs(", the longest ", stdout);
        print_duration(g.longest_ns);
        printf(" behind bar %" PRIu64, g.longest_after);
    }
    putchar('\n');
}

/* As a shell takes it for one word. */
static void print_word(const char *text)
{
    if (*text != '\0' &&
        text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:+-,=@%")] == '\0') {
        fputs(text, stdout);
        return;
    }
    putchar('\'');
    for (; *text != '\0'; text++) {
        fputs(*text == '\'' ? "'\\''" : (char[2]){*text, '\0'}, stdout);
    }
    putchar('\'');
}

static void print_option(const swp__option *option, const swp__arguments *arguments)
{
    const char *value = (const char *)arguments + option->offset;
    const char *separator = "";
    printf(" --%s ", option->name);
    switch (option->type) {
    case SWP__OPTION_TEXT:
        print_word(*(const char *const *)(const void *)value);
        break;
    case SWP__OPTION_COUNT:
        printf("%" PRIu64, *(const uint64_t *)(const void *)value);
        break;
    case SWP__OPTION_CHOICE:
        fputs(option->choices[*(const uint32_t *)(const void *)value], stdout);
        break;
    default: /* a set */
        for (uint32_t i = 0; option->choices[i] != NULL; i++) {
            if ((*(const uint32_t *)(const void *)value >> i & 1u) != 0) {
                printf("%s%s", separator, option->choices[i]);
                separator = ",";
            }
        }
    }
}

static void print_command(const swp__arguments *arguments, bool sorted)
{
    fputs("sweepd sweep ", stdout);
    fputs(arguments->operand[0] == '-' && arguments->operand[1] != '\0' ? "./" : "", stdout); /* a name, not an option */
    print_word(arguments->operand);
    for (const swp__option *option = swp__option_table; option->name != NULL; option++) {
        if ((option->commands & SWP__COMMAND_INSPECT) != 0 && swp__options_given(arguments, option->name) &&
            !(sorted && strcmp(option->name, "order") == 0)) {
            print_option(option, arguments);
        }
    }
    puts(sorted ? " --order sort" : "");
}

/* Newest first is the one thing that is set right here: what else is doubtful is for a person to say. */
static swp_status read_bars(const swp__arguments *arguments, swp_bars_options *options, swp_bars *bars, bool *sorted,
                            swp_error *error)
{
    swp_error other;
    swp_status status = swp_bars_read(arguments->operand, options, bars, error);
    if (status != SWP_BAD_PARAM || options->order == SWP_ORDER_SORT || strcmp(arguments->operand, "-") == 0) {
        return status; /* standard input is not there a second time */
    }
    options->order = SWP_ORDER_SORT;
    *sorted = swp_bars_read(arguments->operand, options, bars, &other) == SWP_OK;
    if (*sorted) {
        printf("not as it stands: %s\n", error->message);
    }
    return *sorted ? SWP_OK : status;
}

int swp__inspect_command(const swp__arguments *arguments)
{
    swp_bars_options options;
    swp_bars bars = {0};
    swp_error error;
    bool sorted = false;
    if (swp__input_bars_options(arguments, &options, &error) != SWP_OK) {
        return swp__exit_usage(&error);
    }
    if (read_bars(arguments, &options, &bars, &sorted, &error) != SWP_OK) {
        return swp__exit_failed(&error);
    }
    printf("%s\n", bars.summary);
    print_gaps(&bars);
    printf("%" PRIu64 " NaN, %" PRIu64 " jumps of 100x or more\n", bars.nan_count, bars.jumps_count);
    print_bars(&bars);
    print_command(arguments, sorted);
    swp_bars_free(&bars);
    return SWP__EXIT_OK;
}
