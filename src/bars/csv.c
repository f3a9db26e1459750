#include "bars/csv.h"

#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "bars/refuse.h"

static void *resize_field(void *block, size_t size)
{
    return size <= SWP__FIELD_SIZE_MAX ? realloc(block, size) : NULL;
}

static void on_field(void *text, size_t size, void *context)
{
    swp__csv *csv = context;
    if (csv->stopped) {
        return;
    }
    csv->after_cr = false;
    csv->row_line = csv->in_row ? csv->row_line : csv->line;
    csv->in_row = true;
    csv->events.field(csv->events.context, text, size);
    for (const char *at = text, *end = at + size; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++) {
        csv->line++; /* inside quotation marks */
    }
}

/* `terminator` is the character that ended the row, -1 at the end of the text. Blank lines are reported too. */
static void on_row(int terminator, void *context)
{
    swp__csv *csv = context;
    if (csv->stopped) {
        return;
    }
    bool second_of_crlf = terminator == '\n' && csv->after_cr && !csv->in_row;
    csv->after_cr = terminator == '\r';
    if (second_of_crlf) {
        return;
    }
    uint64_t line = csv->in_row ? csv->row_line : csv->line;
    csv->line++;
    csv->in_row = false;
    csv->stopped = !csv->events.row(csv->events.context, line);
}

swp_status swp__csv_init(swp__csv *csv, char delimiter, const swp__csv_events *events, swp_error *error)
{
    *csv = (swp__csv){.events = *events, .line = 1};
    if (csv_init(&csv->parser, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL) != 0) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory to read text");
    }
    csv_set_delim(&csv->parser, (unsigned char)delimiter);
    csv_set_realloc_func(&csv->parser, resize_field);
    return SWP_OK;
}

static swp_status fail(swp__csv *csv, const char *path, swp_error *error)
{
    uint64_t line = csv->in_row ? csv->row_line : csv->line;
    if (csv_error(&csv->parser) == CSV_ENOMEM || csv_error(&csv->parser) == CSV_ETOOBIG) {
        return swp__refuse_line(error, path, line, "a field of more than %d bytes; a quotation mark is not closed?",
                                SWP__FIELD_SIZE_MAX);
    }
    return swp__refuse_line(error, path, line, "a quotation mark stands inside a field or is not closed");
}

swp_status swp__csv_feed(swp__csv *csv, const char *path, const void *bytes, size_t size, swp_error *error)
{
    bool whole = csv_parse(&csv->parser, bytes, size, on_field, on_row, csv) == size;
    return whole || csv->stopped ? SWP_OK : fail(csv, path, error);
}

swp_status swp__csv_finish(swp__csv *csv, const char *path, swp_error *error)
{
    bool whole = csv_fini(&csv->parser, on_field, on_row, csv) == 0;
    return whole || csv->stopped ? SWP_OK : fail(csv, path, error);
}

void swp__csv_fini(swp__csv *csv)
{
    csv_free(&csv->parser);
}
