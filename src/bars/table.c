/* Events of csv.h come in, bars go out:
 *
 *   field ──► header cell                      (first row)
 *         └─► the row's close, date, time of day, by column; the others are only counted
 *   row   ──► roles are decided                (first row; where no name says which is the time, by the second's cells)
 *         └─► judge: number of fields, time stamp and its order, close ──► bar_list
 *
 * What is refused stops the reading; t->status then holds why. Who follows bars as they arrive takes them from the list after each
 * row; then nothing is decided by what stands further down, since that depends on how much has come. */
#include "bars/table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bars/arrange.h"
#include "bars/close_text.h"
#include "bars/csv.h"
#include "bars/delimiter.h"
#include "bars/header.h"
#include "bars/layout.h"
#include "bars/text.h"
#include "base/error.h"
#include "base/number.h"

enum {
    BLOCK_SIZE = 1 << 18, /* bytes read at a time; the delimiter and the order of dates are judged by the first block */
    CELL_SIZE = 64,
};

/* A field kept until its row is judged. A longer text ends in "...", and so is no stamp. */
typedef struct cell {
    size_t size;
    char text[CELL_SIZE];
} cell;

typedef struct bar_line {
    uint64_t line;
    int64_t time_ns;
    cell stamp;
} bar_line;

typedef struct table {
    const char *path;
    const swp_bars_options *options;
    swp__bar_list *list;
    swp__facts *facts;
    const swp__follower *follower; /* NULL: a file */
    swp_error *error;
    swp_status status;
    swp__csv csv;

    bool header_done, is_headerless;
    swp__roles roles;
    const swp__layout *layout; /* NULL: none */
    char delimiter, decimal;
    swp__time_rule rule;
    swp__zone zone;
    int64_t from_ns, to_ns;
    size_t skipped, block_size; /* bytes of text in the first block */

    /* the row that is being read */
    size_t fields_count;
    cell date, time_of_day, close_text, beside_text[SWP__BESIDE_COUNT];
    double close, beside[SWP__BESIDE_COUNT]; /* of a layout, or asked for */
    swp__number_result close_result, beside_result[SWP__BESIDE_COUNT];
    bool has_beside; /* the row's other prices are looked at */

    size_t dated_column, dated_count; /* first bar: cells that are dates, where no name said which column is the time */

    uint64_t rows_count;               /* rows judged so far */
    double last_close;                 /* of the last bar that is kept */
    bar_line former;                   /* the last row */
    bool repeats;                      /* the row's stamp is that of the one above it, and it is to be passed over */
    bool falls;                        /* every stamp so far was before the one above it */
    bar_line fell_from, fell_to;       /* the first two bars then */
    uint64_t blank_line, blanks_count; /* lines without a field since the last bar */

    swp__header header;
    swp__text text;
    unsigned char block[BLOCK_SIZE];
} table;

static void set_cell(cell *c, const char *text, size_t size)
{
    c->size = size < CELL_SIZE ? size : CELL_SIZE;
    memcpy(c->text, text, c->size);
    if (size > CELL_SIZE) {
        memcpy(c->text + CELL_SIZE - 3, "...", 3);
    }
}

static const char *quote_cell(const cell *c, char quoted[SWP__QUOTED_SIZE])
{
    return swp__quote(c->text, c->size, quoted);
}

/* A time column under an unknown name, in another language, say. Only dates tell; a number could be anything. */
static void look_for_date(table *t, size_t column, const char *text, size_t size)
{
    swp__time_stamp stamp;
    if (swp__time_is_ambiguous(text, size) || (swp__time_parse_by(&t->rule, text, size, &stamp) == NULL &&
                                               (stamp.form <= SWP__TIME_COMPACT || stamp.form == SWP__TIME_PATTERN))) {
        t->dated_column = column;
        t->dated_count++;
        set_cell(&t->date, text, size);
    }
}

/* Another price or the volume: NaN, which fits no layout, when it is no number. */
static void take_beside(table *t, size_t column, const char *text, size_t size)
{
    for (size_t i = 0; i < SWP__BESIDE_COUNT; i++) {
        if (column == t->roles.beside[i]) {
            set_cell(&t->beside_text[i], text, size);
            t->beside_result[i] = swp__number_parse_with(text, size, t->decimal, &t->beside[i]);
            t->beside[i] = t->beside_result[i] == SWP__NUMBER_OK ? t->beside[i] : (double)NAN;
        }
    }
}

static void on_field(void *context, const char *text, size_t size)
{
    table *t = context;
    size_t column = t->fields_count++;
    if (!t->header_done) {
        if (!swp__header_add(&t->header, text, size) && t->status == SWP_OK) {
            t->status = swp__refuse_line(t->error, t->path, t->csv.line, "the header has more than %d columns or %d bytes",
                                         SWP__COLUMNS_MAX, SWP__HEADER_TEXT_MAX);
        }
    } else if (column == t->roles.close) {
        set_cell(&t->close_text, text, size);
        t->close_result = swp__number_parse_with(text, size, t->decimal, &t->close);
    } else if (column == t->roles.time) {
        set_cell(&t->date, text, size);
    } else if (column == t->roles.time_of_day) {
        set_cell(&t->time_of_day, text, size);
    } else if (t->has_beside) {
        take_beside(t, column, text, size);
    } else if (t->rows_count == 0 && t->options->time == NULL && t->roles.time == SWP__NO_COLUMN) {
        look_for_date(t, column, text, size);
    }
}

static swp_status refuse_headerless(const table *t, uint64_t line)
{
    char quoted[SWP__QUOTED_SIZE];
    const char *first = swp__header_name(&t->header, 0);
    return swp__refuse_line(t->error, t->path, line,
                            "no header: the first line begins with %s, and its %zu columns are no layout that is known; choose "
                            "by --close N, or --header yes",
                            swp__quote(first, strlen(first), quoted), t->header.count);
}

/* Closes and nothing else, as they are often piped. */
static swp_status take_only_column(table *t)
{
    t->roles = swp__roles_none();
    t->roles.close = 0;
    t->roles.close_why = "the only column";
    return SWP_OK;
}

/* The first row is one of bars: its layout, or the columns that the options say by number, tell the roles. */
static swp_status decide_headerless(table *t, uint64_t line)
{
    if (t->follower != NULL && t->header.count == 1 && t->options->close == NULL) {
        return take_only_column(t);
    }
    const swp__layout *layout = swp__layout_find(&t->header, t->delimiter, t->decimal);
    if (t->options->close == NULL && layout == NULL) {
        return refuse_headerless(t, line);
    }
    if (t->options->close == NULL && t->options->time == NULL) {
        t->layout = layout;
        t->facts->layout = layout->name;
    }
    return swp__roles_by_number(t->header.count, t->options, layout, t->path, line, &t->roles, t->error);
}

/* By its name, or its number where it has none. */
static void name_column(const table *t, size_t column, char text[SWP__QUOTED_SIZE])
{
    if (t->is_headerless) {
        snprintf(text, SWP__QUOTED_SIZE, "%zu", column + 1);
    } else {
        const char *name = swp__header_name(&t->header, column);
        swp__quote(name, strlen(name), text);
    }
}

static swp_status finish_bar(table *t, uint64_t line);

/* The cells of the first row again, as a bar. */
static swp_status take_first_row(table *t, uint64_t line)
{
    t->fields_count = 0;
    for (size_t i = 0; i < t->header.count; i++) {
        const char *text = swp__header_name(&t->header, i);
        on_field(t, text, strlen(text));
    }
    return finish_bar(t, line);
}

static swp_status finish_header(table *t, uint64_t line)
{
    bool is_data =
        t->options->header == SWP_HEADER_FOUND ? swp__header_looks_like_data(&t->header) : t->options->header == SWP_HEADER_NO;
    swp_status status =
        is_data ? decide_headerless(t, line) : swp__roles_decide(&t->header, t->options, t->path, line, &t->roles, t->error);
    if (status != SWP_OK) {
        return status;
    }
    t->list->has_time = t->roles.time != SWP__NO_COLUMN;
    t->has_beside = t->layout != NULL;
    for (size_t i = 0; i < SWP__BESIDE_COUNT; i++) {
        t->has_beside = t->has_beside || t->list->has_beside[i];
    }
    t->is_headerless = is_data;
    t->header_done = true;
    name_column(t, t->roles.close, t->facts->close_column);
    t->facts->is_headerless = is_data;
    t->facts->header_line = line;
    t->facts->columns_count = t->header.count;
    t->facts->close = t->roles.close;
    memcpy(t->facts->beside, t->roles.beside, sizeof t->facts->beside);
    t->facts->close_why = t->roles.close_why;
    return is_data ? take_first_row(t, line) : SWP_OK;
}

static const char *way_out_of_order(const table *t, bool repeats)
{
    if (t->follower != NULL) {
        return repeats ? "--duplicates first passes over it" : "a bar cannot be taken once later ones were";
    }
    return repeats ? "--duplicates first or last keeps one" : "--order sort reads it";
}

static swp_status refuse_order(const table *t, const bar_line *former, const bar_line *bar)
{
    char before[SWP__QUOTED_SIZE], after[SWP__QUOTED_SIZE];
    bool repeats = bar->time_ns == former->time_ns;
    const char *how = repeats ? "repeats" : "is before";
    t->facts->is_order_refused = true;
    return swp__refuse_line(t->error, t->path, bar->line, "time %s %s %s of line %llu; time stamps must rise; %s",
                            quote_cell(&bar->stamp, after), how, quote_cell(&former->stamp, before),
                            (unsigned long long)former->line, way_out_of_order(t, repeats));
}

static swp_status refuse_newest_first(const table *t)
{
    char first[SWP__QUOTED_SIZE], second[SWP__QUOTED_SIZE];
    t->facts->is_order_refused = true;
    return swp__refuse_line(
        t->error, t->path, t->fell_to.line,
        "newest first: %s comes after %s of line %llu, and so on to the end; bars must be oldest first: --order sort reads it",
        quote_cell(&t->fell_to.stamp, second), quote_cell(&t->fell_from.stamp, first), (unsigned long long)t->fell_from.line);
}

/* Stamps rise from bar to bar. When the second is before the first, the rest is looked through to tell a file that is
 * newest first from one that is out of order. */
static swp_status judge_order(table *t, const bar_line *bar)
{
    if (t->rows_count == 0 || t->options->order == SWP_ORDER_SORT) {
        return SWP_OK;
    }
    if (bar->time_ns == t->former.time_ns && t->options->duplicates != SWP_DUPLICATES_REFUSE) {
        t->repeats = t->follower != NULL;
        return SWP_OK;
    }
    bool falls = bar->time_ns < t->former.time_ns;
    if (t->rows_count == 1 && falls && t->follower == NULL) {
        t->falls = true;
        t->fell_from = t->former;
        t->fell_to = *bar;
    }
    if (t->falls) {
        return falls ? SWP_OK : refuse_order(t, &t->fell_from, &t->fell_to);
    }
    return bar->time_ns > t->former.time_ns ? SWP_OK : refuse_order(t, &t->former, bar);
}

/* The row's stamp, joined where it stands in two columns. */
static void join_stamp(const table *t, cell *stamp)
{
    *stamp = t->date;
    if (t->roles.time_of_day != SWP__NO_COLUMN && stamp->size + 1 + t->time_of_day.size <= CELL_SIZE) {
        stamp->text[stamp->size] = ' ';
        memcpy(stamp->text + stamp->size + 1, t->time_of_day.text, t->time_of_day.size);
        stamp->size += 1 + t->time_of_day.size;
    }
}

/* Makes the one column of dates the time, at the first bar. */
static swp_status take_dated_column(table *t, uint64_t line)
{
    if (t->dated_count > 1) {
        return swp__refuse_line(t->error, t->path, line, "%zu columns hold dates; choose by --time NAME or number",
                                t->dated_count);
    }
    t->roles.time = t->dated_column;
    t->roles.time_why = "the only column whose first cell is a date";
    t->list->has_time = true;
    return SWP_OK;
}

/* Collects what the dates of the first block say of their order. */
typedef struct evidence {
    size_t column, field;
    int orders;
} evidence;

static void weigh_field(void *context, const char *text, size_t size)
{
    evidence *e = context;
    int orders = e->field++ == e->column ? swp__time_orders(text, size) : -1;
    e->orders &= orders >= 0 ? orders : 3;
}

static bool end_weighed_row(void *context, uint64_t line)
{
    (void)line;
    ((evidence *)context)->field = 0;
    return true;
}

/* 5/1/2023 may be two dates; 5/30/2023 further down is only one, and a file has one form. Nothing is decided where the
 * block does not say, or says both. */
static void weigh_dates(table *t, const char *text, size_t size)
{
    swp__csv csv;
    evidence e = {.column = t->roles.time, .orders = 3};
    const swp__csv_events events = {weigh_field, end_weighed_row, &e};
    if (t->options->time_format != NULL || swp__time_orders(text, size) < 0 ||
        swp__csv_init(&csv, t->delimiter, &events, NULL) != SWP_OK) {
        return;
    }
    size_t whole = t->block_size; /* a row that is cut off says nothing */
    while (t->block_size == BLOCK_SIZE && whole > 0 && t->block[whole - 1] != '\n') {
        whole--;
    }
    swp_status status = swp__csv_feed(&csv, t->path, t->block + t->skipped, whole > t->skipped ? whole - t->skipped : 0, NULL);
    status = status == SWP_OK ? swp__csv_finish(&csv, t->path, NULL) : status;
    swp__csv_fini(&csv);
    if (status == SWP_OK && (e.orders == 1 || e.orders == 2)) {
        t->rule.order = e.orders == 1 ? SWP__DAY_FIRST : SWP__MONTH_FIRST;
        t->facts->date_order = t->rule.order;
        t->facts->is_order_weighed = true;
    }
}

static void note_time(table *t, const cell *stamp)
{
    swp__facts *f = t->facts;
    quote_cell(stamp, f->first_stamp);
    f->time = t->roles.time;
    f->time_of_day = t->roles.time_of_day;
    f->time_why = t->roles.time_why;
    name_column(t, f->time, f->time_column);
    if (f->time_of_day != SWP__NO_COLUMN) {
        name_column(t, f->time_of_day, f->time_of_day_column);
    }
}

static swp_status judge_time(table *t, uint64_t line)
{
    bar_line bar = {.line = line};
    swp__time_stamp stamp;
    char quoted[SWP__QUOTED_SIZE];
    join_stamp(t, &bar.stamp);
    if (t->rows_count == 0) {
        weigh_dates(t, t->date.text, t->date.size);
        note_time(t, &bar.stamp);
    }
    const char *why = swp__time_parse_by(&t->rule, bar.stamp.text, bar.stamp.size, &stamp);
    if (why != NULL) {
        return swp__refuse_line(t->error, t->path, line, "time %s %s", quote_cell(&bar.stamp, quoted), why);
    }
    if (t->rows_count > 0 && stamp.form != t->facts->time_form) {
        return swp__refuse_line(t->error, t->path, line, "time %s is %s; the lines above have %s",
                                quote_cell(&bar.stamp, quoted), swp__time_form_name(stamp.form),
                                swp__time_form_name(t->facts->time_form));
    }
    bar.time_ns = stamp.ns;
    swp_status status = judge_order(t, &bar);
    t->facts->time_form = stamp.form;
    t->former = bar;
    return status;
}

/* A layout was guessed from the first row, and holds as long as every row bears it out. */
static swp_status judge_layout(const table *t, uint64_t line)
{
    if (t->layout == NULL || swp__bar_is_sound(t->beside[SWP__OPEN], t->beside[SWP__HIGH], t->beside[SWP__LOW], t->close)) {
        return SWP_OK;
    }
    return swp__refuse_line(
        t->error, t->path, line,
        "the columns were taken for %s, but high and low do not enclose open and close here; choose by --close N",
        t->layout->name);
}

static bool is_header_again(const table *t)
{
    const char *name = swp__header_name(&t->header, t->roles.close);
    const cell *text = &t->close_text;
    return !t->is_headerless && text->size > 0 && strlen(name) == text->size && memcmp(name, text->text, text->size) == 0;
}

static swp_status judge_close_text(const table *t, const swp__close_text *c, uint64_t line, double *close)
{
    const char *form = t->decimal == ',' ? "a decimal comma" : "a decimal point; --decimal comma reads 1,5";
    return swp__close_text_judge(c, t->options->allow, form, t->path, line, close, t->error);
}

static swp_status judge_close(table *t, uint64_t line)
{
    const swp__close_text c = {"close", t->close_text.text, t->close_text.size, t->close_result, t->close};
    if (c.result == SWP__NUMBER_BAD && is_header_again(t)) {
        char quoted[SWP__QUOTED_SIZE];
        return swp__refuse_line(t->error, t->path, line, "close %s: the header stands here again",
                                quote_cell(&t->close_text, quoted));
    }
    return judge_close_text(t, &c, line, &t->close);
}

/* The high is the highest price and the low the lowest, as far as they were asked for and are numbers. */
static swp_status judge_range(const table *t, uint64_t line)
{
    double close = t->close, beside[SWP__BESIDE_COUNT];
    for (size_t i = 0; i < SWP__BESIDE_COUNT; i++) {
        beside[i] = t->list->has_beside[i] ? t->beside[i] : (double)NAN;
    }
    const struct {
        const char *upper_name, *lower_name;
        double upper, lower;
    } pairs[] = {{"high", "low", beside[SWP__HIGH], beside[SWP__LOW]},
                 {"high", "open", beside[SWP__HIGH], beside[SWP__OPEN]},
                 {"high", "close", beside[SWP__HIGH], close},
                 {"open", "low", beside[SWP__OPEN], beside[SWP__LOW]},
                 {"close", "low", close, beside[SWP__LOW]}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (pairs[i].upper < pairs[i].lower) { /* false of a NaN */
            char upper[SWP__NUMBER_SIZE], lower[SWP__NUMBER_SIZE];
            swp__number_format(pairs[i].upper, upper);
            swp__number_format(pairs[i].lower, lower);
            return swp__refuse_line(t->error, t->path, line, "%s %s is below %s %s; --%s named this column",
                                    pairs[i].upper_name, upper, pairs[i].lower_name, lower,
                                    strcmp(pairs[i].upper_name, "high") == 0 ? "high" : "low");
        }
    }
    return SWP_OK;
}

/* What was asked for beside the close. A volume of zero is one. */
static swp_status judge_beside(table *t, uint64_t line)
{
    for (size_t i = 0; i < SWP__BESIDE_COUNT; i++) {
        const char *name, *given = swp__beside_option(t->options, i, &name);
        if (given == NULL || (i == SWP__VOLUME && t->beside[i] == 0)) {
            continue;
        }
        const swp__close_text c = {name, t->beside_text[i].text, t->beside_text[i].size, t->beside_result[i], t->beside[i]};
        swp_status status = judge_close_text(t, &c, line, &t->beside[i]);
        if (status != SWP_OK) {
            return status;
        }
    }
    return judge_range(t, line);
}

/* Blank lines between bars are passed over, except where a line holds nothing but a close: there they are missing
 * closes. */
static swp_status take_blanks(table *t)
{
    static const swp__close_text blank = {.what = "close", .text = "", .result = SWP__NUMBER_BAD};
    swp_status status = SWP_OK;
    double missing;
    for (uint64_t i = 0; i < t->blanks_count && t->header.count == 1 && status == SWP_OK; i++) {
        status = judge_close_text(t, &blank, t->blank_line + i, &missing);
        const swp__bar bar = {.line = t->blank_line + i, .close = missing};
        status = status == SWP_OK ? swp__bar_list_push(t->list, &bar, t->error) : status;
    }
    t->blanks_count = 0;
    return status;
}

static swp_status keep(table *t, uint64_t line)
{
    if (t->list->count > 0 && swp__is_jump(t->last_close, t->close)) {
        t->facts->jump_line = t->facts->jumps_count++ == 0 ? line : t->facts->jump_line;
    }
    t->last_close = t->close;
    swp__bar bar = {.time_ns = t->former.time_ns, .line = line, .close = t->close};
    memcpy(bar.beside, t->beside, sizeof bar.beside);
    return swp__bar_list_push(t->list, &bar, t->error);
}

static swp_status finish_bar(table *t, uint64_t line)
{
    if (t->fields_count != t->header.count) {
        return swp__refuse_line(t->error, t->path, line, "%zu fields, but the %s has %zu", t->fields_count,
                                t->is_headerless ? "first line" : "header", t->header.count);
    }
    swp_status status = t->blanks_count > 0 ? take_blanks(t) : SWP_OK;
    if (status == SWP_OK && t->rows_count == 0 && t->dated_count > 0) {
        status = take_dated_column(t, line);
    }
    if (status == SWP_OK && t->list->has_time) {
        status = judge_time(t, line);
    }
    t->rows_count++;
    bool wanted = !t->list->has_time || (t->former.time_ns >= t->from_ns && t->former.time_ns <= t->to_ns && !t->repeats);
    if (status != SWP_OK || !wanted) {
        return status;
    }
    status = judge_close(t, line);
    status = status == SWP_OK ? judge_layout(t, line) : status;
    status = status == SWP_OK && t->has_beside ? judge_beside(t, line) : status;
    return status == SWP_OK ? keep(t, line) : status;
}

/* What the row has added to the list, to whoever follows. */
static swp_status hand_on(table *t, uint64_t line)
{
    const swp__follower *f = t->follower;
    swp_status status = SWP_OK;
    if (t->repeats) {
        f->repeated(f->context, line);
        t->repeats = false;
    }
    for (uint64_t i = 0; i < t->list->count && status == SWP_OK; i++) {
        const swp__followed bar = {.close = t->list->close[i],
                                   .has_time = t->list->has_time,
                                   .is_date =
                                       t->facts->time_form == SWP__TIME_DATE || t->facts->time_form == SWP__TIME_COMPACT_DATE,
                                   .time_ns = t->list->has_time ? t->list->time_ns[i] : 0,
                                   .line = line};
        status = f->bar(f->context, &bar, t->error);
    }
    t->list->count = 0;
    return status;
}

static bool on_row(void *context, uint64_t line)
{
    table *t = context;
    if (t->status == SWP_OK && t->fields_count == 0) {
        t->blank_line = t->blanks_count == 0 ? line : t->blank_line;
        t->blanks_count += t->header_done && t->follower == NULL ? 1 : 0;
    } else if (t->status == SWP_OK) {
        t->status = t->header_done ? finish_bar(t, line) : finish_header(t, line);
        t->status = t->status == SWP_OK && t->follower != NULL ? hand_on(t, line) : t->status;
    }
    t->fields_count = 0;
    return t->status == SWP_OK;
}

static swp_status judge_first_block(const table *t, size_t size)
{
    const unsigned char *zero = memchr(t->block, 0, size);
    if (size == 0) {
        return swp__refuse_line(t->error, t->path, 1, "the file is empty");
    }
    if (zero != NULL) {
        return swp__refuse_line(t->error, t->path, 1, "not a text: byte %zu is 0", (size_t)(zero - t->block));
    }
    return SWP_OK;
}

/* Feeds the first block and those after it. */
static swp_status feed(table *t, size_t skipped, size_t got)
{
    swp_status status = swp__csv_feed(&t->csv, t->path, t->block + skipped, got - skipped, t->error);
    while (status == SWP_OK && t->status == SWP_OK && got == BLOCK_SIZE) {
        status = swp__text_read(&t->text, t->block, BLOCK_SIZE, &got, t->error);
        if (status == SWP_OK) {
            status = swp__csv_feed(&t->csv, t->path, t->block, got, t->error);
        }
    }
    if (status == SWP_OK && t->status == SWP_OK) {
        status = swp__csv_finish(&t->csv, t->path, t->error);
    }
    return status == SWP_OK ? t->status : status;
}

static swp_status read_rows(table *t, swp__source *source)
{
    size_t got, skipped = 0;
    swp_status status = swp__text_begin(&t->text, source, t->error);
    t->facts->encoding = t->text.encoding;
    status = status == SWP_OK ? swp__text_read(&t->text, t->block, BLOCK_SIZE, &got, t->error) : status;
    status = status == SWP_OK ? judge_first_block(t, got) : status;
    if (status != SWP_OK) {
        return status;
    }
    uint64_t lines = 0;
    for (; lines < t->options->skip_lines && skipped < got; lines++) {
        const unsigned char *end = memchr(t->block + skipped, '\n', got - skipped);
        skipped = end != NULL ? (size_t)(end - t->block) + 1 : got;
    }
    if (skipped == got) {
        return swp__refuse_line(t->error, t->path, lines, "nothing is left behind the lines that --skip-lines passes over");
    }
    t->skipped = skipped;
    t->block_size = got;
    char delimiter = t->options->delimiter;
    if (delimiter == 0) {
        delimiter = swp__delimiter_find((const char *)t->block + skipped, got - skipped, got < BLOCK_SIZE, t->decimal == ',');
    }
    t->delimiter = delimiter;
    t->facts->delimiter = delimiter;
    if (delimiter == 0) {
        return swp__refuse_line(t->error, t->path, 1, "the delimiter is not clear; choose it by --delimiter");
    }
    const swp__csv_events events = {on_field, on_row, t};
    status = swp__csv_init(&t->csv, delimiter, &events, t->error);
    if (status == SWP_OK) {
        t->csv.line += lines;
        status = feed(t, skipped, got);
        swp__csv_fini(&t->csv);
    }
    return status;
}

/* An end of the range that is read; a date as `to` counts to its last nanosecond. */
static swp_status take_bound(table *t, const char *option, const char *text, bool to_its_end, int64_t *ns)
{
    swp__time_stamp stamp;
    const swp__time_rule rule = {.zone = t->rule.zone};
    const char *why = swp__time_parse_by(&rule, text, strlen(text), &stamp);
    if (why != NULL) {
        return swp__fail(t->error, SWP_BAD_PARAM, SWP_AT_NONE, "--%s \"%.40s\" %s", option, text, why);
    }
    bool is_date = stamp.form == SWP__TIME_DATE || stamp.form == SWP__TIME_COMPACT_DATE;
    *ns = stamp.ns + (to_its_end && is_date ? INT64_C(86400000000000) - 1 : 0);
    return SWP_OK;
}

static swp_status take_options(table *t, const swp_bars_options *options)
{
    swp_status status = SWP_OK;
    t->decimal = options->decimal;
    t->from_ns = INT64_MIN;
    t->to_ns = INT64_MAX;
    for (size_t i = 0; i < SWP__BESIDE_COUNT; i++) {
        const char *name;
        t->list->has_beside[i] = swp__beside_option(options, i, &name) != NULL;
    }
    t->list->has_line = t->list->has_line || options->order == SWP_ORDER_SORT || options->duplicates != SWP_DUPLICATES_REFUSE;
    if (options->time_format != NULL && !swp__time_rule_parse(options->time_format, &t->rule)) {
        return swp__fail(
            t->error, SWP_BAD_PARAM, SWP_AT_NONE,
            "time format \"%.40s\" is none; expected ymd, dmy, mdy, s, ms, us, ns or a pattern such as \"%%d-%%b-%%Y %%H:%%M\"",
            options->time_format);
    }
    t->facts->date_order = t->rule.order;
    if (options->time_zone != NULL) {
        status = swp__zone_find(options->time_zone, &t->zone, t->error);
        t->rule.zone = &t->zone;
    }
    if (status == SWP_OK && options->from != NULL) {
        status = take_bound(t, "from", options->from, false, &t->from_ns);
    }
    if (status == SWP_OK && options->to != NULL) {
        status = take_bound(t, "to", options->to, true, &t->to_ns);
    }
    return status;
}

/* Lists the bars by their stamps, and counts the jumps then. */
static swp_status arrange(table *t)
{
    swp__bar_list *list = t->list;
    bool asked = t->options->order == SWP_ORDER_SORT || t->options->duplicates != SWP_DUPLICATES_REFUSE;
    if (!list->has_time || !asked) {
        return SWP_OK;
    }
    swp_status status = swp__arrange(list, t->options, t->path, t->facts, t->error);
    t->facts->jumps_count = 0;
    for (uint64_t i = 1; i < list->count && status == SWP_OK; i++) {
        if (swp__is_jump(list->close[i - 1], list->close[i])) {
            t->facts->jump_line = t->facts->jumps_count++ == 0 ? list->line[i] : t->facts->jump_line;
        }
    }
    return status;
}

swp_status swp__table_read(swp__source *source, const swp_bars_options *options, swp__bar_list *list, swp__facts *facts,
                           swp_error *error)
{
    table *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory to read text");
    }
    t->path = source->path;
    t->options = options;
    t->list = list;
    t->facts = facts;
    t->error = error;
    swp_status status = take_options(t, options);
    status = status == SWP_OK ? read_rows(t, source) : status;
    if (status == SWP_OK && !t->header_done) {
        status = swp__refuse_line(error, t->path, 1, "the file is empty");
    } else if (status == SWP_OK && list->count == 0) {
        status = swp__refuse_line(error, t->path, t->csv.line,
                                  t->rows_count == 0 ? "no bars below the header" : "no bars between --from and --to");
    } else if (status == SWP_OK && t->falls) {
        status = refuse_newest_first(t);
    }
    status = status == SWP_OK ? arrange(t) : status;
    if (status == SWP_OK && (options->from != NULL || options->to != NULL) && !list->has_time) {
        status = swp__refuse_line(error, t->path, 1, "--from and --to need time stamps; --time says which column has them");
    }
    free(t);
    return status;
}

/* ---- bars as they arrive ---- */

/* What has come: at least a byte, or 0 at the end. */
static swp_status read_some(table *t, int fd, size_t *size, bool *ended)
{
    ssize_t count;
    do {
        count = read(fd, t->block + *size, BLOCK_SIZE - *size);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
        return swp__fail(t->error, SWP_FILE, SWP_AT_NONE, "%s: %s", t->path, strerror(errno));
    }
    *size += (size_t)count;
    *ended = count == 0;
    return SWP_OK;
}

/* The first line, which tells the delimiter, whatever has come behind it. */
static swp_status read_first_line(table *t, int fd, size_t *size, bool *ended)
{
    swp_status status = SWP_OK;
    while (status == SWP_OK && !*ended && *size < BLOCK_SIZE && memchr(t->block, '\n', *size) == NULL) {
        status = read_some(t, fd, size, ended);
    }
    if (status != SWP_OK || *size == 0) {
        return status;
    }
    const unsigned char *newline = memchr(t->block, '\n', *size);
    size_t line_size = newline != NULL ? (size_t)(newline - t->block) + 1 : *size;
    status = judge_first_block(t, line_size);
    t->skipped = line_size >= 3 && memcmp(t->block, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    t->delimiter = t->options->delimiter;
    if (status == SWP_OK && t->delimiter == 0) {
        t->delimiter =
            swp__delimiter_find((const char *)t->block + t->skipped, line_size - t->skipped, true, t->decimal == ',');
    }
    if (status == SWP_OK && t->delimiter == 0) {
        status = swp__refuse_line(t->error, t->path, 1, "the delimiter is not clear; choose it by --delimiter");
    }
    return status;
}

static swp_status follow_rows(table *t, int fd)
{
    size_t size = 0;
    bool ended = false;
    swp_status status = read_first_line(t, fd, &size, &ended);
    const swp__csv_events events = {on_field, on_row, t};
    if (status != SWP_OK || size == 0) {
        return status;
    }
    status = swp__csv_init(&t->csv, t->delimiter, &events, t->error);
    if (status != SWP_OK) {
        return status;
    }
    status = swp__csv_feed(&t->csv, t->path, t->block + t->skipped, size - t->skipped, t->error);
    while (status == SWP_OK && t->status == SWP_OK && !ended) {
        size = 0;
        status = read_some(t, fd, &size, &ended);
        status = status == SWP_OK ? swp__csv_feed(&t->csv, t->path, t->block, size, t->error) : status;
    }
    if (status == SWP_OK && t->status == SWP_OK) {
        status = swp__csv_finish(&t->csv, t->path, t->error);
    }
    swp__csv_fini(&t->csv);
    return status == SWP_OK ? t->status : status;
}

swp_status swp__table_follow(int fd, const char *path, const swp_bars_options *options, const swp__follower *follower,
                             swp_error *error)
{
    swp__bar_list list = {0};
    swp__facts facts = {0};
    table *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory to read text");
    }
    t->path = path;
    t->options = options;
    t->list = &list;
    t->facts = &facts;
    t->follower = follower;
    t->error = error;
    swp_status status = take_options(t, options);
    status = status == SWP_OK ? follow_rows(t, fd) : status;
    swp__bar_list_fini(&list);
    free(t);
    return status;
}
