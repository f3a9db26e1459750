/* sweepd-http: opens the HTTP door and keeps it until it is told to stop. A program of its own, so that nobody else loads the
 * libraries it needs. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/error.h"
#include "base/host.h"
#include "cli/cli.h"
#include "http/door.h"
#include "swp/version.h"

enum { LOOK_US = 100000 }; /* between two looks at the connections */

static const swp__option_limits limits[] = {
    {swp__http_limit_rows, &swp__http_limit_rows_count, offsetof(swp__arguments, http_limits)},
    {.rows = NULL},
};

static const swp__command command = {
    .bit = SWP__COMMAND_HTTP,
    .name = "",
    .summary = "A door for what speaks HTTP and JSON: GET /metrics, GET /healthz, POST /v1/sweep.",
    .details = "It is a client of a running engine (sweepd serve). SIGTERM lets requests finish; a second one ends at once.\n"
               "docs/http.md.",
    .examples = "  sweepd-http\n"
                "  sweepd-http --engine tcp:localhost:7117 --token-file token --listen tcp:localhost:8080",
    .limits = limits,
};

static volatile sig_atomic_t stop_signals;

static void on_stop_signal(int number)
{
    (void)number;
    stop_signals++;
}

static void handle_signals(void)
{
    struct sigaction stop = {.sa_handler = on_stop_signal}, ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
}

/* Until a first signal comes; then until nobody waits for an answer, a second comes, or the time is up. */
static void run(swp__door *door, uint64_t drain_timeout_ms)
{
    while (stop_signals == 0) {
        swp__door_look(door);
        usleep(LOOK_US);
    }
    swp__door_drain(door);
    uint64_t end_ns = swp__now_ns(&swp__system_clock) + drain_timeout_ms * 1000000;
    while (swp__door_look(door) > 0 && stop_signals < 2 && swp__now_ns(&swp__system_clock) < end_ns) {
        usleep(LOOK_US);
    }
}

static int fail(const swp_error *error)
{
    fprintf(stderr, "sweepd-http: %s\n", error->message);
    return SWP__EXIT_FAILED;
}

static int open_and_run(const swp__arguments *arguments)
{
    swp__log log = {
        .fd = STDERR_FILENO, .format = (swp__log_format)arguments->log_format, .least = (swp__log_level)arguments->log_level};
    swp__token token = {.size = 0};
    swp__address address;
    swp__door *door;
    swp_error error;
    if ((arguments->token_file != NULL && swp__token_read(arguments->token_file, &token, &error) != SWP_OK) ||
        swp__address_parse(arguments->door, &address, &error) != SWP_OK) {
        return fail(&error);
    }
    swp__door_options options = {
        .engine = arguments->engine, .address = &address, .token = &token, .limits = &arguments->http_limits, .log = &log};
    handle_signals();
    if (swp__door_open(&options, &door, &error) != SWP_OK) {
        return fail(&error);
    }
    run(door, arguments->http_limits.drain_timeout_ms);
    swp__door_close(door);
    swp__log_line(&log, SWP__LOG_INFO, "stopped");
    return SWP__EXIT_OK;
}

int main(int argc, char **argv)
{
    swp__arguments arguments;
    swp_error error;
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("sweepd-http %s\n", swp_version());
        return swp__exit_flushed(SWP__EXIT_OK);
    }
    if (swp__options_parse(&command, argc - 1, argv + 1, &arguments, &error) != SWP_OK) {
        fprintf(stderr, "sweepd-http: %s\nsee: sweepd-http --help\n", error.message);
        return SWP__EXIT_USAGE;
    }
    if (arguments.help) {
        swp__options_print_help(stdout, "sweepd-http", &command);
        return swp__exit_flushed(SWP__EXIT_OK);
    }
    return open_and_run(&arguments);
}
