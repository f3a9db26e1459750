/* For people: the best first, aligned, two decimals. A combo that was never valid for one bar stands last whatever it is
 * ranked by: its PnL of 0 says nothing. */
#include "cli/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/number.h"
#include "cli/arguments.h"

/* ---- ranking ---- */

static bool never_valid(const swp__report *report, uint64_t i)
{
    return report->columns->of.first_bar[i] < 0;
}

static int compare_reals(double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return isnan(a) - isnan(b);
    }
    return (a < b) - (a > b);
}

/* Negative: a stands before b. */
static int compare_combos(const void *a_pointer, const void *b_pointer, void *context)
{
    const swp__report *report = context;
    const swp_sweep_result *r = &report->columns->of;
    uint64_t a = *(const uint64_t *)a_pointer, b = *(const uint64_t *)b_pointer;
    int order = never_valid(report, a) - never_valid(report, b);
    if (order == 0) {
        order = report->rank == SWP__RANK_TRADES ? (r->trades[a] < r->trades[b]) - (r->trades[a] > r->trades[b])
                                                 : compare_reals(r->pnl[a], r->pnl[b]);
    }
    return order != 0 ? order : (a > b) - (a < b);
}

/* The finished combos, best first; NULL: no memory. */
static uint64_t *rank_combos(const swp__report *report)
{
    swp__report context = *report;
    uint64_t *ranked = malloc((report->finished_count + 1) * sizeof *ranked);
    uint64_t count = 0;
    for (uint64_t i = 0; ranked != NULL && i < report->columns->count; i++) {
        if (report->columns->of.finished[i]) {
            ranked[count++] = i;
        }
    }
    if (ranked != NULL) {
        qsort_r(ranked, count, sizeof *ranked, compare_combos, &context);
    }
    return ranked;
}

/* ---- cells ---- */

enum { CELL_SIZE = 64 };

typedef enum column { RANK, LENGTH, LENGTH3, HALF, FULL, SMOOTH, THIRD, MID, P, PNL, TRADES, OPEN, NOTE, COLUMNS_COUNT } column;

static const char *const headings[COLUMNS_COUNT] = {"rank", "length", "length3", "half",   "full", "smooth", "third",
                                                    "mid",  "p",      "pnl",     "trades", "open", ""};

static bool has_column(const swp__report *report, column c)
{
    return c == LENGTH ? report->combos->lengths.count > 0 : c == LENGTH3 ? report->combos->lengths3.count > 0 : true;
}

static void put_percent(double value, char *text, size_t size)
{
    if (fabs(value) < 1e12) {
        snprintf(text, size, "%.2f", value);
    } else if (isfinite(value)) {
        snprintf(text, size, "%.6g", value);
    } else {
        char word[SWP__NUMBER_SIZE];
        swp__number_format(value, word);
        snprintf(text, size, "%s", word);
    }
}

static void put_open(const swp_sweep_result *r, uint64_t i, char *text, size_t size)
{
    if (r->open_side[i] != 0) {
        size_t used = (size_t)snprintf(text, size, "%s ", r->open_side[i] > 0 ? "long" : "short");
        put_percent(r->open_pnl[i], text + used, size - used);
    }
}

static void put_note(const swp__report *report, uint64_t i, char *text, size_t size)
{
    swp_params p = swp_grid_at(&report->combos->grid, i);
    int64_t needed = swp_params_bars_needed(&p);
    if (needed > (int64_t)report->bars->bars_count) {
        snprintf(text, size, "needs %" PRId64 " bars, has %" PRIu64, needed, report->bars->bars_count);
    } else if (never_valid(report, i)) {
        snprintf(text, size, "a NaN in every window");
    }
}

static void put_cell(const swp__report *report, column c, uint64_t rank, uint64_t i, char text[CELL_SIZE])
{
    const swp_sweep_result *r = &report->columns->of;
    swp_params p = swp_grid_at(&report->combos->grid, i);
    const int64_t integers[COLUMNS_COUNT] = {(int64_t)rank,
                                             swp__combos_length(report->combos, i),
                                             swp__combos_length3(report->combos, i),
                                             p.half,
                                             p.full,
                                             p.smooth,
                                             p.third,
                                             p.mid,
                                             p.p,
                                             0,
                                             r->trades[i],
                                             0,
                                             0};
    text[0] = '\0';
    if (c == PNL) {
        put_percent(r->pnl[i], text, CELL_SIZE);
    } else if (c == OPEN) {
        put_open(r, i, text, CELL_SIZE);
    } else if (c == NOTE) {
        put_note(report, i, text, CELL_SIZE);
    } else {
        snprintf(text, CELL_SIZE, "%" PRId64, integers[c]);
    }
}

/* ---- lines ---- */

static void measure(const swp__report *report, const uint64_t *ranked, uint64_t rows, int widths[COLUMNS_COUNT])
{
    char text[CELL_SIZE];
    for (column c = 0; c < COLUMNS_COUNT; c++) {
        widths[c] = (int)strlen(headings[c]);
        for (uint64_t row = 0; row < rows; row++) {
            put_cell(report, c, row + 1, ranked[row], text);
            widths[c] = (int)strlen(text) > widths[c] ? (int)strlen(text) : widths[c];
        }
    }
}

/* `cells` to the right of their columns, but for the note, which ends the line. */
static void print_line(FILE *out, const swp__report *report, const int widths[COLUMNS_COUNT],
                       char cells[COLUMNS_COUNT][CELL_SIZE])
{
    for (column c = 0; c < NOTE; c++) {
        if (has_column(report, c)) {
            fprintf(out, "%s%*s", c == 0 ? "" : "  ", widths[c], cells[c]);
        }
    }
    fprintf(out, "%s%s\n", cells[NOTE][0] != '\0' ? "  " : "", cells[NOTE]);
}

static void print_rows(FILE *out, const swp__report *report, const uint64_t *ranked, uint64_t rows)
{
    char cells[COLUMNS_COUNT][CELL_SIZE];
    int widths[COLUMNS_COUNT];
    measure(report, ranked, rows, widths);
    for (column c = 0; c < COLUMNS_COUNT; c++) {
        snprintf(cells[c], CELL_SIZE, "%s", headings[c]);
    }
    print_line(out, report, widths, cells);
    for (uint64_t row = 0; row < rows; row++) {
        for (column c = 0; c < COLUMNS_COUNT; c++) {
            put_cell(report, c, row + 1, ranked[row], cells[c]);
        }
        print_line(out, report, widths, cells);
    }
}

static void print_heading(FILE *out, const swp__report *report)
{
    char fee[SWP__NUMBER_SIZE];
    int64_t trades = 0;
    swp__number_format(report->fee, fee);
    for (uint64_t i = 0; i < report->columns->count; i++) {
        trades += report->columns->of.trades[i]; /* 0 where not finished */
    }
    fprintf(out, "%s\n", report->bars->summary);
    if (report->bars->nan_count > 0) {
        fprintf(out, "%" PRIu64 " closes are NaN\n", report->bars->nan_count);
    }
    if (swp__report_partial(report)) {
        fprintf(out, "PARTIAL: interrupted with %" PRIu64 " of %" PRIu64 " combos finished\n", report->finished_count,
                report->columns->count);
    }
    fprintf(out,
            "hma-cross, fee %s, entry %s: %" PRIu64 " combos, %" PRId64 " trades in all; %.3f s on %" PRIu32
            " thread%s, kernel %s\n\n",
            fee, report->entry == SWP_ENTRY_CROSS ? "cross" : "first", report->finished_count, trades, report->seconds,
            report->threads, report->threads == 1 ? "" : "s", swp_kernel_name(report->kernel));
}

static void print_footing(FILE *out, const swp__report *report, uint64_t rows)
{
    uint64_t short_count = 0;
    int64_t most_needed = 0;
    for (uint64_t i = 0; i < report->columns->count; i++) {
        swp_params p = swp_grid_at(&report->combos->grid, i);
        int64_t needed = swp_params_bars_needed(&p);
        short_count += needed > (int64_t)report->bars->bars_count ? 1 : 0;
        most_needed = needed > most_needed ? needed : most_needed;
    }
    if (rows < report->finished_count) {
        fprintf(out, "... %" PRIu64 " more; --top N shows N, --format csv or json has all\n", report->finished_count - rows);
    }
    if (short_count > 0) {
        fprintf(out,
                "%" PRIu64 " of %" PRIu64 " combos are too short of bars and never trade: the longest needs %" PRId64
                " bars, has %" PRIu64 "\n",
                short_count, report->columns->count, most_needed, report->bars->bars_count);
    }
}

swp_status swp__report_table(FILE *out, const swp__report *report, swp_error *error)
{
    uint64_t *ranked = rank_combos(report);
    if (ranked == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory to rank %" PRIu64 " combos", report->finished_count);
    }
    uint64_t rows = report->top < report->finished_count ? report->top : report->finished_count;
    print_heading(out, report);
    print_rows(out, report, ranked, rows);
    print_footing(out, report, rows);
    free(ranked);
    return SWP_OK;
}
