#include "cli/live_input.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "bars/close_text.h"
#include "bars/csv.h"
#include "bars/delimiter.h"
#include "bars/header.h"
#include "bars/refuse.h"
#include "base/error.h"

enum { BLOCK_SIZE = 1 << 16 };

#define PATH "standard input"

typedef struct input {
    const swp_bars_options *options;
    swp__live_row row;
    void *context;
    swp_error *error;
    swp_status status;
    swp__csv csv;
    bool header_done;
    size_t close_column, fields_count, columns_count;

    /* of the row being read */
    bool has_close;
    double close;
    swp__number_result result;
    char text[64]; /* or what fits */
    size_t size;

    swp__header header;
    char block[BLOCK_SIZE];
    size_t block_size;
} input;

static void take_close(input *in, const char *text, size_t size)
{
    in->has_close = true;
    in->size = size < sizeof in->text ? size : sizeof in->text;
    memcpy(in->text, text, in->size);
    in->result = swp__number_parse(text, size, &in->close);
}

static void on_field(void *context, const char *text, size_t size)
{
    input *in = context;
    size_t column = in->fields_count++;
    if (in->header_done) {
        if (column == in->close_column) {
            take_close(in, text, size);
        }
    } else if (!swp__header_add(&in->header, text, size)) {
        in->status = swp__refuse_line(in->error, PATH, 1, "the first line has more than %d columns or %d bytes",
                                      SWP__COLUMNS_MAX, SWP__HEADER_TEXT_MAX);
    }
}

static swp_status take_row(input *in, uint64_t line)
{
    if (in->fields_count != in->columns_count || !in->has_close) {
        return swp__refuse_line(in->error, PATH, line, "%zu field%s, expected %zu as in the first line", in->fields_count,
                                in->fields_count == 1 ? "" : "s", in->columns_count);
    }
    const swp__close_text c = {"close", in->text, in->size, in->result, in->close};
    double close;
    swp_status status = swp__close_text_judge(&c, in->options->allow, "a decimal point", PATH, line, &close, in->error);
    return status == SWP_OK ? in->row(in->context, close, line, in->error) : status;
}

/* The first line: a header that names the closes, or data already. */
static swp_status take_first(input *in, bool *is_data)
{
    const swp_bars_options *options = in->options;
    swp__roles roles;
    *is_data = swp__header_looks_like_data(&in->header);
    in->columns_count = in->header.count;
    if (*is_data && in->header.count > 1 && options->close == NULL) {
        return swp__refuse_line(in->error, PATH, 1,
                                "no header, and %zu columns: say which holds the closes, by its number (--close N)",
                                in->header.count);
    }
    if (*is_data && options->close == NULL) {
        in->close_column = 0;
        return SWP_OK;
    }
    const swp_bars_options wanted = {.close = options->close, .time = "none"};
    swp_status status = swp__roles_decide(&in->header, &wanted, PATH, 1, &roles, in->error);
    in->close_column = roles.close;
    return status;
}

static bool on_row(void *context, uint64_t line)
{
    input *in = context;
    bool is_data = true;
    if (in->status == SWP_OK && !in->header_done && in->fields_count > 0) {
        in->status = take_first(in, &is_data);
        in->header_done = true;
        if (in->status == SWP_OK && is_data) {
            const char *text = swp__header_name(&in->header, in->close_column);
            take_close(in, text, strlen(text));
        }
    }
    if (in->status == SWP_OK && is_data && in->fields_count > 0) {
        in->status = take_row(in, line);
    }
    in->fields_count = 0;
    in->has_close = false;
    return in->status == SWP_OK;
}

/* What has come: at least a byte, or 0 at the end. */
static swp_status read_some(input *in, size_t *got)
{
    ssize_t count;
    do {
        count = read(STDIN_FILENO, in->block + in->block_size, BLOCK_SIZE - in->block_size);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
        return swp__fail(in->error, SWP_FILE, SWP_AT_NONE, PATH ": %s", strerror(errno));
    }
    *got = (size_t)count;
    in->block_size += *got;
    return SWP_OK;
}

/* The first line tells the delimiter. */
static swp_status begin(input *in, bool *ended)
{
    static const swp__csv_events template = {.field = on_field, .row = on_row};
    size_t got = 1;
    swp_status status = SWP_OK;
    while (status == SWP_OK && got > 0 && in->block_size < BLOCK_SIZE && memchr(in->block, '\n', in->block_size) == NULL) {
        status = read_some(in, &got);
    }
    if (status != SWP_OK) {
        return status;
    }
    *ended = got == 0;
    const char *newline = memchr(in->block, '\n', in->block_size);
    size_t line_size = newline != NULL ? (size_t)(newline - in->block) + 1 : in->block_size;
    char delimiter =
        in->options->delimiter != 0 ? in->options->delimiter : swp__delimiter_find(in->block, line_size, true, false);
    if (delimiter == 0) {
        return swp__refuse_line(in->error, PATH, 1, "what separates the fields is not clear: say so with --delimiter");
    }
    swp__csv_events events = template;
    events.context = in;
    return swp__csv_init(&in->csv, delimiter, &events, in->error);
}

static swp_status read_rows(input *in, bool ended)
{
    for (;;) {
        swp_status status = swp__csv_feed(&in->csv, PATH, in->block, in->block_size, in->error);
        status = status == SWP_OK && ended ? swp__csv_finish(&in->csv, PATH, in->error) : status;
        if (in->status != SWP_OK || status != SWP_OK || ended) {
            return in->status != SWP_OK ? in->status : status;
        }
        size_t got = 0;
        in->block_size = 0;
        status = read_some(in, &got);
        if (status != SWP_OK) {
            return status;
        }
        ended = got == 0;
    }
}

swp_status swp__live_input(const swp_bars_options *options, swp__live_row row, void *context, swp_error *error)
{
    static input in; /* one standard input, and too large for a stack */
    bool ended = false;
    in = (input){.options = options, .row = row, .context = context, .error = error};
    swp_status status = begin(&in, &ended);
    if (status != SWP_OK) {
        return status;
    }
    status = read_rows(&in, ended);
    swp__csv_fini(&in.csv);
    return status;
}
