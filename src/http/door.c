#include "http/door.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/error.h"
#include "base/text.h"
#include "http/answer.h"
#include "http/callers.h"
#include "http/head.h"
#include "http/memory.h"
#include "http/sweep.h"
#include "swp/client.h"
#include "transport/transport.h"

enum {
    STACK_SIZE = 2 << 20, /* of a connection's thread: JSON nests up to 2,048 deep, and is read and freed recursively */
    CONNECTION_POOL_SIZE = 64 << 10, /* bytes of a connection's headers and of what is on its way */
    BODY_SIZE_FIRST = 16 << 10,
    HEALTH_TIMEOUT_MS = 2000,
    PAGE_SIZE = 2048, /* of the door's own metrics */
    SURPLUS_MAX = 16, /* connections above the limit that are told so; further ones are closed at once */
};

struct swp__door {
    swp__door_options options;
    swp__acceptor acceptor;
    struct MHD_Daemon *daemon;
    swp__callers callers;
    uint64_t requests, requests_failed;

    pthread_mutex_t lock; /* of the client's opening */
    swp_client *client;   /* NULL: the engine was not there yet */
};

typedef struct exchange exchange;

typedef struct route {
    swp__head_rules rules;
    enum MHD_Result (*run)(swp__door *door, struct MHD_Connection *connection, exchange *e);
} route;

/* One request and its answer. */
struct exchange {
    swp__caller *caller;
    const route *route; /* NULL: there is no such path */
    char *body;
    size_t body_size, body_capacity;
    unsigned code; /* 0; else it is refused with this HTTP status, while its body may still be coming */
    swp_error error;
    swp__header extra; /* of the refusal; name NULL: none */
};

static void drop_body(exchange *e)
{
    swp__memory_free(e->body);
    e->body = NULL;
    e->body_size = e->body_capacity = 0;
}

/* ---- the engine ---- */

/* The client, opened when it was not yet. */
static swp_status get_client(swp__door *door, swp_client **client, swp_error *error)
{
    const swp__token *token = door->options.token;
    swp_client_options options = {.token = token->size > 0 ? token->bytes : NULL,
                                  .token_size = token->size,
                                  .timeout_ms = (uint32_t)door->options.limits->sweep_timeout_ms,
                                  .name = "sweepd-http"};
    swp_status status = SWP_OK;
    pthread_mutex_lock(&door->lock);
    if (door->client == NULL) {
        status = swp_client_open(door->options.engine, &options, &door->client, error);
    }
    *client = door->client;
    pthread_mutex_unlock(&door->lock);
    return status;
}

/* ---- answers ---- */

static enum MHD_Result fail_with(swp__door *door, struct MHD_Connection *connection, exchange *e, unsigned code,
                                 const swp__header *extra, const swp_error *error)
{
    __atomic_fetch_add(&door->requests_failed, 1, __ATOMIC_RELAXED);
    swp__log_line(door->options.log, SWP__LOG_DEBUG, "answered %u %s: %s", code, swp_status_name(error->status),
                  error->message);
    swp__caller_enter(&door->callers, e->caller, SWP__CALLER_READING);
    return swp__answer_error(connection, code, extra, error);
}

static enum MHD_Result fail(swp__door *door, struct MHD_Connection *connection, exchange *e, const swp_error *error)
{
    return fail_with(door, connection, e, swp__http_code(error->status), NULL, error);
}

static enum MHD_Result run_health(swp__door *door, struct MHD_Connection *connection, exchange *e)
{
    static const char fine[] = "{\"status\":\"OK\"}\n";
    swp_client *client;
    swp_error error;
    char byte = 0;
    swp_status status = get_client(door, &client, &error);
    if (status == SWP_OK) {
        status = swp_client_echo(client, &byte, 1, &byte, HEALTH_TIMEOUT_MS, &error);
    }
    if (status != SWP_OK) {
        return fail(door, connection, e, &error);
    }
    swp__caller_enter(&door->callers, e->caller, SWP__CALLER_READING);
    return swp__answer_text(connection, "application/json", fine, sizeof fine - 1);
}

static void add_metric(swp__text *text, const char *type, const char *name, const char *help, uint64_t value)
{
    swp__text_add(text, "# HELP sweepd_http_%s %s\n# TYPE sweepd_http_%s %s\nsweepd_http_%s %" PRIu64 "\n", name, help, name,
                  type, name, value);
}

static void add_metrics(swp__door *door, uint64_t memory_used, swp__text *text)
{
    pthread_mutex_lock(&door->callers.lock);
    uint64_t connections = door->callers.count, timed_out = door->callers.timed_out;
    pthread_mutex_unlock(&door->callers.lock);
    add_metric(text, "gauge", "connections", "Open now.", connections);
    add_metric(text, "counter", "connections_timed_out_total", "Closed as slow or idle.", timed_out);
    add_metric(text, "counter", "requests_total", "Begun.", __atomic_load_n(&door->requests, __ATOMIC_RELAXED));
    add_metric(text, "counter", "requests_failed_total", "Answered with an error.",
               __atomic_load_n(&door->requests_failed, __ATOMIC_RELAXED));
    add_metric(text, "gauge", "memory_bytes", "Bodies, what is read from them, and results.", memory_used);
}

static enum MHD_Result run_metrics(swp__door *door, struct MHD_Connection *connection, exchange *e)
{
    swp_client *client;
    swp_error error;
    char *engine;
    swp_status status = get_client(door, &client, &error);
    if (status == SWP_OK) {
        status = swp_client_stats(client, 0, &engine, &error);
    }
    if (status != SWP_OK) {
        return fail(door, connection, e, &error);
    }
    uint64_t memory_used = swp__memory_used(); /* without the page */
    size_t size = strlen(engine);
    char *page = swp__memory_alloc(size + PAGE_SIZE);
    if (page == NULL) {
        swp_client_text_free(client, engine);
        swp__fail(&error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for the page");
        return fail(door, connection, e, &error);
    }
    memcpy(page, engine, size);
    swp_client_text_free(client, engine);
    swp__text own = {.at = page + size, .size = PAGE_SIZE};
    add_metrics(door, memory_used, &own);
    swp__caller_enter(&door->callers, e->caller, SWP__CALLER_READING);
    enum MHD_Result result = swp__answer_text(connection, "text/plain; version=0.0.4; charset=utf-8", page, size + own.length);
    swp__memory_free(page);
    return result;
}

static swp_status sweep(swp__door *door, exchange *e, swp__sweep_answer *results, swp_error *error)
{
    swp_client *client;
    swp__sweep_body body;
    swp_status status = swp__sweep_body_read(e->body != NULL ? e->body : "", e->body_size, &body, error);
    drop_body(e);
    if (status != SWP_OK) {
        return status;
    }
    status = get_client(door, &client, error);
    if (status == SWP_OK) {
        uint32_t timeout_ms = (uint32_t)door->options.limits->sweep_timeout_ms;
        status = swp__http_sweep(client, &body, timeout_ms, &e->caller->cancel, results, error);
    }
    swp__sweep_body_free(&body);
    return status;
}

static enum MHD_Result run_sweep(swp__door *door, struct MHD_Connection *connection, exchange *e)
{
    swp__sweep_answer results;
    swp_error error;
    if (sweep(door, e, &results, &error) != SWP_OK) {
        return fail(door, connection, e, &error);
    }
    swp__caller_enter(&door->callers, e->caller, SWP__CALLER_READING);
    return swp__answer_sweep(connection, &results);
}

static const route routes[] = {
    {{MHD_HTTP_METHOD_GET, "/healthz", true}, run_health},
    {{MHD_HTTP_METHOD_GET, "/metrics", false}, run_metrics},
    {{MHD_HTTP_METHOD_POST, "/v1/sweep", false}, run_sweep},
};

/* NULL: there is no such path. */
static const route *find_route(const char *path)
{
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        if (strcmp(routes[i].rules.path, path) == 0) {
            return &routes[i];
        }
    }
    return NULL;
}

/* ---- a request's body ---- */

static swp_status grow_body(const swp__door *door, exchange *e, size_t more, swp_error *error)
{
    uint64_t needed = (uint64_t)e->body_size + more, most = door->options.limits->max_body;
    if (needed > most) {
        return swp__fail_limit(error, most, needed, "the body has more than --max-body, %" PRIu64 " bytes", most);
    }
    if (needed <= e->body_capacity) {
        return SWP_OK;
    }
    size_t capacity = e->body_capacity > 0 ? e->body_capacity * 2 : BODY_SIZE_FIRST;
    capacity = capacity < needed ? needed : capacity > most ? most : capacity;
    char *grown = swp__memory_grow(e->body, capacity);
    if (grown == NULL) {
        return swp__fail(error, SWP_LIMIT, SWP_AT_NONE, "the body takes more memory than is left of --max-memory");
    }
    e->body = grown;
    e->body_capacity = capacity;
    return SWP_OK;
}

/* Of a request that is refused the body is thrown away. */
static void take_body(const swp__door *door, exchange *e, const char *bytes, size_t size)
{
    if (e->code == 0 && grow_body(door, e, size, &e->error) != SWP_OK) {
        e->code = swp__http_code(e->error.status);
        drop_body(e);
    }
    if (e->code == 0) {
        memcpy(e->body + e->body_size, bytes, size);
        e->body_size += size;
    }
}

/* ---- the library's callbacks ---- */

static void on_connection(void *cls, struct MHD_Connection *connection, void **caller, enum MHD_ConnectionNotificationCode what)
{
    swp__door *door = cls;
    const swp__http_limits *limits = door->options.limits;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *caller = info != NULL ? swp__caller_new(&door->callers, info->connect_fd, limits->max_connections) : NULL;
    } else if (*caller != NULL) {
        swp__caller_free(&door->callers, *caller);
        *caller = NULL;
    }
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **request, enum MHD_RequestTerminationCode why)
{
    (void)connection;
    (void)why;
    swp__door *door = cls;
    exchange *e = *request;
    if (e != NULL) {
        swp__caller_enter(&door->callers, e->caller, SWP__CALLER_ASKING);
        drop_body(e);
        free(e);
        *request = NULL;
    }
}

static enum MHD_Result refuse(swp__door *door, struct MHD_Connection *connection, exchange *e)
{
    return fail_with(door, connection, e, e->code, e->extra.name != NULL ? &e->extra : NULL, &e->error);
}

static void judge(swp__door *door, struct MHD_Connection *connection, const char *method, exchange *e)
{
    const swp__head_rules *rules = e->route != NULL ? &e->route->rules : NULL;
    if (e->caller->is_surplus) {
        swp__fail(&e->error, SWP_BUSY, SWP_AT_NONE, "more than --max-connections, %" PRIu64 ", at once",
                  door->options.limits->max_connections);
        e->code = swp__http_code(SWP_BUSY);
        e->extra = (swp__header){MHD_HTTP_HEADER_CONNECTION, "close"};
        return;
    }
    e->code = swp__head_judge(connection, method, rules, &door->options, &e->extra, &e->error);
}

/* The head has come. A refusal waits for the end of the body, as the connection could not go on before it, and closing it could
 * take the answer away with it; unless the client asked first (Expect: 100-continue). */
static enum MHD_Result begin(swp__door *door, struct MHD_Connection *connection, const char *path, const char *method,
                             void **request)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    exchange *e = calloc(1, sizeof *e);
    if (e == NULL || info == NULL || info->socket_context == NULL) {
        free(e);
        return MHD_NO;
    }
    e->caller = info->socket_context;
    e->route = find_route(path);
    *request = e; /* freed in on_completed */
    __atomic_fetch_add(&door->requests, 1, __ATOMIC_RELAXED);
    judge(door, connection, method, e);
    bool client_asks = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_EXPECT) != NULL;
    return e->code != 0 && client_asks ? refuse(door, connection, e) : MHD_YES;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *path, const char *method,
                                  const char *version, const char *upload, size_t *upload_size, void **request)
{
    swp__door *door = cls;
    exchange *e = *request;
    if (e == NULL) {
        return begin(door, connection, path, method, request);
    }
    if (*upload_size > 0) {
        take_body(door, e, upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
    }
    if (e->code != 0) {
        return refuse(door, connection, e);
    }
    swp__caller_take_interim(&door->callers, e->caller, strcmp(version, MHD_HTTP_VERSION_1_1) == 0);
    swp__caller_enter(&door->callers, e->caller, SWP__CALLER_WAITING);
    return e->route->run(door, connection, e);
}

/* ---- opening and closing ---- */

static swp_status start(swp__door *door, swp_error *error)
{
    int fd = dup(door->acceptor.fd); /* the library closes its own */
    unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC;
    if (fd >= 0) {
        door->daemon =
            MHD_start_daemon(flags, 0, NULL, NULL, on_request, door, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_CONNECTION,
                             on_connection, door, MHD_OPTION_NOTIFY_COMPLETED, on_completed, door, MHD_OPTION_CONNECTION_LIMIT,
                             (unsigned)door->options.limits->max_connections + SURPLUS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                             (size_t)CONNECTION_POOL_SIZE, MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_SIZE,
                             MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    }
    if (door->daemon == NULL) {
        int failure = errno;
        if (fd >= 0) {
            close(fd);
        }
        return swp__fail(error, SWP_INTERNAL, SWP_AT_NONE, "the HTTP library did not start: %s", strerror(failure));
    }
    return SWP_OK;
}

/* An engine that is not there may come later; one that is there and does not want us will not change its mind. */
static swp_status try_engine(swp__door *door, swp_error *error)
{
    swp_client *client;
    swp_status status = get_client(door, &client, error);
    if (status == SWP_OK || status == SWP_BAD_PARAM || status == SWP_DENIED || status == SWP_UNKNOWN) {
        return status;
    }
    swp__log_line(door->options.log, SWP__LOG_WARNING, "no engine yet: %s", error->message);
    return SWP_OK;
}

swp_status swp__door_open(const swp__door_options *options, swp__door **door, swp_error *error)
{
    char text[SWP__ADDRESS_TEXT_SIZE];
    if (options->address->scheme != SWP__SCHEME_TCP) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "HTTP is spoken on tcp:HOST:PORT only");
    }
    swp__door *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for the door");
    }
    opened->options = *options;
    swp__memory_bound(options->limits->max_memory);
    swp__callers_init(&opened->callers);
    pthread_mutex_init(&opened->lock, NULL);
    swp_status status = try_engine(opened, error);
    if (status == SWP_OK) {
        status = swp__listen(options->address, NULL, &opened->acceptor, error);
    }
    if (status == SWP_OK) {
        swp__address_print(&opened->acceptor.address, text);
        status = start(opened, error);
    }
    if (status != SWP_OK) {
        swp__door_close(opened);
        return status;
    }
    swp__log_line(options->log, SWP__LOG_INFO, "listening on %s", text);
    *door = opened;
    return SWP_OK;
}

uint64_t swp__door_look(swp__door *door)
{
    return swp__callers_look(&door->callers, door->options.limits);
}

void swp__door_drain(swp__door *door)
{
    int fd = MHD_quiesce_daemon(door->daemon);
    if (fd >= 0) {
        close(fd);
    }
    swp__acceptor_close(&door->acceptor);
}

void swp__door_close(swp__door *door)
{
    if (door == NULL) {
        return;
    }
    swp__callers_cancel(&door->callers);
    if (door->daemon != NULL) {
        MHD_stop_daemon(door->daemon);
    }
    swp__acceptor_close(&door->acceptor);
    swp_client_close(door->client);
    pthread_mutex_destroy(&door->lock);
    swp__callers_fini(&door->callers);
    free(door);
}
