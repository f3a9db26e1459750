/* What the commands share: how they end, and the list of them. */
#ifndef SWP_CLI_CLI_H
#define SWP_CLI_CLI_H

#include "cli/arguments.h"

enum {
    SWP__EXIT_OK = 0,
    SWP__EXIT_FAILED = 1,
    SWP__EXIT_USAGE = 2,
    SWP__EXIT_SIGNAL = 128, /* plus the signal's number: 130 after Ctrl+C */
};

/* Each runs one command and returns the exit code; what went wrong has been said on standard error. */
int swp__sweep_command(const swp__arguments *arguments);
int swp__inspect_command(const swp__arguments *arguments);
int swp__verify_command(const swp__arguments *arguments);
int swp__live_command(const swp__arguments *arguments);
int swp__bench_sweep_command(const swp__arguments *arguments);
int swp__generate_command(const swp__arguments *arguments);
int swp__serve_command(const swp__arguments *arguments);
int swp__ping_command(const swp__arguments *arguments);
int swp__stats_command(const swp__arguments *arguments);
int swp__list_command(const swp__arguments *arguments);

extern const swp__option_limits swp__serve_limits[];

/* "sweepd: message" on standard error; returns SWP__EXIT_FAILED or SWP__EXIT_USAGE. */
int swp__exit_failed(const swp_error *error);
int swp__exit_usage(const swp_error *error);

/* Flushes standard output at the end. What could not be written turns `code` into SWP__EXIT_FAILED, said aloud; a reader
 * that went away (`| head`) ends the program as SIGPIPE does, without a word. */
int swp__exit_flushed(int code);

#endif
