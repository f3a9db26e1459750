/* What a live push takes. One measurement a run, as JSON; bench/live.py runs them in turn and prints the table.
 *
 *     live push URL|- LENGTH COUNT         a loop of pushes of one bar, one combo; "-": swp_live_push, no client
 *     live pace URL HZ SECONDS SWEEPS      pushes at that rate (0: as fast as they are answered), latency percentiles; with
 *                                          SWEEPS 1 another client keeps a 10,000-combo sweep running on the engine
 *     live restore URL COMBOS COUNT        a snapshot of that many combos, restored */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/host.h"
#include "swp/client.h"

static uint64_t now_ns(void)
{
    return swp__now_ns(&swp__system_clock);
}

static void must(swp_status status, const swp_error *error)
{
    if (status != SWP_OK) {
        fprintf(stderr, "live: %s\n", error->message);
        exit(1);
    }
}

/* A walk without libm's help. */
static void fill(double *close, size_t count)
{
    uint64_t state = 42;
    double price = 100.0;
    for (size_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        price *= 1.0 + ((double)(state >> 11) / 9007199254740992.0 - 0.5) * 0.002;
        close[i] = price;
    }
}

static void fill_rows(int64_t *rows, uint64_t count, int64_t length)
{
    swp_error error;
    for (uint64_t i = 0; i < count; i++) {
        must(swp_params_from_length(length + (int64_t)i, (swp_params *)(void *)(rows + 6 * i), &error), &error);
    }
}

static swp_client *open_client(const char *url)
{
    swp_client *client;
    swp_error error;
    must(swp_client_open(url, &(swp_client_options){.threads = 0}, &client, &error), &error);
    return client;
}

static swp_client_live *open_live(swp_client *client, const int64_t *rows, uint64_t count)
{
    swp_client_live *live;
    swp_error error;
    swp_live_state *states = malloc(count * sizeof *states);
    const swp_live_request request = {.params = rows, .combos_count = count, .fee = 0.09};
    must(swp_client_live_open(client, NULL, &request, 0, &live, states, &error), &error);
    free(states);
    return live;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double at_us(const uint64_t *sorted, size_t count, double share)
{
    size_t i = (size_t)(share * (double)count);
    return (double)sorted[i < count ? i : count - 1] * 1e-3;
}

/* ---- push ---- */

static void bench_push(const char *url, int64_t length, size_t count)
{
    double *close = malloc(count * sizeof *close);
    int64_t row[6];
    swp_error error;
    swp_live_state state = {0};
    fill(close, count);
    fill_rows(row, 1, length);
    uint64_t begun;
    if (strcmp(url, "-") == 0) {
        swp_engine *engine;
        swp_live *live;
        const swp_live_request request = {.params = row, .combos_count = 1, .fee = 0.09};
        must(swp_engine_new(NULL, &engine, &error), &error);
        must(swp_live_new(engine, &request, NULL, &live, &error), &error);
        begun = now_ns();
        for (size_t i = 0; i < count; i++) {
            must(swp_live_push(live, i, &close[i], 1, &state, NULL, &error), &error);
        }
        begun = now_ns() - begun;
        swp_live_free(live);
        swp_engine_free(engine);
    } else {
        swp_client *client = open_client(url);
        swp_client_live *live = open_live(client, row, 1);
        begun = now_ns();
        for (size_t i = 0; i < count; i++) {
            must(swp_client_live_push(live, i, &close[i], 1, 0, &state, NULL, &error), &error);
        }
        begun = now_ns() - begun;
        swp_client_close(client);
    }
    printf("{\"us\": %.4f, \"trades\": %" PRId64 ", \"pnl\": %.17g}\n", (double)begun * 1e-3 / (double)count, state.trades,
           state.pnl);
    free(close);
}

/* ---- pace ---- */

enum { SWEEP_BARS = 150000, SWEEP_COMBOS = 10000 };

typedef struct load {
    swp_client *client;
    swp_cancel cancel;
    int stop;
    uint64_t sweeps;
} load;

static void *keep_sweeping(void *context)
{
    load *l = context;
    double *close = malloc(SWEEP_BARS * sizeof *close), *pnl = malloc(SWEEP_COMBOS * sizeof *pnl);
    int64_t *rows = malloc(SWEEP_COMBOS * 6 * sizeof *rows);
    swp_client_series *series;
    swp_error error;
    fill(close, SWEEP_BARS);
    for (uint64_t i = 0; i < SWEEP_COMBOS; i++) {
        fill_rows(rows + 6 * i, 1, 6 + (int64_t)(i % 195));
        rows[6 * i + 5] += (int64_t)(i / 195); /* no two alike */
    }
    const swp_columns columns = {.bars_count = SWEEP_BARS, .close = close};
    must(swp_client_load(l->client, &columns, 0, SWP_KEEP_NOTHING, 0, &series, &error), &error);
    const swp_sweep_request request = {.grid = {.combos_count = SWEEP_COMBOS, .rows = rows}, .fee = 0.09, .cancel = &l->cancel};
    const swp_sweep_result result = {.pnl = pnl};
    while (__atomic_load_n(&l->stop, __ATOMIC_RELAXED) == 0) {
        swp_status status = swp_client_sweep(l->client, series, &request, &result, SWP_NO_TIMEOUT, &error);
        if (status != SWP_CANCELLED) {
            must(status, &error);
        }
        l->sweeps++;
    }
    free(close);
    free(pnl);
    free(rows);
    return NULL;
}

static void sleep_until(uint64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) {
    }
}

static void bench_pace(const char *url, uint64_t hz, double seconds, bool sweeps)
{
    enum { MOST = 20000000 };
    int64_t row[6];
    swp_error error;
    swp_client *client = open_client(url);
    load l = {.client = sweeps ? open_client(url) : NULL};
    pthread_t thread;
    fill_rows(row, 1, 20);
    swp_client_live *live = open_live(client, row, 1);
    if (sweeps) {
        pthread_create(&thread, NULL, keep_sweeping, &l);
        sleep_until(now_ns() + 1000000000); /* it is under way */
    }
    uint64_t *ns = malloc(MOST * sizeof *ns), count = 0, begun = now_ns(), end = begun + (uint64_t)(seconds * 1e9);
    double close[1000];
    swp_live_state state;
    fill(close, 1000);
    while (now_ns() < end && count < MOST) {
        if (hz > 0) {
            sleep_until(begun + count * (1000000000 / hz));
        }
        uint64_t sent = now_ns();
        must(swp_client_live_push(live, count, &close[count % 1000], 1, 0, &state, NULL, &error), &error);
        ns[count++] = now_ns() - sent;
    }
    if (sweeps) {
        __atomic_store_n(&l.stop, 1, __ATOMIC_RELAXED);
        swp_cancel_request(&l.cancel);
        pthread_join(thread, NULL);
        swp_client_close(l.client);
    }
    qsort(ns, count, sizeof *ns, compare);
    printf("{\"count\": %" PRIu64 ", \"p50\": %.2f, \"p99\": %.2f, \"p99.9\": %.2f, \"max\": %.2f}\n", count,
           at_us(ns, count, 0.5), at_us(ns, count, 0.99), at_us(ns, count, 0.999), at_us(ns, count, 1.0));
    free(ns);
    swp_client_close(client);
}

/* ---- restore ---- */

static void bench_restore(const char *url, uint64_t combos, size_t count)
{
    enum { WARM = 1000 };
    double close[WARM];
    int64_t *rows = malloc(combos * 6 * sizeof *rows);
    uint64_t *ns = malloc(count * sizeof *ns);
    swp_live_state *states = malloc(combos * sizeof *states);
    swp_error error;
    void *bytes;
    size_t size;
    fill(close, WARM);
    fill_rows(rows, combos, 6);
    swp_client *client = open_client(url);
    swp_client_live *live = open_live(client, rows, combos);
    must(swp_client_live_push(live, 0, close, WARM, 0, states, NULL, &error), &error);
    must(swp_client_live_snapshot(live, 0, &bytes, &size, &error), &error);
    for (size_t i = 0; i < count; i++) {
        swp_client_live *restored;
        uint64_t begun = now_ns();
        must(swp_client_live_restore(client, bytes, size, 0, &restored, &error), &error);
        ns[i] = now_ns() - begun;
        must(swp_client_live_close(restored, 0, &error), &error);
    }
    qsort(ns, count, sizeof *ns, compare);
    printf("{\"bytes\": %zu, \"p50\": %.1f, \"min\": %.1f, \"max\": %.1f}\n", size, at_us(ns, count, 0.5),
           at_us(ns, count, 0.0), at_us(ns, count, 1.0));
    swp_client_snapshot_free(client, bytes);
    swp_client_close(client);
    free(rows);
    free(ns);
    free(states);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "push") == 0) {
        bench_push(argv[2], atoll(argv[3]), (size_t)atoll(argv[4]));
    } else if (argc == 6 && strcmp(argv[1], "pace") == 0) {
        bench_pace(argv[2], (uint64_t)atoll(argv[3]), atof(argv[4]), atoi(argv[5]) != 0);
    } else if (argc == 5 && strcmp(argv[1], "restore") == 0) {
        bench_restore(argv[2], (uint64_t)atoll(argv[3]), (size_t)atoll(argv[4]));
    } else {
        fputs("usage: see the head of bench/live.c\n", stderr);
        return 2;
    }
    return 0;
}
