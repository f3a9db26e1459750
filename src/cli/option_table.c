/* Every option of every command. */
#include "cli/arguments.h"

#include "bars/generate.h"
#include "swp/strategy.h"

#define AT(field) offsetof(swp__arguments, field)

enum {
    SWEEP = SWP__COMMAND_SWEEP,
    VERIFY = SWP__COMMAND_VERIFY,
    BENCH = SWP__COMMAND_BENCH_SWEEP,
    GENERATE = SWP__COMMAND_GENERATE,
    SERVE = SWP__COMMAND_SERVE,
    PING = SWP__COMMAND_PING,
    STATS = SWP__COMMAND_STATS,
    LIST = SWP__COMMAND_LIST,
    HTTP = SWP__COMMAND_HTTP,
    INSPECT = SWP__COMMAND_INSPECT,
    LIVE = SWP__COMMAND_LIVE,
};

/* In the order of the enumerations they stand for. */
const char *const swp__entry_names[] = {"first", "cross", NULL};
static const char *const allow_names[] = {"nan", "inf", "nonpositive", NULL};
static const char *const header_names[] = {"auto", "yes", "no", NULL};
static const char *const order_names[] = {"refuse", "sort", NULL};
static const char *const duplicates_names[] = {"refuse", "first", "last", NULL};
static const char *const rank_names[] = {"pnl", "trades", NULL};
static const char *const progress_names[] = {"auto", "never", NULL};
static const char *const sweep_format_names[] = {"table", "json", "csv", NULL};
static const char *const live_format_names[] = {"csv", "json", NULL};
static const char *const log_format_names[] = {"text", "json", NULL};
static const char *const log_level_names[] = {"debug", "info", "warning", "error", NULL};
static const char *const bench_format_names[] = {"table", "json", NULL};

const swp__option swp__option_table[] = {
    {SWEEP | VERIFY | BENCH, "length", "RANGE", SWP__OPTION_TEXT, AT(length), .initial = "6:200/80",
     .help = "lengths of the averages: LO:HI, LO:HI:STEP (HI included), LO:HI/COUNT (COUNT evenly spaced, rounded half to "
             "even, duplicates dropped) or A,B,C"},
    {LIVE, "length", "RANGE", SWP__OPTION_TEXT, AT(length), .initial = "20",
     .help = "lengths of the averages: A,B,C, LO:HI, LO:HI:STEP or LO:HI/COUNT; each is a combo"},
    {SWEEP | VERIFY | BENCH | LIVE, "length3", "RANGE", SWP__OPTION_TEXT, AT(length3),
     .help = "HMA3's own lengths: every --length with every --length3; without it HMA3 has HMA's length"},
    {SWEEP | VERIFY | BENCH | LIVE, "params", "FILE", SWP__OPTION_TEXT, AT(params),
     .help = "combos instead of lengths: CSV or .npy, rows of half,full,smooth,third,mid,p"},
    {SWEEP | VERIFY | BENCH | LIVE, "fee", "PCT", SWP__OPTION_REAL, AT(fee), .initial = "0.09", .low = -100, .high = 100,
     .help = "percentage points a round trip, taken when a trade closes"},
    {SWEEP | LIVE, "entry", NULL, SWP__OPTION_CHOICE, AT(entry), .initial = "first", .choices = swp__entry_names,
     .help = "first trade at the first bar with a sign, or at the first change of sign"},
    {SWEEP | BENCH | SERVE, "kernel", NULL, SWP__OPTION_KERNEL, AT(kernel), .initial = "auto",
     .help = "how the numbers are found; every kernel finds the same ones"},
    {SWEEP | BENCH | SERVE, "threads", "N", SWP__OPTION_COUNT, AT(threads), .initial = "0", .least = 0, .most = 1024,
     .help = "0: the CPUs this process may use"},
    {SWEEP, "format", NULL, SWP__OPTION_CHOICE, AT(format), .initial = "table", .choices = sweep_format_names,
     .help = "a ranked table for people; json and csv hold every combo in input order"},
    {SWEEP, "top", "N", SWP__OPTION_COUNT, AT(top), .initial = "20", .least = 1, .most = UINT32_MAX,
     .help = "rows of the table"},
    {SWEEP, "rank", NULL, SWP__OPTION_CHOICE, AT(rank), .initial = "pnl", .choices = rank_names,
     .help = "what the table is ranked by, highest first"},
    {SWEEP, "out", "FILE", SWP__OPTION_TEXT, AT(out), .help = "write there, whole or not at all, instead of standard output"},
    {SWEEP, "resume", NULL, SWP__OPTION_FLAG, AT(resume),
     .help = "with --out FILE: keep what is finished in FILE.resume as the sweep runs; the same command goes on from there"},
    {SWEEP, "progress", NULL, SWP__OPTION_CHOICE, AT(progress), .initial = "auto", .choices = progress_names,
     .help = "auto: a bar while standard error is a terminal"},

    {SWEEP | VERIFY | SERVE | LIVE | INSPECT, "close", "NAME|N", SWP__OPTION_TEXT, AT(close),
     .help = "column of the closes: its name in the header, else its number from 1"},
    {SWEEP | VERIFY | SERVE | LIVE | INSPECT, "time", "NAME|N", SWP__OPTION_TEXT, AT(time),
     .help = "column of the time stamps, likewise; none: they are not looked at"},
    {SWEEP | VERIFY | SERVE | INSPECT, "open", "NAME|N", SWP__OPTION_TEXT, AT(open),
     .help = "column of the opens, likewise: each is checked, with the bar's high and low where they are named"},
    {SWEEP | VERIFY | SERVE | INSPECT, "high", "NAME|N", SWP__OPTION_TEXT, AT(high), .help = "column of the highs"},
    {SWEEP | VERIFY | SERVE | INSPECT, "low", "NAME|N", SWP__OPTION_TEXT, AT(low), .help = "column of the lows"},
    {SWEEP | VERIFY | SERVE | INSPECT, "volume", "NAME|N", SWP__OPTION_TEXT, AT(volume), .help = "column of the volumes"},
    {SWEEP | VERIFY | SERVE | LIVE | INSPECT, "delimiter", "CHAR", SWP__OPTION_TEXT, AT(delimiter),
     .help = "comma, semicolon, tab, pipe or the sign itself; without it, it is found out"},
    {SWEEP | VERIFY | SERVE | LIVE | INSPECT, "decimal", "CHAR", SWP__OPTION_TEXT, AT(decimal),
     .help = "point or comma, or the sign itself; without it a point"},
    {SWEEP | VERIFY | SERVE | LIVE | INSPECT, "header", NULL, SWP__OPTION_CHOICE, AT(header), .initial = "auto",
     .choices = header_names, .help = "whether the first line names the columns"},
    {SWEEP | VERIFY | SERVE | LIVE | INSPECT, "time-format", "FORM", SWP__OPTION_TEXT, AT(time_format),
     .help = "dmy, mdy or ymd; s, ms, us or ns since 1970; or a pattern such as %d-%b-%Y"},
    {SWEEP | VERIFY | SERVE | LIVE | INSPECT, "time-zone", "ZONE", SWP__OPTION_TEXT, AT(time_zone),
     .help = "of stamps without an offset: UTC, +02:00, Europe/Paris"},
    {SWEEP | VERIFY | SERVE | INSPECT, "order", NULL, SWP__OPTION_CHOICE, AT(order), .initial = "refuse",
     .choices = order_names, .help = "what is done with stamps that do not rise, newest first, say"},
    {SWEEP | VERIFY | SERVE | LIVE | INSPECT, "duplicates", NULL, SWP__OPTION_CHOICE, AT(duplicates), .initial = "refuse",
     .choices = duplicates_names, .help = "which of the bars with one stamp is kept"},
    {SWEEP | VERIFY | SERVE | INSPECT, "skip-lines", "N", SWP__OPTION_COUNT, AT(skip_lines), .initial = "0", .least = 0,
     .most = 100000, .help = "lines above the header, or the first bar, that are passed over"},
    {SWEEP | VERIFY | SERVE | INSPECT, "from", "TIME", SWP__OPTION_TEXT, AT(from), .help = "the first instant that is read"},
    {SWEEP | VERIFY | SERVE | INSPECT, "to", "TIME", SWP__OPTION_TEXT, AT(to),
     .help = "the last one; a date, such as 2024-01-31, counts to its end"},
    {SWEEP | VERIFY | SERVE | INSPECT, "dtype", "TYPE", SWP__OPTION_TEXT, AT(dtype),
     .help = "the file is raw numbers of this type: f2, f4, f8, i1, i2, i4, i8, u1, u2, u4, u8"},
    {SWEEP | VERIFY | SERVE | INSPECT, "big-endian", NULL, SWP__OPTION_FLAG, AT(big_endian),
     .help = "of raw numbers: the first byte of each is the highest"},
    {SWEEP | VERIFY | SERVE | LIVE | INSPECT, "allow", NULL, SWP__OPTION_SET, AT(allow), .choices = allow_names,
     .help = "closes to let in that are refused otherwise"},

    {BENCH | GENERATE, "bars", "N", SWP__OPTION_COUNT, AT(bars), .initial = "150000", .least = 1, .most = UINT64_C(1) << 32,
     .help = "bars of the series"},
    {BENCH, "combos", "N", SWP__OPTION_COUNT, AT(combos), .initial = "80", .least = 1, .most = 10000,
     .help = "instead of lengths: as many of 6 to 200, evenly spaced up to 195, beyond that HMA x HMA3"},
    {BENCH, "one-by-one", NULL, SWP__OPTION_FLAG, AT(one_by_one), .help = "each combo in a sweep of its own"},
    {BENCH, "against", NULL, SWP__OPTION_KERNEL, AT(against), .initial = "strict",
     .help = "whose numbers must be given, to the bit; another than strict where that would take minutes"},
    {BENCH | GENERATE, "shape", "NAME", SWP__OPTION_CHOICE, AT(shape), .initial = "randwalk", .choices = swp__generate_shapes,
     .abouts = swp__generate_shape_abouts, .help = "what the series looks like"},
    {BENCH | GENERATE, "seed", "N", SWP__OPTION_COUNT, AT(seed), .initial = "42", .least = 0, .most = UINT64_MAX,
     .help = "of the random numbers"},
    {BENCH | GENERATE, "sigma", "S", SWP__OPTION_REAL, AT(sigma), .initial = "0.0008", .low = 0, .high = 1,
     .help = "standard deviation of a bar's log return"},
    {BENCH | GENERATE, "start", "PRICE", SWP__OPTION_REAL, AT(start), .initial = "100", .low = 1e-300, .high = 1e300,
     .help = "price the series starts from"},
    {GENERATE, "out", "FILE", SWP__OPTION_TEXT, AT(out), .required = true,
     .help = "where to; .npy, .csv or .f64 (raw little-endian) by its ending"},
    {BENCH, "runs", "N", SWP__OPTION_COUNT, AT(runs), .initial = "10", .least = 1, .most = 100000, .help = "timed runs"},
    {BENCH, "format", NULL, SWP__OPTION_CHOICE, AT(format), .initial = "table", .choices = bench_format_names,
     .help = "a table for people, json for programs"},

    {LIVE, "format", NULL, SWP__OPTION_CHOICE, AT(format), .initial = "csv", .choices = live_format_names,
     .help = "a row, or a JSON object, for each bar and combo"},
    {LIVE, "warm-up", "FILE", SWP__OPTION_TEXT, AT(warm_up),
     .help = "a file of bars that come before those of standard input; they trade and count"},
    {LIVE, "journal", "FILE", SWP__OPTION_TEXT, AT(journal),
     .help = "append every bar and the states after it; a journal that is there already is gone on with"},
    {LIVE, "fsync", NULL, SWP__OPTION_FLAG, AT(fsync), .help = "with --journal: a bar's row is printed once it is on the disk"},
    {VERIFY, "live", NULL, SWP__OPTION_FLAG, AT(live),
     .help = "bar by bar instead: a live session against the sweep, after every bar of FILE"},
    {VERIFY, "journal", "FILE", SWP__OPTION_TEXT, AT(journal),
     .help = "instead of FILE: what a live session recorded, against the sweep over its bars"},
    {LIVE, "engine", "URL", SWP__OPTION_TEXT, AT(engine),
     .help = "the session is on the engine at unix:PATH, tcp:HOST:PORT or spawn:PROGRAM instead of in this process"},
    {LIVE, "timeout", "S", SWP__OPTION_REAL, AT(timeout), .initial = "10", .low = 0.001, .high = 604800,
     .help = "with --engine: seconds after which an answer is given up; a push is then tried once more"},
    {SWEEP, "engine", "URL", SWP__OPTION_TEXT, AT(engine),
     .help = "run it on the engine at unix:PATH, tcp:HOST:PORT or spawn:PROGRAM instead of in this process; the output is the "
             "same"},
    {SWEEP, "timeout", "S", SWP__OPTION_REAL, AT(timeout), .initial = "0", .low = 0, .high = 604800,
     .help = "with --engine: seconds after which an answer is given up; 0: never for the sweep, 60 for the rest"},
    {PING | STATS | LIST, "timeout", "S", SWP__OPTION_REAL, AT(timeout), .initial = "10", .low = 0.001, .high = 604800,
     .help = "seconds after which an answer is given up"},
    {SWEEP | LIVE | PING | STATS | LIST, "token-file", "FILE", SWP__OPTION_TEXT, AT(token_file),
     .help = "the token that the service asks for"},
    {PING, "count", "N", SWP__OPTION_COUNT, AT(count), .initial = "1000", .least = 1, .most = 10000000, .help = "round trips"},
    {PING, "bytes", "N", SWP__OPTION_COUNT, AT(bytes), .initial = "8", .least = 0, .most = UINT64_C(1) << 30,
     .help = "there and back in each"},
    {PING, "spin", "US", SWP__OPTION_COUNT, AT(spin), .initial = "20", .least = 0, .most = 1000,
     .help = "microseconds to look for an answer before sleeping, while that pays; 0: never"},
    {PING, "format", NULL, SWP__OPTION_CHOICE, AT(format), .initial = "table", .choices = bench_format_names,
     .help = "a table for people, json for programs"},

    {SERVE, "listen", "URL", SWP__OPTION_LIST, AT(listen),
     .help = "unix:PATH, tcp:HOST:PORT (this machine only) or stdio:; may be given again; without it the default socket, "
             "$XDG_RUNTIME_DIR/sweepd.sock or sweepd-UID/sweepd.sock in the directory for temporary files"},
    {SERVE, "load", "NAME=FILE", SWP__OPTION_LIST, AT(load),
     .help = "a file of bars everybody may open by that name; may be given again; --close, --time, --delimiter and --allow "
             "hold for all of them"},
    {SERVE, "pin", NULL, SWP__OPTION_FLAG, AT(pin),
     .help = "what --load brings stays, even when memory is wanted for what others load"},
    {SERVE, "group", "NAME", SWP__OPTION_TEXT, AT(group), .help = "members of this group may connect to the Unix sockets, too"},
    {SERVE, "token-file", "FILE", SWP__OPTION_TEXT, AT(token_file),
     .help = "each connection must bring the token in this file (without its last newline); version 1 is refused then"},
    {HTTP, "engine", "URL", SWP__OPTION_TEXT, AT(engine), .initial = "unix:",
     .help = "where the engine is: unix:PATH (unix: is the default socket), tcp:HOST:PORT, spawn: or inproc:"},
    {HTTP, "listen", "URL", SWP__OPTION_TEXT, AT(door), .initial = "tcp:localhost:7118",
     .help = "tcp:HOST:PORT, this machine only; port 0: the system chooses, the log says which"},
    {HTTP, "token-file", "FILE", SWP__OPTION_TEXT, AT(token_file),
     .help = "the engine's token, without the file's last newline; requests must bring it, too"},
    {SERVE | HTTP, "log-format", NULL, SWP__OPTION_CHOICE, AT(log_format), .initial = "text", .choices = log_format_names,
     .help = "lines on standard error"},
    {SERVE | HTTP, "log-level", NULL, SWP__OPTION_CHOICE, AT(log_level), .initial = "info", .choices = log_level_names,
     .help = "lines below it are left out"},
    {.name = NULL},
};
