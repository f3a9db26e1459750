/* sweepd sweep: a person's bars in, results out. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "base/error.h"
#include "base/host.h"
#include "base/whole_file.h"
#include "cli/interrupt.h"
#include "cli/report.h"
#include "cli/sweep_run.h"

static bool same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return a != NULL && b != NULL && stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && S_ISREG(of_a.st_mode) &&
           of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/* A ranking that would be ignored is refused, and so is a result in the place of what it was made from. */
static swp_status check_arguments(const swp__arguments *arguments, swp_error *error)
{
    if (same_file(arguments->out, arguments->operand) || same_file(arguments->out, arguments->params)) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "--out %s is a file that this sweep reads", arguments->out);
    }
    const char *const of_engine[] = {"timeout", "token-file"};
    for (size_t i = 0; i < 2 && arguments->engine == NULL; i++) {
        if (swp__options_given(arguments, of_engine[i])) {
            return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "--%s is for --engine", of_engine[i]);
        }
    }
    if (arguments->resume && arguments->out == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE,
                         "--resume keeps what is finished beside --out FILE, which is missing");
    }
    if (arguments->resume && arguments->format == SWP__FORMAT_TABLE) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE,
                         "--resume is for --format csv or json: a table says how long its sweep took");
    }
    const char *const of_table[] = {"top", "rank"};
    for (size_t i = 0; i < 2 && arguments->format != SWP__FORMAT_TABLE; i++) {
        if (swp__options_given(arguments, of_table[i])) {
            return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE,
                             "--%s is for the table; json and csv have every combo in input order", of_table[i]);
        }
    }
    return SWP_OK;
}

static uint32_t threads_of(const swp__arguments *arguments, const swp__input *input)
{
    if (input->client == NULL) {
        return swp_engine_threads(input->engine);
    }
    uint32_t theirs = swp_client_server(input->client).threads;
    return arguments->threads != 0 && arguments->threads < theirs ? (uint32_t)arguments->threads : theirs;
}

static swp__report make_report(const swp__arguments *arguments, const swp__input *input, const swp__columns *columns,
                               double seconds)
{
    swp__report report = {
        .bars = &input->bars,
        .combos = &input->combos,
        .columns = columns,
        .fee = arguments->fee,
        .entry = (swp_entry)arguments->entry,
        .kernel = (swp_kernel)arguments->kernel,
        .threads = threads_of(arguments, input),
        .seconds = seconds,
        .rank = arguments->rank,
        .top = arguments->top,
    };
    for (uint64_t i = 0; i < columns->count; i++) {
        report.finished_count += columns->of.finished[i];
    }
    return report;
}

static swp_status print(FILE *out, const swp__arguments *arguments, const swp__report *report, swp_error *error)
{
    switch (arguments->format) {
    case SWP__FORMAT_JSON:
        swp__report_json(out, report);
        return SWP_OK;
    case SWP__FORMAT_CSV:
        swp__report_csv(out, report);
        return SWP_OK;
    default:
        return swp__report_table(out, report, error);
    }
}

/* Prints into `file`, which is finished or abandoned. */
static swp_status print_to_file(swp__whole_file *file, const swp__arguments *arguments, const swp__report *report,
                                swp_error *error)
{
    swp_status status = print(file->stream, arguments, report, error);
    if (status != SWP_OK) {
        swp__whole_file_abandon(file);
        return status;
    }
    return swp__whole_file_finish(file, error);
}

/* --out holds whole results only: what an interrupted sweep has finished goes beside it. */
static swp_status print_partial_to_file(swp__whole_file *file, const swp__arguments *arguments, const swp__report *report,
                                        swp_error *error)
{
    char *path;
    swp__whole_file beside;
    swp__whole_file_abandon(file);
    if (asprintf(&path, "%s.partial", arguments->out) < 0) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "%s.partial: no memory", arguments->out);
    }
    swp_status status = swp__whole_file_open(path, &beside, error);
    status = status == SWP_OK ? print_to_file(&beside, arguments, report, error) : status;
    if (status == SWP_OK) {
        fprintf(stderr, "sweepd: %s is as it was; what is finished is in %s\n", arguments->out, path);
    }
    free(path);
    return status;
}

/* What a sweep that ended early has finished: in its log, where there is one. */
static swp_status keep_partial(const swp__arguments *arguments, const swp__report *report, const swp__sweep_log *log,
                               swp__whole_file *file, swp_error *error)
{
    if (log == NULL || log->descriptor < 0) {
        return print_partial_to_file(file, arguments, report, error);
    }
    swp__whole_file_abandon(file);
    fprintf(stderr, "sweepd: %s is as it was; %s has %" PRIu64 " of %" PRIu64 " combos, the same command goes on from there\n",
            arguments->out, log->path, log->logged_count, report->columns->count);
    return SWP_OK;
}

static swp_status sweep_with_log(const swp__arguments *arguments, const swp__input *input, swp__columns *columns,
                                 swp_cancel *cancel, swp__sweep_log *log, swp_error *error)
{
    swp__whole_file file;
    swp__sweep_run run = {.arguments = arguments, .input = input, .cancel = cancel, .log = log};
    swp_status status = swp__whole_file_open(arguments->out, &file, error);
    if (status != SWP_OK) {
        return status;
    }
    status = swp__sweep_to_columns(&run, columns, error);
    swp__report report = make_report(arguments, input, columns, run.seconds);
    if (status == SWP_OK) {
        return print_to_file(&file, arguments, &report, error);
    }
    if (status == SWP_CANCELLED) {
        swp_status kept = keep_partial(arguments, &report, log, &file, error);
        return kept == SWP_OK ? status : kept;
    }
    swp__whole_file_abandon(&file);
    return status;
}

static swp_status open_log(const swp__arguments *arguments, const swp__input *input, swp__columns *columns, swp__sweep_log *log,
                           swp_error *error)
{
    swp_status status = swp__sweep_log_open(arguments, input, columns, log, error);
    if (status == SWP_OK && log->torn_bytes > 0) {
        fprintf(stderr, "sweepd: %s: its last %" PRIu64 " bytes were not whole and are dropped\n", log->path, log->torn_bytes);
    }
    if (status == SWP_OK && log->logged_count > 0) {
        fprintf(stderr, "sweepd: %s: going on from %" PRIu64 " of %" PRIu64 " combos\n", log->path, log->logged_count,
                columns->count);
    }
    return status;
}

/* The sweep and its output under our own handling of signals. Returns what the sweep or the writing ended in. */
static swp_status sweep_to_file(const swp__arguments *arguments, const swp__input *input, swp__columns *columns,
                                int *signal_number, swp_error *error)
{
    swp__sweep_log log = {0};
    swp_status status = SWP_OK;
    swp_cancel *cancel = swp__interrupt_begin();
    if (arguments->resume) {
        status = open_log(arguments, input, columns, &log, error);
    }
    if (status == SWP_OK) {
        status = sweep_with_log(arguments, input, columns, cancel, arguments->resume ? &log : NULL, error);
    }
    if (status == SWP_OK && arguments->resume) {
        swp__sweep_log_remove(&log);
    }
    swp__sweep_log_close(&log);
    *signal_number = swp__interrupt_end();
    return status;
}

/* As above, on standard output: there, a second Ctrl+C ends a program whose reader has stopped reading. */
static swp_status sweep_to_stdout(const swp__arguments *arguments, const swp__input *input, swp__columns *columns,
                                  int *signal_number, swp_error *error)
{
    swp__sweep_run run = {.arguments = arguments, .input = input, .cancel = swp__interrupt_begin()};
    swp_status status = swp__sweep_to_columns(&run, columns, error);
    *signal_number = swp__interrupt_end();
    if (status == SWP_OK || status == SWP_CANCELLED) {
        swp__report report = make_report(arguments, input, columns, run.seconds);
        swp_status printed = print(stdout, arguments, &report, error);
        status = printed == SWP_OK ? status : printed;
    }
    return status;
}

static int sweep(const swp__arguments *arguments, const swp__input *input, swp__columns *columns)
{
    swp_error error;
    int signal_number = 0;
    bool to_file = arguments->out != NULL;
    if (to_file || arguments->format != SWP__FORMAT_TABLE) { /* the table begins with it */
        fprintf(stderr, "%s\n", input->bars.summary);
    }
    swp_status status = (to_file ? sweep_to_file : sweep_to_stdout)(arguments, input, columns, &signal_number, &error);
    if (status == SWP_CANCELLED) {
        fputs(arguments->resume ? "sweepd: interrupted\n" : "sweepd: interrupted; the result is partial\n", stderr);
        return SWP__EXIT_SIGNAL + signal_number;
    }
    return status == SWP_OK ? SWP__EXIT_OK : swp__exit_failed(&error);
}

int swp__sweep_command(const swp__arguments *arguments)
{
    swp_error error;
    swp__input input;
    swp__columns columns = {0};
    if (check_arguments(arguments, &error) != SWP_OK) {
        return swp__exit_usage(&error);
    }
    int code = swp__input_open(arguments, arguments->threads, &input);
    if (code == SWP__EXIT_OK) {
        swp_status status = swp__columns_new(input.combos.grid.combos_count, &columns, &error);
        code = status == SWP_OK ? sweep(arguments, &input, &columns) : swp__exit_failed(&error);
    }
    swp__columns_free(&columns);
    swp__input_close(&input);
    return code;
}
