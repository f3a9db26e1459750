/* The Python package's door into libsweepd: buffers in, buffers out, nothing computed here. The arrays come ready from
 * _inputs.py (C-contiguous, native float64 or int64); what the library refuses is raised as the exceptions of _errors.py.
 *
 * One engine serves the process. It is made by the first sweep; a forked child makes its own, since threads do not
 * survive a fork (the parent's is left alone there). Only the stable ABI of Python 3.11 is used. */
#include <Python.h>
#include <stdbool.h>
#include "swp/engine.h"
#include "swp/version.h"

static PyObject *errors_by_status; /* _errors.BY_STATUS */
static PyObject *base_error;       /* _errors.SweepdError */
static swp_engine *shared_engine;  /* guarded by the GIL */

/* Raises `error` as the exception of its status; always NULL. */
static PyObject *raise_error(const swp_error *error)
{
    PyObject *number = PyLong_FromLong((long)error->status);
    PyObject *type = number != NULL ? PyDict_GetItemWithError(errors_by_status, number) : NULL;
    Py_XDECREF(number);
    if (type == NULL) {
        if (PyErr_Occurred()) {
            return NULL;
        }
        type = base_error;
    }
    PyObject *exception = error->at == SWP_AT_NONE
                              ? PyObject_CallFunction(type, "s", error->message)
                              : PyObject_CallFunction(type, "sK", error->message, (unsigned long long)error->at);
    if (exception != NULL) {
        PyErr_SetObject(type, exception);
        Py_DECREF(exception);
    }
    return NULL;
}

/* ---- buffers ---- */

/* An array of `count` items of `item_size` bytes; NULL with ValueError when its size is another. */
static void *buffer_items(const Py_buffer *buffer, const char *name, uint64_t count, size_t item_size)
{
    if ((uint64_t)buffer->len != count * item_size) {
        PyErr_Format(PyExc_ValueError, "%s: %zd bytes, expected %llu items of %zu bytes", name, buffer->len,
                     (unsigned long long)count, item_size);
        return NULL;
    }
    return buffer->buf;
}

static void release_all(Py_buffer *buffers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        PyBuffer_Release(&buffers[i]); /* does nothing for one that was never filled */
    }
}

/* ---- lengths to parameters ---- */

PyDoc_STRVAR(params_from_lengths_doc,
             "params_from_lengths(lengths, params) -> None\n\n"
             "Fills params, int64[n, 6], from lengths, int64[n]. Raises BadParam (at: index of the length).");

static PyObject *params_from_lengths(PyObject *module, PyObject *args)
{
    (void)module;
    Py_buffer buffers[2] = {{0}};
    PyObject *result = NULL;
    if (!PyArg_ParseTuple(args, "y*w*:params_from_lengths", &buffers[0], &buffers[1])) {
        goto done;
    }
    uint64_t count = (uint64_t)buffers[0].len / sizeof(int64_t);
    const int64_t *lengths = buffers[0].buf;
    swp_params *params = buffer_items(&buffers[1], "params", count, sizeof(swp_params));
    if (params == NULL) {
        goto done;
    }
    for (uint64_t i = 0; i < count; i++) {
        swp_error error;
        if (swp_params_from_length(lengths[i], &params[i], &error) != SWP_OK) {
            error.at = i;
            raise_error(&error);
            goto done;
        }
    }
    result = Py_NewRef(Py_None);
done:
    release_all(buffers, 2);
    return result;
}

PyDoc_STRVAR(bars_needed_doc, "bars_needed(params, bars) -> None\n\n"
                              "Fills bars, int64[n], with the bars that each row of params, int64[n, 6], needs.");

static PyObject *bars_needed(PyObject *module, PyObject *args)
{
    (void)module;
    Py_buffer buffers[2] = {{0}};
    PyObject *result = NULL;
    if (!PyArg_ParseTuple(args, "y*w*:bars_needed", &buffers[0], &buffers[1])) {
        goto done;
    }
    uint64_t count = (uint64_t)buffers[0].len / sizeof(swp_params);
    const swp_params *params = buffers[0].buf;
    int64_t *bars = buffer_items(&buffers[1], "bars", count, sizeof *bars);
    if (bars == NULL) {
        goto done;
    }
    for (uint64_t i = 0; i < count; i++) {
        bars[i] = swp_params_bars_needed(&params[i]);
    }
    result = Py_NewRef(Py_None);
done:
    release_all(buffers, 2);
    return result;
}

/* ---- a sweep ---- */

enum {
    CLOSE,
    PARAMS,
    PNL,
    TRADES,
    FIRST_BAR,
    OPEN_SIDE,
    OPEN_ENTRY_BAR,
    OPEN_ENTRY,
    OPEN_LAST,
    OPEN_PNL,
    BUFFERS_COUNT
};

typedef struct sweep_call {
    Py_buffer buffers[BUFFERS_COUNT];
    double fee;
    int entry, kernel;
    unsigned threads; /* 0: all the process may use */
    unsigned allow;
    swp_cancel cancel;
    bool interrupted; /* a Python exception is set: a signal handler raised */
} sweep_call;

/* Lets Python's signal handlers run: Ctrl+C ends a long sweep. */
static void progress(void *context, uint64_t combos_done, uint64_t combos_count)
{
    (void)combos_done;
    (void)combos_count;
    sweep_call *call = context;
    PyGILState_STATE gil = PyGILState_Ensure();
    if (!call->interrupted && PyErr_CheckSignals() != 0) {
        call->interrupted = true;
        swp_cancel_request(&call->cancel);
    }
    PyGILState_Release(gil);
}

static bool plan_result(const sweep_call *call, uint64_t combos_count, swp_sweep_result *result)
{
    const Py_buffer *b = call->buffers;
    *result = (swp_sweep_result){
        .pnl = buffer_items(&b[PNL], "pnl", combos_count, sizeof *result->pnl),
        .trades = buffer_items(&b[TRADES], "trades", combos_count, sizeof *result->trades),
        .first_bar = buffer_items(&b[FIRST_BAR], "first_bar", combos_count, sizeof *result->first_bar),
        .open_side = buffer_items(&b[OPEN_SIDE], "open_side", combos_count, sizeof *result->open_side),
        .open_entry_bar = buffer_items(&b[OPEN_ENTRY_BAR], "open_entry_bar", combos_count, sizeof *result->open_entry_bar),
        .open_entry = buffer_items(&b[OPEN_ENTRY], "open_entry", combos_count, sizeof *result->open_entry),
        .open_last = buffer_items(&b[OPEN_LAST], "open_last", combos_count, sizeof *result->open_last),
        .open_pnl = buffer_items(&b[OPEN_PNL], "open_pnl", combos_count, sizeof *result->open_pnl),
    };
    return !PyErr_Occurred();
}

/* Runs without the GIL. */
static swp_status run_sweep(swp_engine *engine, sweep_call *call, const swp_sweep_result *result, swp_error *error)
{
    const Py_buffer *close = &call->buffers[CLOSE];
    swp_series *series = NULL;
    swp_status status = swp_series_new(engine, close->buf, (uint64_t)close->len / sizeof(double), call->allow, SWP_BORROW,
                                       &series, error);
    if (status != SWP_OK) {
        return status;
    }
    const Py_buffer *params = &call->buffers[PARAMS];
    const swp_sweep_request request = {
        .grid = {.form = SWP_GRID_ROWS,
                 .combos_count = (uint64_t)params->len / sizeof(swp_params),
                 .rows = params->buf},
        .fee = call->fee,
        .entry = (swp_entry)call->entry,
        .kernel = (swp_kernel)call->kernel,
        .max_threads = call->threads,
        .progress = progress,
        .progress_context = call,
        .cancel = &call->cancel,
    };
    status = swp_sweep(engine, series, &request, result, error);
    swp_series_free(series);
    return status;
}

/* The process's engine; *own is set to one for this call only where more threads are asked for than that has. */
static swp_engine *engine_for(unsigned threads, swp_engine **own, swp_error *error)
{
    if (shared_engine == NULL && swp_engine_new(NULL, &shared_engine, error) != SWP_OK) {
        return NULL;
    }
    if (threads <= swp_engine_threads(shared_engine)) {
        return shared_engine;
    }
    return swp_engine_new(&(swp_engine_options){.threads = threads}, own, error) == SWP_OK ? *own : NULL;
}

static PyObject *sweep_checked(sweep_call *call)
{
    swp_sweep_result result;
    swp_engine *own = NULL;
    swp_error error;
    if (!plan_result(call, (uint64_t)call->buffers[PARAMS].len / sizeof(swp_params), &result)) {
        return NULL;
    }
    swp_engine *engine = engine_for(call->threads, &own, &error);
    if (engine == NULL) {
        return raise_error(&error);
    }
    swp_status status;
    Py_BEGIN_ALLOW_THREADS
    status = run_sweep(engine, call, &result, &error);
    swp_engine_free(own);
    Py_END_ALLOW_THREADS
    if (call->interrupted) {
        return NULL;
    }
    return status == SWP_OK ? Py_NewRef(Py_None) : raise_error(&error);
}

PyDoc_STRVAR(sweep_doc, "sweep(close, params, pnl, trades, first_bar, open_side, open_entry_bar, open_entry, open_last,\n"
                        "      open_pnl, fee, entry, kernel, threads, allow) -> None\n\n"
                        "Runs every row of params, int64[n, 6], over close, float64[bars], and fills the arrays, [n] each.");

static PyObject *sweep(PyObject *module, PyObject *args)
{
    (void)module;
    sweep_call call = {0};
    Py_buffer *b = call.buffers;
    PyObject *result = NULL;
    if (PyArg_ParseTuple(args, "y*y*w*w*w*w*w*w*w*w*diiII:sweep", &b[CLOSE], &b[PARAMS], &b[PNL], &b[TRADES],
                         &b[FIRST_BAR], &b[OPEN_SIDE], &b[OPEN_ENTRY_BAR], &b[OPEN_ENTRY], &b[OPEN_LAST], &b[OPEN_PNL],
                         &call.fee, &call.entry, &call.kernel, &call.threads, &call.allow)) {
        result = sweep_checked(&call);
    }
    release_all(b, BUFFERS_COUNT);
    return result;
}

/* ---- the module ---- */

PyDoc_STRVAR(forget_engine_doc, "forget_engine() -> None\n\nFor a forked child: the engine's threads are not in it.");

static PyObject *forget_engine(PyObject *module, PyObject *args)
{
    (void)module;
    (void)args;
    shared_engine = NULL;
    Py_RETURN_NONE;
}

/* ("auto", "strict", ...): the index is the number. */
static PyObject *kernel_names(void)
{
    PyObject *names = PyList_New(0);
    const char *name;
    for (int i = 0; names != NULL && (name = swp_kernel_name((swp_kernel)i)) != NULL; i++) {
        PyObject *text = PyUnicode_FromString(name);
        if (text == NULL || PyList_Append(names, text) != 0) {
            Py_CLEAR(names);
        }
        Py_XDECREF(text);
    }
    return names;
}

static bool add_constants(PyObject *module)
{
    PyObject *names = kernel_names();
    bool added = names != NULL && PyModule_AddObjectRef(module, "KERNELS", names) == 0;
    Py_XDECREF(names);
    return added && PyModule_AddStringConstant(module, "VERSION", swp_version()) == 0 &&
           PyModule_AddStringConstant(module, "COMPILER", swp_compiler()) == 0 &&
           PyModule_AddIntConstant(module, "ENTRY_FIRST", SWP_ENTRY_FIRST) == 0 &&
           PyModule_AddIntConstant(module, "ENTRY_CROSS", SWP_ENTRY_CROSS) == 0 &&
           PyModule_AddIntConstant(module, "ALLOW_NAN", SWP_ALLOW_NAN) == 0 &&
           PyModule_AddIntConstant(module, "ALLOW_INF", SWP_ALLOW_INF) == 0 &&
           PyModule_AddIntConstant(module, "ALLOW_NONPOSITIVE", SWP_ALLOW_NONPOSITIVE) == 0;
}

static bool load_errors(void)
{
    PyObject *errors = PyImport_ImportModule("sweepd._errors");
    if (errors == NULL) {
        return false;
    }
    errors_by_status = PyObject_GetAttrString(errors, "BY_STATUS");
    base_error = PyObject_GetAttrString(errors, "SweepdError");
    Py_DECREF(errors);
    return errors_by_status != NULL && base_error != NULL;
}

static PyMethodDef methods[] = {
    {"params_from_lengths", params_from_lengths, METH_VARARGS, params_from_lengths_doc},
    {"bars_needed", bars_needed, METH_VARARGS, bars_needed_doc},
    {"sweep", sweep, METH_VARARGS, sweep_doc},
    {"forget_engine", forget_engine, METH_NOARGS, forget_engine_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT, .m_name = "sweepd._core", .m_doc = "libsweepd, in this process.", .m_size = -1,
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&module_def);
    if (module != NULL && !(load_errors() && add_constants(module))) {
        Py_CLEAR(module);
    }
    return module;
}
