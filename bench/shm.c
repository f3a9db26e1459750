/* What shared memory costs, against the least it could cost on this machine: `make bench ONLY=shm` makes the tables.
 *
 * The floor is a bare ping-pong: two processes, two cache lines, 24 bytes written behind a counter and nothing else. It, our echo
 * through a daemon and the rest take turns, round after round, so that what the machine does meanwhile befalls them alike. A value
 * is a percentile of one round; ratios are taken within a round. Rows as bench/boundary.c prints them.
 *
 * usage: shm URL ROUNDS TRIPS [SLEEPING_URL]     of a daemon: shm:PATH; one that never spins
 *        shm load URL BYTES                      one load of a sealed memfd, as JSON: what each step takes */
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/host.h"
#include "client/internal.h"
#include "swp/client.h"
#include "transport/shm.h"

enum { ROUNDS_MAX = 100, TRIPS_MAX = 1000000, SIZES_COUNT = 4, PERCENTILES = 3 };

static const size_t sizes[SIZES_COUNT] = {8, 64, 1024, 1200000};
static const double shares[PERCENTILES] = {0.5, 0.99, 0.999};
static const char *const share_names[PERCENTILES] = {"p50", "p99", "p99.9"};

typedef struct figures {
    double us[PERCENTILES][ROUNDS_MAX];
} figures;

static uint64_t *trip_ns;
static int rounds, trips;

static void die(const char *what)
{
    fprintf(stderr, "shm: %s\n", what);
    exit(1);
}

static uint64_t now(void)
{
    return swp__now_ns(&swp__system_clock);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void take(figures *f, int round, int count)
{
    qsort(trip_ns, (size_t)count, sizeof *trip_ns, compare);
    for (int i = 0; i < PERCENTILES; i++) {
        f->us[i][round] = (double)trip_ns[(size_t)(shares[i] * count)] * 1e-3;
    }
}

static void tell(const char *table, const char *name, const char *what, const char *unit, double goal, const double *values)
{
    printf("{\"table\":\"%s\",\"name\":\"%s%s%s\",\"unit\":\"%s\",\"goal\":", table, name, what[0] != '\0' ? ", " : "", what,
           unit);
    printf(goal > 0 ? "%g" : "null", goal);
    for (int i = 0; i < rounds; i++) {
        printf("%s%.4f", i == 0 ? ",\"values\":[" : ",", values[i]);
    }
    puts("]}");
}

static void tell_all(const char *table, const char *name, const figures *f)
{
    for (int i = 0; i < PERCENTILES; i++) {
        tell(table, name, share_names[i], "us", 0, f->us[i]);
    }
}

static void tell_ratio(const char *table, const char *name, double goal, const figures *a, const figures *b)
{
    double ratios[ROUNDS_MAX];
    for (int i = 0; i < rounds; i++) {
        ratios[i] = a->us[0][i] / b->us[0][i];
    }
    tell(table, name, "p50", "x", goal, ratios);
}

static void pin(pid_t thread, int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    sched_setaffinity(thread, sizeof set, &set);
}

static void pin_anywhere(pid_t thread)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (size_t i = 0; i < (size_t)sysconf(_SC_NPROCESSORS_ONLN); i++) {
        CPU_SET(i, &set);
    }
    sched_setaffinity(thread, sizeof set, &set);
}

/* ---- the floor ---- */

typedef struct line {
    _Alignas(64) _Atomic uint64_t count;
    uint64_t words[3];
} line;

typedef struct pair {
    line there, back;
} pair;

static void pause_a_little(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void put(line *l, uint64_t count, const uint64_t words[3])
{
    memcpy(l->words, words, sizeof l->words);
    atomic_store_explicit(&l->count, count, memory_order_release);
}

static void get(line *l, uint64_t count, uint64_t words[3])
{
    while (atomic_load_explicit(&l->count, memory_order_acquire) != count) {
        pause_a_little();
    }
    memcpy(words, l->words, sizeof l->words);
}

static pair *open_floor(pid_t *process)
{
    pair *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        die("no memory");
    }
    *process = fork();
    if (*process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin(0, 1);
        raise(SIGSTOP);
        for (uint64_t count = 1;; count++) {
            uint64_t words[3];
            get(&p->there, count, words);
            put(&p->back, count, words);
        }
    }
    waitpid(*process, NULL, WUNTRACED);
    return p;
}

static void run_floor(pair *p, pid_t process, uint64_t *count, figures *f, int round)
{
    uint64_t words[3] = {1, 2, 3};
    kill(process, SIGCONT);
    pin(0, 0);
    for (int i = -1000; i < trips; i++) {
        uint64_t begun = now();
        put(&p->there, ++*count, words);
        get(&p->back, *count, words);
        if (i >= 0) {
            trip_ns[i] = now() - begun;
        }
    }
    kill(process, SIGSTOP);
    waitpid(process, NULL, WUNTRACED);
    pin_anywhere(0);
    take(f, round, trips);
}

/* ---- publish and poll in one process ---- */

static void run_publish(figures *f, int round)
{
    static line l;
    uint64_t words[3] = {1, 2, 3};
    for (int i = 0; i < trips; i++) {
        uint64_t begun = now(), count = l.count + 1;
        put(&l, count, words);
        get(&l, count, words);
        trip_ns[i] = now() - begun;
    }
    take(f, round, trips);
}

/* Two readings of the clock are in every trip. */
static void run_clock(figures *f, int round)
{
    for (int i = 0; i < trips; i++) {
        uint64_t begun = now();
        trip_ns[i] = now() - begun;
    }
    take(f, round, trips);
}

/* ---- ours ---- */

static swp_client *connect_to(const char *url, bool spins)
{
    swp_client *client;
    swp_error error;
    if (swp_client_open(url, &(swp_client_options){.spin_us = spins ? 0 : SWP_NO_SPIN}, &client, &error) != SWP_OK) {
        die(error.message);
    }
    return client;
}

static void run_echo(swp_client *client, size_t size, int count, figures *f, int round)
{
    static uint8_t bytes[1200000], reply[1200000];
    swp_error error;
    for (int i = -count / 20; i < count; i++) {
        bytes[0] = (uint8_t)i;
        uint64_t begun = now();
        if (swp_client_echo(client, bytes, size, reply, 0, &error) != SWP_OK) {
            die(error.message);
        }
        if (i >= 0) {
            trip_ns[i] = now() - begun;
        }
        if (reply[0] != bytes[0]) {
            die("another echo");
        }
    }
    take(f, round, count);
}

/* ---- loading by descriptor ---- */

static int run_load(const char *url, uint64_t size)
{
    swp_error error;
    swp_client *client = connect_to(url, true);
    uint64_t begun = now();
    int fd = swp__memfd_new("bench", size);
    double *close = fd >= 0 ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (close == MAP_FAILED) {
        die("no memory");
    }
    uint64_t made = now();
    for (uint64_t i = 0; i < size / sizeof *close; i++) {
        close[i] = 100.0 + (double)(i % 977);
    }
    uint64_t filled = now();
    munmap(close, size);
    int failure = fcntl(fd, F_ADD_SEALS, SWP__SERIES_SEALS);
    uint64_t sealed = now();
    swp_columns columns = {.bars_count = size / sizeof *close, .close = close};
    swp_client_series *series;
    swp_status status = swp__series_load_fd(client, fd, &columns, 0, SWP__NO_DEADLINE, &series, &error);
    uint64_t loaded = now();
    if (failure != 0 || status != SWP_OK) {
        die(failure != 0 ? "cannot be sealed" : error.message);
    }
    printf("{\"make\": %.1f, \"fill\": %.1f, \"seal\": %.1f, \"load\": %.1f}\n", (double)(made - begun) * 1e-3,
           (double)(filled - made) * 1e-3, (double)(sealed - filled) * 1e-3, (double)(loaded - sealed) * 1e-3);
    swp_client_close(client);
    return 0;
}

int main(int words_count, char **words)
{
    if (words_count == 4 && strcmp(words[1], "load") == 0) {
        return run_load(words[2], strtoull(words[3], NULL, 10));
    }
    static figures floor_f, publish, clock_f, echoes[SIZES_COUNT], sleeping;
    rounds = words_count > 3 ? atoi(words[2]) : 0;
    trips = words_count > 3 ? atoi(words[3]) : 0;
    if (rounds < 1 || rounds > ROUNDS_MAX || trips < 100 || trips > TRIPS_MAX) {
        die("usage: shm URL ROUNDS TRIPS [SLEEPING_URL]");
    }
    trip_ns = malloc((size_t)trips * sizeof *trip_ns);
    pid_t process = 0;
    uint64_t count = 0;
    bool has_two = sysconf(_SC_NPROCESSORS_ONLN) > 1;
    pair *p = has_two ? open_floor(&process) : NULL;
    swp_client *client = connect_to(words[1], true);
    swp_client *sleeper = words_count > 4 ? connect_to(words[4], false) : NULL;
    for (int round = 0; round < rounds; round++) {
        if (has_two) {
            run_floor(p, process, &count, &floor_f, round);
        }
        run_clock(&clock_f, round);
        run_publish(&publish, round);
        for (int i = 0; i < SIZES_COUNT; i++) {
            run_echo(client, sizes[i], sizes[i] > 10000 ? trips / 20 : trips, &echoes[i], round);
        }
        if (sleeper != NULL) {
            run_echo(sleeper, 8, trips / 20, &sleeping, round);
        }
    }
    const char *table = "A round trip between two processes";
    if (has_two) {
        tell_all(table, "floor: 24 bytes over moving lines", &floor_f);
    }
    const char *const names[SIZES_COUNT] = {"echo of 8 bytes", "echo of 64 bytes", "echo of 1 KB", "echo of 1.2 MB"};
    for (int i = 0; i < SIZES_COUNT; i++) {
        tell_all(table, names[i], &echoes[i]);
    }
    if (sleeper != NULL) {
        tell_all(table, "echo of 8 bytes, both sleep instead of spinning", &sleeping);
    }
    if (has_two) {
        tell_ratio(table, "echo of 8 bytes / floor", 1.3, &echoes[0], &floor_f);
        tell_ratio(table, "echo of 64 bytes / floor", 0, &echoes[1], &floor_f);
    }
    tell_all("In one process, which is no round trip", "publish 24 bytes and poll them, one thread", &publish);
    tell_all("In one process, which is no round trip", "two readings of the clock, which are in every figure", &clock_f);
    swp_client_close(client);
    swp_client_close(sleeper);
    if (has_two) {
        kill(process, SIGKILL);
        waitpid(process, NULL, 0);
    }
    return 0;
}
