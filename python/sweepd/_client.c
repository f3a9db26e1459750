/* Client and Series: an engine behind a boundary, and what it holds for us. The GIL is released around every call of the
 * library, so any number of threads may be inside one client. */
#include "_core.h"

#include <string.h>

PyTypeObject *swp__py_series_type;

/* ---- calls that overlap ---- */

static void close_client(swp__py_client *self)
{
    swp_client *client = self->client;
    self->client = NULL;
    Py_BEGIN_ALLOW_THREADS swp_client_close(client);
    Py_END_ALLOW_THREADS
}

static void drop_series(swp__py_series *self)
{
    swp_client_series *series = self->series;
    self->series = NULL;
    Py_BEGIN_ALLOW_THREADS(void) swp_client_drop(self->owner->client, series, self->drop_timeout_ms, NULL);
    Py_END_ALLOW_THREADS PyBuffer_Release(&self->kept);
}

static bool check_open(const swp__py_client *self)
{
    if (self->client != NULL && !self->closing) {
        return true;
    }
    static const swp_error closed = {.status = SWP_CLOSED, .at = SWP_AT_NONE, .message = "this client has been closed"};
    swp__py_raise(&closed);
    return false;
}

bool swp__py_begin(swp__py_client *self, swp__py_series *series)
{
    if (!check_open(self)) {
        return false;
    }
    if (series != NULL && series->owner != self) {
        PyErr_SetString(PyExc_ValueError, "the series is another client's: load or open it with this one");
        return false;
    }
    if (series != NULL && (series->series == NULL || series->dropping)) {
        PyErr_SetString(PyExc_ValueError, "the series has been dropped");
        return false;
    }
    self->calls++;
    if (series != NULL) {
        series->calls++;
    }
    return true;
}

void swp__py_end(swp__py_client *self, swp__py_series *series)
{
    if (series != NULL && --series->calls == 0 && series->dropping) {
        drop_series(series);
    }
    if (--self->calls == 0 && self->closing) {
        close_client(self);
    }
}

/* ---- opening, closing ---- */

static PyObject *client_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"url", "timeout_ms", "token", "threads", "name", "spin_us", NULL};
    const char *url, *name;
    Py_buffer token = {0};
    swp_client_options options = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "sIy*IsI:Client", names, &url, &options.timeout_ms, &token,
                                     &options.threads, &name, &options.spin_us)) {
        return NULL;
    }
    options.token = token.len > 0 ? token.buf : NULL;
    options.token_size = (size_t)token.len;
    options.name = name;
    swp_client *client = NULL;
    swp_error error;
    swp_status status;
    Py_BEGIN_ALLOW_THREADS status = swp_client_open(url, &options, &client, &error);
    Py_END_ALLOW_THREADS PyBuffer_Release(&token);
    if (status != SWP_OK) {
        return swp__py_raise(&error);
    }
    swp__py_client *self = (swp__py_client *)PyType_GenericAlloc(type, 0);
    if (self == NULL) {
        swp_client_close(client);
        return NULL;
    }
    self->client = client;
    return (PyObject *)self;
}

PyDoc_STRVAR(close_doc,
             "close() -> None\n\nWhen other threads are inside calls, the last of them closes it. Twice is allowed.");

static PyObject *client_close(PyObject *object, PyObject *ignored)
{
    (void)ignored;
    swp__py_client *self = (swp__py_client *)object;
    self->closing = true;
    if (self->client != NULL && self->calls == 0) {
        close_client(self);
    }
    Py_RETURN_NONE;
}

static void free_object(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_Free(object);
    Py_DECREF(type);
}

static void client_dealloc(PyObject *object)
{
    swp__py_client *self = (swp__py_client *)object;
    if (self->client != NULL) {
        close_client(self);
    }
    free_object(object);
}

PyDoc_STRVAR(server_doc, "server() -> (max_memory, max_combos, threads, numbers_id, version)");

static PyObject *client_server(PyObject *object, PyObject *ignored)
{
    (void)ignored;
    swp__py_client *self = (swp__py_client *)object;
    if (!check_open(self)) {
        return NULL;
    }
    swp_server_info info = swp_client_server(self->client);
    return Py_BuildValue("KKIy#s", (unsigned long long)info.max_memory, (unsigned long long)info.max_combos, info.threads,
                         info.numbers_id, (Py_ssize_t)sizeof info.numbers_id, info.version);
}

/* ---- series ---- */

PyObject *swp__py_wrap_series(swp__py_client *self, swp_client_series *series, Py_buffer *kept)
{
    swp__py_series *wrapped = PyObject_New(swp__py_series, swp__py_series_type);
    if (wrapped == NULL) {
        (void)swp_client_drop(self->client, series, 0, NULL);
        return NULL;
    }
    wrapped->owner = (swp__py_client *)Py_NewRef((PyObject *)self);
    wrapped->series = series;
    wrapped->calls = 0;
    wrapped->dropping = false;
    wrapped->drop_timeout_ms = 0;
    wrapped->kept = (Py_buffer){0};
    if (kept != NULL) {
        wrapped->kept = *kept;
        *kept = (Py_buffer){0};
    }
    return (PyObject *)wrapped;
}

typedef swp_status load_call(swp_client *, const swp_columns *, uint32_t, swp_keep, uint32_t, swp_client_series **,
                             swp_error *);

static PyObject *load_with(PyObject *object, PyObject *args, load_call *call)
{
    swp__py_client *self = (swp__py_client *)object;
    Py_buffer close = {0};
    unsigned allow, timeout_ms;
    int keep;
    if (!PyArg_ParseTuple(args, "y*IpI", &close, &allow, &keep, &timeout_ms)) {
        return NULL;
    }
    if (!swp__py_begin(self, NULL)) {
        PyBuffer_Release(&close);
        return NULL;
    }
    const swp_columns columns = {.bars_count = (uint64_t)close.len / sizeof(double), .close = close.buf};
    swp_client_series *series = NULL;
    swp_error error;
    swp_status status;
    Py_BEGIN_ALLOW_THREADS status =
        call(self->client, &columns, allow, keep ? SWP_KEEP_BORROWED : SWP_KEEP_NOTHING, timeout_ms, &series, &error);
    Py_END_ALLOW_THREADS PyObject *wrapped =
        status == SWP_OK ? swp__py_wrap_series(self, series, keep ? &close : NULL) : swp__py_raise(&error);
    swp__py_end(self, NULL);
    PyBuffer_Release(&close);
    return wrapped;
}

PyDoc_STRVAR(load_doc, "load(close, allow, keep, timeout_ms) -> Series\n\nclose: float64[bars], unchanged while kept.");

static PyObject *client_load(PyObject *self, PyObject *args)
{
    return load_with(self, args, swp_client_load);
}

PyDoc_STRVAR(find_doc, "find(close, allow, keep, timeout_ms) -> Series\n\nAs load, but only the fingerprint is sent.");

static PyObject *client_find(PyObject *self, PyObject *args)
{
    return load_with(self, args, swp_client_find);
}

PyDoc_STRVAR(open_doc, "open(name, timeout_ms) -> Series");

static PyObject *client_open(PyObject *object, PyObject *args)
{
    swp__py_client *self = (swp__py_client *)object;
    const char *name;
    unsigned timeout_ms;
    if (!PyArg_ParseTuple(args, "sI:open", &name, &timeout_ms) || !swp__py_begin(self, NULL)) {
        return NULL;
    }
    swp_client_series *series = NULL;
    swp_error error;
    swp_status status;
    Py_BEGIN_ALLOW_THREADS status = swp_client_open_series(self->client, name, timeout_ms, &series, &error);
    Py_END_ALLOW_THREADS PyObject *wrapped = status == SWP_OK ? swp__py_wrap_series(self, series, NULL) : swp__py_raise(&error);
    swp__py_end(self, NULL);
    return wrapped;
}

static PyObject *none_or_raise(swp_status status, const swp_error *error)
{
    return status == SWP_OK ? Py_NewRef(Py_None) : swp__py_raise(error);
}

PyDoc_STRVAR(name_doc, "name(series, name, timeout_ms) -> None");

static PyObject *client_name(PyObject *object, PyObject *args)
{
    swp__py_client *self = (swp__py_client *)object;
    swp__py_series *series;
    const char *name;
    unsigned timeout_ms;
    if (!PyArg_ParseTuple(args, "O!sI:name", swp__py_series_type, &series, &name, &timeout_ms) ||
        !swp__py_begin(self, series)) {
        return NULL;
    }
    swp_error error;
    swp_status status;
    Py_BEGIN_ALLOW_THREADS status = swp_client_name_series(self->client, series->series, name, timeout_ms, &error);
    Py_END_ALLOW_THREADS swp__py_end(self, series);
    return none_or_raise(status, &error);
}

PyDoc_STRVAR(hash_doc, "hash(series, timeout_ms) -> None\n\nHas the engine compute what is not known of it yet.");

static PyObject *client_hash(PyObject *object, PyObject *args)
{
    swp__py_client *self = (swp__py_client *)object;
    swp__py_series *series;
    unsigned timeout_ms;
    if (!PyArg_ParseTuple(args, "O!I:hash", swp__py_series_type, &series, &timeout_ms) || !swp__py_begin(self, series)) {
        return NULL;
    }
    swp_error error;
    swp_status status;
    Py_BEGIN_ALLOW_THREADS status = swp_client_hash(self->client, series->series, timeout_ms, &error);
    Py_END_ALLOW_THREADS swp__py_end(self, series);
    return none_or_raise(status, &error);
}

PyDoc_STRVAR(info_doc, "info(series) -> (fingerprint or None, bars, nan_count, first, last)");

static PyObject *client_info(PyObject *object, PyObject *args)
{
    swp__py_client *self = (swp__py_client *)object;
    swp__py_series *series;
    if (!PyArg_ParseTuple(args, "O!:info", swp__py_series_type, &series) || !swp__py_begin(self, series)) {
        return NULL;
    }
    swp_series_info info = swp_client_series_info(series->series);
    swp__py_end(self, series);
    const uint8_t *fingerprint = info.fingerprint_known ? info.fingerprint : NULL; /* NULL is built as None */
    return Py_BuildValue("y#KKdd", fingerprint, (Py_ssize_t)sizeof info.fingerprint, (unsigned long long)info.bars_count,
                         (unsigned long long)info.nan_count, info.first, info.last);
}

PyDoc_STRVAR(drop_doc, "drop(series, timeout_ms) -> None\n\n"
                       "When other threads sweep over it, the last of them drops it. Twice is allowed.");

static PyObject *client_drop(PyObject *object, PyObject *args)
{
    swp__py_client *self = (swp__py_client *)object;
    swp__py_series *series;
    unsigned timeout_ms;
    if (!PyArg_ParseTuple(args, "O!I:drop", swp__py_series_type, &series, &timeout_ms)) {
        return NULL;
    }
    if (series->owner != self || series->series == NULL || self->client == NULL || self->closing) {
        Py_RETURN_NONE;
    }
    self->calls++;
    series->calls++;
    series->dropping = true;
    series->drop_timeout_ms = timeout_ms;
    swp__py_end(self, series);
    Py_RETURN_NONE;
}

/* A series that was not dropped goes with its client. */
static void series_dealloc(PyObject *object)
{
    swp__py_series *self = (swp__py_series *)object;
    PyBuffer_Release(&self->kept);
    Py_DECREF((PyObject *)self->owner);
    free_object(object);
}

/* ---- the rest ---- */

PyDoc_STRVAR(echo_doc, "echo(bytes, timeout_ms) -> bytes");

static PyObject *client_echo(PyObject *object, PyObject *args)
{
    swp__py_client *self = (swp__py_client *)object;
    Py_buffer sent;
    unsigned timeout_ms;
    if (!PyArg_ParseTuple(args, "y*I:echo", &sent, &timeout_ms)) {
        return NULL;
    }
    PyObject *reply = PyBytes_FromStringAndSize(NULL, sent.len);
    if (reply != NULL && swp__py_begin(self, NULL)) {
        char *bytes = PyBytes_AsString(reply);
        swp_error error;
        swp_status status;
        Py_BEGIN_ALLOW_THREADS status =
            swp_client_echo(self->client, sent.len > 0 ? sent.buf : "", (size_t)sent.len, bytes, timeout_ms, &error);
        Py_END_ALLOW_THREADS swp__py_end(self, NULL);
        if (status != SWP_OK) {
            Py_CLEAR(reply);
            swp__py_raise(&error);
        }
    } else {
        Py_CLEAR(reply);
    }
    PyBuffer_Release(&sent);
    return reply;
}

typedef swp_status text_call(swp_client *, uint32_t, char **, swp_error *);

static PyObject *text_of(PyObject *object, PyObject *args, text_call *call)
{
    swp__py_client *self = (swp__py_client *)object;
    unsigned timeout_ms;
    if (!PyArg_ParseTuple(args, "I", &timeout_ms) || !swp__py_begin(self, NULL)) {
        return NULL;
    }
    char *text = NULL;
    swp_error error;
    swp_status status;
    Py_BEGIN_ALLOW_THREADS status = call(self->client, timeout_ms, &text, &error);
    Py_END_ALLOW_THREADS PyObject *result = status == SWP_OK ? PyUnicode_FromString(text) : swp__py_raise(&error);
    swp_client_text_free(self->client, text);
    swp__py_end(self, NULL);
    return result;
}

PyDoc_STRVAR(stats_doc, "stats(timeout_ms) -> str\n\nWhat the engine counts, in Prometheus' text form.");

static PyObject *client_stats(PyObject *self, PyObject *args)
{
    return text_of(self, args, swp_client_stats);
}

PyDoc_STRVAR(list_doc, "list(timeout_ms) -> str\n\nThe series one may use, as JSON.");

static PyObject *client_list(PyObject *self, PyObject *args)
{
    return text_of(self, args, swp_client_list);
}

/* ---- the types ---- */

static PyMethodDef client_methods[] = {
    {"close", client_close, METH_NOARGS, close_doc},
    {"server", client_server, METH_NOARGS, server_doc},
    {"load", client_load, METH_VARARGS, load_doc},
    {"load_buffer", swp__py_load_buffer, METH_VARARGS, swp__py_load_buffer_doc},
    {"find", client_find, METH_VARARGS, find_doc},
    {"open", client_open, METH_VARARGS, open_doc},
    {"name", client_name, METH_VARARGS, name_doc},
    {"hash", client_hash, METH_VARARGS, hash_doc},
    {"info", client_info, METH_VARARGS, info_doc},
    {"drop", client_drop, METH_VARARGS, drop_doc},
    {"sweep", swp__py_sweep, METH_VARARGS, swp__py_sweep_doc},
    {"trades", swp__py_trades, METH_VARARGS, swp__py_trades_doc},
    {"echo", client_echo, METH_VARARGS, echo_doc},
    {"stats", client_stats, METH_VARARGS, stats_doc},
    {"list", client_list, METH_VARARGS, list_doc},
    {"live_open", swp__py_live_open, METH_VARARGS, swp__py_live_open_doc},
    {"live_restore", swp__py_live_restore, METH_VARARGS, swp__py_live_restore_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot client_slots[] = {
    {Py_tp_doc, "Client(url, timeout_ms, token, threads, name, spin_us)"},
    {Py_tp_new, SLOT(client_new)},
    {Py_tp_dealloc, SLOT(client_dealloc)},
    {Py_tp_methods, client_methods},
    {0, NULL},
};

static PyType_Spec client_spec = {
    .name = "sweepd._core.Client",
    .basicsize = sizeof(swp__py_client),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = client_slots,
};

static PyType_Slot series_slots[] = {
    {Py_tp_doc, "A series that the engine of a Client holds."},
    {Py_tp_dealloc, SLOT(series_dealloc)},
    {0, NULL},
};

static PyType_Spec series_spec = {
    .name = "sweepd._core.Series",
    .basicsize = sizeof(swp__py_series),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = series_slots,
};

bool swp__py_add_client_types(PyObject *module)
{
    PyObject *client = PyType_FromSpec(&client_spec);
    swp__py_series_type = (PyTypeObject *)PyType_FromSpec(&series_spec);
    bool added = client != NULL && swp__py_series_type != NULL && PyModule_AddObjectRef(module, "Client", client) == 0 &&
                 PyModule_AddObjectRef(module, "Series", (PyObject *)swp__py_series_type) == 0;
    Py_XDECREF(client);
    return added;
}
