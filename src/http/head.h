/* What a request's head says: what is asked for, and whether it may be. Nothing here looks at a body. */
#ifndef SWP_HTTP_HEAD_H
#define SWP_HTTP_HEAD_H

#include "http/answer.h"
#include "http/door.h"

/* One path. */
typedef struct swp__head_rules {
    const char *method; /* HEAD goes where GET goes */
    const char *path;
    bool is_open; /* without a token too */
} swp__head_rules;

/* Judges a request by its head; `rules` are those of its path, NULL: there is no such path. 0: it may go on; else the HTTP status,
 * with *error, and *extra when a header belongs to it. In this order: 403 DENIED, the host is not this machine; 404 UNKNOWN, the
 * path; 405 UNKNOWN, the method; 401 DENIED, the token; then of a POST 415 UNKNOWN, its type; 413 LIMIT, its length, where it says
 * one. */
unsigned swp__head_judge(struct MHD_Connection *connection, const char *method, const swp__head_rules *rules,
                         const swp__door_options *options, swp__header *extra, swp_error *error);

#endif
