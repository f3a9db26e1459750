/* Series by Arrow's PyCapsule interface, from any library that has it; none is needed here.
 *
 *   close.__arrow_c_array__()   -> two capsules, a schema and an array      arrow_array
 *   close.__arrow_c_stream__()  -> one capsule, a stream of such arrays     arrow_stream
 *
 * An array or stream is moved out of its capsule, as the interface has it, and is ours to release, once: an array when the last
 * Memory that stands for a part of it is gone, a stream at its end. A schema stays its capsule's. Memory is not copied. */
#include "_core.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- the interface, as Arrow states it ---- */

struct arrow_schema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct arrow_schema **children, *dictionary;
    void (*release)(struct arrow_schema *);
    void *private_data;
};

struct arrow_array {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct arrow_array **children, *dictionary;
    void (*release)(struct arrow_array *);
    void *private_data;
};

struct arrow_stream {
    int (*get_schema)(struct arrow_stream *, struct arrow_schema *);
    int (*get_next)(struct arrow_stream *, struct arrow_array *);
    const char *(*get_last_error)(struct arrow_stream *);
    void (*release)(struct arrow_stream *);
    void *private_data;
};

/* What closes may be, and numpy's name for it. */
typedef struct number {
    const char *format, *dtype;
    int64_t size;
} number;

static const number numbers[] = {
    {"g", "f8", 8}, {"f", "f4", 4}, {"e", "f2", 2}, {"l", "i8", 8}, {"L", "u8", 8}, {"i", "i4", 4},
    {"I", "u4", 4}, {"s", "i2", 2}, {"S", "u2", 2}, {"c", "i1", 1}, {"C", "u1", 1},
};

/* Beginnings of the formats that people meet, for the text of an error. */
static const struct {
    const char *format, *name;
} other_types[] = {
    {"b", "bool"},
    {"n", "null"},
    {"u", "string"},
    {"U", "large_string"},
    {"vu", "string_view"},
    {"z", "binary"},
    {"d:", "decimal"},
    {"td", "date"},
    {"ts", "timestamp"},
    {"tt", "time"},
    {"tD", "duration"},
    {"+l", "list"},
    {"+w", "fixed-size list"},
};

/* ---- who owns an array ---- */

static PyObject *memory_of(PyObject *owner, const void *bytes, int64_t size)
{
    return swp__py_memory(owner, (void *)(uintptr_t)bytes, (uint64_t)size, true);
}

static const char owner_name[] = "sweepd.arrow_array";

/* A producer's callbacks may be Python: an exception that is on its way goes on after them. */
#define RELEASE(thing)                                                                                                         \
    do {                                                                                                                       \
        PyObject *raised[3];                                                                                                   \
        PyErr_Fetch(&raised[0], &raised[1], &raised[2]);                                                                       \
        (thing)->release(thing);                                                                                               \
        PyErr_Restore(raised[0], raised[1], raised[2]);                                                                        \
    } while (0)

static void release_owned(PyObject *owner)
{
    struct arrow_array *array = PyCapsule_GetPointer(owner, owner_name);
    RELEASE(array);
    free(array);
}

/* Moves the array; it is released here when that fails. */
static PyObject *own(struct arrow_array *array)
{
    struct arrow_array *moved = malloc(sizeof *moved);
    PyObject *owner = NULL;
    if (moved != NULL) {
        *moved = *array;
        owner = PyCapsule_New(moved, owner_name, release_owned);
    } else {
        PyErr_NoMemory();
    }
    if (owner == NULL) {
        free(moved);
        RELEASE(array);
    }
    array->release = NULL;
    return owner;
}

/* ---- what a schema says ---- */

static bool is_extension(const char *metadata)
{
    static const char key[] = "ARROW:extension:name";
    int32_t pairs = 0, size;
    if (metadata != NULL) {
        memcpy(&pairs, metadata, sizeof pairs);
        metadata += sizeof pairs;
    }
    for (int32_t texts = 0; texts < 2 * pairs; texts++) { /* keys and values in turn, a length before each */
        memcpy(&size, metadata, sizeof size);
        metadata += sizeof size;
        if (texts % 2 == 0 && size == (int32_t)sizeof key - 1 && memcmp(metadata, key, sizeof key - 1) == 0) {
            return true;
        }
        metadata += size;
    }
    return false;
}

static void refuse_table(const struct arrow_schema *schema)
{
    PyObject *names = PyUnicode_FromString("");
    for (int64_t i = 0; names != NULL && i < schema->n_children; i++) {
        const char *name = schema->children[i]->name;
        PyObject *longer = PyUnicode_FromFormat("%U%s%s", names, i > 0 ? ", " : "", name != NULL ? name : "");
        Py_DECREF(names);
        names = longer;
    }
    if (names != NULL) {
        PyErr_Format(PyExc_ValueError, "close has 2 dimensions, a table of the columns %U: expected one of them", names);
        Py_DECREF(names);
    }
}

static void refuse_type(const struct arrow_schema *schema)
{
    const char *name = schema->format;
    for (size_t i = 0; i < sizeof other_types / sizeof other_types[0]; i++) {
        if (strncmp(schema->format, other_types[i].format, strlen(other_types[i].format)) == 0) {
            name = other_types[i].name;
        }
    }
    name = schema->dictionary != NULL ? "dictionary" : is_extension(schema->metadata) ? "extension" : name;
    PyErr_Format(PyExc_TypeError, "close has Arrow dtype %s: expected floats of up to 64 bits, or integers", name);
}

/* NULL: refused. */
static const number *number_of(const struct arrow_schema *schema)
{
    if (strcmp(schema->format, "+s") == 0) {
        refuse_table(schema);
        return NULL;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(schema->format, numbers[i].format) == 0 && schema->dictionary == NULL && !is_extension(schema->metadata)) {
            return &numbers[i];
        }
    }
    refuse_type(schema);
    return NULL;
}

/* ---- chunks ---- */

static bool check_array(const struct arrow_array *array, const number *kind)
{
    int64_t end, size;
    bool fits = array->length >= 0 && array->offset >= 0 && !__builtin_add_overflow(array->offset, array->length, &end) &&
                !__builtin_mul_overflow(end, kind->size, &size) && size <= PY_SSIZE_T_MAX;
    if (!fits || array->n_buffers != 2 || array->buffers == NULL || (array->length > 0 && array->buffers[1] == NULL)) {
        PyErr_Format(PyExc_ValueError, "close is no Arrow array of numbers: length %lld, offset %lld, %lld buffers",
                     (long long)array->length, (long long)array->offset, (long long)array->n_buffers);
        return false;
    }
    return true;
}

static PyObject *validity_of(PyObject *owner, const struct arrow_array *array)
{
    if (array->null_count == 0 || array->buffers[0] == NULL) {
        return Py_NewRef(Py_None);
    }
    int64_t first = array->offset / CHAR_BIT, end = (array->offset + array->length + CHAR_BIT - 1) / CHAR_BIT;
    return memory_of(owner, (const char *)array->buffers[0] + first, end - first);
}

/* Adds what the array holds, (values, validity or None, bit of the first value in it), and makes the array ours. */
static bool add_chunk(PyObject *chunks, struct arrow_array *array, const number *kind)
{
    if (!check_array(array, kind)) {
        RELEASE(array);
        return false;
    }
    struct arrow_array seen = *array;
    PyObject *owner = own(array);
    if (owner == NULL) {
        return false;
    }
    if (seen.length == 0) {
        Py_DECREF(owner);
        return true;
    }
    PyObject *values = memory_of(owner, (const char *)seen.buffers[1] + seen.offset * kind->size, seen.length * kind->size);
    PyObject *validity = validity_of(owner, &seen);
    PyObject *chunk =
        values != NULL && validity != NULL ? Py_BuildValue("(OOi)", values, validity, (int)(seen.offset % CHAR_BIT)) : NULL;
    bool added = chunk != NULL && PyList_Append(chunks, chunk) == 0;
    Py_XDECREF(chunk);
    Py_XDECREF(values);
    Py_XDECREF(validity);
    Py_DECREF(owner);
    return added;
}

static PyObject *with_dtype(const number *kind, PyObject *chunks, bool is_whole)
{
    PyObject *result = is_whole ? Py_BuildValue("(sO)", kind->dtype, chunks) : NULL;
    Py_XDECREF(chunks);
    return result;
}

const char swp__py_arrow_array_doc[] =
    "arrow_array(schema, array) -> (dtype, [(values, validity or None, bit)])\n\n"
    "Takes the array out of its capsule. validity: a bit a value, 0 where it is missing; the first value's is `bit`.";

PyObject *swp__py_arrow_array(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *capsules[2];
    if (!PyArg_ParseTuple(args, "OO:arrow_array", &capsules[0], &capsules[1])) {
        return NULL;
    }
    const struct arrow_schema *schema = PyCapsule_GetPointer(capsules[0], "arrow_schema");
    struct arrow_array *array = schema != NULL ? PyCapsule_GetPointer(capsules[1], "arrow_array") : NULL;
    if (array == NULL) {
        return NULL;
    }
    if (schema->release == NULL || array->release == NULL) {
        PyErr_SetString(PyExc_ValueError, "close's Arrow array has been taken by somebody else");
        return NULL;
    }
    const number *kind = number_of(schema);
    if (kind == NULL) {
        return NULL; /* its capsule releases it */
    }
    struct arrow_array moved = *array;
    array->release = NULL;
    PyObject *chunks = PyList_New(0);
    if (chunks == NULL) {
        RELEASE(&moved);
        return NULL;
    }
    return with_dtype(kind, chunks, add_chunk(chunks, &moved, kind));
}

/* ---- streams ---- */

static void raise_of_stream(struct arrow_stream *stream, int failure)
{
    const char *text = stream->get_last_error(stream);
    PyObject *arguments = Py_BuildValue("(is)", failure, text != NULL ? text : strerror(failure));
    if (arguments != NULL) {
        PyErr_SetObject(PyExc_OSError, arguments);
        Py_DECREF(arguments);
    }
}

static const number *number_of_stream(struct arrow_stream *stream)
{
    struct arrow_schema schema = {0};
    int failure;
    Py_BEGIN_ALLOW_THREADS failure = stream->get_schema(stream, &schema);
    Py_END_ALLOW_THREADS if (failure != 0)
    {
        raise_of_stream(stream, failure);
        return NULL;
    }
    const number *kind = number_of(&schema);
    RELEASE(&schema);
    return kind;
}

static bool add_chunks(PyObject *chunks, struct arrow_stream *stream, const number *kind)
{
    for (;;) {
        struct arrow_array array = {0};
        int failure;
        Py_BEGIN_ALLOW_THREADS failure = stream->get_next(stream, &array);
        Py_END_ALLOW_THREADS if (failure != 0)
        {
            raise_of_stream(stream, failure);
            return false;
        }
        if (array.release == NULL) {
            return true;
        }
        if (!add_chunk(chunks, &array, kind) || PyErr_CheckSignals() != 0) {
            return false;
        }
    }
}

const char swp__py_arrow_stream_doc[] = "arrow_stream(stream) -> (dtype, [(values, validity or None, bit)])\n\n"
                                        "Takes the stream out of its capsule and reads it to its end; as arrow_array. Raises\n"
                                        "OSError with the stream's own words when it fails.";

PyObject *swp__py_arrow_stream(PyObject *module, PyObject *capsule)
{
    (void)module;
    struct arrow_stream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream == NULL) {
        return NULL;
    }
    if (stream->release == NULL) {
        PyErr_SetString(PyExc_ValueError, "close's Arrow stream has been taken by somebody else");
        return NULL;
    }
    struct arrow_stream moved = *stream;
    stream->release = NULL;
    const number *kind = number_of_stream(&moved);
    PyObject *chunks = kind != NULL ? PyList_New(0) : NULL;
    bool is_whole = chunks != NULL && add_chunks(chunks, &moved, kind);
    RELEASE(&moved);
    return with_dtype(kind, chunks, is_whole);
}
