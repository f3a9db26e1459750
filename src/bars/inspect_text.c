/* The command that reads a file, and an inspection on one screen. */
#include "bars/inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bars/time_stamp.h"
#include "base/number.h"

/* As a shell takes it for one word. */
static void write_word(FILE *out, const char *text)
{
    if (*text != '\0' &&
        text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:+-,=@%")] == '\0') {
        fputs(text, out);
        return;
    }
    putc('\'', out);
    for (; *text != '\0'; text++) {
        fputs(*text == '\'' ? "'\\''" : (char[2]){*text, '\0'}, out);
    }
    putc('\'', out);
}

static void write_option(FILE *out, const char *name, const char *value)
{
    if (value != NULL) {
        fprintf(out, " --%s ", name);
        write_word(out, value);
    }
}

static void write_options(FILE *out, const swp_bars_options *o)
{
    static const char *const headers[] = {NULL, "yes", "no"}, *const kept[] = {NULL, "first", "last"},
                             *const allowed[] = {NULL,
                                                 "nan",
                                                 "inf",
                                                 "nan,inf",
                                                 "nonpositive",
                                                 "nan,nonpositive",
                                                 "inf,nonpositive",
                                                 "nan,inf,nonpositive"};
    const char *delimiter = o->delimiter == ','    ? "comma"
                            : o->delimiter == ';'  ? "semicolon"
                            : o->delimiter == '\t' ? "tab"
                            : o->delimiter == '|'  ? "pipe"
                                                   : NULL;
    write_option(out, "close", o->close);
    write_option(out, "time", o->time);
    write_option(out, "open", o->open);
    write_option(out, "high", o->high);
    write_option(out, "low", o->low);
    write_option(out, "volume", o->volume);
    write_option(out, "delimiter", delimiter);
    write_option(out, "decimal", o->decimal == ',' ? "comma" : o->decimal == '.' ? "point" : NULL);
    write_option(out, "header", headers[o->header]);
    write_option(out, "time-format", o->time_format);
    write_option(out, "time-zone", o->time_zone);
    write_option(out, "order", o->order == SWP_ORDER_SORT ? "sort" : NULL);
    write_option(out, "duplicates", kept[o->duplicates]);
    if (o->skip_lines > 0) {
        fprintf(out, " --skip-lines %" PRIu64, o->skip_lines);
    }
    write_option(out, "from", o->from);
    write_option(out, "to", o->to);
    write_option(out, "dtype", o->dtype);
    fputs(o->big_endian ? " --big-endian" : "", out);
    write_option(out, "allow", allowed[o->allow]);
}

char *swp__inspect_shell(const char *path, const swp_bars_options *options)
{
    char *command = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&command, &size);
    if (out == NULL) {
        return NULL;
    }
    fputs("sweepd sweep ", out);
    fputs(path[0] == '-' && path[1] != '\0' ? "./" : "", out); /* a name, not an option */
    write_word(out, path);
    write_options(out, options);
    bool whole = ferror(out) == 0;
    return (fclose(out) == 0 && whole) ? command : (free(command), NULL);
}

/* 5 min, 2 d 3 h */
static void write_duration(FILE *out, int64_t ns)
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
    const char *separator = "";
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (ns >= units[i].ns) {
            fprintf(out, "%s%" PRId64 " %s", separator, ns / units[i].ns, units[i].name);
            ns %= units[i].ns;
            separator = " ";
        }
    }
}

/* line 5, or bar 3 where there are no lines */
static void write_place(FILE *out, swp_bar_place place)
{
    fprintf(out, "%s %" PRIu64, place.line > 0 ? "line" : "bar", place.line > 0 ? place.line : place.bar);
}

static void write_bar(FILE *out, const swp_bars *bars, swp_bar_place place)
{
    char time[SWP__TIME_TEXT_SIZE] = "", close[SWP__NUMBER_SIZE], line[32] = "";
    if (bars->time_ns != NULL) {
        swp__time_format(bars->time_ns[place.bar], swp__time_detail_of(bars->time_ns[place.bar]), time);
    }
    if (place.line > 0) {
        snprintf(line, sizeof line, "line %" PRIu64, place.line);
    }
    swp__number_format(bars->close[place.bar], close);
    fprintf(out, "  bar %-9" PRIu64 " %-14s %-19s %s\n", place.bar, line, time, close);
}

static void write_gaps(FILE *out, const swp_inspection *in)
{
    if (in->step_ns == 0) {
        return;
    }
    fputs("step ", out);
    write_duration(out, in->step_ns);
    fprintf(out, ", %" PRIu64 " gap%s", in->gaps_count, in->gaps_count == 1 ? "" : "s");
    for (size_t i = 0; i < SWP_ODDITIES_SHOWN && i < in->gaps_count; i++) {
        fputs(i == 0 ? ", the longest " : "; ", out);
        write_duration(out, in->gaps[i].length_ns);
        fputs(" behind ", out);
        write_place(out, in->gaps[i].behind);
    }
    putc('\n', out);
}

static void write_repeats(FILE *out, const swp_inspection *in)
{
    fprintf(out, "%" PRIu64 " repeated stamp%s", in->repeats_count, in->repeats_count == 1 ? "" : "s");
    if (in->repeats_count > 0) {
        fprintf(out, " left out, %" PRIu64 " of them with another close; the first at line %" PRIu64, in->repeats_differ_count,
                in->first_repeat_line);
    }
}

static void write_jumps(FILE *out, const swp_inspection *in)
{
    fprintf(out, "%" PRIu64 " jump%s of 100x or more", in->bars.jumps_count, in->bars.jumps_count == 1 ? "" : "s");
    for (size_t i = 0; i < SWP_ODDITIES_SHOWN && i < in->bars.jumps_count; i++) {
        char before[SWP__NUMBER_SIZE], close[SWP__NUMBER_SIZE];
        swp__number_format(in->jumps[i].before, before);
        swp__number_format(in->jumps[i].close, close);
        fputs(i == 0 ? ": " : "; ", out);
        write_place(out, in->jumps[i].at);
        fprintf(out, ", %s -> %s", before, close);
    }
    fputs(in->bars.jumps_count > SWP_ODDITIES_SHOWN ? "; ..." : "", out);
}

static void write_oddities(FILE *out, const swp_inspection *in)
{
    write_gaps(out, in);
    if (in->bars.time_ns != NULL) {
        write_repeats(out, in);
        putc('\n', out);
    }
    write_jumps(out, in);
    fprintf(out, "\n%" PRIu64 " NaN", in->bars.nan_count);
    if (in->bars.nan_count > 0) {
        fputs(", the first at ", out);
        write_place(out, in->first_nan);
    }
    putc('\n', out);
}

/* In columns as wide as they must be. */
static void write_decisions(FILE *out, const swp_inspection *in)
{
    int value_width = 0, evidence_width = 0;
    for (uint32_t i = 0; i < in->decisions_count; i++) {
        int value = (int)strlen(in->decisions[i].value), evidence = (int)strlen(in->decisions[i].evidence);
        value_width = value > value_width ? value : value_width;
        evidence_width = evidence > evidence_width ? evidence : evidence_width;
    }
    for (uint32_t i = 0; i < in->decisions_count; i++) {
        const swp_decision *d = &in->decisions[i];
        fprintf(out, "  %-9s  %-*s  %-*s%s%s\n", d->what, value_width, d->value, d->options[0] != '\0' ? evidence_width : 0,
                d->evidence, d->options[0] != '\0' ? "  " : "", d->options);
    }
}

static void write_screen(FILE *out, const swp_inspection *in, const swp_bar_place *shown, size_t shown_count)
{
    if (in->refusal[0] != '\0') {
        fprintf(out, "not as it stands: %s\n", in->refusal);
    }
    fprintf(out, "%s\n", in->bars.summary);
    write_decisions(out, in);
    for (size_t i = 0; i < shown_count; i++) {
        if (i > 0 && shown[i].bar > shown[i - 1].bar + 1) {
            fputs("  ...\n", out);
        }
        write_bar(out, &in->bars, shown[i]);
    }
    write_oddities(out, in);
    fprintf(out, "%s\n", in->command);
}

char *swp__inspect_text(const swp_inspection *in, const swp_bar_place *shown, size_t shown_count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return NULL;
    }
    write_screen(out, in, shown, shown_count);
    bool whole = ferror(out) == 0;
    return (fclose(out) == 0 && whole) ? text : (free(text), NULL);
}
