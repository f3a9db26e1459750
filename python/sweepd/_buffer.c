/* SeriesBuffer: memory that an array lives in and that an engine takes over without a copy. */
#include "_core.h"

static PyTypeObject *buffer_type;

typedef struct series_buffer {
    PyObject_HEAD swp_series_buffer *buffer;
    Py_ssize_t size;
    bool loading; /* a thread is in load_buffer with it; guarded by the GIL */
} series_buffer;

static int get_buffer(PyObject *object, Py_buffer *view, int flags)
{
    series_buffer *self = (series_buffer *)object;
    return PyBuffer_FillInfo(view, object, swp_series_buffer_close(self->buffer), self->size, false, flags);
}

static void buffer_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    swp_series_buffer_free(((series_buffer *)object)->buffer);
    PyObject_Free(object);
    Py_DECREF(type);
}

const char swp__py_series_buffer_doc[] = "series_buffer(bars) -> SeriesBuffer\n\nbars x 8 bytes, all zero. Raises OutOfMemory.";

PyObject *swp__py_series_buffer(PyObject *module, PyObject *args)
{
    (void)module;
    unsigned long long bars;
    if (!PyArg_ParseTuple(args, "K:series_buffer", &bars)) {
        return NULL;
    }
    series_buffer *made = PyObject_New(series_buffer, buffer_type);
    swp_error error;
    if (made == NULL) {
        return NULL;
    }
    *made = (series_buffer){.ob_base = made->ob_base, .size = (Py_ssize_t)(bars * sizeof(double))};
    if (bars > PY_SSIZE_T_MAX / sizeof(double)) {
        error = (swp_error){SWP_NO_MEMORY, SWP_AT_NONE, 0, 0, "series buffer: more bars than memory can hold"};
    } else if (swp_series_buffer_new(bars, &made->buffer, &error) == SWP_OK) {
        return (PyObject *)made;
    }
    Py_DECREF((PyObject *)made);
    return swp__py_raise(&error);
}

const char swp__py_load_buffer_doc[] = "load_buffer(buffer, allow, timeout_ms) -> Series | None\n\n"
                                       "None: another thread is loading it.";

PyObject *swp__py_load_buffer(PyObject *object, PyObject *args)
{
    swp__py_client *self = (swp__py_client *)object;
    series_buffer *buffer;
    unsigned allow, timeout_ms;
    if (!PyArg_ParseTuple(args, "O!II:load_buffer", buffer_type, &buffer, &allow, &timeout_ms)) {
        return NULL;
    }
    if (buffer->loading) {
        Py_RETURN_NONE;
    }
    if (!swp__py_begin(self, NULL)) {
        return NULL;
    }
    swp_client_series *series = NULL;
    swp_error error;
    swp_status status;
    buffer->loading = true;
    Py_INCREF((PyObject *)buffer);
    Py_BEGIN_ALLOW_THREADS status = swp_client_load_buffer(self->client, buffer->buffer, allow, timeout_ms, &series, &error);
    Py_END_ALLOW_THREADS buffer->loading = false;
    Py_DECREF((PyObject *)buffer);
    PyObject *wrapped = status == SWP_OK ? swp__py_wrap_series(self, series, NULL) : swp__py_raise(&error);
    swp__py_end(self, NULL);
    return wrapped;
}

bool swp__py_add_buffer_type(PyObject *module)
{
    static PyType_Slot slots[] = {{Py_tp_dealloc, SLOT(buffer_dealloc)}, {Py_bf_getbuffer, SLOT(get_buffer)}, {0, NULL}};
    static PyType_Spec spec = {.name = "sweepd._core.SeriesBuffer",
                               .basicsize = sizeof(series_buffer),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .slots = slots};
    buffer_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return buffer_type != NULL && PyModule_AddObjectRef(module, "SeriesBuffer", (PyObject *)buffer_type) == 0;
}
