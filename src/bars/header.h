/* The names of a text's columns, and what part each column plays. Which column is which is decided here, once, before a
 * number is read. */
#ifndef SWP_BARS_HEADER_H
#define SWP_BARS_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include "bars/bar_list.h" /* SWP__BESIDE_COUNT */
#include "swp/bars.h"

enum {
    SWP__COLUMNS_MAX = 4096,
    SWP__HEADER_TEXT_MAX = 1 << 16, /* bytes of all names, a NUL behind each */
};

typedef struct swp__header {
    size_t count;
    size_t text_size;
    uint32_t starts[SWP__COLUMNS_MAX];
    char text[SWP__HEADER_TEXT_MAX];
} swp__header;

/* False when there are too many names. */
bool swp__header_add(swp__header *header, const char *name, size_t size);

const char *swp__header_name(const swp__header *header, size_t column);

/* True when every cell that is not empty is a number or a time stamp, or has no letter: a row of data, no header. */
bool swp__header_looks_like_data(const swp__header *header);

#define SWP__NO_COLUMN SIZE_MAX

/* "5" -> 4: a column's number, from 1 to `columns_count`. False, with *column as it was: none. */
bool swp__column_parse(const char *text, uint64_t columns_count, uint64_t *column);

typedef struct swp__roles {
    size_t close;                     /* column, from 0 */
    size_t time;                      /* the whole stamp, or its date; SWP__NO_COLUMN: the file has no stamps */
    size_t time_of_day;               /* a second column that goes behind the date; SWP__NO_COLUMN */
    size_t beside[SWP__BESIDE_COUNT]; /* as an option says, or a layout has them (layout.h); else SWP__NO_COLUMN */
    const char *close_why, *time_why; /* by what the two were told, for a person; NULL: not told */
} swp__roles;

/* What options->open and so on say for one of SWP__OPEN .. SWP__VOLUME; its name in *name. */
const char *swp__beside_option(const swp_bars_options *options, size_t beside, const char **name);

/* No column plays any part. */
swp__roles swp__roles_none(void);

/* By options->close, ->time, ->open and so on (NULL: found out, or not read): an exact name, else a number from 1; of the time, else
 * "none", for a file whose stamps are not to be looked at. Found out: the closes are the one column called close, in any case;
 * the time is the one called date, time, datetime, timestamp or the like, a nameless first column, or the pair of date and
 * time; with none of these the cells must tell (table.c). BAD_PARAM at `line`: no such column or more than one, or one for
 * two roles; the text lists the columns. */
SWP_MUST_CHECK swp_status swp__roles_decide(const swp__header *header, const swp_bars_options *options, const char *path,
                                            uint64_t line, swp__roles *roles, swp_error *error);

struct swp__layout; /* layout.h */

/* The same for a file without a header: columns go by their numbers, from 1; what the options leave open stands where `layout` has
 * it, if it is not NULL. */
SWP_MUST_CHECK swp_status swp__roles_by_number(size_t columns_count, const swp_bars_options *options,
                                               const struct swp__layout *layout, const char *path, uint64_t line,
                                               swp__roles *roles, swp_error *error);

#endif
