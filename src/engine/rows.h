/* A sweep's results: a row is one combo over one window, a column one of its eight numbers. */
#ifndef SWP_ENGINE_ROWS_H
#define SWP_ENGINE_ROWS_H

#include "kernel/hma_cross.h"

/* Bits of a set of columns; the numbers are the wire's. */
enum {
    SWP__ROW_PNL = 1,
    SWP__ROW_TRADES = 2,
    SWP__ROW_FIRST_BAR = 4,
    SWP__ROW_OPEN_SIDE = 8,
    SWP__ROW_OPEN_ENTRY_BAR = 16,
    SWP__ROW_OPEN_ENTRY = 32,
    SWP__ROW_OPEN_LAST = 64,
    SWP__ROW_OPEN_PNL = 128,
    SWP__ROW_ALL = 255,
};

/* The columns of a set, one behind the other in the order of their bits, in memory of columns x rows x 8 bytes. */
swp_sweep_result swp__rows_over(void *memory, uint64_t columns, uint64_t rows_count);

/* All rows zero. */
void swp__rows_clear(const swp_sweep_result *result, uint64_t rows_count);

/* The one NaN that leaves the engine. */
double swp__canonical(double value);

/* The last close of the slice that is a number: what an open trade is valued at. */
double swp__last_number(const swp__slice *slice);

/* The window's warm says where the slice begins in the series; `last` matters for an open trade only. */
void swp__row_write(const swp_sweep_result *result, uint64_t row, const swp__trade_state *state, const swp_window *window,
                    double last);

#endif
