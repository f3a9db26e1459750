#include "http/answer.h"

#include <inttypes.h>
#include <string.h>
#include "base/text.h"
#include "http/memory.h"

enum { BLOCK_SIZE = 32768 }; /* of a results text that the library asks for at once */

static const char json_type[] = "application/json";

unsigned swp__http_code(swp_status status)
{
    switch (status) {
    case SWP_OK:
        return MHD_HTTP_OK;
    case SWP_BAD_FRAME:
    case SWP_UNKNOWN:
    case SWP_BAD_PARAM:
        return MHD_HTTP_BAD_REQUEST;
    case SWP_NOT_FOUND:
        return MHD_HTTP_NOT_FOUND;
    case SWP_LIMIT:
        return MHD_HTTP_CONTENT_TOO_LARGE;
    case SWP_DENIED:
        return MHD_HTTP_FORBIDDEN;
    case SWP_STALE:
        return MHD_HTTP_CONFLICT;
    case SWP_CANCELLED:
    case SWP_SHUTTING_DOWN:
    case SWP_NO_MEMORY:
    case SWP_BUSY:
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    case SWP_CLOSED:
    case SWP_REFUSED:
        return MHD_HTTP_BAD_GATEWAY;
    case SWP_TIMED_OUT:
        return MHD_HTTP_GATEWAY_TIMEOUT;
    case SWP_MORE:
    case SWP_INTERNAL:
    case SWP_WRONG_PROCESS:
    case SWP_FILE:
        break;
    }
    return MHD_HTTP_INTERNAL_SERVER_ERROR;
}

static enum MHD_Result queue(struct MHD_Connection *connection, unsigned code, const char *type, const swp__header *extra,
                             struct MHD_Response *response)
{
    if (response == NULL) {
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (extra != NULL) {
        MHD_add_response_header(response, extra->name, extra->value);
    }
    enum MHD_Result result = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response); /* it lives on while it is queued */
    return result;
}

enum MHD_Result swp__answer_error(struct MHD_Connection *connection, unsigned code, const swp__header *extra,
                                  const swp_error *error)
{
    char bytes[8 * sizeof error->message];
    swp__text text = {.at = bytes, .size = sizeof bytes};
    swp__text_add(&text, "{\"error\":{\"status\":\"%s\",\"at\":", swp_status_name(error->status));
    if (error->at == SWP_AT_NONE) {
        swp__text_add(&text, "null");
    } else {
        swp__text_add(&text, "%" PRIu64, error->at);
    }
    swp__text_add(&text, ",\"message\":");
    swp__text_add_json(&text, error->message, strlen(error->message));
    swp__text_add(&text, "}}\n");
    struct MHD_Response *response = MHD_create_response_from_buffer(text.length, bytes, MHD_RESPMEM_MUST_COPY);
    return queue(connection, code, json_type, extra, response);
}

enum MHD_Result swp__answer_text(struct MHD_Connection *connection, const char *type, const char *text, size_t size)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(size, (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
    return queue(connection, MHD_HTTP_OK, type, NULL, response);
}

static ssize_t read_results(void *results, uint64_t at, char *bytes, size_t size)
{
    (void)at; /* it is asked for in order */
    size_t got = swp__sweep_answer_read(results, bytes, size);
    return got > 0 ? (ssize_t)got : MHD_CONTENT_READER_END_OF_STREAM;
}

static void free_results(void *results)
{
    swp__sweep_answer_fini(results);
    swp__memory_free(results);
}

enum MHD_Result swp__answer_sweep(struct MHD_Connection *connection, const swp__sweep_answer *results)
{
    swp__sweep_answer own = *results, *kept = swp__memory_alloc(sizeof *kept);
    if (kept == NULL) {
        swp__sweep_answer_fini(&own);
        return MHD_NO;
    }
    *kept = own;
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_SIZE, read_results, kept, free_results);
    if (response == NULL) {
        free_results(kept);
    }
    return queue(connection, MHD_HTTP_OK, json_type, NULL, response);
}
