/* Answers on their way to the HTTP library: errors as JSON, texts, results. Each function queues one and returns what the
 * library's handler is to return. */
#ifndef SWP_HTTP_ANSWER_H
#define SWP_HTTP_ANSWER_H

#include <microhttpd.h>
#include "http/sweep_answer.h"

/* The HTTP status that fits ours: 400 BAD_PARAM, 404 NOT_FOUND, 504 TIMED_OUT ... */
unsigned swp__http_code(swp_status status);

/* `extra` is one more header and its value; NULL: none. */
typedef struct swp__header {
    const char *name, *value;
} swp__header;

enum MHD_Result swp__answer_error(struct MHD_Connection *connection, unsigned code, const swp__header *extra,
                                  const swp_error *error);

enum MHD_Result swp__answer_text(struct MHD_Connection *connection, const char *type, const char *text, size_t size);

/* Takes *results over, whatever becomes of it. */
enum MHD_Result swp__answer_sweep(struct MHD_Connection *connection, const swp__sweep_answer *results);

#endif
