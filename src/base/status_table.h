/* The rows that tools/gen_messages.py writes from protocol/messages.json. */
#ifndef SWP_BASE_STATUS_TABLE_H
#define SWP_BASE_STATUS_TABLE_H

#include <stddef.h>
#include "swp/status.h"

typedef struct swp__status_row {
    swp_status status;
    const char *name;
    const char *text;
} swp__status_row;

extern const swp__status_row swp__status_rows[];
extern const size_t swp__status_rows_count;

#endif
