"""Series by Arrow's PyCapsule interface, from a producer made by hand: no library of Arrow is needed, nothing is copied where it
need not be, and everything is released, once."""
import gc
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import sweepd
from conftest import ROOT
from support import arrow_producer as arrow
from support.arrow_producer import FORMATS, Chunks, Column

ANY = ("nan", "inf", "nonpositive")
WALK = np.round(100 + np.cumsum(np.sin(np.arange(300.0) ** 1.3)), 2)


@pytest.fixture(scope="module")
def engine():
    with sweepd.connect("inproc:", threads=1) as engine:
        yield engine


@pytest.fixture(autouse=True)
def everything_is_released_once():
    arrow.reset()
    yield
    gc.collect()
    assert arrow.all_released_once(), {name: list(count) for name, count in arrow.counts.items()}


def fingerprint(engine, close):
    with engine.load(close, allow=ANY) as series:
        return series.fingerprint


@pytest.mark.parametrize("dtype", FORMATS)
def test_every_dtype_of_numbers_equals_the_float64_copy(engine, dtype):
    values = np.array([3, 2, 7, 5, 1], dtype)
    for close in Column(values), Column(values, offset=3), Chunks([values[:2], values[2:]]):
        assert fingerprint(engine, close) == fingerprint(engine, values.astype("f8"))


def test_one_chunk_of_float64_is_not_copied():
    given = Column(WALK, offset=5)
    taken = sweepd._inputs.closes(given)
    assert not taken.flags.owndata and not taken.flags.writeable
    data = next(things[0] for things in arrow.held.values())
    assert taken.ctypes.data == data.ctypes.data + 5 * 8
    assert taken.tobytes() == WALK.tobytes()


def test_it_lives_as_long_as_somebody_looks_at_it():
    taken = sweepd._inputs.closes(Column(WALK))[10:20]
    gc.collect()
    assert list(arrow.counts[b"arrow_array"]) == [1, 0, 0] and taken.tobytes() == WALK[10:20].tobytes()
    del taken
    assert list(arrow.counts[b"arrow_array"]) == [1, 1, 0]


def test_sweeps_find_trades_and_live_sessions_take_it(engine):
    expected = engine.sweep(WALK, length=range(2, 20))
    for close in Column(WALK), Chunks([WALK[:100], WALK[100:]]):
        assert engine.sweep(close, length=range(2, 20)).pnl.tobytes() == expected.pnl.tobytes()
        assert sweepd.sweep(close, length=range(2, 20)).pnl.tobytes() == expected.pnl.tobytes()
        assert engine.trades(close, length=5).tobytes() == engine.trades(WALK, length=5).tobytes()
        with engine.load(WALK) as held, engine.find(close) as found, engine.load(close, keep=True) as kept:
            assert held.fingerprint == found.fingerprint == kept.fingerprint
        with engine.live(length=5, warmup=close) as live:
            assert live.push(close).bars == 2 * len(WALK)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1"])
@pytest.mark.parametrize("offset", [0, 1, 7, 8, 9])
@pytest.mark.parametrize("null_count", [None, -1])
def test_what_is_missing_is_refused_with_its_bar_or_let_in_as_nan(engine, dtype, offset, null_count):
    values, missing = np.arange(1, 21).astype(dtype), np.zeros(20, bool)
    missing[[11, 18]] = True
    holed = np.where(missing, np.nan, values.astype("f8"))
    for close in (Column(values, missing, offset=offset, null_count=null_count),
                  Chunks([(values[:9], missing[:9], 2), (values[9:], missing[9:], offset, null_count)])):
        with pytest.raises(sweepd.BadParam) as error:
            engine.load(close)
        assert error.value.at == 11
        with engine.load(close, allow="nan") as series:
            assert series.nan_count == 2 and series.fingerprint == fingerprint(engine, holed)


def test_integers_beyond_2_to_53_are_refused_with_their_bar_unless_they_are_missing(engine):
    values = np.array([1, 2**53 + 1, 2**53, 5, -(2**53) - 1])
    for close in Column(values), Chunks([values[:1], values[1:]]):
        with pytest.raises(sweepd.BadParam, match=f"bar 1 is the integer {2**53 + 1}") as error:
            engine.load(close, allow=ANY)
        assert error.value.at == 1
    missing = [False, True, False, False, False]
    for close in Column(values, missing), Chunks([(values[:3], missing[:3]), (values[3:], missing[3:])]):
        with pytest.raises(sweepd.BadParam, match=f"bar 4 is the integer {-(2**53) - 1}"):
            engine.load(close, allow=ANY)


@settings(max_examples=100, deadline=None)
@given(st.data(), st.sampled_from([kind for kind in FORMATS if kind != "f2"]))
def test_any_cut_into_chunks_with_gaps_and_offsets_equals_the_copy(engine, data, dtype):
    arrow.reset()
    numbers = st.integers(1, 100) if dtype[0] != "f" else st.floats(1, 1e6, width=8 * int(dtype[1]))
    chunks, whole = [], []
    for _ in range(data.draw(st.integers(1, 4))):
        values = data.draw(hnp.arrays(dtype, st.integers(0, 20), elements=numbers))
        missing = data.draw(st.none() | hnp.arrays(bool, len(values)))
        chunks.append((values, missing, data.draw(st.integers(0, 17)), data.draw(st.sampled_from([None, -1]))))
        whole.append(values.astype("f8") if missing is None else np.where(missing, np.nan, values.astype("f8")))
    close = np.concatenate(whole)
    if len(close) > 0:
        assert fingerprint(engine, Chunks(chunks)) == fingerprint(engine, close)
    else:
        with pytest.raises(sweepd.BadParam, match="no bars"):
            engine.load(Chunks(chunks))
    assert arrow.all_released_once()


def test_no_bars_is_an_error(engine):
    for close in Column([]), Chunks([]), Chunks([[], []]):
        with pytest.raises(sweepd.BadParam, match="no bars"):
            engine.load(close)


EXTENSION = (1).to_bytes(4, sys.byteorder) + b"".join(
    len(text).to_bytes(4, sys.byteorder) + text for text in (b"ARROW:extension:name", b"arrow.bool8"))


@pytest.mark.parametrize(("options", "name"), [
    ({"format": "b"}, "bool"), ({"format": "u"}, "string"), ({"format": "U"}, "large_string"), ({"format": "vu"}, "string_view"),
    ({"format": "n"}, "null"), ({"format": "z"}, "binary"), ({"format": "d:10,2"}, "decimal"), ({"format": "tdD"}, "date"),
    ({"format": "tsn:UTC"}, "timestamp"), ({"format": "tDs"}, "duration"), ({"format": "+l"}, "list"),
    ({"format": "g", "metadata": EXTENSION}, "extension"), ({"format": "?!"}, r"\?!"),
])
def test_any_other_dtype_is_a_type_error_that_names_it(engine, options, name):
    with pytest.raises(TypeError, match=f"Arrow dtype {name}:"):
        engine.load(Column(WALK, **options))
    if "metadata" not in options:
        with pytest.raises(TypeError, match=f"Arrow dtype {name}:"):
            engine.load(Chunks([WALK], **options))


def test_metadata_that_is_no_extension_changes_nothing(engine):
    metadata = EXTENSION.replace(b"ARROW:extension:name", b"ARROW:extension:nam_")
    assert fingerprint(engine, Column(WALK, metadata=metadata)) == fingerprint(engine, WALK)


def test_a_table_is_a_value_error_that_names_its_columns(engine):
    with pytest.raises(ValueError, match="dimensions.*open, close: expected one"):
        engine.load(Column(WALK, format="+s", children=("open", "close")))


def spoil(**fields):
    def touch(_, array):
        for name, value in fields.items():
            setattr(array, name, value)
    return touch


@pytest.mark.parametrize("touch", [
    spoil(length=-1), spoil(offset=-1), spoil(length=2**62), spoil(offset=2**63 - 1), spoil(n_buffers=1), spoil(buffers=None),
    lambda _, array: array.buffers.__setitem__(1, None),
])
def test_an_array_that_makes_no_sense_is_a_value_error(engine, touch):
    with pytest.raises(ValueError, match="no Arrow array of numbers"):
        engine.load(Column(WALK, touch=touch))


def test_a_dictionary_is_refused(engine):
    other = arrow.ArrowSchema(format=b"u")
    with pytest.raises(TypeError, match="dictionary"):
        engine.load(Column(np.ones(3, "i4"), touch=lambda schema, _: setattr(schema, "dictionary", arrow.ctypes.addressof(other))))


def test_what_somebody_else_has_taken_is_refused(engine):
    class Again:
        def __init__(self, capsules):
            self.capsules = capsules

        def __arrow_c_array__(self, requested_schema=None):
            return self.capsules

    class StreamAgain(Again):
        __arrow_c_array__ = property()

        def __arrow_c_stream__(self, requested_schema=None):
            return self.capsules

    capsules = Column(WALK).__arrow_c_array__()
    fingerprint(engine, Again(capsules))
    with pytest.raises(ValueError, match="taken"):
        engine.load(Again(capsules))
    stream = Chunks([WALK]).__arrow_c_stream__()
    fingerprint(engine, StreamAgain(stream))
    with pytest.raises(ValueError, match="taken"):
        engine.load(StreamAgain(stream))
    for wrong in (stream, stream), (1, 2), (capsules[1], capsules[0]):
        with pytest.raises((ValueError, TypeError)):
            engine.load(Again(wrong))
    for wrong in capsules[0], None:
        with pytest.raises((ValueError, TypeError)):
            engine.load(StreamAgain(wrong))


@pytest.mark.parametrize("good", [0, 1, 3])
def test_a_stream_that_fails_is_an_os_error_in_its_own_words(engine, good):
    with pytest.raises(OSError, match="the disk is gone") as error:
        engine.load(Chunks([*[WALK] * good, OSError("the disk is gone"), WALK]))
    assert error.value.errno == 5


def test_no_library_of_arrow_is_imported():
    script = (
        "import sys, numpy as np, sweepd\n"
        "sys.modules.update(pyarrow=None, polars=None, pandas=None)\n"
        "from support.arrow_producer import Chunks, Column, all_released_once\n"
        "print([len(sweepd.sweep(kind, length=2)) for kind in (Column(np.ones(9)), Chunks([np.ones(9)]))], all_released_once())\n"
    )
    command = [sys.executable, "-c", f"import sys; sys.path.append({str(ROOT / 'tests')!r})\n" + script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "[1, 1] True\n", done.stderr
