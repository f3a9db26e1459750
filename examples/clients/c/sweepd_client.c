/* A client of the sweepd engine in C, over libsweepd (swp/client.h):
 *
 *     cc -std=c17 sweepd_client.c $(pkg-config --cflags --libs sweepd) -o sweepd_client
 *     sweepd_client URL FILE.f64 LENGTHS [FINGERPRINT]     what it prints: docs/clients.md */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <swp/client.h>

enum { COMBOS_MAX = 4096, HEX_SIZE = 33 };

static _Noreturn void fail(const swp_error *error)
{
    if (error->at == SWP_AT_NONE) {
        fprintf(stderr, "%s: %s\n", swp_status_name(error->status), error->message);
    } else {
        fprintf(stderr, "%s at %" PRIu64 ": %s\n", swp_status_name(error->status), error->at, error->message);
    }
    exit(1);
}

static void must(swp_status status, const swp_error *error)
{
    if (status != SWP_OK) {
        fail(error);
    }
}

static _Noreturn void fail_with(swp_status status, const char *what, const char *text)
{
    swp_error error = {.status = status, .at = SWP_AT_NONE};
    snprintf(error.message, sizeof error.message, "%s: %s", what, text);
    fail(&error);
}

/* Little-endian doubles, as they lie in memory here. */
static double *read_closes(const char *path, uint64_t *bars_count)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fail_with(SWP_FILE, path, "cannot be read");
    }
    size_t size = (size_t)ftell(file);
    double *closes = malloc(size + 1);
    rewind(file);
    if (closes == NULL || size % sizeof *closes != 0 || fread(closes, 1, size, file) != size) {
        fail_with(SWP_FILE, path, "not a whole number of doubles");
    }
    fclose(file);
    *bars_count = size / sizeof *closes;
    return closes;
}

/* "6,9,13" as combos. */
static uint64_t make_combos(char *list, int64_t *lengths, swp_params *combos)
{
    uint64_t count = 0;
    for (char *word = strtok(list, ","); word != NULL && count < COMBOS_MAX; word = strtok(NULL, ",")) {
        lengths[count] = strtoll(word, NULL, 10);
        swp_error error;
        must(swp_params_from_length(lengths[count], &combos[count], &error), &error);
        count++;
    }
    return count;
}

static void print_hex(const swp_series_info *info, char text[HEX_SIZE])
{
    for (int i = 0; i < 16; i++) {
        snprintf(text + 2 * i, 3, "%02x", info->fingerprint[i]);
    }
}

/* The series if the engine holds it still, by the fingerprint that was noted; else it is sent. */
static swp_client_series *find_or_load(swp_client *client, const swp_columns *columns, const char *wanted, const char **how)
{
    swp_client_series *series;
    swp_error error;
    char found[HEX_SIZE];
    *how = "found";
    if (wanted != NULL) {
        swp_status status = swp_client_find(client, columns, 0, SWP_KEEP_NOTHING, 0, &series, &error);
        if (status != SWP_NOT_FOUND) {
            must(status, &error);
            swp_series_info info = swp_client_series_info(series);
            print_hex(&info, found);
            if (strcmp(found, wanted) == 0) {
                return series;
            }
            swp_client_drop(client, series, 0, NULL);
        }
    }
    *how = "loaded";
    must(swp_client_load(client, columns, 0, SWP_KEEP_NOTHING, 0, &series, &error), &error);
    must(swp_client_hash(client, series, 0, &error), &error);
    return series;
}

/* The system's program has what C's library lacks. */
static void print_sha256(const double *pnl, const int64_t *trades, uint64_t count)
{
    printf("sha256 ");
    fflush(stdout);
    FILE *hash = popen("sha256sum | cut -c1-64", "w");
    if (hash == NULL) {
        fail_with(SWP_FILE, "sha256sum", "cannot be started");
    }
    fwrite(pnl, sizeof *pnl, count, hash);
    fwrite(trades, sizeof *trades, count, hash);
    pclose(hash);
}

int main(int words_count, char **words)
{
    if (words_count < 4) {
        fputs("usage: sweepd_client URL FILE.f64 LENGTHS [FINGERPRINT]\n", stderr);
        return 2;
    }
    static int64_t lengths[COMBOS_MAX], trades[COMBOS_MAX];
    static swp_params combos[COMBOS_MAX];
    static double pnl[COMBOS_MAX];
    swp_columns columns = {0};
    double *closes = read_closes(words[2], &columns.bars_count);
    columns.close = closes;
    uint64_t count = make_combos(words[3], lengths, combos);

    const char *token = getenv("SWEEPD_TOKEN"), *timeout = getenv("SWEEPD_TIMEOUT_MS");
    swp_client_options options = {.timeout_ms = timeout != NULL ? (uint32_t)strtoul(timeout, NULL, 10) : 30000,
                                  .token = token,
                                  .token_size = token != NULL ? strlen(token) : 0,
                                  .name = "c"};
    swp_error error;
    swp_client *client;
    must(swp_client_open(words[1], &options, &client, &error), &error);
    const char *how;
    swp_client_series *series = find_or_load(client, &columns, words_count > 4 ? words[4] : NULL, &how);
    const swp_sweep_request request = {
        .grid = {.form = SWP_GRID_ROWS, .combos_count = count, .rows = (const int64_t *)combos},
        .fee = 0.09,
    };
    const swp_sweep_result result = {.pnl = pnl, .trades = trades};
    must(swp_client_sweep(client, series, &request, &result, 0, &error), &error);

    char fingerprint[HEX_SIZE];
    swp_series_info info = swp_client_series_info(series);
    print_hex(&info, fingerprint);
    print_sha256(pnl, trades, count);
    printf("series %s %" PRIu64 " %s\n", fingerprint, info.bars_count, how);
    for (uint64_t i = 0; i < count && i < 3; i++) {
        printf("%" PRId64 " %.2f %" PRId64 "\n", lengths[i], pnl[i], trades[i]);
    }
    swp_client_drop(client, series, 0, NULL);
    swp_client_close(client);
    free(closes);
    return 0;
}
