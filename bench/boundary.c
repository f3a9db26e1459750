/* What crossing the boundary costs, against the least it could cost on this machine. bench/boundary.py makes the tables of it.
 *
 * The yardstick is a *bare* echo: two processes, one pair of Unix sockets, one blocking write and read each. Ours is an ECHO of
 * the client to a daemon. All contenders are open at once and take turns, round after round, so that what the machine does
 * meanwhile befalls them alike; a ratio is taken within a round. Sweeps are compared in pairs, with the engine in this process,
 * and what they take more is told in bare round trips made between the pairs. Before anything is timed all must have given the
 * same bits.
 *
 * Prints a line of JSON for each row: {"table", "name", "unit", "goal", "values"}; the goal is the most that the median of the
 * values may be, null where there is none.
 *
 * usage: boundary [--program FILE] [--rounds N] [--trips N] [--pairs N] [--seconds S] [--shape NAME]
 *            [--only echoes|spinning|sweeps|stdio] */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <dirent.h>
#include <unistd.h>
#include "bars/generate.h"
#include "base/fingerprint.h"
#include "base/host.h"
#include "swp/client.h"

#define NO_GOAL (-1.0)

enum { BARS = 150000, COMBOS = 80, SMALL = 8, LARGE = 1200000, ROUNDS_MAX = 1000, NO_CPU = -1 };

extern char **environ;

static struct {
    const char *program, *shape, *only; /* NULL: all */
    int rounds, trips, pairs;
    double seconds; /* of each look at what spinning costs */
} options = {.program = SWP_PROGRAM, .shape = "randwalk", .rounds = 15, .trips = 2000, .pairs = 200, .seconds = 1};

static void die(const char *what)
{
    fprintf(stderr, "boundary: %s\n", what);
    exit(1);
}

static void check(swp_status status, const swp_error *error)
{
    if (status != SWP_OK) {
        die(error->message);
    }
}

static uint64_t now(void)
{
    return swp__now_ns(&swp__system_clock);
}

/* ---- numbers ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts them. */
static double median_of(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static char table[128];

static void begin_table(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void begin_table(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(table, sizeof table, format, args);
    va_end(args);
}

/* NO_GOAL: none. */
static void tell(const char *name, const char *unit, double goal, const double *values, int count)
{
    printf("{\"table\":\"%s\",\"name\":\"%s\",\"unit\":\"%s\",\"goal\":", table, name, unit);
    printf(goal == NO_GOAL ? "null" : "%g", goal);
    for (int i = 0; i < count; i++) {
        printf("%s%.4f", i == 0 ? ",\"values\":[" : ",", values[i]);
    }
    puts("]}");
    fflush(stdout);
}

/* ---- where threads run ---- */

static void pin_thread(pid_t thread, int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (cpu == NO_CPU || i == (size_t)cpu) {
            CPU_SET(i, &set);
        }
    }
    sched_setaffinity(thread, sizeof set, &set);
}

/* All threads of a process. */
static void pin_process(pid_t process, int cpu)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *tasks = opendir(path);
    for (struct dirent *entry; tasks != NULL && (entry = readdir(tasks)) != NULL;) {
        if (entry->d_name[0] != '.') {
            pin_thread(atoi(entry->d_name), cpu);
        }
    }
    if (tasks != NULL) {
        closedir(tasks);
    }
}

static double cpu_seconds(pid_t process)
{
    char path[64];
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *stat = fopen(path, "r");
    if (stat == NULL || fscanf(stat, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2) {
        die("cannot read the CPU time of a process");
    }
    fclose(stat);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

/* ---- contenders ---- */

typedef struct contender {
    const char *name;
    int client_cpu, server_cpu;
    bool is_bare;
    uint32_t spin_us;   /* of both sides; SWP_NO_SPIN */
    bool pinned_before; /* they know that they have one CPU */
    pid_t server;
    int fd;             /* bare */
    swp_client *client; /* ours */
    double small_us[ROUNDS_MAX], large_us[ROUNDS_MAX];
} contender;

static void read_whole(int fd, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = read(fd, (char *)bytes + done, size - done);
        if (got <= 0) {
            _exit(0);
        }
        done += (size_t)got;
    }
}

static void write_whole(int fd, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t sent = write(fd, (const char *)bytes + done, size - done);
        if (sent <= 0) {
            _exit(0);
        }
        done += (size_t)sent;
    }
}

/* How many bytes and how often, not timed; then so many echoes. */
static void serve_bare(int fd)
{
    static uint8_t bytes[LARGE];
    for (;;) {
        uint32_t head[2];
        read_whole(fd, head, sizeof head);
        for (uint32_t i = 0; i < head[1]; i++) {
            read_whole(fd, bytes, head[0]);
            write_whole(fd, bytes, head[0]);
        }
    }
}

static void open_bare(contender *c)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        die("no sockets");
    }
    c->server = fork();
    if (c->server == 0) {
        close(ends[0]);
        pin_thread(0, c->server_cpu);
        serve_bare(ends[1]);
    }
    close(ends[1]);
    c->fd = ends[0];
}

static pid_t start_server(const char *url, uint32_t spin_us, int cpu)
{
    pid_t process;
    char spin[16];
    snprintf(spin, sizeof spin, "%u", spin_us == SWP_NO_SPIN ? 0 : spin_us);
    char *const words[] = {(char *)(uintptr_t)options.program,
                           (char *)"serve",
                           (char *)"--listen",
                           (char *)(uintptr_t)url,
                           (char *)"--spin",
                           spin,
                           (char *)"--log-level",
                           (char *)"warning",
                           NULL};
    pin_thread(0, cpu);
    int failure = posix_spawn(&process, options.program, NULL, NULL, words, environ);
    pin_thread(0, NO_CPU);
    if (failure != 0) {
        die(strerror(failure));
    }
    return process;
}

static swp_client *connect_to(const char *url, uint32_t spin_us)
{
    swp_client *client;
    swp_error error;
    swp_status status = SWP_REFUSED;
    swp_client_options client_options = {.spin_us = spin_us, .timeout_ms = 60000};
    for (int i = 0; i < 1000 && status == SWP_REFUSED; i++) {
        status = swp_client_open(url, &client_options, &client, &error);
        if (status == SWP_REFUSED) {
            usleep(5000);
        }
    }
    check(status, &error);
    return client;
}

static char folder[] = "/tmp/sweepd-bench-XXXXXX";

static void open_ours(contender *c)
{
    static int count;
    char url[128];
    snprintf(url, sizeof url, "unix:%s/%d", folder, count++);
    c->server = start_server(url, c->spin_us, c->pinned_before ? c->server_cpu : NO_CPU);
    pin_thread(0, c->pinned_before ? c->client_cpu : NO_CPU);
    c->client = connect_to(url, c->spin_us);
    pin_thread(0, NO_CPU);
    pin_process(c->server, c->server_cpu);
}

static void close_contender(contender *c)
{
    if (c->is_bare) {
        close(c->fd);
    } else {
        swp_client_close(c->client);
    }
    kill(c->server, SIGTERM); /* other children hold the sockets, too */
    waitpid(c->server, NULL, 0);
}

/* ---- echoes ---- */

static uint8_t sent[LARGE], got[LARGE];

static void trip(const contender *c, size_t size)
{
    swp_error error;
    if (c->is_bare) {
        write_whole(c->fd, sent, size);
        read_whole(c->fd, got, size);
    } else {
        check(swp_client_echo(c->client, sent, size, got, 0, &error), &error);
    }
}

static void ready_bare(const contender *c, size_t size, int trips)
{
    uint32_t head[2] = {(uint32_t)size, (uint32_t)trips};
    if (c->is_bare) {
        write_whole(c->fd, head, sizeof head);
    }
}

/* The median of many trips, in microseconds. */
static double median_trip(const contender *c, size_t size, int trips)
{
    enum { COLD = 2 };
    double *us = malloc((size_t)trips * sizeof *us);
    ready_bare(c, size, trips + COLD);
    pin_thread(0, c->client_cpu);
    for (int i = 0; i < COLD; i++) {
        trip(c, size);
    }
    for (int i = 0; i < trips; i++) {
        uint64_t begun = now();
        trip(c, size);
        us[i] = (double)(now() - begun) * 1e-3;
    }
    pin_thread(0, NO_CPU);
    double median = median_of(us, trips);
    free(us);
    return median;
}

/* What was sent came back, or nothing is timed. */
static void gate_echo(const contender *c, size_t size)
{
    memset(got, 0, size);
    ready_bare(c, size, 1);
    trip(c, size);
    if (memcmp(sent, got, size) != 0) {
        die("other bytes came back: nothing is timed");
    }
}

static void tell_ratio(const char *name, double goal, const double *values, const double *base)
{
    double ratios[ROUNDS_MAX];
    for (int i = 0; i < options.rounds; i++) {
        ratios[i] = values[i] / base[i];
    }
    tell(name, "x", goal, ratios, options.rounds);
}

enum { BARE_SAME, BARE_ACROSS, SPIN_FREE, SPIN_ACROSS, QUIET_SAME, QUIET_ACROSS, SPIN_ONE_CPU, CONTENDERS };

static contender contenders[CONTENDERS] = {
    [BARE_SAME] = {.name = "bare, one core", .client_cpu = 0, .server_cpu = 0, .is_bare = true},
    [BARE_ACROSS] = {.name = "bare, across cores", .client_cpu = 0, .server_cpu = 1, .is_bare = true},
    [SPIN_FREE] = {.name = "ours, spinning, where the system puts them",
                   .client_cpu = NO_CPU,
                   .server_cpu = NO_CPU,
                   .spin_us = SWP_SPIN_STANDARD_US},
    [SPIN_ACROSS] = {.name = "ours, spinning, across cores", .client_cpu = 0, .server_cpu = 1, .spin_us = SWP_SPIN_STANDARD_US},
    [QUIET_SAME] = {.name = "ours, not spinning, one core", .client_cpu = 0, .server_cpu = 0, .spin_us = SWP_NO_SPIN},
    [QUIET_ACROSS] = {.name = "ours, not spinning, across cores", .client_cpu = 0, .server_cpu = 1, .spin_us = SWP_NO_SPIN},
    [SPIN_ONE_CPU] = {.name = "ours, free to spin but given one core",
                      .client_cpu = 0,
                      .server_cpu = 0,
                      .spin_us = SWP_SPIN_STANDARD_US,
                      .pinned_before = true},
};

static void tell_echoes(const char *size, bool large)
{
    begin_table("Echo of %s: a round trip", size);
    for (int i = 0; i < CONTENDERS; i++) {
        tell(contenders[i].name, "us", NO_GOAL, large ? contenders[i].large_us : contenders[i].small_us, options.rounds);
    }
    begin_table("Echo of %s: ratios, round by round", size);
}

static void bench_echoes(void)
{
    const contender *c = contenders;
    int large_trips = options.trips / 40 > 5 ? options.trips / 40 : 5;
    for (int i = 0; i < CONTENDERS; i++) {
        gate_echo(&c[i], SMALL);
        gate_echo(&c[i], LARGE);
    }
    for (int round = 0; round < options.rounds; round++) {
        for (int i = 0; i < CONTENDERS; i++) {
            contenders[i].small_us[round] = median_trip(&c[i], SMALL, options.trips);
        }
        for (int i = 0; i < CONTENDERS; i++) {
            contenders[i].large_us[round] = median_trip(&c[i], LARGE, large_trips);
        }
    }
    tell_echoes("8 bytes", false);
    tell_ratio("spinning, where the system puts them / bare across cores", 0.25, c[SPIN_FREE].small_us,
               c[BARE_ACROSS].small_us);
    tell_ratio("spinning, across cores / bare across cores", 0.25, c[SPIN_ACROSS].small_us, c[BARE_ACROSS].small_us);
    tell_ratio("not spinning / bare, both across cores", 1.15, c[QUIET_ACROSS].small_us, c[BARE_ACROSS].small_us);
    tell_ratio("not spinning / bare, both on one core", 1.15, c[QUIET_SAME].small_us, c[BARE_SAME].small_us);
    tell_ratio("free to spin but given one core / bare on one core", 1.15, c[SPIN_ONE_CPU].small_us, c[BARE_SAME].small_us);
    tell_echoes("1.2 MB", true);
    tell_ratio("spinning / bare, both across cores", 1.10, c[SPIN_ACROSS].large_us, c[BARE_ACROSS].large_us);
    tell_ratio("not spinning / bare, both across cores", 1.10, c[QUIET_ACROSS].large_us, c[BARE_ACROSS].large_us);
    tell_ratio("not spinning / bare, both on one core", 1.10, c[QUIET_SAME].large_us, c[BARE_SAME].large_us);
}

/* ---- what spinning costs ---- */

static double own_cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

enum { TIMES = 3 };

/* CPU seconds a second of both sides, while a call is made every `pause_us`; 0: one after the other. What a call took then. */
static double cpu_cost(const contender *c, unsigned pause_us, double *us_of_call)
{
    double before = own_cpu_seconds() + cpu_seconds(c->server);
    uint64_t begun = now(), trips = 0, ns = 0;
    while ((double)(now() - begun) < options.seconds * 1e9) {
        uint64_t asked = now();
        trip(c, SMALL);
        ns += now() - asked;
        trips++;
        if (pause_us > 0) {
            usleep(pause_us);
        }
    }
    double seconds = (double)(now() - begun) * 1e-9;
    *us_of_call = (double)ns * 1e-3 / (double)trips;
    return (own_cpu_seconds() + cpu_seconds(c->server) - before) / seconds;
}

static double idle_cost(const contender *c)
{
    double before = cpu_seconds(c->server);
    usleep((useconds_t)(options.seconds * 1e6));
    return (cpu_seconds(c->server) - before) / options.seconds;
}

static void bench_spinning(void)
{
    static const struct {
        const char *name;
        int contender;
        unsigned pause_us;
    } paces[] = {{"one call after the other, spinning", SPIN_FREE, 0},
                 {"one call after the other, not spinning, across cores", QUIET_ACROSS, 0},
                 {"a call a millisecond, spinning", SPIN_FREE, 1000},
                 {"a call a millisecond, not spinning, across cores", QUIET_ACROSS, 1000}};
    enum { PACES = sizeof paces / sizeof *paces };
    double cpu[PACES + 1][TIMES], us[PACES][TIMES];
    for (int t = 0; t < TIMES; t++) {
        for (int i = 0; i < PACES; i++) {
            cpu[i][t] = cpu_cost(&contenders[paces[i].contender], paces[i].pause_us, &us[i][t]);
        }
        cpu[PACES][t] = idle_cost(&contenders[SPIN_FREE]);
    }
    begin_table("What spinning costs: CPU seconds a second, both sides together");
    for (int i = 0; i < PACES; i++) {
        tell(paces[i].name, "cpu", NO_GOAL, cpu[i], TIMES);
    }
    tell("an idle daemon with a connection, spinning allowed", "cpu", 0, cpu[PACES], TIMES);
    begin_table("What spinning costs: a call meanwhile, on average");
    for (int i = 0; i < PACES; i++) {
        tell(paces[i].name, "us", NO_GOAL, us[i], TIMES);
    }
}

/* ---- sweeps ---- */

static double closes[BARS];
static int64_t rows[COMBOS * SWP_PARAMS_COUNT];

typedef struct results {
    double pnl[COMBOS];
    int64_t trades[COMBOS];
} results;

static swp_sweep_request request_of(size_t first, size_t count)
{
    return (swp_sweep_request){.grid = {.combos_count = count, .rows = rows + first * SWP_PARAMS_COUNT}, .fee = 0.09};
}

static swp_sweep_result arrays_of(results *r, size_t first)
{
    return (swp_sweep_result){.pnl = r->pnl + first, .trades = r->trades + first};
}

static void make_input(void)
{
    swp_error error;
    swp__generate_options generate = {.shape = options.shape, .bars_count = BARS, .seed = 42, .sigma = 0.0008, .start = 100};
    check(swp__generate(&generate, closes, &error), &error);
    for (int i = 0; i < COMBOS; i++) {
        double length = 6.0 + 194.0 * i / (COMBOS - 1);
        int64_t rounded = (int64_t)(length + 0.5); /* no tie among these */
        check(swp_params_from_length(rounded, (swp_params *)(void *)(rows + i * SWP_PARAMS_COUNT), &error), &error);
    }
}

/* Content nobody has seen: one bar differs from what was before. */
static void touch_closes(void)
{
    static int64_t count;
    closes[0] = closes[1] * (1.0 + 1e-9 * (double)++count);
}

static swp_client_series *load(swp_client *client)
{
    swp_error error;
    swp_client_series *series;
    swp_columns columns = {.bars_count = BARS, .close = closes};
    check(swp_client_load(client, &columns, 0, SWP_KEEP_BORROWED, 0, &series, &error), &error);
    return series;
}

static void sweep_there(swp_client *client, swp_client_series *series, size_t first, size_t count, results *r)
{
    swp_error error;
    swp_sweep_request request = request_of(first, count);
    swp_sweep_result arrays = arrays_of(r, first);
    check(swp_client_sweep(client, series, &request, &arrays, 0, &error), &error);
}

static void drop(swp_client *client, swp_client_series *series)
{
    swp_error error;
    check(swp_client_drop(client, series, 0, &error), &error);
}

static void sweep_here(swp_engine *engine, const swp_series *series, size_t first, size_t count, results *r)
{
    swp_error error;
    swp_sweep_request request = request_of(first, count);
    swp_sweep_result arrays = arrays_of(r, first);
    check(swp_sweep(engine, series, &request, &arrays, &error), &error);
}

/* Both sides of each comparison. */
typedef struct sides {
    swp_engine *engine;
    swp_series *here;
    swp_client *client;
    swp_client_series *there;
    results expected, got;
} sides;

static void ship_here(sides *s)
{
    swp_error error;
    swp_series *series;
    check(swp_series_new(s->engine, closes, BARS, 0, SWP_BORROW, &series, &error), &error);
    sweep_here(s->engine, series, 0, COMBOS, &s->expected);
    swp_series_free(series);
}

static void ship_there(sides *s)
{
    swp_client_series *series = load(s->client);
    sweep_there(s->client, series, 0, COMBOS, &s->got);
    drop(s->client, series);
}

static void batch_here(sides *s)
{
    sweep_here(s->engine, s->here, 0, COMBOS, &s->expected);
}

static void batch_there(sides *s)
{
    sweep_there(s->client, s->there, 0, COMBOS, &s->got);
}

static void spawn_there(sides *s)
{
    char url[1024];
    snprintf(url, sizeof url, "spawn:%s", options.program);
    swp_client *client = connect_to(url, SWP_SPIN_STANDARD_US);
    swp_client_series *series = load(client);
    sweep_there(client, series, 0, COMBOS, &s->got);
    swp_client_close(client);
}

static double time_us(void (*run)(sides *s), sides *s)
{
    uint64_t begun = now();
    run(s);
    return (double)(now() - begun) * 1e-3;
}

typedef struct comparison {
    const char *name, *first, *second;
    void (*a)(sides *s), (*b)(sides *s);
    int pairs;
    bool fresh;        /* the closes are others in each pair */
    double goal_us;    /* of what the second takes more; NO_GOAL */
    double goal_trips; /* of the same in bare round trips across cores */
} comparison;

static void tell_differences(const comparison *what, const double *of_a, const double *of_b, const double *trip_us)
{
    char line[160];
    double *extra = malloc((size_t)what->pairs * sizeof *extra);
    for (int i = 0; i < what->pairs; i++) {
        extra[i] = of_b[i] - of_a[i];
    }
    snprintf(line, sizeof line, "%s: %s", what->name, what->first);
    tell(line, "us", NO_GOAL, of_a, what->pairs);
    snprintf(line, sizeof line, "%s: %s", what->name, what->second);
    tell(line, "us", NO_GOAL, of_b, what->pairs);
    snprintf(line, sizeof line, "%s: how much more", what->name);
    tell(line, "us", what->goal_us, extra, what->pairs);
    if (what->goal_trips != NO_GOAL) {
        for (int i = 0; i < what->pairs; i++) {
            extra[i] /= trip_us[i];
        }
        snprintf(line, sizeof line, "%s: how much more, in bare round trips across cores", what->name);
        tell(line, "trips", what->goal_trips, extra, what->pairs);
    }
    free(extra);
}

/* Interleaved pairs; what is told is the difference within each. A bare round trip is measured behind each. */
static void compare_sides(const comparison *what, sides *s)
{
    enum { TRIPS = 50 };
    size_t size = (size_t)what->pairs * sizeof(double);
    double *of_a = malloc(size), *of_b = malloc(size), *trip_us = malloc(size);
    for (int i = 0; i < what->pairs; i++) {
        if (what->fresh) {
            touch_closes();
        }
        bool a_first = i % 2 == 0;
        double first = time_us(a_first ? what->a : what->b, s), second = time_us(a_first ? what->b : what->a, s);
        of_a[i] = a_first ? first : second;
        of_b[i] = a_first ? second : first;
        trip_us[i] = what->goal_trips != NO_GOAL ? median_trip(&contenders[BARE_ACROSS], SMALL, TRIPS) : 0;
    }
    tell_differences(what, of_a, of_b, trip_us);
    free(of_a);
    free(of_b);
    free(trip_us);
}

/* Eighty calls of one combo each, one after the other. */
static void call_each_combo(sides *s, bool there, double us[COMBOS])
{
    for (size_t i = 0; i < COMBOS; i++) {
        uint64_t begun = now();
        if (there) {
            sweep_there(s->client, s->there, i, 1, &s->got);
        } else {
            sweep_here(s->engine, s->here, i, 1, &s->expected);
        }
        us[i] = (double)(now() - begun) * 1e-3;
    }
}

static double median_of_combo(double (*us)[COMBOS], int rounds, size_t combo)
{
    double *of_combo = malloc((size_t)rounds * sizeof *of_combo);
    for (int r = 0; r < rounds; r++) {
        of_combo[r] = us[r][combo];
    }
    double median = median_of(of_combo, rounds);
    free(of_combo);
    return median;
}

/* A call takes a fifth of a millisecond, so one that was held up by the machine would outweigh the rest: of each combo's calls
 * the median counts, and of all that the sum. */
static void compare_chatty(sides *s, int rounds)
{
    double(*here)[COMBOS] = malloc((size_t)rounds * sizeof *here), (*there)[COMBOS] = malloc((size_t)rounds * sizeof *there);
    double *trip_us = malloc((size_t)rounds * sizeof *trip_us);
    double of_here[COMBOS], of_there[COMBOS], extra[COMBOS], sum = 0;
    for (int r = 0; r < rounds; r++) {
        call_each_combo(s, r % 2 != 0, r % 2 != 0 ? there[r] : here[r]);
        call_each_combo(s, r % 2 == 0, r % 2 == 0 ? there[r] : here[r]);
        trip_us[r] = median_trip(&contenders[BARE_ACROSS], SMALL, 100);
    }
    for (size_t i = 0; i < COMBOS; i++) {
        of_here[i] = median_of_combo(here, rounds, i);
        of_there[i] = median_of_combo(there, rounds, i);
        extra[i] = of_there[i] - of_here[i];
        sum += extra[i];
    }
    double trips = sum / median_of(trip_us, rounds);
    tell("80 one-combo calls, each combo's median: in this process", "us", NO_GOAL, of_here, COMBOS);
    tell("80 one-combo calls, each combo's median: preloaded in a daemon", "us", NO_GOAL, of_there, COMBOS);
    tell("80 one-combo calls, each combo's median: how much more", "us", NO_GOAL, extra, COMBOS);
    tell("80 one-combo calls: all they take more, in bare round trips across cores", "trips", COMBOS, &trips, 1);
    free(here);
    free(there);
    free(trip_us);
}

static void pipelined_there(sides *s)
{
    swp_error error;
    swp_pending *pending[COMBOS];
    for (size_t i = 0; i < COMBOS; i++) {
        swp_sweep_request request = request_of(i, 1);
        swp_sweep_result arrays = arrays_of(&s->got, i);
        check(swp_client_submit_sweep(s->client, s->there, &request, &arrays, 0, &pending[i], &error), &error);
    }
    for (size_t i = 0; i < COMBOS; i++) {
        check(swp_pending_wait(pending[i], &error), &error);
    }
}

static void chatty_here(sides *s)
{
    double us[COMBOS];
    call_each_combo(s, false, us);
}

static void chatty_there(sides *s)
{
    double us[COMBOS];
    call_each_combo(s, true, us);
}

static void gate(sides *s, void (*run)(sides *s), const char *name)
{
    memset(&s->got, 0xff, sizeof s->got);
    run(s);
    if (memcmp(&s->expected, &s->got, sizeof s->got) != 0) {
        fprintf(stderr, "boundary: %s gives other numbers: nothing is timed\n", name);
        exit(1);
    }
}

static void open_sides(sides *s, const contender *c)
{
    swp_error error;
    s->client = c->client;
    make_input();
    check(swp_engine_new(NULL, &s->engine, &error), &error);
    check(swp_series_new(s->engine, closes, BARS, 0, SWP_COPY, &s->here, &error), &error);
    s->there = load(s->client);
    batch_here(s);
    gate(s, batch_there, "a preloaded batch");
    gate(s, chatty_there, "a call a combo");
    gate(s, pipelined_there, "calls sent ahead");
    gate(s, ship_there, "a batch that ships its bars");
    gate(s, spawn_there, "an engine spawned for the sweep");
}

static void bench_sweeps(const contender *c)
{
    static sides s;
    open_sides(&s, c);
    swp__fingerprint hash = swp__fingerprint_of(&s.got, sizeof s.got);
    const char *here = "in this process", *there = "in a daemon";
    int few = options.pairs / 4 + 1, some = options.pairs / 2 + 1;
    const comparison preloaded = {"batch, preloaded", here, there, batch_here, batch_there, options.pairs, false, NO_GOAL, 2};
    const comparison ahead = {
        "80 one-combo calls sent ahead", here, there, chatty_here, pipelined_there, few, false, NO_GOAL, NO_GOAL};
    const comparison ship = {"batch that ships 1.2 MB", here, there, ship_here, ship_there, some, false, 500, NO_GOAL};
    const comparison fresh = {
        "batch that ships 1.2 MB never seen", here, there, ship_here, ship_there, some, true, 500, NO_GOAL};
    const comparison spawn = {
        "engine spawned for a batch", there, "spawned", ship_there, spawn_there, few, false, 2000, NO_GOAL};
    begin_table("Sweeps: %s, %d bars x %d combos, result hash %016" PRIx64, options.shape, BARS, COMBOS, hash.high);
    compare_sides(&preloaded, &s);
    compare_chatty(&s, few);
    compare_sides(&ahead, &s);
    compare_sides(&ship, &s);
    compare_sides(&fresh, &s);
    compare_sides(&spawn, &s);
    drop(s.client, s.there);
    swp_series_free(s.here);
    swp_engine_free(s.engine);
}

/* ---- an engine spawned for one call ---- */

static pid_t spawn_with(char *const words[], int socket_fd)
{
    pid_t process;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (socket_fd >= 0) {
        posix_spawn_file_actions_adddup2(&actions, socket_fd, STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions, socket_fd, STDOUT_FILENO);
    }
    int failure = posix_spawn(&process, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure != 0) {
        die(strerror(failure));
    }
    return process;
}

/* From its start to its end. */
static double true_us(void)
{
    char *const words[] = {(char *)"/bin/true", NULL};
    uint64_t begun = now();
    waitpid(spawn_with(words, -1), NULL, 0);
    return (double)(now() - begun) * 1e-3;
}

/* A v1 frame and its answer; from its start to that, and to its end. */
static void stdio_us(const void *frame, size_t frame_size, void *reply, size_t reply_size, double *to_reply, double *to_end)
{
    char *const words[] = {(char *)(uintptr_t)options.program,
                           (char *)"serve",
                           (char *)"--listen",
                           (char *)"stdio:",
                           (char *)"--log-level",
                           (char *)"warning",
                           NULL};
    int ends[2];
    uint64_t begun = now();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        die("no sockets");
    }
    pid_t process = spawn_with(words, ends[1]);
    close(ends[1]);
    write_whole(ends[0], frame, frame_size);
    read_whole(ends[0], reply, reply_size);
    *to_reply = (double)(now() - begun) * 1e-3;
    close(ends[0]);
    waitpid(process, NULL, 0);
    *to_end = (double)(now() - begun) * 1e-3;
}

typedef struct v1_echo {
    uint8_t length[4], opcode, bars[4], combos[4], close[SMALL];
} v1_echo;

static void bench_stdio(void)
{
    static const v1_echo echo = {.length = {17}, .opcode = 1, .bars = {1}, .close = {1, 2, 3, 4, 5, 6, 7, 8}};
    uint8_t reply[4 + SMALL];
    int pairs = options.pairs;
    size_t size = (size_t)pairs * sizeof(double);
    double *of_true = malloc(size), *to_reply = malloc(size), *to_end = malloc(size), *extra = malloc(size);
    stdio_us(&echo, sizeof echo, reply, sizeof reply, to_reply, to_end);
    if (reply[0] != SMALL || memcmp(reply + 4, echo.close, SMALL) != 0) {
        die("standard output gave other bytes: nothing is timed");
    }
    for (int i = 0; i < pairs; i++) {
        of_true[i] = true_us();
        stdio_us(&echo, sizeof echo, reply, sizeof reply, &to_reply[i], &to_end[i]);
        extra[i] = to_reply[i] - of_true[i];
    }
    begin_table("An engine spawned for one call on its standard input");
    tell("/bin/true, from its start to its end", "us", NO_GOAL, of_true, pairs);
    tell("serve --listen stdio:, from its start to its first reply", "us", NO_GOAL, to_reply, pairs);
    tell("serve --listen stdio:, from its start to its end", "us", NO_GOAL, to_end, pairs);
    tell("first reply: how much more than /bin/true", "us", 2000, extra, pairs);
    free(of_true);
    free(to_reply);
    free(to_end);
    free(extra);
}

/* ---- the whole ---- */

static void take_options(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (strcmp(name, "--program") == 0) {
            options.program = value;
        } else if (strcmp(name, "--shape") == 0) {
            options.shape = value;
        } else if (strcmp(name, "--only") == 0) {
            options.only = value;
        } else if (strcmp(name, "--rounds") == 0) {
            options.rounds = atoi(value);
        } else if (strcmp(name, "--trips") == 0) {
            options.trips = atoi(value);
        } else if (strcmp(name, "--pairs") == 0) {
            options.pairs = atoi(value);
        } else if (strcmp(name, "--seconds") == 0) {
            options.seconds = atof(value);
        } else {
            die("unknown option: see the top of bench/boundary.c");
        }
    }
    if (options.rounds < 1 || options.rounds > ROUNDS_MAX || options.trips < 1 || options.pairs < 1 ||
        !(options.seconds > 0 && options.seconds <= 60)) {
        die("rounds, trips and pairs are at least 1, seconds more than 0 and at most 60");
    }
}

static bool is_wanted(const char *part)
{
    return options.only == NULL || strcmp(options.only, part) == 0;
}

int main(int argc, char **argv)
{
    take_options(argc, argv);
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
        die("needs two CPUs");
    }
    if (mkdtemp(folder) == NULL) {
        die("no folder for sockets");
    }
    for (size_t i = 0; i < LARGE; i++) {
        sent[i] = (uint8_t)(i * 31 + (i >> 8));
    }
    for (int i = 0; i < CONTENDERS; i++) {
        (contenders[i].is_bare ? open_bare : open_ours)(&contenders[i]);
    }
    if (is_wanted("echoes")) {
        bench_echoes();
    }
    if (is_wanted("spinning")) {
        bench_spinning();
    }
    if (is_wanted("sweeps")) {
        bench_sweeps(&contenders[SPIN_FREE]);
    }
    if (is_wanted("stdio")) {
        bench_stdio();
    }
    for (int i = 0; i < CONTENDERS; i++) {
        close_contender(&contenders[i]);
    }
    rmdir(folder);
    return 0;
}
