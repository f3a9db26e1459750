/* Filling an swp_error: the one way an error text is made. */
#ifndef SWP_BASE_ERROR_H
#define SWP_BASE_ERROR_H

#include "swp/error.h"

/* Fills *error (which may be NULL) and returns `status`, so that a check reads `return swp__fail(...)`.
 * A text that does not fit ends in "..."; it is never cut inside a UTF-8 character. What may not be shown (base/utf8.h)
 * is '?'. */
swp_status swp__fail(swp_error *error, swp_status status, uint64_t at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* LIMIT with its two numbers: the limit and what was asked for. */
swp_status swp__fail_limit(swp_error *error, uint64_t limit, uint64_t request, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
