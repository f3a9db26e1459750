/* sweepd serve: opens the doors, runs the server until it is told to stop, closes them. */
#include "cli/cli.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/error.h"
#include "base/host.h"
#include "base/token.h"
#include "cli/preload.h"
#include "engine/store.h"
#include "server/notify.h"
#include "server/server.h"
#include "swp/version.h"
#include "wire/wire.h"

const swp__option_limits swp__serve_limits[] = {
    {swp__server_limit_rows, &swp__server_limit_rows_count, offsetof(swp__arguments, server_limits)},
    {swp__limit_rows, &swp__limit_rows_count, offsetof(swp__arguments, engine_limits)},
    {.rows = NULL},
};

_Static_assert(SWP__TOKEN_SIZE_MAX == SWP__TOKEN_MAX, "a token from a file fits HELLO");

typedef struct service {
    const swp__arguments *arguments;
    swp__log log;
    swp_engine *engine;
    swp__store *store;
    swp__poller poller;
    swp__server *server;
    swp__listen_options listen_options;
    swp__token token;
} service;

static swp__server *signalled; /* whom SIGTERM stops */

static void on_stop_signal(int number)
{
    (void)number;
    swp__server_stop(signalled);
}

static void handle_signals(swp__server *server)
{
    signalled = server;
    struct sigaction stop = {.sa_handler = on_stop_signal}, ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
}

/* ---- what is asked for ---- */

static swp_status find_group(service *s, swp_error *error)
{
    const char *name = s->arguments->group;
    if (name == NULL) {
        return SWP_OK;
    }
    errno = 0;
    const struct group *group = getgrnam(name);
    if (group == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "--group is \"%s\": %s", name,
                         errno != 0 ? strerror(errno) : "no such group");
    }
    s->listen_options = (swp__listen_options){.group_allowed = true, .group = group->gr_gid};
    return SWP_OK;
}

/* As many descriptors as connections, and some for ourselves; where the system has fewer, it says so when they
 * run out. */
static void raise_descriptors(uint64_t connections)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)connections + 64;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
        limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* ---- doors ---- */

static swp_status open_stdio(service *s, swp_error *error)
{
    swp__stream stream;
    swp_status status = swp__stdio_open(&stream, error);
    return status == SWP_OK ? swp__server_add_stream(s->server, &stream, &(swp__peer){0}, error) : status;
}

static swp_status open_door(service *s, const char *url, swp_error *error)
{
    swp__address address;
    swp__acceptor acceptor;
    swp_status status = swp__address_parse(url, &address, error);
    if (status == SWP_OK && address.scheme == SWP__SCHEME_STDIO) {
        return open_stdio(s, error);
    }
    if (status == SWP_OK) {
        status = swp__listen(&address, &s->listen_options, &acceptor, error);
    }
    return status == SWP_OK ? swp__server_add_acceptor(s->server, &acceptor, error) : status;
}

static swp_status take_inherited(service *s, int count, swp_error *error)
{
    swp_status status = SWP_OK;
    for (int i = 0; i < count && status == SWP_OK; i++) {
        swp__acceptor acceptor;
        status = swp__listen_inherited(SWP__INHERITED_FIRST + i, &s->listen_options, &acceptor, error);
        if (status == SWP_OK) {
            status = swp__server_add_acceptor(s->server, &acceptor, error);
        }
    }
    return status;
}

static swp_status open_doors(service *s, swp_error *error)
{
    const swp__option_list *listen = &s->arguments->listen;
    int inherited = swp__notify_sockets_count();
    swp_status status = take_inherited(s, inherited, error);
    for (size_t i = 0; i < listen->count && status == SWP_OK; i++) {
        for (size_t j = 0; j < i && status == SWP_OK; j++) {
            if (strcmp(listen->texts[i], listen->texts[j]) == 0) {
                status = swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "--listen %s is given twice", listen->texts[i]);
            }
        }
        status = status == SWP_OK ? open_door(s, listen->texts[i], error) : status;
    }
    return status == SWP_OK && listen->count == 0 && inherited == 0 ? open_door(s, "unix:", error) : status;
}

/* ---- the whole ---- */

/* Handles of another run are told from ours by it. */
static uint32_t random_epoch(void)
{
    uint32_t epoch;
    if (getrandom(&epoch, sizeof epoch, GRND_NONBLOCK) != sizeof epoch) {
        epoch = (uint32_t)(swp__now_ns(&swp__system_clock) ^ ((uint64_t)getpid() << 16));
    }
    return epoch;
}

static swp_status prepare(service *s, swp_error *error)
{
    const swp__arguments *arguments = s->arguments;
    swp_engine_options engine_options = {.threads = (uint32_t)arguments->threads};
    swp_status status = SWP_OK;
    if (arguments->token_file != NULL) {
        status = swp__token_read(arguments->token_file, &s->token, error);
    }
    status = status == SWP_OK ? find_group(s, error) : status;
    status = status == SWP_OK ? swp__engine_new(&engine_options, &arguments->engine_limits, false, &s->engine, error) : status;
    status = status == SWP_OK ? swp__store_new(s->engine, random_epoch(), &s->store, error) : status;
    status = status == SWP_OK ? swp__preload(arguments, s->store, &s->log, error) : status;
    status = status == SWP_OK ? swp__poller_open(&s->poller, error) : status;
    return status;
}

static swp_status open_server(service *s, swp_error *error)
{
    const swp__arguments *arguments = s->arguments;
    swp__server_options options = {.engine = s->engine,
                                   .store = s->store,
                                   .poller = &s->poller,
                                   .log = &s->log,
                                   .limits = arguments->server_limits,
                                   .token = s->token.size > 0 ? s->token.bytes : NULL,
                                   .token_size = s->token.size,
                                   .kernel = arguments->kernel,
                                   .may_spin = true,
                                   .may_run_inline = true};
    swp_status status = swp__server_new(&options, &s->server, error);
    if (status == SWP_OK) {
        raise_descriptors(arguments->server_limits.max_connections);
        handle_signals(s->server);
        status = open_doors(s, error);
    }
    return status;
}

static void run(service *s)
{
    uint64_t watchdog_ns = swp__notify_watchdog_ns(), next_ns = 0;
    bool told = false;
    swp__notify("READY=1");
    while (swp__server_step(s->server, watchdog_ns > 0 ? (int64_t)watchdog_ns / 2 : -1)) {
        uint64_t now_ns = watchdog_ns > 0 ? swp__now_ns(&swp__system_clock) : 0;
        if (now_ns >= next_ns && watchdog_ns > 0) {
            swp__notify("WATCHDOG=1");
            next_ns = now_ns + watchdog_ns / 2;
        }
        if (!told && swp__server_is_stopping(s->server)) {
            told = true;
            swp__notify("STOPPING=1");
        }
    }
    if (!told) {
        swp__notify("STOPPING=1");
    }
}

static void release(service *s)
{
    if (s->server != NULL) {
        struct sigaction ignore = {.sa_handler = SIG_IGN};
        sigaction(SIGTERM, &ignore, NULL);
        sigaction(SIGINT, &ignore, NULL);
    }
    swp__server_free(s->server);
    swp__store_free(s->store);
    swp_engine_free(s->engine); /* its threads wake the poller */
    swp__poller_close(&s->poller);
}

/* A program that spawned us for its calls shares its standard error with us: only what went wrong is said there. */
static swp__log_level least_level(const swp__arguments *arguments)
{
    bool spawned = arguments->listen.count == 1 && strcmp(arguments->listen.texts[0], "stdio:") == 0;
    return spawned && !swp__options_given(arguments, "log-level") ? SWP__LOG_WARNING : (swp__log_level)arguments->log_level;
}

int swp__serve_command(const swp__arguments *arguments)
{
    service s = {
        .arguments = arguments,
        .log = {.fd = STDERR_FILENO, .format = (swp__log_format)arguments->log_format, .least = least_level(arguments)}};
    swp_error error;
    swp_status status = prepare(&s, &error);
    status = status == SWP_OK ? open_server(&s, &error) : status;
    bool well = status == SWP_OK;
    if (well) {
        run(&s);
        well = swp__server_ended_well(s.server);
        swp__log_line(&s.log, SWP__LOG_INFO, "stopped");
    }
    release(&s);
    if (status != SWP_OK) {
        return swp__exit_failed(&error);
    }
    return well ? SWP__EXIT_OK : SWP__EXIT_FAILED;
}
