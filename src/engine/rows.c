#include "engine/rows.h"

#include <math.h>
#include <string.h>

enum { COLUMNS_COUNT = 8, CELL_BYTES = 8 };

swp_sweep_result swp__rows_over(void *memory, uint64_t columns, uint64_t rows_count)
{
    void *at[COLUMNS_COUNT] = {NULL};
    char *next = memory;
    for (size_t i = 0; i < COLUMNS_COUNT; i++) {
        if ((columns >> i & 1) != 0) {
            at[i] = next;
            next += rows_count * CELL_BYTES;
        }
    }
    return (swp_sweep_result){.pnl = at[0],
                              .trades = at[1],
                              .first_bar = at[2],
                              .open_side = at[3],
                              .open_entry_bar = at[4],
                              .open_entry = at[5],
                              .open_last = at[6],
                              .open_pnl = at[7]};
}

static void clear_column(void *column, uint64_t rows_count, size_t size)
{
    if (column != NULL) {
        memset(column, 0, rows_count * size);
    }
}

void swp__rows_clear(const swp_sweep_result *r, uint64_t rows_count)
{
    clear_column(r->pnl, rows_count, CELL_BYTES);
    clear_column(r->trades, rows_count, CELL_BYTES);
    clear_column(r->first_bar, rows_count, CELL_BYTES);
    clear_column(r->open_side, rows_count, CELL_BYTES);
    clear_column(r->open_entry_bar, rows_count, CELL_BYTES);
    clear_column(r->open_entry, rows_count, CELL_BYTES);
    clear_column(r->open_last, rows_count, CELL_BYTES);
    clear_column(r->open_pnl, rows_count, CELL_BYTES);
    clear_column(r->finished, rows_count, sizeof *r->finished);
}

double swp__last_number(const swp__slice *slice)
{
    int64_t bar = slice->bars_count - 1;
    while (bar > 0 && isnan(slice->close[bar])) {
        bar--;
    }
    return slice->close[bar];
}

double swp__canonical(double value)
{
    return isnan(value) ? (double)NAN : value;
}

static int64_t absolute(int64_t bar, const swp_window *window)
{
    return bar < 0 ? -1 : bar + (int64_t)window->warm;
}

static double open_pnl(const swp__trade_state *s, double last)
{
    return swp__canonical((double)s->position * (last - s->entry) / s->entry * 100.0);
}

void swp__row_write(const swp_sweep_result *r, uint64_t row, const swp__trade_state *s, const swp_window *window, double last)
{
    bool open = s->position != 0;
    if (r->pnl != NULL) {
        r->pnl[row] = swp__canonical(s->pnl);
    }
    if (r->trades != NULL) {
        r->trades[row] = s->trades;
    }
    if (r->first_bar != NULL) {
        r->first_bar[row] = absolute(s->first_bar, window);
    }
    if (r->open_side != NULL) {
        r->open_side[row] = s->position;
    }
    if (r->open_entry_bar != NULL) {
        r->open_entry_bar[row] = absolute(s->entry_bar, window);
    }
    if (r->open_entry != NULL) {
        r->open_entry[row] = s->entry;
    }
    if (r->open_last != NULL) {
        r->open_last[row] = open ? last : 0.0;
    }
    if (r->open_pnl != NULL) {
        r->open_pnl[row] = open ? open_pnl(s, last) : 0.0;
    }
    if (r->finished != NULL) {
        __atomic_store_n(&r->finished[row], 1, __ATOMIC_RELEASE);
    }
}
