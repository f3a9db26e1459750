/* People's files -> a series of bars. What is not recognised is refused with file:line and the text, never guessed. The
 * same rules hold in every locale: the decimal sign is a point. */
#ifndef SWP_BARS_H
#define SWP_BARS_H

#include <stdbool.h>
#include "swp/engine.h" /* SWP_ALLOW_* */

#ifdef __cplusplus
extern "C" {
#endif

typedef enum swp_bars_header {
    SWP_HEADER_FOUND, /* a first line in which everything is a number or a stamp is none */
    SWP_HEADER_YES,
    SWP_HEADER_NO
} swp_bars_header;

typedef enum swp_bars_order {
    SWP_ORDER_REFUSE, /* stamps that fall are refused */
    SWP_ORDER_SORT    /* bars are sorted by their stamps */
} swp_bars_order;

typedef enum swp_bars_duplicates {
    SWP_DUPLICATES_REFUSE,
    SWP_DUPLICATES_FIRST, /* of bars with one stamp the first of the file is kept */
    SWP_DUPLICATES_LAST
} swp_bars_duplicates;

/* Zero-initialise, then set what differs from the default. */
typedef struct swp_bars_options {
    const char *close; /* column of the closes: an exact header name, else a number from 1; NULL: the one called close */
    const char *time;  /* column of the time stamps, likewise; "none" where no column is called so: they are not looked at;
                        * NULL: found by names (date and time are joined) or cells */
    const char *open, *high, *low, *volume; /* columns that are kept beside the closes, likewise named; NULL: not read */
    char delimiter;                         /* ',' ';' '\t' '|'; 0: found out */
    uint32_t allow; /* SWP_ALLOW_*; with SWP_ALLOW_NAN a blank close, or a text without a digit, is a NaN, too */
    char decimal;   /* '.' or ','; 0: a point */
    swp_bars_header header;
    swp_bars_order order;
    swp_bars_duplicates duplicates;
    const char *time_format; /* dmy, mdy, ymd: order of a date; s, ms, us, ns: since 1970; or a pattern such as
                              * "%d-%b-%Y %H:%M" (%Y %y %m %b %d %H %I %M %S %f %p %z %%); NULL: found out */
    const char *time_zone;   /* of stamps without an offset: +02:00, Europe/Paris; NULL: UTC */
    uint64_t skip_lines;     /* lines above the header, or the first bar, that are passed over */
    const char *from, *to;   /* instants, both included, a date as `to` to its end; NULL: all. Year first, in time_zone */
    const char *dtype;       /* of raw numbers: f2, f4, f8, i1 .. i8, u1 .. u8, or float32 and the like; the file is read as raw
                        * numbers then, whatever its name; NULL: by the name */
    bool big_endian;         /* of raw numbers: the first byte of each is the highest */
} swp_bars_options;

/* Filled by swp_bars_read, emptied by swp_bars_free. */
typedef struct swp_bars {
    double *close;                      /* bars_count closes, oldest first */
    double *open, *high, *low, *volume; /* as many; NULL: the options do not name the column */
    int64_t *time_ns;                   /* bars_count instants, ns since 1970 UTC, strictly rising; NULL: the file has none */
    uint64_t bars_count;                /* at least 1 */
    uint64_t nan_count;                 /* closes that are NaN */
    uint64_t jumps_count;               /* closes 100 times the one before, or a hundredth of it, and beyond: kept, and told */
    char summary[240];                  /* `read 5000 bars, 2017-04-19 09:00 .. 2018-02-07 15:00, close column "Close"` */
} swp_bars;

/* Reads a file by its name's ending, and in one pass, so that it may be a pipe:
 *   .npy          f2, f4, f8 or an integer type, either byte order; widened to f64 without loss; one axis, or two, bars by
 *                 columns in either memory order, of which options->close is the number of one, from 1
 *   .f64          raw little-endian f64, or what options->dtype and ->big_endian say
 *   anything else CSV in UTF-8, or UTF-16 with its mark, with a header or in a layout that is known (docs/files.md)
 * Compressed by gzip or zstd: text by its first bytes, the others by a further ending, .gz or .zst. "-" is standard input.
 * Time stamps are year-month-day, with a time, and an offset or Z, if there are any; or seconds, milli-, micro- or
 * nanoseconds since 1970, told by their digits. A file has one form throughout; stamps without an offset count as UTC;
 * they must rise. A date whose day and month could stand either way round is refused, unless the others of the first
 * 256 KiB show which.
 * Prices beside the close are judged as closes are, volumes may also be zero, and a bar's high must be its highest price and its low
 * its lowest, as far as the options name them.
 * `path` and `bars` must not be NULL; `options` may. Errors: FILE (cannot be opened or read; at: none); BAD_PARAM (an
 * option is off, or the content is refused; at: the line from 1 for text, the byte offset for .npy, the index for .f64;
 * the message begins with `path:line:`, or `path:` where there are no lines); NO_MEMORY. *bars is set only on success. */
SWP_API SWP_MUST_CHECK swp_status swp_bars_read(const char *path, const swp_bars_options *options, swp_bars *bars,
                                                swp_error *error);

/* Safe on a zeroed swp_bars. */
SWP_API void swp_bars_free(swp_bars *bars);

#ifdef __cplusplus
}
#endif
#endif
