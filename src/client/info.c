/* Calls that compute nothing: echo, and the texts. */
#include <string.h>
#include "base/error.h"
#include "base/host.h"
#include "client/internal.h"

swp_status swp_client_echo(swp_client *c, const void *bytes, size_t size, void *reply, uint32_t timeout_ms, swp_error *error)
{
    if (c == NULL || (size > 0 && (bytes == NULL || reply == NULL))) {
        return swp__fail(error, SWP_BAD_PARAM, c == NULL ? 1 : bytes == NULL ? 2 : 4, "echo: NULL pointer");
    }
    swp_status status = swp__client_check(c, error);
    if (status != SWP_OK) {
        return status;
    }
    swp_pending p = {.client = c,
                     .deadline_ns = swp__client_deadline(c, timeout_ms),
                     .request = {.opcode = SWP__OP_ECHO},
                     .sink = {.kind = SWP__SINK_BYTES, .bytes = reply, .size = size}};
    swp__ask ask = {.tail = {{(void *)(uintptr_t)bytes, size}}, .tail_count = 1};
    return swp__client_call(c, &p, &ask, error);
}

static swp_status ask_text(swp_client *c, uint8_t opcode, uint32_t timeout_ms, char **text, swp_error *error)
{
    if (c == NULL || text == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, c == NULL ? 1 : 3, "NULL pointer");
    }
    swp_status status = swp__client_check(c, error);
    if (status != SWP_OK) {
        return status;
    }
    swp_pending p = {.client = c,
                     .deadline_ns = swp__client_deadline(c, timeout_ms),
                     .request = {.opcode = opcode},
                     .sink = {.kind = SWP__SINK_OWNED}};
    status = swp__client_call(c, &p, &(swp__ask){0}, error);
    if (status == SWP_OK) {
        *text = p.sink.bytes;
    }
    return status;
}

swp_status swp_client_stats(swp_client *c, uint32_t timeout_ms, char **text, swp_error *error)
{
    return ask_text(c, SWP__OP_STATS, timeout_ms, text, error);
}

swp_status swp_client_list(swp_client *c, uint32_t timeout_ms, char **text, swp_error *error)
{
    return ask_text(c, SWP__OP_LIST, timeout_ms, text, error);
}

swp_status swp_client_strategies(swp_client *c, uint32_t timeout_ms, char **text, swp_error *error)
{
    return ask_text(c, SWP__OP_STRATEGIES, timeout_ms, text, error);
}

void swp_client_text_free(swp_client *c, char *text)
{
    if (text != NULL) {
        swp__owned_free(&c->allocator, text);
    }
}
