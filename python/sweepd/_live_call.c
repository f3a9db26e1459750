/* Live: a live session of a client. */
#include "_core.h"

#include <string.h>

/* One thread's at a time; it keeps its client object alive, though not open. Guarded by the GIL. */
typedef struct py_live {
    PyObject_HEAD swp__py_client *owner;
    swp_client_live *live; /* NULL: closed; gone with its client, whose being open is checked first */
    bool busy;
} py_live;

static PyTypeObject *live_type;

static bool begin(py_live *self)
{
    if (self->busy) {
        PyErr_SetString(PyExc_RuntimeError, "the live session is in use by another thread: it is one thread's at a time");
        return false;
    }
    if (!swp__py_begin(self->owner, NULL)) {
        return false;
    }
    if (self->live == NULL) {
        swp__py_end(self->owner, NULL);
        PyErr_SetString(PyExc_ValueError, "the live session has been closed");
        return false;
    }
    self->busy = true;
    return true;
}

static void end(py_live *self)
{
    self->busy = false;
    swp__py_end(self->owner, NULL);
}

static PyObject *wrap(swp__py_client *owner, swp_client_live *live)
{
    py_live *wrapped = PyObject_New(py_live, live_type);
    if (wrapped == NULL) {
        (void)swp_client_live_close(live, 0, NULL);
        return NULL;
    }
    wrapped->owner = (swp__py_client *)Py_NewRef((PyObject *)owner);
    wrapped->live = live;
    wrapped->busy = false;
    return (PyObject *)wrapped;
}

/* ---- made by a client ---- */

const char swp__py_live_open_doc[] = "live_open(warm_up or None, params, fee, entry, allow, states, timeout_ms) -> Live\n\n"
                                     "params: int64[n, 6]; states: int64[n, 5], filled; entry and pnl are float64 bits.";

PyObject *swp__py_live_open(PyObject *object, PyObject *args)
{
    swp__py_client *self = (swp__py_client *)object;
    Py_buffer b[2] = {{0}};
    PyObject *warm_up, *result = NULL;
    double fee;
    unsigned entry, allow, timeout_ms;
    if (!PyArg_ParseTuple(args, "Oy*dIIw*I:live_open", &warm_up, &b[0], &fee, &entry, &allow, &b[1], &timeout_ms)) {
        return NULL;
    }
    swp__py_series *series = warm_up != Py_None ? (swp__py_series *)warm_up : NULL;
    const swp_live_request request = {.params = b[0].buf,
                                      .combos_count = (uint64_t)b[0].len / sizeof(swp_params),
                                      .fee = fee,
                                      .entry = (swp_entry)entry,
                                      .allow = allow};
    swp_live_state *states = swp__py_items(&b[1], "states", request.combos_count, sizeof *states);
    if (series != NULL && !PyObject_TypeCheck(warm_up, swp__py_series_type)) {
        PyErr_SetString(PyExc_TypeError, "warm_up is no Series");
    } else if (states != NULL && swp__py_begin(self, series)) {
        swp_client_live *live = NULL;
        swp_error error;
        swp_status status;
        Py_BEGIN_ALLOW_THREADS status = swp_client_live_open(self->client, series != NULL ? series->series : NULL, &request,
                                                             timeout_ms, &live, states, &error);
        Py_END_ALLOW_THREADS result = status == SWP_OK ? wrap(self, live) : swp__py_raise(&error);
        swp__py_end(self, series);
    }
    swp__py_release(b, 2);
    return result;
}

const char swp__py_live_restore_doc[] = "live_restore(snapshot, timeout_ms) -> (Live, combos)";

PyObject *swp__py_live_restore(PyObject *object, PyObject *args)
{
    swp__py_client *self = (swp__py_client *)object;
    Py_buffer bytes = {0};
    unsigned timeout_ms;
    PyObject *result = NULL;
    if (!PyArg_ParseTuple(args, "y*I:live_restore", &bytes, &timeout_ms)) {
        return NULL;
    }
    if (swp__py_begin(self, NULL)) {
        swp_client_live *live = NULL;
        swp_error error;
        swp_status status;
        Py_BEGIN_ALLOW_THREADS status =
            swp_client_live_restore(self->client, bytes.len > 0 ? bytes.buf : "", (size_t)bytes.len, timeout_ms, &live, &error);
        Py_END_ALLOW_THREADS if (status == SWP_OK)
        {
            unsigned long long combos = swp_client_live_combos_count(live);
            PyObject *wrapped = wrap(self, live);
            result = wrapped != NULL ? Py_BuildValue("NK", wrapped, combos) : NULL;
        }
        else
        {
            swp__py_raise(&error);
        }
        swp__py_end(self, NULL);
    }
    PyBuffer_Release(&bytes);
    return result;
}

/* ---- pushing ---- */

static swp_status push(py_live *self, const double *close, uint64_t count, bool peeks, unsigned timeout_ms,
                       swp_live_state *states, swp_error *error)
{
    uint64_t expected = swp_client_live_bars_count(self->live);
    return peeks ? swp_client_live_peek(self->live, close, count, timeout_ms, states, NULL, error)
                 : swp_client_live_push(self->live, expected, close, count, timeout_ms, states, NULL, error);
}

PyDoc_STRVAR(push_one_doc, "push_one(close, peeks, timeout_ms) -> (bars, position, entry, pnl, trades)\n\nOf one combo.");

static PyObject *live_push_one(PyObject *object, PyObject *args)
{
    py_live *self = (py_live *)object;
    double close;
    int peeks;
    unsigned timeout_ms;
    if (!PyArg_ParseTuple(args, "dpI:push_one", &close, &peeks, &timeout_ms) || !begin(self)) {
        return NULL;
    }
    swp_live_state state;
    swp_error error;
    swp_status status = SWP_OK;
    bool is_one = swp_client_live_combos_count(self->live) == 1;
    if (is_one) {
        Py_BEGIN_ALLOW_THREADS status = push(self, &close, 1, peeks != 0, timeout_ms, &state, &error);
        Py_END_ALLOW_THREADS
    }
    end(self);
    if (!is_one) {
        PyErr_SetString(PyExc_ValueError, "push_one is for one combo");
        return NULL;
    }
    return status == SWP_OK ? Py_BuildValue("LLddL", (long long)state.bars_seen, (long long)state.position, state.entry,
                                            state.pnl, (long long)state.trades)
                            : swp__py_raise(&error);
}

PyDoc_STRVAR(push_doc, "push(close, peeks, states, timeout_ms) -> None\n\n"
                       "close: float64[bars], none: asks for the states; states: int64[n, 5], filled.");

static PyObject *live_push(PyObject *object, PyObject *args)
{
    py_live *self = (py_live *)object;
    Py_buffer b[2] = {{0}};
    PyObject *result = NULL;
    int peeks;
    unsigned timeout_ms;
    if (!PyArg_ParseTuple(args, "y*pw*I:push", &b[0], &peeks, &b[1], &timeout_ms)) {
        return NULL;
    }
    if (begin(self)) {
        uint64_t bars = (uint64_t)b[0].len / sizeof(double);
        swp_live_state *states = swp__py_items(&b[1], "states", swp_client_live_combos_count(self->live), sizeof *states);
        if (states != NULL) {
            swp_error error;
            swp_status status;
            Py_BEGIN_ALLOW_THREADS status = push(self, b[0].buf, bars, peeks != 0, timeout_ms, states, &error);
            Py_END_ALLOW_THREADS result = status == SWP_OK ? Py_NewRef(Py_None) : swp__py_raise(&error);
        }
        end(self);
    }
    swp__py_release(b, 2);
    return result;
}

PyDoc_STRVAR(snapshot_doc, "snapshot(timeout_ms) -> bytes");

static PyObject *live_snapshot(PyObject *object, PyObject *args)
{
    py_live *self = (py_live *)object;
    unsigned timeout_ms;
    if (!PyArg_ParseTuple(args, "I:snapshot", &timeout_ms) || !begin(self)) {
        return NULL;
    }
    void *bytes = NULL;
    size_t size = 0;
    swp_error error;
    swp_status status;
    Py_BEGIN_ALLOW_THREADS status = swp_client_live_snapshot(self->live, timeout_ms, &bytes, &size, &error);
    Py_END_ALLOW_THREADS PyObject *result =
        status == SWP_OK ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size) : swp__py_raise(&error);
    swp_client_snapshot_free(self->owner->client, bytes);
    end(self);
    return result;
}

PyDoc_STRVAR(live_close_doc, "close(timeout_ms) -> None\n\nTwice is allowed.");

static PyObject *live_close(PyObject *object, PyObject *args)
{
    py_live *self = (py_live *)object;
    unsigned timeout_ms;
    if (!PyArg_ParseTuple(args, "I:close", &timeout_ms)) {
        return NULL;
    }
    if (self->live == NULL || self->owner->client == NULL || self->owner->closing) {
        self->live = NULL;
        Py_RETURN_NONE;
    }
    if (!begin(self)) {
        return NULL;
    }
    swp_client_live *live = self->live;
    swp_error error;
    swp_status status;
    self->live = NULL;
    Py_BEGIN_ALLOW_THREADS status = swp_client_live_close(live, timeout_ms, &error);
    Py_END_ALLOW_THREADS end(self);
    return status == SWP_OK ? Py_NewRef(Py_None) : swp__py_raise(&error);
}

/* A session that was not closed goes with its client. */
static void live_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    Py_DECREF((PyObject *)((py_live *)object)->owner);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyMethodDef live_methods[] = {
    {"push_one", live_push_one, METH_VARARGS, push_one_doc},
    {"push", live_push, METH_VARARGS, push_doc},
    {"snapshot", live_snapshot, METH_VARARGS, snapshot_doc},
    {"close", live_close, METH_VARARGS, live_close_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot live_slots[] = {
    {Py_tp_doc, "A live session of a Client."},
    {Py_tp_dealloc, SLOT(live_dealloc)},
    {Py_tp_methods, live_methods},
    {0, NULL},
};

static PyType_Spec live_spec = {
    .name = "sweepd._core.Live",
    .basicsize = sizeof(py_live),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = live_slots,
};

bool swp__py_add_live_type(PyObject *module)
{
    live_type = (PyTypeObject *)PyType_FromSpec(&live_spec);
    return live_type != NULL && PyModule_AddObjectRef(module, "Live", (PyObject *)live_type) == 0;
}
