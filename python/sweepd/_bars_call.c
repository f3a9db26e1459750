/* Files of bars, read and inspected by the library; the columns are its own memory, not copied. */
#include "_core.h"

#include <stdlib.h>
#include "swp/inspect.h"

/* ---- columns ---- */

/* None for a column that there is not. */
static PyObject *new_column(PyObject *owner, void *values, uint64_t count)
{
    if (values == NULL) {
        Py_RETURN_NONE;
    }
    return swp__py_memory(owner, values, count * 8, false);
}

static const char owner_name[] = "sweepd.bars";

static void free_bars(PyObject *owner)
{
    swp_bars *bars = PyCapsule_GetPointer(owner, owner_name);
    swp_bars_free(bars);
    free(bars);
}

/* Takes the bars over: (summary, bars, nan_count, jumps_count, close, time_ns, open, high, low, volume). */
static PyObject *wrap_bars(swp_bars *taken)
{
    swp_bars *bars = malloc(sizeof *bars);
    PyObject *owner = NULL;
    if (bars == NULL) {
        swp_bars_free(taken);
        return PyErr_NoMemory();
    }
    *bars = *taken;
    owner = PyCapsule_New(bars, owner_name, free_bars);
    if (owner == NULL) {
        swp_bars_free(bars);
        free(bars);
        return NULL;
    }
    uint64_t count = bars->bars_count;
    PyObject *wrapped = Py_BuildValue("sKKKNNNNNN", bars->summary, (unsigned long long)count,
                                      (unsigned long long)bars->nan_count, (unsigned long long)bars->jumps_count,
                                      new_column(owner, bars->close, count), new_column(owner, bars->time_ns, count),
                                      new_column(owner, bars->open, count), new_column(owner, bars->high, count),
                                      new_column(owner, bars->low, count), new_column(owner, bars->volume, count));
    Py_DECREF(owner);
    return wrapped;
}

/* ---- options ---- */

static bool parse(PyObject *args, const char **path, swp_bars_options *o)
{
    int delimiter, decimal, header, order, duplicates, big_endian;
    unsigned long long skip_lines;
    unsigned allow;
    *o = (swp_bars_options){0};
    if (!PyArg_ParseTuple(args, "yzzzzzziIiiiizzKzzzp", path, &o->close, &o->time, &o->open, &o->high, &o->low, &o->volume,
                          &delimiter, &allow, &decimal, &header, &order, &duplicates, &o->time_format, &o->time_zone,
                          &skip_lines, &o->from, &o->to, &o->dtype, &big_endian)) {
        return false;
    }
    o->delimiter = (char)delimiter;
    o->decimal = (char)decimal;
    o->allow = allow;
    o->header = (swp_bars_header)header;
    o->order = (swp_bars_order)order;
    o->duplicates = (swp_bars_duplicates)duplicates;
    o->skip_lines = skip_lines;
    o->big_endian = big_endian != 0;
    return true;
}

/* ---- calls ---- */

const char swp__py_read_bars_doc[] =
    "read_bars(path, close, time, open, high, low, volume, delimiter, allow, decimal, header, order, duplicates, time_format, "
    "time_zone, skip_lines, from, to, dtype, big_endian) -> (summary, bars, nan_count, jumps_count, close, time_ns, open, high, "
    "low, volume)";

PyObject *swp__py_read_bars(PyObject *module, PyObject *args)
{
    (void)module;
    const char *path;
    swp_bars_options options;
    swp_bars bars;
    swp_error error;
    swp_status status;
    if (!parse(args, &path, &options)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS status = swp_bars_read(path, &options, &bars, &error);
    Py_END_ALLOW_THREADS return status == SWP_OK ? wrap_bars(&bars) : swp__py_raise(&error);
}

/* `item` is used up; NULL, or no memory for it: so is the list. */
static void append(PyObject **list, PyObject *item)
{
    if (*list != NULL && (item == NULL || PyList_Append(*list, item) != 0)) {
        Py_CLEAR(*list);
    }
    Py_XDECREF(item);
}

static PyObject *list_of_decisions(const swp_inspection *i)
{
    PyObject *list = PyList_New(0);
    for (uint32_t k = 0; list != NULL && k < i->decisions_count; k++) {
        const swp_decision *d = &i->decisions[k];
        append(&list, Py_BuildValue("ssss", d->what, d->value, d->evidence, d->options));
    }
    return list;
}

static PyObject *list_of_gaps(const swp_inspection *i)
{
    PyObject *list = PyList_New(0);
    for (uint64_t k = 0; list != NULL && k < i->gaps_count && k < SWP_ODDITIES_SHOWN; k++) {
        const swp_gap *g = &i->gaps[k];
        append(&list, Py_BuildValue("KKL", (unsigned long long)g->behind.bar, (unsigned long long)g->behind.line,
                                    (long long)g->length_ns));
    }
    return list;
}

static PyObject *list_of_jumps(const swp_inspection *i)
{
    PyObject *list = PyList_New(0);
    for (uint64_t k = 0; list != NULL && k < i->bars.jumps_count && k < SWP_ODDITIES_SHOWN; k++) {
        const swp_jump *j = &i->jumps[k];
        append(&list,
               Py_BuildValue("KKdd", (unsigned long long)j->at.bar, (unsigned long long)j->at.line, j->before, j->close));
    }
    return list;
}

const char swp__py_inspect_bars_doc[] =
    "inspect_bars(as read_bars) -> (text, command, refusal, order, duplicates, step_ns, gaps_count, repeats_count, decisions, "
    "gaps, jumps, what read_bars gives)";

PyObject *swp__py_inspect_bars(PyObject *module, PyObject *args)
{
    (void)module;
    const char *path;
    swp_bars_options options;
    swp_inspection i;
    swp_error error;
    swp_status status;
    if (!parse(args, &path, &options)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS status = swp_bars_inspect(path, &options, &i, &error);
    Py_END_ALLOW_THREADS if (status != SWP_OK)
    {
        return swp__py_raise(&error);
    }
    swp_bars bars = i.bars;
    i.bars.close = i.bars.open = i.bars.high = i.bars.low = i.bars.volume = NULL; /* they go with `bars` */
    i.bars.time_ns = NULL;
    PyObject *found = Py_BuildValue("sssiiLKKNNNN", i.text, i.command, i.refusal, (int)i.order, (int)i.duplicates,
                                    (long long)i.step_ns, (unsigned long long)i.gaps_count, (unsigned long long)i.repeats_count,
                                    list_of_decisions(&i), list_of_gaps(&i), list_of_jumps(&i), wrap_bars(&bars));
    swp_inspection_free(&i);
    return found;
}
