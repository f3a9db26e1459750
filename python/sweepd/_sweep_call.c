/* Client.sweep: one sweep, from Python's arrays into Python's arrays. */
#include "_core.h"
#include "_interrupt.h"

#include <string.h>

enum {
    RESULTS_COUNT = 8,
    FINISHED = RESULTS_COUNT,
    WINDOWS,
    LISTS, /* the grid's: one of rows, six axes or two of triples */
    LISTS_MAX = SWP_PARAMS_COUNT,
    BUFFERS_COUNT = LISTS + LISTS_MAX
};

typedef struct sweep_call {
    Py_buffer buffers[BUFFERS_COUNT];
    Py_ssize_t lists_count;
    int form, entry, kernel;
    unsigned long long combos_count;
    unsigned threads, timeout_ms;
    swp_sweep_request request;
    swp_sweep_result result;
    swp_cancel cancel;
    PyObject *progress; /* borrowed; NULL: none */
    bool raised;        /* an exception is set: a signal handler's or progress's */
} sweep_call;

/* ---- while it runs ---- */

/* Lets Python's signal handlers run: not only SIGINT's may raise. */
static void progress(void *context, uint64_t combos_done, uint64_t combos_count)
{
    sweep_call *call = context;
    PyGILState_STATE gil = PyGILState_Ensure();
    if (!call->raised && PyErr_CheckSignals() != 0) {
        call->raised = true;
    }
    if (!call->raised && call->progress != NULL) {
        PyObject *answer =
            PyObject_CallFunction(call->progress, "KK", (unsigned long long)combos_done, (unsigned long long)combos_count);
        call->raised = answer == NULL;
        Py_XDECREF(answer);
    }
    if (call->raised) {
        swp_cancel_request(&call->cancel);
    }
    PyGILState_Release(gil);
}

static PyObject *run(swp__py_client *self, swp__py_series *series, sweep_call *call)
{
    bool in_main_thread = swp__py_in_main_thread();
    call->request.cancel = &call->cancel;
    call->request.progress_context = call;
    call->request.progress = in_main_thread || call->progress != NULL ? progress : NULL;
    swp__py_watch watch;
    swp_error error;
    swp_status status;
    if (in_main_thread) {
        swp__py_watch_begin(&watch, &call->cancel);
    }
    Py_BEGIN_ALLOW_THREADS status =
        swp_client_sweep(self->client, series->series, &call->request, &call->result, call->timeout_ms, &error);
    Py_END_ALLOW_THREADS if (in_main_thread)
    {
        swp__py_watch_end(&watch);
    }
    if (call->raised || PyErr_CheckSignals() != 0) {
        return NULL;
    }
    return status == SWP_OK ? Py_NewRef(Py_None) : swp__py_raise(&error);
}

/* ---- arguments ---- */

static bool take_buffers(PyObject *tuple, Py_ssize_t most, int flags, Py_buffer *buffers)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    if (count > most) {
        PyErr_Format(PyExc_ValueError, "%zd arrays, expected at most %zd", count, most);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (PyObject_GetBuffer(PyTuple_GetItem(tuple, i), &buffers[i], flags) != 0) {
            return false;
        }
    }
    return true;
}

static uint64_t items_count(const Py_buffer *buffer, size_t item_size)
{
    return (uint64_t)buffer->len / item_size;
}

static bool plan_grid(sweep_call *call)
{
    const Py_buffer *lists = &call->buffers[LISTS];
    static const Py_ssize_t lists_expected[] = {[SWP_GRID_ROWS] = 1, [SWP_GRID_AXES] = SWP_PARAMS_COUNT, [SWP_GRID_PAIRS] = 2};
    if (call->form < SWP_GRID_ROWS || call->form > SWP_GRID_PAIRS || call->lists_count != lists_expected[call->form]) {
        PyErr_Format(PyExc_ValueError, "form %d with %zd lists", call->form, call->lists_count);
        return false;
    }
    swp_grid *grid = &call->request.grid;
    *grid = (swp_grid){.form = (swp_grid_form)call->form, .combos_count = call->combos_count};
    if (grid->form == SWP_GRID_ROWS) {
        grid->rows = swp__py_items(&lists[0], "params", call->combos_count, sizeof(swp_params));
    } else if (grid->form == SWP_GRID_PAIRS) {
        const size_t triple = SWP_PARAMS_COUNT / 2 * sizeof(int64_t);
        grid->hma = lists[0].buf;
        grid->hma_count = items_count(&lists[0], triple);
        grid->hma3 = lists[1].buf;
        grid->hma3_count = items_count(&lists[1], triple);
    } else {
        for (size_t i = 0; i < SWP_PARAMS_COUNT; i++) {
            grid->axes[i] = lists[i].buf;
            grid->axis_counts[i] = items_count(&lists[i], sizeof(int64_t));
        }
    }
    return !PyErr_Occurred();
}

static bool plan_result(sweep_call *call)
{
    static const char *const names[RESULTS_COUNT] = {"pnl",        "trades",    "first_bar", "open_side", "open_entry_bar",
                                                     "open_entry", "open_last", "open_pnl"};
    const swp_sweep_request *request = &call->request;
    uint64_t rows, windows = request->windows_count > 0 ? request->windows_count : 1;
    if (__builtin_mul_overflow(windows, call->combos_count, &rows)) {
        PyErr_SetString(PyExc_OverflowError, "windows x combos");
        return false;
    }
    void *arrays[RESULTS_COUNT];
    for (size_t i = 0; i < RESULTS_COUNT; i++) {
        arrays[i] = swp__py_items(&call->buffers[i], names[i], rows, sizeof(int64_t));
    }
    call->result = (swp_sweep_result){
        .pnl = arrays[0],
        .trades = arrays[1],
        .first_bar = arrays[2],
        .open_side = arrays[3],
        .open_entry_bar = arrays[4],
        .open_entry = arrays[5],
        .open_last = arrays[6],
        .open_pnl = arrays[7],
        .finished = swp__py_items(&call->buffers[FINISHED], "finished", rows, 1),
    };
    return !PyErr_Occurred();
}

static bool plan(sweep_call *call)
{
    const Py_buffer *windows = &call->buffers[WINDOWS];
    call->request.entry = (swp_entry)call->entry;
    call->request.kernel = (swp_kernel)call->kernel;
    call->request.max_threads = call->threads;
    call->request.windows = windows->len > 0 ? windows->buf : NULL;
    call->request.windows_count = items_count(windows, sizeof(swp_window));
    return plan_grid(call) && plan_result(call);
}

const char swp__py_sweep_doc[] =
    "sweep(series, form, lists, combos_count, windows, results, finished, fee, entry, kernel, threads, timeout_ms,\n"
    "      progress) -> None\n\n"
    "lists: of int64, as the form says; windows: uint64[w, 3], empty for the whole series; results: eight arrays of\n"
    "[max(w, 1), combos_count]; finished: uint8 of the same shape, set to 0 before; progress: callable or None.\n"
    "When it raises, rows with finished = 1 are whole.";

PyObject *swp__py_sweep(PyObject *object, PyObject *args)
{
    swp__py_client *self = (swp__py_client *)object;
    swp__py_series *series;
    sweep_call call = {0};
    Py_buffer *b = call.buffers;
    PyObject *result = NULL, *lists, *results, *progress_or_none;
    if (PyArg_ParseTuple(args, "O!iO!Ky*O!w*diiIIO:sweep", swp__py_series_type, &series, &call.form, &PyTuple_Type, &lists,
                         &call.combos_count, &b[WINDOWS], &PyTuple_Type, &results, &b[FINISHED], &call.request.fee, &call.entry,
                         &call.kernel, &call.threads, &call.timeout_ms, &progress_or_none) &&
        take_buffers(lists, LISTS_MAX, PyBUF_SIMPLE, &b[LISTS]) && take_buffers(results, RESULTS_COUNT, PyBUF_WRITABLE, b)) {
        call.lists_count = PyTuple_Size(lists);
        call.progress = progress_or_none != Py_None ? progress_or_none : NULL;
        if (plan(&call) && swp__py_begin(self, series)) {
            result = run(self, series, &call);
            swp__py_end(self, series);
        }
    }
    swp__py_release(b, BUFFERS_COUNT);
    return result;
}
