/* Memory: bytes that somebody else owns, as a buffer. */
#include "_core.h"

static PyTypeObject *memory_type;

typedef struct memory {
    PyObject_HEAD PyObject *owner;
    void *bytes;
    Py_ssize_t size;
    bool is_readonly;
} memory;

static int get_buffer(PyObject *object, Py_buffer *view, int flags)
{
    memory *self = (memory *)object;
    return PyBuffer_FillInfo(view, object, self->bytes, self->size, self->is_readonly, flags);
}

static void memory_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    Py_DECREF(((memory *)object)->owner);
    PyObject_Free(object);
    Py_DECREF(type);
}

PyObject *swp__py_memory(PyObject *owner, void *bytes, uint64_t size, bool is_readonly)
{
    memory *made = PyObject_New(memory, memory_type);
    if (made != NULL) {
        made->owner = Py_NewRef(owner);
        made->bytes = bytes;
        made->size = (Py_ssize_t)size;
        made->is_readonly = is_readonly;
    }
    return (PyObject *)made;
}

bool swp__py_add_memory_type(PyObject *module)
{
    static PyType_Slot slots[] = {{Py_tp_doc, "Memory of an Arrow array or of the library."},
                                  {Py_tp_dealloc, SLOT(memory_dealloc)},
                                  {Py_bf_getbuffer, SLOT(get_buffer)},
                                  {0, NULL}};
    static PyType_Spec spec = {.name = "sweepd._core.Memory",
                               .basicsize = sizeof(memory),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .slots = slots};
    memory_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return memory_type != NULL && PyModule_AddObjectRef(module, "Memory", (PyObject *)memory_type) == 0;
}
