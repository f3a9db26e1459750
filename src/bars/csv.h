/* Text with delimiters -> fields and rows, by libcsv in its strict mode, with the line that each row begins on.
 * Quotation marks as RFC 4180 has them; lines end in LF, CRLF or CR; spaces around a bare field are dropped. */
#ifndef SWP_BARS_CSV_H
#define SWP_BARS_CSV_H

#include <csv.h>
#include <stdbool.h>
#include <stddef.h>
#include "swp/error.h"

enum { SWP__FIELD_SIZE_MAX = 1 << 20 }; /* bytes of one field; more is taken for a quotation mark that was not closed */

/* What is done with fields and rows. */
typedef struct swp__csv_events {
    /* `text` is gone after the call. */
    void (*field)(void *context, const char *text, size_t size);
    /* After the last field of a row; a blank line is a row without fields. False: no more events are wanted. */
    bool (*row)(void *context, uint64_t line);
    void *context;
} swp__csv_events;

typedef struct swp__csv {
    struct csv_parser parser;
    swp__csv_events events;
    uint64_t line;     /* where the next field begins, from 1 */
    uint64_t row_line; /* where the row begins */
    bool in_row;       /* the row has a field already */
    bool after_cr;     /* an LF now belongs to the CR before it */
    bool stopped;
} swp__csv;

/* NO_MEMORY. Then _feed with the bytes in order, and _finish once at their end. */
SWP_MUST_CHECK swp_status swp__csv_init(swp__csv *csv, char delimiter, const swp__csv_events *events, swp_error *error);

/* BAD_PARAM at the line of a stray or unclosed quotation mark or of a field that is too long; NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__csv_feed(swp__csv *csv, const char *path, const void *bytes, size_t size, swp_error *error);
SWP_MUST_CHECK swp_status swp__csv_finish(swp__csv *csv, const char *path, swp_error *error);

void swp__csv_fini(swp__csv *csv);

#endif
