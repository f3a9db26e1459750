/* Facts in a person's words: what, value, evidence, and the option that has the last word. */
#include "bars/inspect.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "bars/header.h"
#include "bars/time_stamp.h"

static const char said[] = "as the option says";

static const char *delimiter_name(char delimiter)
{
    return delimiter == ',' ? "comma" : delimiter == ';' ? "semicolon" : delimiter == '\t' ? "tab" : "pipe";
}

/* The next decision; its value by `format`. */
static swp_decision *decide(swp_inspection *in, const char *what, const char *options, const char *evidence, const char *format,
                            ...) __attribute__((format(printf, 5, 6)));

static swp_decision *decide(swp_inspection *in, const char *what, const char *options, const char *evidence, const char *format,
                            ...)
{
    swp_decision *d = &in->decisions[in->decisions_count++];
    va_list args;
    d->what = what;
    d->options = options;
    snprintf(d->evidence, sizeof d->evidence, "%s", evidence);
    va_start(args, format);
    vsnprintf(d->value, sizeof d->value, format, args);
    va_end(args);
    return d;
}

/* column 5, "Close" */
static void describe_column(const swp__facts *f, size_t column, const char *name, char *text, size_t size)
{
    snprintf(text, size, "column %zu%s%s", column + 1, f->is_headerless ? "" : ", ", f->is_headerless ? "" : name);
}

static void decide_time(const swp__facts *f, const swp_bars_options *options, swp_inspection *in)
{
    char date[96], of_day[96];
    if (f->first_stamp[0] == '\0') {
        decide(in, "time", "--time", options->time != NULL ? said : "no column is called so, or begins with a date", "none");
        return;
    }
    describe_column(f, f->time, f->time_column, date, sizeof date);
    if (f->time_of_day != SWP__NO_COLUMN) {
        describe_column(f, f->time_of_day, f->time_of_day_column, of_day, sizeof of_day);
        decide(in, "time", "--time", f->time_why, "%s; %s", date, of_day);
    } else {
        decide(in, "time", "--time", f->time_why, "%s", date);
    }
}

static void decide_columns(const swp__facts *f, const swp_bars_options *options, swp_inspection *in)
{
    char close[96];
    if (f->columns_count > 1) {
        decide(in, "delimiter", "--delimiter",
               options->delimiter != 0 ? said : "the one sign that splits the first lines alike", "%s, %zu columns",
               delimiter_name(f->delimiter), f->columns_count);
    } else {
        decide(in, "delimiter", "--delimiter", options->delimiter != 0 ? said : "no sign splits the first line", "none");
    }
    const char *header_why = options->header != SWP_HEADER_FOUND ? said
                             : f->is_headerless                  ? "all cells of the first line are numbers or stamps"
                                                                 : "not all of its cells are numbers or stamps";
    if (f->is_headerless) {
        decide(in, "header", "--header, --skip-lines", header_why, "none");
    } else {
        decide(in, "header", "--header, --skip-lines", header_why, "line %" PRIu64, f->header_line);
    }
    if (f->layout != NULL) {
        decide(in, "layout", "--close N", "each cell of the first row fits; high and low hold", "%s", f->layout);
    }
    describe_column(f, f->close, f->close_column, close, sizeof close);
    decide(in, "close", "--close", f->close_why, "%s", close);
    decide_time(f, options, in);
    char beside[96] = "";
    for (size_t i = 0, used = 0; i < SWP__BESIDE_COUNT; i++) {
        const char *name, *given = swp__beside_option(options, i, &name);
        if (given != NULL && used < sizeof beside) {
            used += (size_t)snprintf(beside + used, sizeof beside - used, "%s%s: column %zu", used > 0 ? "; " : "", name,
                                     f->beside[i] + 1);
        }
    }
    if (beside[0] != '\0') {
        decide(in, "checked", "--open, --high, --low, --volume", said, "%s", beside);
    }
}

static void decide_stamps(const swp__facts *f, const swp_bars_options *options, swp_inspection *in)
{
    bool says_zone = swp__time_form_is_instant(f->time_form);
    decide(in, "stamps", "--time-format", swp__time_form_name(f->time_form), "%s", f->first_stamp);
    if (f->date_order != SWP__YEAR_FIRST) {
        decide(in, "dates", "--time-format", f->is_order_weighed ? "the first 256 KiB leave no other" : said, "%s first",
               f->date_order == SWP__DAY_FIRST ? "day" : "month");
    }
    decide(in, "zone", "--time-zone",
           says_zone                    ? "the stamps say it"
           : options->time_zone != NULL ? said
                                        : "neither the file nor an option says another",
           "%s", says_zone || options->time_zone == NULL ? "UTC" : options->time_zone);
}

static void decide_order(const swp__facts *f, const swp_bars_options *options, bool was_set_right, swp_inspection *in)
{
    static const char *const kept[] = {"", "; of a stamp the first", "; of a stamp the last"};
    bool sorts = options->order == SWP_ORDER_SORT;
    bool plain = !sorts && options->duplicates == SWP_DUPLICATES_REFUSE;
    decide(in, "order", "--order, --duplicates",
           was_set_right ? "as it stands the file is refused"
           : plain       ? "each stamp is after the one before it"
                         : said,
           "%s%s",
           !sorts          ? "oldest first"
           : f->is_falling ? "newest first, sorted"
                           : "sorted",
           kept[options->duplicates]);
}

static void decide_text(const swp__facts *f, const swp_bars_options *options, swp_inspection *in)
{
    decide(in, "text", "", "the first bytes", "%s%s%s", f->encoding, f->packing != NULL ? ", packed by " : "",
           f->packing != NULL ? f->packing : "");
    decide_columns(f, options, in);
    if (f->first_stamp[0] != '\0') {
        decide_stamps(f, options, in);
    }
    decide(in, "decimal", "--decimal", options->decimal != 0 ? said : "always, unless an option says comma", "%s",
           options->decimal == ',' ? "comma" : "point");
}

static void decide_numbers(const swp__facts *f, const swp_bars_options *options, swp_inspection *in)
{
    bool is_npy = f->numbers[0] == '.';
    decide(in, "numbers", is_npy ? "" : "--dtype, --big-endian",
           is_npy                   ? "the file's header"
           : options->dtype != NULL ? said
                                    : "the name's ending",
           "%s%s%s", f->numbers, f->packing != NULL ? ", packed by " : "", f->packing != NULL ? f->packing : "");
    if (is_npy) {
        decide(in, "close", "--close N", options->close != NULL ? said : "there is no other", "column %zu of %zu", f->close + 1,
               f->columns_count);
    }
}

void swp__inspect_decisions(const swp__facts *f, const swp_bars_options *options, bool was_set_right, swp_inspection *in)
{
    if (f->numbers[0] != '\0') {
        decide_numbers(f, options, in);
        return;
    }
    decide_text(f, options, in);
    if (f->first_stamp[0] != '\0') {
        decide_order(f, options, was_set_right, in);
    }
}
