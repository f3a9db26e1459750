/* What a text that stands where a close should be means: one rule for files and for bars as they arrive. */
#ifndef SWP_BARS_CLOSE_TEXT_H
#define SWP_BARS_CLOSE_TEXT_H

#include "base/number.h"
#include "swp/error.h"

/* A text as it was read: `result` and `close` are swp__number_parse's. */
typedef struct swp__close_text {
    const char *what; /* "close", for messages */
    const char *text;
    size_t size;
    swp__number_result result;
    double close;
} swp__close_text;

/* Judges it by a sum of SWP_ALLOW_*: *close is the number, or NaN for a text that is missing (blank, "n/a", "-", ...) where NaN
 * is let in; a text with a digit that is no number is never missing. BAD_PARAM at `line` of `path`; `form` says what a number
 * looks like, for the end of that sentence. */
SWP_MUST_CHECK swp_status swp__close_text_judge(const swp__close_text *c, uint32_t allow, const char *form, const char *path,
                                                uint64_t line, double *close, swp_error *error);

#endif
