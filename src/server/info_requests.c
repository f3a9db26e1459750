/* HELLO, ECHO, CANCEL, STATS, STRATEGIES: requests that compute nothing. */
#include "server/requests.h"

#include <inttypes.h>
#include <string.h>
#include "base/error.h"
#include "base/fingerprint.h"
#include "base/text.h"
#include "base/token.h"
#include "engine/stats.h"
#include "engine/strategies.h"
#include "swp/version.h"

/* ---- HELLO ---- */

static swp_status check_hello(swp__call *call, swp_error *error)
{
    const swp__connection *c = call->connection;
    const swp__wire_hello *hello = &call->request.hello;
    const uint8_t *token = call->tail;
    if (c->greeted) {
        return swp__fail(error, SWP_BAD_FRAME, 4, "a second HELLO on one connection");
    }
    const swp__server_options *options = &c->server->options;
    if (options->token != NULL && !swp__token_equal(token, hello->token_bytes, options->token, options->token_size)) {
        return swp__fail(error, SWP_DENIED, SWP_AT_NONE, "the token is not this server's");
    }
    uint64_t name_at = SWP__WIRE_PAYLOAD_AT + sizeof *hello + (uint64_t)hello->token_bytes;
    return swp__wire_check_text(token + hello->token_bytes, hello->name_bytes, name_at, error);
}

/* What needs descriptors goes over Unix sockets alone. */
static uint32_t features_of(const swp__connection *c)
{
    bool takes_fds = c->shm != NULL || swp__shm_is_possible(&c->stream);
    return takes_fds ? SWP__FEATURE_SHM | SWP__FEATURE_LOAD_FD : 0;
}

swp_status swp__run_hello(swp__call *call, swp_error *error)
{
    swp__connection *c = call->connection;
    const swp__server *server = c->server;
    const swp__wire_hello *hello = &call->request.hello;
    swp_status status = check_hello(call, error);
    if (status != SWP_OK) {
        if (status == SWP_DENIED) {
            swp__log_peer(c, "closed: %s", error->message);
            c->failed = true;
            swp__call_fail(call, error);
            swp__connection_finish(c);
        }
        return status;
    }
    c->greeted = c->authorised = true;
    if (hello->name_bytes > 0) {
        swp__log_line(server->log, SWP__LOG_DEBUG, "connection %" PRIu64 ": is \"%.*s\"", c->number, (int)hello->name_bytes,
                      (const char *)call->tail + hello->token_bytes);
    }
    swp__wire_reply reply = {.hello = {
                                 .major = SWP__PROTOCOL_MAJOR,
                                 .minor = SWP__PROTOCOL_MINOR, /* 0: nobody's is lower */
                                 .features = SWP__FEATURE_LIVE | features_of(c),
                                 .max_body = server->options.limits.max_frame,
                                 .max_memory = server->engine->limits.max_memory,
                                 .max_combos = server->engine->limits.max_combos,
                                 .threads = swp_engine_threads(server->engine),
                                 .numbers_id = swp__numbers_id(),
                                 .max_in_flight = (uint32_t)server->options.limits.max_in_flight,
                             }};
    swp__call_answer(call, &reply, swp_version(), strlen(swp_version()));
    return SWP_OK;
}

/* ---- ECHO ---- */

swp_status swp__run_echo(swp__call *call, swp_error *error)
{
    (void)error;
    swp__call_answer(call, &(swp__wire_reply){0}, call->tail, call->tail_size);
    return SWP_OK;
}

/* ---- CANCEL ---- */

swp_status swp__run_cancel(swp__call *call, swp_error *error)
{
    (void)error;
    swp__connection *c = call->connection;
    swp__call *target = c->calls;
    while (target != NULL && (target == call || target->answered || target->frame.id != call->request.cancel.request_id)) {
        target = target->next;
    }
    if (target == NULL || !target->running) { /* it has ended, or never was, or is a CANCEL itself */
        swp__call_answer(call, &(swp__wire_reply){0}, NULL, 0);
        return SWP_OK;
    }
    call->waiting = target->cancels;
    target->cancels = call;
    c->cancels_count++;
    swp__sweep_cancel(target->sweep);
    return SWP_OK;
}

/* ---- STATS ---- */

static void metric(swp__text *text, const char *type, const char *name, const char *help, uint64_t value)
{
    swp__text_add(text, "# HELP sweepd_%s %s\n# TYPE sweepd_%s %s\nsweepd_%s %" PRIu64 "\n", name, help, name, type, name,
                  value);
}

static void print_server(swp__text *text, const swp__server *server)
{
    const swp__server_counters *n = &server->counters;
    metric(text, "gauge", "uptime_seconds", "Since the server started.", (server->now_ns - server->started_ns) / 1000000000);
    metric(text, "gauge", "connections", "Open now.", server->connections_count);
    metric(text, "counter", "connections_accepted_total", "Accepted.", n->connections_accepted);
    metric(text, "counter", "connections_refused_total", "Told BUSY, DENIED or NO_MEMORY.", n->connections_refused);
    metric(text, "counter", "connections_timed_out_total", "Closed as slow, stalled or idle.", n->connections_timed_out);
    metric(text, "counter", "requests_total", "Read whole.", n->requests);
    metric(text, "counter", "requests_failed_total", "Answered with an error.", n->requests_failed);
    metric(text, "counter", "internal_errors_total", "Our bugs, as INTERNAL or a closed version 1 connection.",
           server->incidents);
    metric(text, "counter", "received_bytes_total", "Read from peers.", n->bytes_in);
    metric(text, "counter", "sent_bytes_total", "Written to peers.", n->bytes_out);
    metric(text, "gauge", "buffer_bytes", "Requests and results of all connections.", server->buffer_bytes);
}

swp_status swp__run_stats(swp__call *call, swp_error *error)
{
    swp__server *server = call->connection->server;
    swp__text measured = {0};
    print_server(&measured, server);
    /* Numbers may grow by a few digits before they are written. */
    size_t size = measured.length + swp__stats_text(server->engine, server->options.store, NULL, 0) + 1024;
    swp_status status = swp__call_alloc(call, size, "the page", &call->result, error);
    if (status != SWP_OK) {
        return status;
    }
    call->result_size = size;
    swp__text page = {.at = call->result, .size = size};
    print_server(&page, server);
    size_t engine_size = swp__stats_text(server->engine, server->options.store, page.at + page.length, page.size - page.length);
    swp__call_answer(call, &(swp__wire_reply){0}, page.at, page.length + engine_size);
    return SWP_OK;
}

/* ---- STRATEGIES ---- */

swp_status swp__run_strategies(swp__call *call, swp_error *error)
{
    size_t size = swp__strategies_text(NULL, 0);
    swp_status status = swp__call_alloc(call, size, "the list", &call->result, error);
    if (status == SWP_OK) {
        call->result_size = size;
        swp__strategies_text(call->result, size);
        swp__call_answer(call, &(swp__wire_reply){0}, call->result, size);
    }
    return status;
}
