/* Client.trades: every trade of one combo, as rows. */
#include "_core.h"

/* A row; numpy's side of it is TRADE in _trades.py. */
typedef struct trade {
    int64_t entry_bar, exit_bar, side;
    double entry, exit, pnl;
} trade;

static PyObject *rows_of(const swp_trades *t)
{
    PyObject *rows = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(t->count * sizeof(trade)));
    trade *row = rows != NULL ? (trade *)(void *)PyByteArray_AsString(rows) : NULL;
    for (uint64_t i = 0; row != NULL && i < t->count; i++) {
        row[i] = (trade){t->entry_bar[i], t->exit_bar[i], t->side[i], t->entry[i], t->exit[i], t->pnl[i]};
    }
    return rows;
}

const char swp__py_trades_doc[] = "trades(series, params, windows, fee, entry, kernel, timeout_ms) -> bytearray\n\n"
                                  "params: int64[1, 6]; windows: uint64[0 or 1, 3]; the result: rows of TRADE.";

PyObject *swp__py_trades(PyObject *object, PyObject *args)
{
    swp__py_client *self = (swp__py_client *)object;
    swp__py_series *series;
    Py_buffer b[2] = {{0}};
    swp_sweep_request request = {0};
    int entry, kernel;
    unsigned timeout_ms;
    if (!PyArg_ParseTuple(args, "O!y*y*diiI:trades", swp__py_series_type, &series, &b[0], &b[1], &request.fee, &entry, &kernel,
                          &timeout_ms)) {
        return NULL;
    }
    PyObject *result = NULL;
    request.grid =
        (swp_grid){.form = SWP_GRID_ROWS, .combos_count = 1, .rows = swp__py_items(&b[0], "params", 1, sizeof(swp_params))};
    request.entry = (swp_entry)entry;
    request.kernel = (swp_kernel)kernel;
    request.windows_count = (uint64_t)b[1].len / sizeof(swp_window);
    request.windows = request.windows_count > 0 ? b[1].buf : NULL;
    if (request.grid.rows != NULL && swp__py_begin(self, series)) {
        swp_trades trades = {0};
        swp_error error;
        swp_status status;
        Py_BEGIN_ALLOW_THREADS status = swp_client_trades(self->client, series->series, &request, timeout_ms, &trades, &error);
        Py_END_ALLOW_THREADS result = status == SWP_OK ? rows_of(&trades) : swp__py_raise(&error);
        swp_trades_free(self->client, &trades);
        swp__py_end(self, series);
    }
    swp__py_release(b, 2);
    return result;
}
