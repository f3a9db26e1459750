/* tests/golden/hma_cross.txt: what the reference gives on a small series, for every kernel. Its second line says how the file
 * is laid out. */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "swp/engine.h"

enum { BARS_MAX = 4096 };

typedef struct golden_row {
    swp_params combo;
    double fee;
    swp_entry entry;
    double pnl, open_entry, open_last, open_pnl;
    int64_t trades, first_bar, open_side, open_entry_bar;
} golden_row;

static double parse_number(char **text)
{
    return strtod(*text, text);
}

static int64_t parse_integer(char **text)
{
    return strtoll(*text, text, 10);
}

static golden_row parse_row(char *line)
{
    golden_row row = {0};
    row.entry = strncmp(line, "cross", 5) == 0 ? SWP_ENTRY_CROSS : SWP_ENTRY_FIRST;
    char *text = line + 5;
    row.fee = parse_number(&text);
    int64_t *param = (int64_t *)&row.combo;
    for (int i = 0; i < SWP_PARAMS_COUNT; i++) {
        param[i] = parse_integer(&text);
    }
    text = strchr(text, '=');
    assert_non_null(text);
    text++;
    row.pnl = parse_number(&text);
    row.trades = parse_integer(&text);
    row.first_bar = parse_integer(&text);
    row.open_side = parse_integer(&text);
    row.open_entry_bar = parse_integer(&text);
    row.open_entry = parse_number(&text);
    row.open_last = parse_number(&text);
    row.open_pnl = parse_number(&text);
    return row;
}

static void check_row(swp_engine *engine, const swp_series *series, const golden_row *expected, swp_kernel kernel)
{
    golden_row found = {0};
    const swp_sweep_request request = {
        .grid = {.form = SWP_GRID_ROWS, .combos_count = 1, .rows = (const int64_t *)&expected->combo},
        .fee = expected->fee,
        .entry = expected->entry,
        .kernel = kernel,
    };
    const swp_sweep_result result = {
        .pnl = &found.pnl,
        .trades = &found.trades,
        .first_bar = &found.first_bar,
        .open_side = &found.open_side,
        .open_entry_bar = &found.open_entry_bar,
        .open_entry = &found.open_entry,
        .open_last = &found.open_last,
        .open_pnl = &found.open_pnl,
    };
    assert_int_equal(swp_sweep(engine, series, &request, &result, NULL), SWP_OK);
    assert_bits_equal(found.pnl, expected->pnl);
    assert_int_equal(found.trades, expected->trades);
    assert_int_equal(found.first_bar, expected->first_bar);
    assert_int_equal(found.open_side, expected->open_side);
    assert_int_equal(found.open_entry_bar, expected->open_entry_bar);
    assert_bits_equal(found.open_entry, expected->open_entry);
    assert_bits_equal(found.open_last, expected->open_last);
    assert_bits_equal(found.open_pnl, expected->open_pnl);
}

static char *next_line(FILE *file)
{
    static char line[1024];
    assert_non_null(fgets(line, sizeof line, file));
    return line;
}

static size_t read_series(FILE *file, double *close)
{
    size_t bars_count;
    next_line(file);
    next_line(file);
    assert_int_equal(sscanf(next_line(file), "bars %zu", &bars_count), 1);
    assert_in_range(bars_count, 1, BARS_MAX);
    for (size_t i = 0; i < bars_count; i++) {
        close[i] = strtod(next_line(file), NULL);
    }
    return bars_count;
}

TEST(every_kernel_gives_the_golden_numbers)
{
    static double close[BARS_MAX];
    FILE *file = fopen(SWP_TESTS_DIR "/golden/hma_cross.txt", "r");
    assert_non_null(file);
    size_t bars_count = read_series(file, close);
    swp_engine *engine;
    swp_series *series;
    assert_int_equal(swp_engine_new(NULL, &engine, NULL), SWP_OK);
    assert_int_equal(swp_series_new(engine, close, bars_count, SWP_ALLOW_ALL, SWP_BORROW, &series, NULL), SWP_OK);
    size_t rows_count;
    assert_int_equal(sscanf(next_line(file), "combos %zu", &rows_count), 1);
    assert_true(rows_count >= 1);
    for (size_t i = 0; i < rows_count; i++) {
        golden_row expected = parse_row(next_line(file));
        for (int kernel = 0; swp_kernel_name((swp_kernel)kernel) != NULL; kernel++) {
            check_row(engine, series, &expected, (swp_kernel)kernel);
        }
    }
    swp_series_free(series);
    swp_engine_free(engine);
    fclose(file);
}
