/* The Python package's door into libsweepd: the module, its constants, its exceptions, and what needs no engine. */
#include "_core.h"

#include "swp/version.h"

static PyObject *errors_by_status; /* _errors.BY_STATUS */
static PyObject *base_error;       /* _errors.SweepdError */

PyObject *swp__py_raise(const swp_error *error)
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

void *swp__py_items(const Py_buffer *buffer, const char *name, uint64_t count, size_t item_size)
{
    uint64_t size;
    if (__builtin_mul_overflow(count, (uint64_t)item_size, &size) || (uint64_t)buffer->len != size) {
        PyErr_Format(PyExc_ValueError, "%s: %zd bytes, expected %llu items of %zu bytes", name, buffer->len,
                     (unsigned long long)count, item_size);
        return NULL;
    }
    return buffer->buf;
}

void swp__py_release(Py_buffer *buffers, size_t count)
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
    swp_params *params = swp__py_items(&buffers[1], "params", count, sizeof(swp_params));
    if (params == NULL) {
        goto done;
    }
    for (uint64_t i = 0; i < count; i++) {
        swp_error error;
        if (swp_params_from_length(lengths[i], &params[i], &error) != SWP_OK) {
            error.at = i;
            swp__py_raise(&error);
            goto done;
        }
    }
    result = Py_NewRef(Py_None);
done:
    swp__py_release(buffers, 2);
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
    int64_t *bars = swp__py_items(&buffers[1], "bars", count, sizeof *bars);
    if (bars == NULL) {
        goto done;
    }
    for (uint64_t i = 0; i < count; i++) {
        bars[i] = swp_params_bars_needed(&params[i]);
    }
    result = Py_NewRef(Py_None);
done:
    swp__py_release(buffers, 2);
    return result;
}

/* ---- the module ---- */

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
           PyModule_AddIntConstant(module, "GRID_ROWS", SWP_GRID_ROWS) == 0 &&
           PyModule_AddIntConstant(module, "GRID_AXES", SWP_GRID_AXES) == 0 &&
           PyModule_AddIntConstant(module, "GRID_PAIRS", SWP_GRID_PAIRS) == 0 &&
           PyModule_AddIntConstant(module, "NO_TIMEOUT", (long)SWP_NO_TIMEOUT) == 0 &&
           PyModule_AddIntConstant(module, "NO_SPIN", (long)SWP_NO_SPIN) == 0 &&
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
    {"read_bars", swp__py_read_bars, METH_VARARGS, swp__py_read_bars_doc},
    {"inspect_bars", swp__py_inspect_bars, METH_VARARGS, swp__py_inspect_bars_doc},
    {"series_buffer", swp__py_series_buffer, METH_VARARGS, swp__py_series_buffer_doc},
    {"arrow_array", swp__py_arrow_array, METH_VARARGS, swp__py_arrow_array_doc},
    {"arrow_stream", swp__py_arrow_stream, METH_O, swp__py_arrow_stream_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT, .m_name = "sweepd._core", .m_doc = "libsweepd.", .m_size = -1, .m_methods = methods,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&module_def);
    if (module != NULL &&
        !(load_errors() && add_constants(module) && swp__py_add_client_types(module) && swp__py_add_live_type(module) &&
          swp__py_add_memory_type(module) && swp__py_add_buffer_type(module))) {
        Py_CLEAR(module);
    }
    return module;
}
