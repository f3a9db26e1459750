/* How every call of libsweepd reports: a status, and for the failing ones a text that names the place, what was expected
 * and what was got. The list of statuses is protocol/messages.json (status.h is generated from it).
 * An swp_error belongs to the caller; every function that takes one accepts NULL. On success it is left untouched. */
#ifndef SWP_ERROR_H
#define SWP_ERROR_H

#include <stdint.h>
#include "swp/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SWP_API __attribute__((visibility("default")))
#define SWP_MUST_CHECK __attribute__((warn_unused_result))

#define SWP_AT_NONE UINT64_MAX /* swp_error.at: the error has no place */

typedef struct swp_error {
    swp_status status;
    uint64_t at;       /* argument number, index, line (from 1) or byte offset, as the function says; SWP_AT_NONE */
    uint64_t a, b;     /* LIMIT: the limit and the request; STALE: expected and actual count; else 0 */
    char message[240]; /* UTF-8, one line, NUL-terminated */
} swp_error;

/* "BAD_PARAM"; "?" for a number not in the list. */
SWP_API const char *swp_status_name(swp_status status);

/* "value out of range": the general text of a status, for callers without an swp_error. */
SWP_API const char *swp_status_text(swp_status status);

#ifdef __cplusplus
}
#endif
#endif
