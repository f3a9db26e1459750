/* HELLO, ECHO, CANCEL, STATS, STRATEGIES: requests that compute nothing. */
#include "server/requests.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "base/fingerprint.h"
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
    while (target != NULL &&
           (target == call || target->answered || target->frame.id != call->request.cancel.request_id)) {
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

typedef struct page {
    char *text;
    size_t size, length;
} page;

static void print(page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print(page *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(p->text + p->length, p->size - p->length, format, args);
    va_end(args);
    if (length > 0 && (size_t)length < p->size - p->length) {
        p->length += (size_t)length;
    }
}

static void metric(page *p, const char *type, const char *name, const char *help, uint64_t value)
{
    print(p, "# HELP sweepd_%s %s\n# TYPE sweepd_%s %s\nsweepd_%s %" PRIu64 "\n", name, help, name, type, name, value);
}

static void seconds(page *p, const char *type, const char *name, const char *help, uint64_t ns)
{
    print(p, "# HELP sweepd_%s %s\n# TYPE sweepd_%s %s\nsweepd_%s %" PRIu64 ".%09" PRIu64 "\n", name, help, name, type, name,
          ns / 1000000000, ns % 1000000000);
}

static void print_server(page *p, const swp__server *server)
{
    const swp__server_counters *n = &server->counters;
    seconds(p, "gauge", "uptime_seconds", "Since the server started.", server->now_ns - server->started_ns);
    metric(p, "gauge", "connections", "Open now.", server->connections_count);
    metric(p, "counter", "connections_accepted_total", "Accepted.", n->connections_accepted);
    metric(p, "counter", "connections_refused_total", "Told BUSY, DENIED or NO_MEMORY.", n->connections_refused);
    metric(p, "counter", "connections_timed_out_total", "Closed as slow, stalled or idle.", n->connections_timed_out);
    metric(p, "counter", "requests_total", "Read whole.", n->requests);
    metric(p, "counter", "requests_failed_total", "Answered with an error.", n->requests_failed);
    metric(p, "counter", "received_bytes_total", "Read from peers.", n->bytes_in);
    metric(p, "counter", "sent_bytes_total", "Written to peers.", n->bytes_out);
    metric(p, "gauge", "buffer_bytes", "Requests and results of all connections.", server->buffer_bytes);
}

swp_status swp__run_stats(swp__call *call, swp_error *error)
{
    enum { SERVER_PAGE_SIZE = 4096 };
    swp__server *server = call->connection->server;
    size_t size = SERVER_PAGE_SIZE + swp__stats_text(server->engine, server->options.store, NULL, 0) + 256;
    swp_status status = swp__call_alloc(call, size, "the page", &call->result, error);
    if (status != SWP_OK) {
        return status;
    }
    call->result_size = size;
    page p = {.text = call->result, .size = size};
    print_server(&p, server);
    size_t room = p.size - p.length, needed = swp__stats_text(server->engine, server->options.store, p.text + p.length, room);
    p.length += needed < room ? needed : room; /* numbers may have grown by a few digits since they were measured */
    swp__call_answer(call, &(swp__wire_reply){0}, p.text, p.length);
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
