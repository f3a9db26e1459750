/* Where a stamp without an offset was written: a fixed offset from UTC, or a place of the system's time zone files. */
#ifndef SWP_BARS_TIME_ZONE_H
#define SWP_BARS_TIME_ZONE_H

#include <stddef.h>
#include <stdint.h>
#include "swp/error.h"

enum { SWP__ZONE_CHANGES_MAX = 2048 };

/* Offsets are seconds east of UTC. `changes` rise; offsets[i] holds from changes[i] on, `before` before the first. */
typedef struct swp__zone {
    int64_t before;
    size_t changes_count;
    int64_t changes[SWP__ZONE_CHANGES_MAX];
    int32_t offsets[SWP__ZONE_CHANGES_MAX];
    int64_t known_until; /* seconds since 1970: beyond it the file has only a rule, which is not read */
} swp__zone;

/* `name` is UTC, +02:00, or a name such as America/New_York. BAD_PARAM: no such zone. */
SWP_MUST_CHECK swp_status swp__zone_find(const char *name, swp__zone *zone, swp_error *error);

/* Local seconds -> UTC. NULL, or why not, for the end of a sentence. In the hour that clocks show twice it is the first. */
const char *swp__zone_to_utc(const swp__zone *zone, int64_t local, int64_t *utc);

#endif
