/* What crossing the boundary costs, against the least it could cost on this machine.
 *
 * The yardstick is a *bare* echo: two processes, one pair of Unix sockets, one blocking write and read each. Ours is an ECHO of
 * the client to a daemon. All contenders are open at once and take turns, round after round, so that what the machine does
 * meanwhile befalls them alike; a ratio is taken within a round, and what is told is the median of the rounds with the smallest
 * and the largest. Sweeps are compared in pairs, with the engine in this process; before anything is timed all must have
 * given the same bits.
 *
 * usage: boundary [--program FILE] [--rounds N] [--trips N] [--pairs N] [--shape NAME]
 *            [--only echoes|spinning|sweeps] [--format table|json] */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
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
#include "swp/version.h"

enum { BARS = 150000, COMBOS = 80, SMALL = 8, LARGE = 1200000, ROUNDS_MAX = 1000, NO_CPU = -1 };

extern char **environ;

static struct {
    const char *program, *shape, *only; /* NULL: all */
    int rounds, trips, pairs;
    bool json;
} options = {.program = SWP_PROGRAM, .shape = "randwalk", .rounds = 15, .trips = 2000, .pairs = 200};

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

typedef struct spread {
    double min, median, max;
} spread;

/* Sorts them. */
static spread spread_of(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return (spread){values[0], (values[(count - 1) / 2] + values[count / 2]) / 2, values[count - 1]};
}

static bool first_line = true;

static void tell(const char *name, const char *unit, spread s, const char *goal)
{
    if (options.json) {
        printf("%s{\"name\":\"%s\",\"unit\":\"%s\",\"min\":%.4f,\"median\":%.4f,\"max\":%.4f}", first_line ? "[\n" : ",\n",
               name, unit, s.min, s.median, s.max);
    } else {
        printf("%-62s %10.3f %10.3f %10.3f %-3s %s\n", name, s.median, s.min, s.max, unit, goal);
    }
    first_line = false;
    fflush(stdout);
}

static void heading(const char *text)
{
    if (!options.json) {
        printf("\n%-62s %10s %10s %10s\n", text, "median", "min", "max");
    }
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

/* The median of many trips, in microseconds. */
static double median_trip(const contender *c, size_t size, int trips)
{
    double *us = malloc((size_t)trips * sizeof *us);
    uint32_t head[2] = {(uint32_t)size, (uint32_t)trips + 2};
    if (c->is_bare) {
        write_whole(c->fd, head, sizeof head);
    }
    pin_thread(0, c->client_cpu);
    trip(c, size);
    trip(c, size); /* nothing is cold */
    for (int i = 0; i < trips; i++) {
        uint64_t begun = now();
        trip(c, size);
        us[i] = (double)(now() - begun) * 1e-3;
    }
    pin_thread(0, NO_CPU);
    if (memcmp(sent, got, size) != 0) {
        die("other bytes came back");
    }
    double median = spread_of(us, trips).median;
    free(us);
    return median;
}

static void tell_us(const char *name, const double *values, const char *goal)
{
    double copy[ROUNDS_MAX];
    memcpy(copy, values, (size_t)options.rounds * sizeof *copy);
    tell(name, "us", spread_of(copy, options.rounds), goal);
}

static void tell_ratio(const char *name, const double *values, const double *base, const char *goal)
{
    double ratios[ROUNDS_MAX];
    for (int i = 0; i < options.rounds; i++) {
        ratios[i] = values[i] / base[i];
    }
    tell(name, "x", spread_of(ratios, options.rounds), goal);
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

static void bench_echoes(void)
{
    int large_trips = options.trips / 40 > 5 ? options.trips / 40 : 5;
    for (int round = 0; round < options.rounds; round++) {
        for (int i = 0; i < CONTENDERS; i++) {
            contenders[i].small_us[round] = median_trip(&contenders[i], SMALL, options.trips);
        }
        for (int i = 0; i < CONTENDERS; i++) {
            contenders[i].large_us[round] = median_trip(&contenders[i], LARGE, large_trips);
        }
    }
    const contender *c = contenders;
    heading("echo of 8 bytes, round trip");
    for (int i = 0; i < CONTENDERS; i++) {
        tell_us(c[i].name, c[i].small_us, "");
    }
    tell_ratio("spinning, free / bare across", c[SPIN_FREE].small_us, c[BARE_ACROSS].small_us, "goal 0.25");
    tell_ratio("spinning across / bare across", c[SPIN_ACROSS].small_us, c[BARE_ACROSS].small_us, "goal 0.25");
    tell_ratio("not spinning, one core / bare one core", c[QUIET_SAME].small_us, c[BARE_SAME].small_us, "goal 1.15");
    tell_ratio("not spinning across / bare across", c[QUIET_ACROSS].small_us, c[BARE_ACROSS].small_us, "goal 1.15");
    tell_ratio("given one core / bare one core", c[SPIN_ONE_CPU].small_us, c[BARE_SAME].small_us, "goal 1.15");
    heading("echo of 1.2 MB, round trip");
    for (int i = 0; i < CONTENDERS; i++) {
        tell_us(c[i].name, c[i].large_us, "");
    }
    tell_ratio("spinning across / bare across, 1.2 MB", c[SPIN_ACROSS].large_us, c[BARE_ACROSS].large_us, "goal 1.10");
    tell_ratio("not spinning across / bare across, 1.2 MB", c[QUIET_ACROSS].large_us, c[BARE_ACROSS].large_us, "goal 1.10");
    tell_ratio("not spinning, one core / bare one core, 1.2 MB", c[QUIET_SAME].large_us, c[BARE_SAME].large_us, "goal 1.10");
}

/* ---- what spinning costs ---- */

static double own_cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* CPU seconds a second of both sides, while a call is made every `pause_us`; 0: one after the other. */
static void cpu_cost(const char *name, const contender *c, unsigned pause_us)
{
    double before = own_cpu_seconds() + cpu_seconds(c->server);
    uint64_t begun = now(), trips = 0;
    while (now() - begun < 1000000000) {
        trip(c, SMALL);
        trips++;
        if (pause_us > 0) {
            usleep(pause_us);
        }
    }
    double seconds = (double)(now() - begun) * 1e-9;
    double share = (own_cpu_seconds() + cpu_seconds(c->server) - before) / seconds;
    tell(name, "cpu", (spread){share, share, share}, "");
}

static void idle_cost(const char *name, const contender *c)
{
    double before = cpu_seconds(c->server);
    usleep(1000000);
    double share = cpu_seconds(c->server) - before;
    tell(name, "cpu", (spread){share, share, share}, "goal 0");
}

static void bench_spinning(void)
{
    heading("CPU seconds a second, both sides together");
    cpu_cost("one call after the other, spinning", &contenders[SPIN_FREE], 0);
    cpu_cost("one call after the other, not spinning across", &contenders[QUIET_ACROSS], 0);
    cpu_cost("a call a millisecond, spinning", &contenders[SPIN_FREE], 1000);
    cpu_cost("a call a millisecond, not spinning across", &contenders[QUIET_ACROSS], 1000);
    idle_cost("an idle daemon with a connection, spinning allowed", &contenders[SPIN_FREE]);
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

/* Interleaved pairs; what is told is the difference within each. */
static void compare_sides(const char *name, const char *goal, void (*a)(sides *s), void (*b)(sides *s), int pairs, bool fresh,
                          sides *s)
{
    double *of_a = malloc((size_t)pairs * sizeof *of_a), *of_b = malloc((size_t)pairs * sizeof *of_b);
    double *extra = malloc((size_t)pairs * sizeof *extra);
    char line[128];
    for (int i = 0; i < pairs; i++) {
        if (fresh) {
            touch_closes();
        }
        bool a_first = i % 2 == 0;
        double first = time_us(a_first ? a : b, s), second = time_us(a_first ? b : a, s);
        of_a[i] = a_first ? first : second;
        of_b[i] = a_first ? second : first;
        extra[i] = of_b[i] - of_a[i];
    }
    snprintf(line, sizeof line, "%s: this", name);
    tell(line, "us", spread_of(of_a, pairs), "");
    snprintf(line, sizeof line, "%s: that", name);
    tell(line, "us", spread_of(of_b, pairs), "");
    snprintf(line, sizeof line, "%s: extra", name);
    tell(line, "us", spread_of(extra, pairs), goal);
    free(of_a);
    free(of_b);
    free(extra);
}

/* Eighty calls of one combo each. A call takes a fifth of a millisecond, so one that was held up by the machine would outweigh
 * the rest: what is told is the sum of the medians of each combo's calls. */
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

static double sum_of_medians(double (*us)[COMBOS], int rounds)
{
    double sum = 0, *of_combo = malloc((size_t)rounds * sizeof *of_combo);
    for (size_t i = 0; i < COMBOS; i++) {
        for (int r = 0; r < rounds; r++) {
            of_combo[r] = us[r][i];
        }
        sum += spread_of(of_combo, rounds).median;
    }
    free(of_combo);
    return sum;
}

static void compare_chatty(sides *s, int rounds)
{
    double(*here)[COMBOS] = malloc((size_t)rounds * sizeof *here), (*there)[COMBOS] = malloc((size_t)rounds * sizeof *there);
    for (int r = 0; r < rounds; r++) {
        call_each_combo(s, false, here[r]);
        call_each_combo(s, true, there[r]);
    }
    double of_here = sum_of_medians(here, rounds), of_there = sum_of_medians(there, rounds);
    double extra = of_there - of_here;
    tell("80 one-combo calls, here", "us", (spread){of_here, of_here, of_here}, "");
    tell("80 one-combo calls, there", "us", (spread){of_there, of_there, of_there}, "");
    tell("80 one-combo calls, extra", "us", (spread){extra, extra, extra}, "goal 80 bare trips");
    free(here);
    free(there);
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

static void bench_sweeps(const contender *c)
{
    static sides s;
    swp_error error;
    char text[80];
    s.client = c->client;
    make_input();
    check(swp_engine_new(NULL, &s.engine, &error), &error);
    check(swp_series_new(s.engine, closes, BARS, 0, SWP_COPY, &s.here, &error), &error);
    s.there = load(s.client);
    batch_here(&s);
    gate(&s, batch_there, "a preloaded batch");
    gate(&s, chatty_there, "a call a combo");
    gate(&s, pipelined_there, "calls sent ahead");
    gate(&s, ship_there, "a batch that ships its bars");
    gate(&s, spawn_there, "an engine spawned for the sweep");
    swp__fingerprint hash = swp__fingerprint_of(&s.got, sizeof s.got);
    snprintf(text, sizeof text, "%s, %d bars x %d combos, result hash %016" PRIx64, options.shape, BARS, COMBOS, hash.high);
    heading(text);
    compare_sides("batch preloaded", "goal 2 bare trips", batch_here, batch_there, options.pairs, false, &s);
    compare_chatty(&s, options.pairs / 4 + 1);
    compare_sides("80 one-combo calls sent ahead", "", chatty_here, pipelined_there, options.pairs / 4 + 1, false, &s);
    compare_sides("batch shipping 1.2 MB", "goal 500 us", ship_here, ship_there, options.pairs / 2 + 1, false, &s);
    compare_sides("batch shipping 1.2 MB never seen", "goal 500 us", ship_here, ship_there, options.pairs / 2 + 1, true, &s);
    compare_sides("spawn a sweep / ship to a daemon", "goal 2000 us", ship_there, spawn_there, options.pairs / 4 + 1, false,
                  &s);
    drop(s.client, s.there);
    swp_series_free(s.here);
    swp_engine_free(s.engine);
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
        } else if (strcmp(name, "--format") == 0) {
            options.json = strcmp(value, "json") == 0;
        } else {
            die("unknown option: see the top of bench/boundary.c");
        }
    }
    if (options.rounds < 1 || options.rounds > ROUNDS_MAX || options.trips < 1 || options.pairs < 1) {
        die("rounds, trips and pairs are at least 1");
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
    if (!options.json) {
        printf("sweepd %s, %s kernels, %ld CPUs\n", swp_version(), swp_isa(), sysconf(_SC_NPROCESSORS_ONLN));
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
    printf("%s", options.json ? "\n]\n" : "");
    for (int i = 0; i < CONTENDERS; i++) {
        close_contender(&contenders[i]);
    }
    rmdir(folder);
    return 0;
}
