/* What a person types: finds the command, reads its options, runs it. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/cpu.h"
#include "cli/cli.h"
#include "cli/nearest.h"
#include "swp/engine.h"
#include "swp/version.h"

static const swp__command commands[] = {
    {SWP__COMMAND_SWEEP, "sweep", "FILE", "Runs many combos of HMA/HMA3 lengths over the bars of FILE.",
     "FILE is CSV with a header, .npy or .f64 (raw little-endian doubles). The position is long while HMA3 is above HMA and\n"
     "short while it is below. Ctrl+C prints what is finished, marked partial, and exits with 130.",
     "  sweepd sweep eurusd.csv\n"
     "  sweepd sweep eurusd.csv --length 6:200/80 --rank trades --top 5\n"
     "  sweepd sweep eurusd.csv --length 10:60:5 --length3 8:40:4 --format csv --out grid.csv\n"
     "  sweepd sweep closes.npy --params combos.csv --fee 0.02 --format json\n"
     "  sweepd sweep closes.npy --length 6:1000 --length3 6:1000 --format csv --out grid.csv --resume\n"
     "  sweepd sweep eurusd.csv --engine unix:/run/sweepd/sweepd.sock",
     swp__sweep_command, NULL},
    {SWP__COMMAND_INSPECT, "inspect", "FILE", "Says what a file of bars is taken for, and the command that reads it.",
     "Each decision with its evidence and the option that overrides it; the bars at both ends; step, gaps, repeated stamps, jumps\n"
     "and NaN. Stamps that do not rise are set right by --order and --duplicates; what else is doubtful is refused, with the\n"
     "option that settles it. docs/files.md.",
     "  sweepd inspect eurusd.csv\n"
     "  sweepd inspect export.csv --close 5 --time-format dmy",
     swp__inspect_command, NULL},
    {SWP__COMMAND_VERIFY, "verify", "[FILE]",
     "Proves on the bars of FILE that all kernels and thread counts give the same bits.",
     "Runs every kernel of every instruction set of this machine (or of the one that SWP_ISA names: c, avx2, avx512) on 1, 2,\n"
     "3 and 8 threads under both entry rules. Exits with 0 when all results are identical to those of the strict kernel on\n"
     "one thread; else tells the first difference of each run and exits with 1. With --live, or with --journal FILE instead of\n"
     "FILE, it compares what happens live with the sweep, after each bar.",
     "  sweepd verify eurusd.csv\n"
     "  sweepd verify eurusd.csv --length 2:400\n"
     "  sweepd verify eurusd.csv --live --length 20\n"
     "  sweepd verify --journal eurusd.journal",
     swp__verify_command, NULL},
    {SWP__COMMAND_LIVE, "live", NULL, "Runs combos over closes as they arrive on standard input.",
     "Reads a close or a CSV row a line and prints bar,close,combo,position,entry,pnl,trades,time for each combo at once: after\n"
     "every bar the numbers are those of a sweep over all bars so far, bit for bit. A row that is refused, or whose time stamp does\n"
     "not rise, ends it with 1, after the rows before it. combo counts from 0; entry is empty while flat. docs/live.md.",
     "  tail -f eurusd.csv | sweepd live --time 1 --close 2 --length 20\n"
     "  feed | sweepd live --length 20,30 --warm-up eurusd.csv --journal eurusd.journal\n"
     "  feed | sweepd live --length 20 --engine unix:",
     swp__live_command, NULL},
    {SWP__COMMAND_BENCH_SWEEP, "bench sweep", NULL, "Times sweeps over a made series: what this machine does.",
     "Before it times a kernel it compares its results with the strict kernel's, and refuses when one bit differs.",
     "  sweepd bench sweep\n"
     "  sweepd bench sweep --shape constant --threads 1\n"
     "  sweepd bench sweep --length 100 --threads 1 --runs 200\n"
     "  sweepd bench sweep --length 6:95 --length3 96:185 --against exact\n"
     "  sweepd bench sweep --bars 1000000 --combos 1000 --runs 3 --format json",
     swp__bench_sweep_command, NULL},
    {SWP__COMMAND_GENERATE, "generate", NULL, "Makes a series by rule: the study's random walk, and hard shapes.",
     "randwalk is the stream of NumPy's default_rng(seed).standard_normal: close = start * exp(cumsum(sigma * z)).",
     "  sweepd generate --out study.npy\n"
     "  sweepd generate --bars 1000 --seed 7 --shape tick-grid --out ticks.csv",
     swp__generate_command, NULL},
    {SWP__COMMAND_SERVE, "serve", NULL, "The engine as a service: holds series, answers sweeps over sockets and pipes.",
     "SIGTERM lets running requests finish; a second one ends at once. docs/service.md, docs/security.md.",
     "  sweepd serve\n"
     "  sweepd serve --listen unix:/run/sweepd/sweepd.sock --listen tcp:localhost:7117 --token-file token\n"
     "  sweepd serve --listen stdio:",
     swp__serve_command, swp__serve_limits},
    {SWP__COMMAND_PING, "ping", "URL", "Times round trips to an engine.",
     "URL is unix:PATH (unix: for the default socket), tcp:HOST:PORT, spawn:PROGRAM (spawn: for this program) or inproc:.",
     "  sweepd ping unix:\n"
     "  sweepd ping tcp:localhost:7117 --bytes 1200000 --count 100 --format json",
     swp__ping_command, NULL},
    {SWP__COMMAND_STATS, "stats", "URL", "Prints what an engine counts, in Prometheus' text format.", NULL,
     "  sweepd stats unix:", swp__stats_command, NULL},
    {SWP__COMMAND_LIST, "list", "URL", "Prints the series that an engine holds for this user, as JSON.", NULL,
     "  sweepd list unix:", swp__list_command, NULL},
};
enum { COMMANDS_COUNT = sizeof commands / sizeof commands[0] };

static void print_usage(FILE *out)
{
    fputs("usage: sweepd COMMAND [options]\n\n", out);
    for (size_t i = 0; i < COMMANDS_COUNT; i++) {
        fprintf(out, "  %-12s %s\n", commands[i].name, commands[i].summary);
    }
    fputs("\n  sweepd COMMAND --help  its options and examples\n"
          "  sweepd --version       version, compiler, kernels, instruction set\n\n"
          "exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted\n",
          out);
}

static int print_version(void)
{
    swp_error error;
    if (swp__isa_check(&error) != SWP_OK) {
        return swp__exit_failed(&error);
    }
    printf("sweepd %s\ncompiler: %s\nkernels:", swp_version(), swp_compiler());
    for (uint32_t k = 0; k < SWP__KERNELS_MAX; k++) {
        const char *name = swp_kernel_name((swp_kernel)k);
        if (name != NULL) {
            printf(" %s", name);
        }
    }
    printf("\ninstruction set: %s\n", swp_isa());
    return SWP__EXIT_OK;
}

/* How many of the words are the command's name; 0: they are not. */
static int match(const swp__command *command, int words_count, char *const *words)
{
    const char *name = command->name;
    for (int i = 0; i < words_count; i++) {
        size_t size = strcspn(name, " ");
        if (strlen(words[i]) != size || memcmp(words[i], name, size) != 0) {
            return 0;
        }
        name += size;
        if (*name == '\0') {
            return i + 1;
        }
        name++;
    }
    return 0;
}

static int run_command(const swp__command *command, int words_count, char *const *words)
{
    swp__arguments arguments;
    swp_error error;
    if (swp__options_parse(command, words_count, words, &arguments, &error) != SWP_OK) {
        fprintf(stderr, "sweepd %s: %s\nsee: sweepd %s --help\n", command->name, error.message, command->name);
        return SWP__EXIT_USAGE;
    }
    if (arguments.help) {
        swp__options_print_help(stdout, "sweepd", command);
        return SWP__EXIT_OK;
    }
    return command->run(&arguments);
}

static int refuse_command(const char *word)
{
    const char *nearest = NULL;
    size_t distance = SIZE_MAX;
    for (size_t i = 0; i < COMMANDS_COUNT; i++) {
        char first[32];
        snprintf(first, sizeof first, "%.*s", (int)strcspn(commands[i].name, " "), commands[i].name);
        size_t d = strcmp(word, first) == 0 ? 0 : swp__nearest_distance(word, first);
        if (d < distance) {
            nearest = commands[i].name;
            distance = d;
        }
    }
    fprintf(stderr, "sweepd: no command \"%s\"", word);
    if (nearest != NULL) {
        fprintf(stderr, "; did you mean \"%s\"?", nearest);
    }
    fputs("\nsee: sweepd --help\n", stderr);
    return SWP__EXIT_USAGE;
}

static int dispatch(int words_count, char *const *words)
{
    for (size_t i = 0; i < COMMANDS_COUNT; i++) {
        int matched = match(&commands[i], words_count, words);
        if (matched > 0) {
            return run_command(&commands[i], words_count - matched, words + matched);
        }
    }
    if (words_count == 0) {
        print_usage(stderr);
        return SWP__EXIT_USAGE;
    }
    const char *last = words[words_count - 1];
    if (strcmp(words[0], "help") == 0 || strcmp(last, "--help") == 0 || strcmp(last, "-h") == 0) {
        print_usage(stdout);
        return SWP__EXIT_OK;
    }
    if (strcmp(words[0], "--version") == 0) {
        return print_version();
    }
    return refuse_command(words[0]);
}

/* A program started without descriptor 0, 1 or 2 would take the next file it opens for it. Here reading or writing it is an
 * error instead. */
static void occupy_standard_descriptors(void)
{
    for (int descriptor = 0; descriptor <= 2; descriptor++) {
        if (fcntl(descriptor, F_GETFD) == -1 && open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) == -1) {
            return;
        }
    }
}

int main(int argc, char **argv)
{
    occupy_standard_descriptors();
    signal(SIGPIPE, SIG_DFL); /* `| head` ends us quietly, even where a parent ignored the signal */
    signal(SIGXFSZ, SIG_IGN); /* a file beyond `ulimit -f` is an error of its write, and leaves nothing behind */
    return swp__exit_flushed(dispatch(argc - 1, argv + 1));
}
