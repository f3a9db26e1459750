"""A producer of Arrow arrays made by hand, by ctypes and from the interface's text alone: no library of Arrow is needed. It
counts what is released, and notices what is released twice."""
import ctypes

import numpy as np

P = ctypes.c_void_p
api = ctypes.pythonapi
api.PyCapsule_New.restype, api.PyCapsule_New.argtypes = ctypes.py_object, (P, ctypes.c_char_p, P)
api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = P, (P, ctypes.c_char_p)

FORMATS = {"f8": "g", "f4": "f", "f2": "e", "i8": "l", "u8": "L", "i4": "i", "u4": "I", "i2": "s", "u2": "S", "i1": "c", "u1": "C"}


class ArrowSchema(ctypes.Structure):
    _fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", P), ("flags", ctypes.c_int64),
                ("n_children", ctypes.c_int64), ("children", P), ("dictionary", P), ("release", P), ("private_data", P)]


class ArrowArray(ctypes.Structure):
    _fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(P)), ("children", P),
                ("dictionary", P), ("release", P), ("private_data", P)]


class ArrowArrayStream(ctypes.Structure):
    _fields_ = [("get_schema", P), ("get_next", P), ("get_last_error", P), ("release", P), ("private_data", P)]


KINDS = {b"arrow_schema": ArrowSchema, b"arrow_array": ArrowArray, b"arrow_array_stream": ArrowArrayStream}
RELEASE_AT = {name: kind.release.offset for name, kind in KINDS.items()}
RELEASE = ctypes.CFUNCTYPE(None, P)


class Counts:
    """Of one kind of thing: given out, released, and released though nothing was there."""

    def __init__(self):
        self.given = self.released = self.wrong = 0

    def __iter__(self):
        return iter((self.given, self.released, self.wrong))


counts = {name: Counts() for name in KINDS}
held = {}  # private_data: what must live until it is released
capsules = {}


def reset():
    assert not held
    for count in counts.values():
        count.__init__()


def all_released_once():
    return not held and not capsules and all(c.given == c.released and c.wrong == 0 for c in counts.values())


def release_of(name):
    """The producer's own callback for a kind."""
    def release(address):
        thing = KINDS[name].from_address(address)
        if held.pop(thing.private_data, None) is None or thing.release is None:
            counts[name].wrong += 1
        else:
            counts[name].released += 1
        thing.release = None
    return RELEASE(release)


releases = {name: release_of(name) for name in KINDS}


def hold(name, thing, *things):
    """Marks what a producer fills in as given out."""
    thing.private_data = next(i for i in range(1, len(held) + 2) if i not in held)
    thing.release = ctypes.cast(releases[name], P)
    held[thing.private_data] = things or (thing,)
    counts[name].given += 1


def destroy(name):
    """As the interface has it: what nobody has taken, its capsule releases."""
    def destructor(capsule):
        address = api.PyCapsule_GetPointer(capsule, name)
        if (release := P.from_address(address + RELEASE_AT[name])).value:
            RELEASE(release.value)(address)
        del capsules[address]
    return ctypes.PYFUNCTYPE(None, P)(destructor)


destructors = {name: destroy(name) for name in KINDS}


def capsule_of(name, thing):
    capsules[ctypes.addressof(thing)] = thing
    return api.PyCapsule_New(ctypes.addressof(thing), name, ctypes.cast(destructors[name], P))


def fill_schema(schema, format, children=(), metadata=None, name="close"):
    texts = format.encode(), name.encode(), metadata and ctypes.create_string_buffer(metadata, len(metadata))
    schema.format, schema.name, schema.n_children, schema.flags = texts[0], texts[1], len(children), 2
    schema.metadata = ctypes.cast(texts[2], P) if metadata else None
    kids = [ArrowSchema() for _ in children]
    for kid, kid_name in zip(kids, children):
        kid.format, kid.name = b"g", kid_name.encode()
    pointers = (P * max(1, len(kids)))(*map(ctypes.addressof, kids))
    schema.children = ctypes.cast(pointers, P) if children else None
    hold(b"arrow_schema", schema, texts, kids, pointers)


def fill_array(array, values, missing=None, offset=0, null_count=None):
    """`offset` values of rubbish stand before them, as in a slice; missing ones are rubbish, too."""
    values = np.asarray(values)
    rubbish = np.frombuffer(b"\xa5" * (offset * values.itemsize), values.dtype)
    data = np.concatenate([rubbish, values])
    bits = None
    if missing is not None:
        is_there = np.concatenate([np.ones(offset, bool), ~np.asarray(missing, bool)])
        data[~is_there] = np.frombuffer(b"\x5a" * values.itemsize, values.dtype)[0]
        bits = np.packbits(is_there, bitorder="little")
    pointers = (P * 2)(bits.ctypes.data if bits is not None else None, data.ctypes.data if len(data) else None)
    array.length, array.offset, array.n_buffers, array.n_children = len(values), offset, 2, 0
    array.null_count = (0 if bits is None else int(np.sum(missing))) if null_count is None else null_count
    array.buffers = ctypes.cast(pointers, ctypes.POINTER(P))
    hold(b"arrow_array", array, data, bits, pointers)


class Column:
    """An array: __arrow_c_array__. `touch` may spoil it before it is given out."""

    def __init__(self, values, missing=None, *, offset=0, null_count=None, format=None, children=(), metadata=None, touch=None):
        self.chunk = np.asarray(values), missing, offset, null_count
        self.schema = format or FORMATS[self.chunk[0].dtype.str[1:]], children, metadata
        self.touch = touch

    def __arrow_c_array__(self, requested_schema=None):
        schema, array = ArrowSchema(), ArrowArray()
        fill_schema(schema, *self.schema)
        fill_array(array, *self.chunk)
        if self.touch:
            self.touch(schema, array)
        return capsule_of(b"arrow_schema", schema), capsule_of(b"arrow_array", array)


class Chunks:
    """A stream: __arrow_c_stream__. `chunks`: tuples of fill_array's arguments; an OSError among them is where it fails."""

    def __init__(self, chunks, format=None):
        self.chunks = [chunk if isinstance(chunk, (tuple, Exception)) else (chunk,) for chunk in chunks]
        first = next((np.asarray(c[0]) for c in self.chunks if isinstance(c, tuple)), np.empty(0))
        self.format = format or FORMATS[first.dtype.str[1:]]

    def __arrow_c_stream__(self, requested_schema=None):
        left, said, stream = list(self.chunks), ctypes.create_string_buffer(100), ArrowArrayStream()

        def get_schema(_, schema):
            if left and isinstance(left[0], Exception):
                said.value = str(left[0]).encode()
                return 5
            fill_schema(schema.contents, self.format)
            return 0

        def get_next(_, array):
            if not left:
                array.contents.release = None
                return 0
            chunk = left.pop(0)
            if isinstance(chunk, Exception):
                said.value = str(chunk).encode()
                return 5
            fill_array(array.contents, *chunk)
            return 0

        calls = (ctypes.CFUNCTYPE(ctypes.c_int, P, ctypes.POINTER(ArrowSchema))(get_schema),
                 ctypes.CFUNCTYPE(ctypes.c_int, P, ctypes.POINTER(ArrowArray))(get_next),
                 ctypes.CFUNCTYPE(P, P)(lambda _: ctypes.addressof(said)))
        stream.get_schema, stream.get_next, stream.get_last_error = (ctypes.cast(call, P) for call in calls)
        hold(b"arrow_array_stream", stream, calls)
        return capsule_of(b"arrow_array_stream", stream)
