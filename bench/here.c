/* The study's sweep in this process, from C: what bench/python.py compares its own with, turn by turn.
 *
 * usage: here CLOSES RESULTS    both raw: reads a line a turn, sweeps 80 combos over CLOSES into eight arrays, prints microseconds;
 *                               RESULTS gets pnl and trades of the first turn */
#include <stdio.h>
#include <stdlib.h>
#include "base/host.h"
#include "swp/engine.h"

enum { COMBOS = 80, BARS_MAX = 1 << 20 };

static double closes[BARS_MAX];
static swp_params rows[COMBOS];
static struct {
    double pnl[COMBOS];
    int64_t trades[COMBOS];
} found;
static struct {
    int64_t first_bar[COMBOS], open_side[COMBOS], open_entry_bar[COMBOS];
    double open_entry[COMBOS], open_last[COMBOS], open_pnl[COMBOS];
    uint8_t finished[COMBOS];
} more;

static void check(swp_status status, const swp_error *error)
{
    if (status != SWP_OK) {
        fprintf(stderr, "here: %s\n", error->message);
        exit(1);
    }
}

static uint64_t read_closes(const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t count = file != NULL ? fread(closes, sizeof *closes, BARS_MAX, file) : 0;
    if (file != NULL) {
        fclose(file);
    }
    return count;
}

static void make_rows(void)
{
    swp_error error;
    for (int i = 0; i < COMBOS; i++) {
        double length = 6.0 + 194.0 * i / (COMBOS - 1);
        check(swp_params_from_length((int64_t)(length + 0.5), &rows[i], &error), &error); /* no tie among these */
    }
}

static double sweep_us(swp_engine *engine, const swp_series *series)
{
    swp_error error;
    swp_sweep_request request = {.grid = {.combos_count = COMBOS, .rows = &rows[0].half}, .fee = 0.09};
    swp_sweep_result result = {.pnl = found.pnl,
                               .trades = found.trades,
                               .first_bar = more.first_bar,
                               .open_side = more.open_side,
                               .open_entry_bar = more.open_entry_bar,
                               .open_entry = more.open_entry,
                               .open_last = more.open_last,
                               .open_pnl = more.open_pnl,
                               .finished = more.finished};
    uint64_t begun = swp__now_ns(&swp__system_clock);
    check(swp_sweep(engine, series, &request, &result, &error), &error);
    return (double)(swp__now_ns(&swp__system_clock) - begun) * 1e-3;
}

static void write_found(const char *path)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(&found, sizeof found, 1, file) != 1 || fclose(file) != 0) {
        fprintf(stderr, "here: cannot write %s\n", path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    swp_error error;
    swp_engine *engine;
    swp_series *series;
    char line[8];
    uint64_t count = argc == 3 ? read_closes(argv[1]) : 0;
    make_rows();
    check(swp_engine_new(NULL, &engine, &error), &error);
    check(swp_series_new(engine, closes, count, 0, SWP_BORROW, &series, &error), &error);
    for (int turn = 0; fgets(line, sizeof line, stdin) != NULL; turn++) {
        double us = sweep_us(engine, series);
        if (turn == 0) {
            write_found(argv[2]);
        }
        printf("%.3f\n", us);
        fflush(stdout);
    }
    swp_series_free(series);
    swp_engine_free(engine);
    return 0;
}
