/* People's files -> a series of bars. What is not recognised is refused with file:line and the text, never guessed. The
 * same rules hold in every locale: the decimal sign is a point. */
#ifndef SWP_BARS_H
#define SWP_BARS_H

#include "swp/engine.h" /* SWP_ALLOW_* */

#ifdef __cplusplus
extern "C" {
#endif

/* Zero-initialise, then set what differs from the default. */
typedef struct swp_bars_options {
    const char *close; /* column of the closes: an exact header name, else a number from 1; NULL: the one called close */
    const char *time;  /* column of the time stamps, likewise; "none" where no column is called so: they are not looked at;
                        * NULL: found by names (date and time are joined) or cells */
    char delimiter;    /* ',' ';' '\t' '|'; 0: found out */
    uint32_t allow;    /* SWP_ALLOW_*; with SWP_ALLOW_NAN a blank close, or a text without a digit, is a NaN, too */
} swp_bars_options;

/* Filled by swp_bars_read, emptied by swp_bars_free. */
typedef struct swp_bars {
    double *close;       /* bars_count closes, oldest first */
    int64_t *time_ns;    /* bars_count instants, ns since 1970 UTC, strictly rising; NULL: the file has none */
    uint64_t bars_count; /* at least 1 */
    uint64_t nan_count;  /* closes that are NaN */
    char summary[240];   /* `read 5000 bars, 2017-04-19 09:00 .. 2018-02-07 15:00, close column "Close"` */
} swp_bars;

/* Reads a file by its name's ending, and in one pass, so that it may be a pipe:
 *   .npy          one axis of f2, f4, f8 or an integer type, either byte order; widened to f64 without loss
 *   .f64          raw little-endian f64
 *   anything else CSV with a header, in UTF-8
 * Time stamps are year-month-day, with a time, and an offset or Z, if there are any; or seconds, milli-, micro- or
 * nanoseconds since 1970, told by their digits. A file has one form throughout; stamps without an offset count as UTC;
 * they must rise. A date whose day and month could stand either way round is refused.
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
