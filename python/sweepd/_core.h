/* What the files of the compiled part share. They turn Python's objects into libsweepd's arguments and its errors into the
 * exceptions of _errors.py; nothing is computed here. Arrays come ready from the Python files: C-contiguous, native, of the
 * documented type; only their sizes are checked. Only the stable ABI of Python 3.11 is used. */
#ifndef SWEEPD_CORE_H
#define SWEEPD_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include "swp/client.h"

/* Raises `error` as the exception of its status; always NULL. */
PyObject *swp__py_raise(const swp_error *error);

/* An array of `count` items of `item_size` bytes; NULL with ValueError when its size is another. */
void *swp__py_items(const Py_buffer *buffer, const char *name, uint64_t count, size_t item_size);

/* Those that were never filled are passed over. */
void swp__py_release(Py_buffer *buffers, size_t count);

/* A client. It may be closed while other threads are inside calls: the last one out closes it then. Guarded by the GIL. */
typedef struct swp__py_client {
    PyObject_HEAD swp_client *client; /* NULL: closed */
    Py_ssize_t calls;                 /* running */
    bool closing;
} swp__py_client;

/* A series, which keeps its client object alive, though not open. The same rule for dropping it. */
typedef struct swp__py_series {
    PyObject_HEAD swp__py_client *owner;
    swp_client_series *series; /* NULL: dropped */
    Py_ssize_t calls;
    bool dropping;
    uint32_t drop_timeout_ms;
    Py_buffer kept; /* what the client may send again */
} swp__py_series;

/* Every call is between these two; begin raises ConnectionClosed for a closed client, ValueError for a dropped series or
 * another client's. `series` may be NULL. Exceptions that are set stay set over end. */
bool swp__py_begin(swp__py_client *self, swp__py_series *series);
void swp__py_end(swp__py_client *self, swp__py_series *series);

/* The types Client and Series. */
bool swp__py_add_client_types(PyObject *module);
extern PyTypeObject *swp__py_series_type;

/* A function in a slot of a type: ISO C has no direct way. */
#define SLOT(function) ((void *)(uintptr_t)(function))

/* The type Live, and what makes one. */
bool swp__py_add_live_type(PyObject *module);
extern const char swp__py_live_open_doc[], swp__py_live_restore_doc[];
PyObject *swp__py_live_open(PyObject *self, PyObject *args);
PyObject *swp__py_live_restore(PyObject *self, PyObject *args);

extern const char swp__py_sweep_doc[], swp__py_trades_doc[];
PyObject *swp__py_sweep(PyObject *self, PyObject *args);
PyObject *swp__py_trades(PyObject *self, PyObject *args);

/* A Series of this client; `kept` is taken over, NULL: nothing. */
PyObject *swp__py_wrap_series(swp__py_client *self, swp_client_series *series, Py_buffer *kept);

/* The type Memory; and one of `size` bytes that `owner`, which it keeps alive, is the owner of. */
bool swp__py_add_memory_type(PyObject *module);
PyObject *swp__py_memory(PyObject *owner, void *bytes, uint64_t size, bool is_readonly);

/* What reads and inspects files. */
extern const char swp__py_read_bars_doc[], swp__py_inspect_bars_doc[];
PyObject *swp__py_read_bars(PyObject *module, PyObject *args);
PyObject *swp__py_inspect_bars(PyObject *module, PyObject *args);

/* The type SeriesBuffer, what makes one and what loads it. */
bool swp__py_add_buffer_type(PyObject *module);
extern const char swp__py_series_buffer_doc[], swp__py_load_buffer_doc[];
PyObject *swp__py_series_buffer(PyObject *module, PyObject *args);
PyObject *swp__py_load_buffer(PyObject *self, PyObject *args);

/* Series of Arrow's. */
extern const char swp__py_arrow_array_doc[], swp__py_arrow_stream_doc[];
PyObject *swp__py_arrow_array(PyObject *module, PyObject *args);
PyObject *swp__py_arrow_stream(PyObject *module, PyObject *capsule);

#endif
