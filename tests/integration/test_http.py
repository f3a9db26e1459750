"""sweepd-http: the numbers and errors of the protocol through JSON, and a door that hostile bodies, slow clients and a lost
engine do not hold open."""
import concurrent.futures
import contextlib
import http.client
import io
import json
import signal
import socket
import struct
import subprocess
import time

import numpy as np
import pytest

from support.served import NAME, OK, PATIENCE, SWEEP, Served, lengths_params, study_close
from support.served_http import JSON, Door, error_of

COLUMNS = ["pnl", "trades", "first_bar", "open_side", "open_entry_bar", "open_entry", "open_last", "open_pnl"]
REALS = {"pnl", "open_entry", "open_last", "open_pnl"}


HEAD = b"POST /v1/sweep HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"


@pytest.fixture(scope="module")
def engine(sweepd, tmp_path_factory):
    with Served(sweepd, tmp_path_factory.mktemp("engine")) as served:
        yield served


@pytest.fixture(scope="module")
def door(sweepd_http, engine, tmp_path_factory):
    with Door(sweepd_http, engine.url("unix"), tmp_path_factory.mktemp("door") / "log") as opened:
        yield opened
        opened.wait_until("sweepd_http_connections", lambda n: n == 1)  # the one that asks


def walk(bars, seed=1, sigma=0.01):
    return 100 * np.exp(np.cumsum(sigma * np.random.default_rng(seed).standard_normal(bars)))


def sweep_request(handle, params, windows=(), fee=0.09, entry=0, columns=255):
    params = np.asarray(params, "<i8").reshape(-1, 6)
    head = struct.pack("<QIIQQIIdQ", handle, 1, 0, len(params), columns, len(windows), 16, fee, entry)
    return head + b"".join(struct.pack("<QQQ", *w) for w in windows) + params.tobytes()


def by_wire(engine, close, params, windows=(), policy=0, **options):
    """{column: its cells as int64 bits}, from the engine without HTTP."""
    with engine.peer() as peer:
        reply = peer.call(SWEEP, sweep_request(peer.load(close, policy), params, windows, **options))
    assert reply.status == OK, reply
    cells = np.frombuffer(reply.payload, "<i8").reshape(len(COLUMNS), -1)
    return dict(zip(COLUMNS, cells))


def bits(name, values):
    """As by_wire, from JSON's numbers and words."""
    flat = np.ravel(np.array(values, object))
    if name in REALS:
        assert all(isinstance(v, (float, str)) for v in flat)
        return np.array([float(v.replace("Infinity", "inf")) if isinstance(v, str) else v for v in flat], "<f8").view("<i8")
    assert all(type(v) is int for v in flat)
    return flat.astype("<i8")


def numbers_of(close):
    """As JSON has them."""
    return ["NaN" if np.isnan(c) else {np.inf: "Infinity", -np.inf: "-Infinity"}.get(c, c) for c in map(float, close)]


# ---- The same numbers ----

HARD = np.array([100.0, 101.5, np.nan, 99.25, 1e300, -5e-324, 0.0, -0.0, np.inf, 100.1, -np.inf, 3, 2, 1, 7, 9, 11, 4, 5, 6] * 9)
WINDOWS = [(0, 0, 1000), (400, 900, 2000), (0, 1999, 2000)]
CASES = {
    "plain": (walk(2000), lengths_params(range(6, 90)), {}),
    "windows": (walk(2000), lengths_params([6, 17, 200]), {"windows": WINDOWS}),
    "one_window": (walk(2000), lengths_params([6]), {"windows": WINDOWS[1:2]}),
    "cross_and_fee": (walk(2000, 2), lengths_params([6, 7, 300]), {"entry": "cross", "fee": -0.125}),
    "not_finite": (HARD, lengths_params([2, 3, 4, 9]), {"allow": ["nan", "inf", "nonpositive"]}),
    "too_short": (walk(5), lengths_params([200]), {}),
}


@pytest.mark.parametrize("name", CASES)
def test_every_result_has_the_bits_of_the_protocol(door, engine, name):
    close, params, options = CASES[name]
    wire_options = {"policy": 7 if "allow" in options else 0, "windows": options.get("windows", ()),
                    "fee": options.get("fee", 0.09), "entry": int(options.get("entry") == "cross")}
    expected = by_wire(engine, close, params, **wire_options)
    answer = door.swept({"close": numbers_of(close), "params": params.tolist(), "results": COLUMNS, **options})
    assert list(answer) == ["bars", "nan", "combos", *COLUMNS]
    assert (answer["bars"], answer["nan"], answer["combos"]) == (len(close), int(np.isnan(close).sum()), len(params))
    for column in COLUMNS:
        shape = (len(options["windows"]), len(params)) if "windows" in options else (len(params),)
        assert np.shape(answer[column]) == shape
        assert bits(column, answer[column]).tolist() == expected[column].tolist(), column


def test_the_study_is_the_study(door):
    answer = door.swept({"close": study_close().tolist(), "length": 6})
    assert answer["trades"] == [57029]
    assert round(answer["pnl"][0], 2) == -5165.58
    assert list(answer) == ["bars", "nan", "combos", "pnl", "trades"]


def test_length_stands_for_its_six_parameters_and_any_way_to_write_a_number_is_that_number(door):
    close = walk(500).tolist()
    expected = door.swept({"close": close, "params": lengths_params([6, 7, 50]).tolist()})
    assert door.swept({"close": close, "length": [6, 7, 50]}) == expected
    text = json.dumps({"close": close})[:-1] + ', "length": [6.0, 0.7e1, 5000E-2], "fee": 9e-2, "kernel": "strict", "threads": 1}'
    assert door.swept(text) == expected


def test_integers_that_no_double_holds_are_rounded_once(door, engine):
    close = [2**53 + 1, 2**63 + 1025, 10**40 + 1, 7, 9] * 8
    params = lengths_params([2, 3])
    expected = by_wire(engine, [float(c) for c in close], params)
    answer = door.swept({"close": close, "params": params.tolist()})
    assert bits("pnl", answer["pnl"]).tolist() == expected["pnl"].tolist()


def test_a_series_that_the_engine_holds_is_swept_by_its_name(door, engine):
    close = walk(700, 5)
    with engine.peer() as peer:
        handle = peer.load(close)
        assert peer.call(NAME, struct.pack("<Q", handle) + "größe".encode()).status == OK
        named = door.swept({"series": "größe", "length": [6, 9]})
    assert named == door.swept({"close": close.tolist(), "length": [6, 9]})


def test_every_caller_gets_its_own_answer(door):
    def ask(seed):
        close = walk(300 + seed, seed).tolist()
        return [door.swept({"close": close, "length": [6 + seed]}) for _ in range(5)]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    for seed, got in enumerate(answers):
        assert got == ask(seed)


def test_one_connection_carries_many_requests(door):
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", door.port, timeout=PATIENCE)) as connection:
        socks = set()
        for body in ('{"close": [1, 2, 3], "length": 2}', "[", '{"close": [1, 2, 3], "length": 2}'):
            connection.request("POST", "/v1/sweep", body, JSON)
            socks.add(id(connection.sock))
            assert json.loads(connection.getresponse().read())
        assert len(socks) == 1


# ---- What a body lacks (protocol/vectors/calls.json has the errors of every door) ----

ROW = [1, 2, 1, 1, 1, 1]
REFUSED = {
    "no_json": (b"pnl please", "BAD_FRAME", ...),
    "empty": (b"", "BAD_FRAME", 0),
    "cut": (b'{"close": [1, 2', "BAD_FRAME", 15),
    "trailing": (b'{"close": [1], "length": 6} {}', "BAD_FRAME", ...),
    "nan_literal": (b'{"close": [NaN], "length": 6}', "BAD_FRAME", ...),
    "leading_zero": (b'{"close": [01], "length": 6}', "BAD_FRAME", ...),
    "overflow": (b'{"close": [1e400], "length": 6}', "BAD_FRAME", ...),
    "twice": (b'{"close": [1], "close": [2], "length": 6}', "BAD_FRAME", ...),
    "not_utf8": (b'{"close": [1], "len\xffgth": 6}', "BAD_FRAME", ...),
    "lone_surrogate": (rb'{"series": "\ud800", "length": 6}', "BAD_FRAME", ...),
    "nul": (rb'{"series": "a\u0000b", "length": 6}', "BAD_FRAME", ...),
    "utf16": ('{"close": [1], "length": 6}'.encode("utf-16"), "BAD_FRAME", ...),
    "deep_array": (b"[" * 1_000_000, "BAD_FRAME", ...),
    "deep_object": (b'{"a":' * 100_000, "BAD_FRAME", ...),
    "an_array": ([1, 2], "BAD_PARAM", None),
    "a_word": (b'"close"', "BAD_FRAME", ...),
    "nothing": ({}, "BAD_PARAM", None),
    "no_combos_said": ({"close": [1]}, "BAD_PARAM", None),
    "no_series_said": ({"length": 6}, "BAD_PARAM", None),
    "close_and_series": ({"close": [1], "series": "x", "length": 6}, "BAD_PARAM", None),
    "length_and_params": ({"close": [1], "length": 6, "params": [ROW]}, "BAD_PARAM", None),
    "misspelt": ({"close": [1], "lenght": 6}, "UNKNOWN", None),
    "hostile_name": ({"close": [1], "length": 6, "\n\x01\x1b[31m" + "ö" * 500: 1}, "UNKNOWN", None),
    "close_word": ({"close": [1, 2, "high"], "length": 6}, "BAD_PARAM", 2),
    "close_long_word": ({"close": [1, "\t" + "€" * 100], "length": 6}, "BAD_PARAM", 1),
    "close_null": ({"close": [None], "length": 6}, "BAD_PARAM", 0),
    "close_bool": ({"close": [1, True], "length": 6}, "BAD_PARAM", 1),
    "close_nested": ({"close": [1, [2]], "length": 6}, "BAD_PARAM", 1),
    "close_number": ({"close": 1, "length": 6}, "BAD_PARAM", None),
    "close_object": ({"close": {}, "length": 6}, "BAD_PARAM", None),
    "close_empty": ({"close": [], "length": 6}, "BAD_PARAM", None),
    "length_zero": ({"close": [1], "length": [6, 0]}, "BAD_PARAM", 1),
    "length_one_zero": ({"close": [1], "length": 0}, "BAD_PARAM", None),
    "length_half": ({"close": [1], "length": [6, 7, 8.5]}, "BAD_PARAM", 2),
    "length_too_long": ({"close": [1], "length": [2**31]}, "BAD_PARAM", 0),
    "length_huge": ({"close": [1], "length": [1e300]}, "BAD_PARAM", 0),
    "length_text": ({"close": [1], "length": "6:200"}, "BAD_PARAM", None),
    "length_empty": ({"close": [1], "length": []}, "BAD_PARAM", None),
    "params_empty": ({"close": [1], "params": []}, "BAD_PARAM", None),
    "params_flat": ({"close": [1], "params": ROW}, "BAD_PARAM", 0),
    "params_short_row": ({"close": [1], "params": [ROW, ROW[:5]]}, "BAD_PARAM", 6),
    "params_long_row": ({"close": [1], "params": [ROW, ROW + [1]]}, "BAD_PARAM", 6),
    "params_half": ({"close": [1], "params": [ROW, [1, 2, 1.5, 1, 1, 1]]}, "BAD_PARAM", 8),
    "params_word": ({"close": [1], "params": [["1", 2, 1, 1, 1, 1]]}, "BAD_PARAM", 0),
    "params_huge": ({"close": [1], "params": [[2**70, 2, 1, 1, 1, 1]]}, "BAD_PARAM", 0),
    "windows_number": ({"close": [1], "length": 6, "windows": 3}, "BAD_PARAM", None),
    "windows_pair": ({"close": [1], "length": 6, "windows": [[0, 0, 1], [0, 1]]}, "BAD_PARAM", 1),
    "windows_negative": ({"close": [1], "length": 6, "windows": [[-1, 0, 1]]}, "BAD_PARAM", 0),
    "results_none": ({"close": [1], "length": 6, "results": []}, "BAD_PARAM", None),
    "results_unknown": ({"close": [1], "length": 6, "results": ["pnl", "sharpe"]}, "BAD_PARAM", 1),
    "allow_unknown": ({"close": [1], "length": 6, "allow": ["nan", "all"]}, "BAD_PARAM", 1),
    "allow_text": ({"close": [1], "length": 6, "allow": "nan"}, "BAD_PARAM", None),
    "fee_word": ({"close": [1], "length": 6, "fee": "0.09"}, "BAD_PARAM", None),
    "fee_null": ({"close": [1], "length": 6, "fee": None}, "BAD_PARAM", None),
    "entry_unknown": ({"close": [1], "length": 6, "entry": "last"}, "BAD_PARAM", None),
    "entry_number": ({"close": [1], "length": 6, "entry": 1}, "BAD_PARAM", None),
    "kernel_unknown": ({"close": [1], "length": 6, "kernel": "fast"}, "BAD_PARAM", None),
    "threads_negative": ({"close": [1], "length": 6, "threads": -1}, "BAD_PARAM", None),
    "threads_half": ({"close": [1], "length": 6, "threads": 0.5}, "BAD_PARAM", None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_body_lacks_is_named_by_status_and_place(door, name):
    request, status, at = REFUSED[name]
    code, got, got_at = door.refused(request)
    assert (code, got) == (400, status)
    assert isinstance(got_at, int) if at is ... else got_at == at
    assert door.swept({"close": [1, 2, 3], "length": 2})["combos"] == 1


def test_a_series_nobody_named_is_not_found(door):
    assert door.refused({"series": "nobody", "length": 6}) == (404, "NOT_FOUND", None)
    assert door.refused({"series": "", "length": 6})[:2] == (400, "BAD_PARAM")
    assert door.refused({"series": "x" * 256, "length": 6})[:2] == (400, "BAD_PARAM")


# ---- Who may ask, and what ----


@pytest.mark.parametrize("host, code", [
    ("localhost", 200), ("localhost:80", 200), ("127.0.0.1:9999", 200), ("127.1.2.3", 200), ("[::1]", 200), ("[::1]:7118", 200),
    ("evil.example", 403), ("evil.example:80", 403), ("localhost.evil.example", 403), ("127.0.0.1.evil.example", 403),
    ("localhost:", 403), ("localhost:x", 403), ("localhost:99999", 403), ("10.0.0.1", 403), ("0.0.0.0", 403), ("::1", 403), ("", 403),
    ("localhost@evil.example", 403), ("x" * 5000, 403),
])
def test_only_requests_to_this_machine_by_name_are_served(door, host, code):
    with door.raw() as s:
        s.sendall(f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        with s.makefile("rb") as stream:
            assert int(stream.readline().split()[1]) == code


def test_no_host_is_refused(door):
    for version, codes in (("1.1", {400, 403}), ("1.0", {403})):
        with door.raw() as s, s.makefile("rb") as stream:
            s.sendall(f"GET /healthz HTTP/{version}\r\n\r\n".encode())
            assert int(stream.readline().split()[1]) in codes


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonp", "multipart/form-data"])
def test_a_page_cannot_post_what_is_not_said_to_be_json(door, kind):
    code, _, answer = door.ask("POST", "/v1/sweep", '{"close": [1], "length": 6}', {"Content-Type": kind} if kind else {})
    assert (code, *error_of(json.loads(answer))) == (415, "UNKNOWN", None)


def test_json_may_have_a_charset_but_no_encoding(door):
    body = {"close": [1, 2, 3], "length": 2}
    assert door.post(body, **{"Content-Type": "Application/JSON; charset=utf-8"})[0] == 200
    assert door.post(body, **{"Content-Encoding": "identity"})[0] == 200
    assert door.refused(body, **{"Content-Encoding": "gzip"}) == (415, "UNKNOWN", None)


@pytest.mark.parametrize("method, path, code, allow", [
    ("GET", "/", 404, None), ("GET", "/v1/sweep/", 404, None), ("GET", "/%FF%00", 404, None), ("POST", "/v2/sweep", 404, None),
    ("GET", "/v1/sweep", 405, "POST"), ("PUT", "/v1/sweep", 405, "POST"), ("OPTIONS", "/v1/sweep", 405, "POST"),
    ("POST", "/metrics", 405, "GET"), ("DELETE", "/healthz", 405, "GET"), ("BREW", "/healthz", 405, "GET"),
])
def test_paths_and_methods_that_there_are_not(door, method, path, code, allow):
    got, headers, answer = door.ask(method, path)
    assert (got, headers["Allow"]) == (code, allow)
    assert error_of(json.loads(answer)) == ("UNKNOWN", None)


def test_health_and_metrics(door):
    code, headers, answer = door.ask("GET", "/healthz")
    assert (code, headers["Content-Type"], json.loads(answer)) == (200, "application/json", {"status": "OK"})
    code, headers, page = door.ask("GET", "/metrics")
    assert code == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = page.decode().splitlines()
    names = {line.split()[0].partition("{")[0] for line in lines if not line.startswith("#")}
    assert {"sweepd_connections", "sweepd_sweeps_started_total", "sweepd_http_requests_total"} <= names
    assert names == {line.split()[2] for line in lines if line.startswith("# TYPE")}
    code, headers, answer = door.ask("HEAD", "/healthz")
    assert (code, answer) == (200, b"")


def test_where_the_engine_has_a_token_requests_bring_it(sweepd, sweepd_http, tmp_path):
    token = tmp_path / "token"
    token.write_text("open sesame\n")
    token.chmod(0o600)
    body = {"close": [1, 2, 3], "length": 2}
    with Served(sweepd, tmp_path, "--token-file", token) as engine:
        without = subprocess.run([sweepd_http, "--engine", engine.url("unix"), "--listen", "tcp:localhost:0"], capture_output=True,
                                 timeout=PATIENCE)
        assert without.returncode == 1 and b"token" in without.stderr
        with Door(sweepd_http, engine.url("unix"), tmp_path / "http", "--token-file", token) as door:
            for wrong in ({}, {"Authorization": "Bearer open sesam"}, {"Authorization": "Bearer open sesame!"},
                          {"Authorization": "Bearer "}, {"Authorization": "Basic open sesame"}, {"Authorization": "open sesame"}):
                assert door.refused(body, **wrong) == (401, "DENIED", None)
                code, headers, _ = door.ask("GET", "/metrics", headers=wrong)
                assert (code, headers["WWW-Authenticate"]) == (401, "Bearer")
            assert door.post(body, Authorization="bearer open sesame")[0] == 200
            assert door.ask("GET", "/metrics", headers={"Authorization": "Bearer open sesame"})[0] == 200
            assert door.ask("GET", "/healthz")[0] == 200


# ---- Limits ----


@pytest.fixture
def small_door(sweepd_http, engine, tmp_path):
    """A door with narrow limits: small_door("--max-body", "4KiB")."""
    with contextlib.ExitStack() as stack:
        yield lambda *options: stack.enter_context(Door(sweepd_http, engine.url("unix"), tmp_path / "log", *options))


def padded(size):
    text = json.dumps({"close": [1, 2, 3], "length": 2})
    return text + " " * (size - len(text))


def test_a_body_as_long_as_the_limit_is_read_and_one_byte_more_is_not(small_door):
    door = small_door("--max-body", "4KiB")
    assert door.post(padded(4096))[0] == 200
    assert door.refused(padded(4097)) == (413, "LIMIT", None)
    assert door.refused(padded(1_000_000)) == (413, "LIMIT", None)
    # In chunks, without a length that could be refused at once.
    for size, code in ((4096, 200), (4097, 413), (300_000, 413)):
        chunks = (padded(size)[i:i + 1000].encode() for i in range(0, size, 1000))
        assert door.ask("POST", "/v1/sweep", chunks, JSON)[0] == code


def test_a_refusal_reaches_a_client_that_first_sends_all_it_has(small_door):
    door = small_door("--max-body", "1MiB")
    for body, headers, code in ((padded(20_000_000), JSON, 413), (padded(5_000_000), {}, 415),
                                (padded(5_000_000), {**JSON, "Host": "evil.example"}, 403)):
        assert door.ask("POST", "/v1/sweep", body, headers)[0] == code
    assert door.ask("POST", "/v1", padded(5_000_000), JSON)[0] == 404


def test_a_client_that_asks_first_is_told_before_it_sends(door):
    with door.raw() as s, s.makefile("rb") as stream:
        s.sendall(HEAD.replace(b"1000", b"100000000").replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n"))
        assert stream.readline().split()[1] == b"413"
    with door.raw() as s, s.makefile("rb") as stream:
        body = padded(1000).encode()
        s.sendall(HEAD.replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n"))
        assert [stream.readline().split()[1:2], stream.readline()] == [[b"100"], b"\r\n"]
        s.sendall(body)
        assert stream.readline().split()[1] == b"200"


def test_a_length_that_is_no_number_is_refused(door):
    for length in ("-1", "1e3", "99999999999999999999", "1, 2", "x"):
        with door.raw() as s, s.makefile("rb") as stream:
            s.sendall(f"POST /v1/sweep HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                      f"Content-Length: {length}\r\n\r\n".encode())
            line = stream.readline()
            assert line == b"" or int(line.split()[1]) in (400, 413)
    assert door.post({"close": [1, 2, 3], "length": 2})[0] == 200


def test_what_is_read_from_a_body_is_bounded_and_given_back(small_door):
    door = small_door("--max-memory", "4MiB", "--max-body", "3MiB")
    plain = '{"length": 6, "close": [' + "1," * 20_000 + "1]}"
    assert door.post(plain)[0] == 200
    for hostile in ('{"length": 6, "close": [' + "1," * 1_000_000 + "1]}", "[" + "[]," * 500_000 + "0]",
                    "{" + ",".join(f'"{i}":{i}' for i in range(100_000)) + "}", '{"series": "' + "x" * 2_900_000 + '", "length": 6}'):
        assert door.refused(hostile)[:2] == (413, "LIMIT")
        door.wait_until("sweepd_http_memory_bytes", lambda n: n == 0)
    # combos x windows that fit a body, but not the memory
    many = {"close": [1, 2, 3], "length": [2] * 1500, "windows": [[0, 0, 3]] * 1500}
    assert door.refused(many) == (413, "LIMIT", None)
    door.wait_until("sweepd_http_memory_bytes", lambda n: n == 0)
    assert door.post(plain)[0] == 200


def test_many_large_bodies_at_once_stay_within_the_bound(small_door):
    door = small_door("--max-memory", "8MiB")
    body = '{"length": 6, "close": [' + "1.5," * 100_000 + "1]}"

    def ask(_):
        return door.post(body)[0]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(ask, range(24)))
    assert set(codes) <= {200, 413}
    assert door.post(body)[0] == 200
    with open(f"/proc/{door.process.pid}/status") as status:
        peak_kib = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    assert peak_kib < 200 * 1024


def test_the_engines_limits_are_limits_here(sweepd, sweepd_http, tmp_path):
    with Served(sweepd, tmp_path, "--max-combos", "10", "--max-memory", "64KiB") as engine:
        with Door(sweepd_http, engine.url("unix"), tmp_path / "http") as door:
            close = [1, 2, 3]
            assert door.post({"close": close, "length": [2] * 10})[0] == 200
            assert door.refused({"close": close, "length": [2] * 11}) == (413, "LIMIT", None)
            assert door.refused({"close": close, "length": [2] * 4, "windows": [[0, 0, 3]] * 3}) == (413, "LIMIT", None)
            assert door.refused({"close": [1] * 10_000, "length": 2}) == (413, "LIMIT", None)


# ---- Slow clients, and those that go ----


@contextlib.contextmanager
def killed(served):
    """The engine, killed in the end."""
    try:
        yield served
    finally:
        served.process.kill()
        served.process.wait()


def is_closed(s):
    with contextlib.suppress(ConnectionResetError):
        while s.recv(65536):
            pass
    return True


def test_a_request_that_does_not_come_is_not_waited_for(small_door):
    door = small_door("--request-timeout", "700ms")
    beginnings = [b"", b"POST", HEAD[:-2], HEAD, HEAD + b'{"close": [']
    with contextlib.ExitStack() as stack:
        socks = [stack.enter_context(door.raw()) for _ in beginnings]
        for s, beginning in zip(socks, beginnings):
            s.sendall(beginning)
        assert door.post({"close": [1, 2, 3], "length": 2})[0] == 200  # others are served meanwhile
        assert all(map(is_closed, socks))
    door.wait_until("sweepd_http_connections_timed_out_total", lambda n: n >= len(socks))


def test_a_byte_now_and_then_does_not_keep_a_connection(small_door):
    door = small_door("--request-timeout", "1s")
    with door.raw() as s:
        s.sendall(HEAD)
        began = time.monotonic()
        with pytest.raises(OSError):
            while time.monotonic() - began < PATIENCE:
                s.sendall(b" ")
                time.sleep(0.1)


LARGE = json.dumps({"close": walk(300).tolist(), "length": [6] * 300_000, "results": COLUMNS})


def test_an_answer_that_is_not_read_is_not_kept(small_door):
    door = small_door("--reply-timeout", "1s")
    with door.raw() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.sendall(HEAD.replace(b"1000", str(len(LARGE)).encode()) + LARGE.encode())
        door.wait_until("sweepd_http_connections_timed_out_total", lambda n: n == 1)
        door.wait_until("sweepd_http_memory_bytes", lambda n: n == 0)


def test_clients_that_go_before_their_answer_leave_nothing(door):
    for end in (len(HEAD) - 5, len(HEAD), len(HEAD) + 500, len(HEAD) + len(LARGE)) * 5:
        with door.raw() as s:
            s.sendall((HEAD.replace(b"1000", str(len(LARGE)).encode()) + LARGE.encode())[:end])
    door.wait_until("sweepd_http_memory_bytes", lambda n: n == 0)
    door.wait_until("sweepd_http_connections", lambda n: n == 1)
    assert door.post({"close": [1, 2, 3], "length": 2})[0] == 200


LONG = json.dumps({"close": walk(20_000).tolist(), "length": [2000] * 20_000, "kernel": "strict", "threads": 1})


@contextlib.contextmanager
def begin_long(door):
    """A sweep of many minutes; gives the socket that waits for it."""
    with door.raw() as s:
        s.sendall(HEAD.replace(b"1000", str(len(LONG)).encode()) + LONG.encode())
        door.wait_until("sweepd_sweeps_in_progress", lambda n: n == 1)
        yield s


def test_a_client_that_goes_cancels_its_sweep(door):
    cancelled = door.metric("sweepd_sweeps_cancelled_total")
    with begin_long(door):
        pass
    door.wait_until("sweepd_sweeps_cancelled_total", lambda n: n == cancelled + 1)
    door.wait_until("sweepd_sweeps_in_progress", lambda n: n == 0)


SOME_SECONDS = json.dumps({"close": walk(20_000).tolist(), "length": [500] * 40, "kernel": "strict", "threads": 1})


class Came:
    """Bytes that came, as http.client reads them."""

    def __init__(self, data):
        self.data = data

    def makefile(self, mode):
        return io.BytesIO(self.data)


def ask_and_half_close(door, body, version=b"1.1"):
    """All that came, as of `nc -N`: its sending end is shut at once."""
    with door.raw() as s:
        head = HEAD.replace(b"1000", str(len(body)).encode()).replace(b"HTTP/1.1", b"HTTP/" + version)
        s.sendall(head + body.encode())
        s.shutdown(socket.SHUT_WR)
        with s.makefile("rb") as stream:
            return stream.read()


@pytest.mark.parametrize("body", [json.dumps({"close": [1, 2, 3], "length": 2}), SOME_SECONDS, "["])
def test_a_client_that_sends_no_more_still_gets_its_answer(door, body):
    cancelled = door.metric("sweepd_sweeps_cancelled_total")
    came = ask_and_half_close(door, body)
    assert body != SOME_SECONDS or came.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200")
    with contextlib.closing(http.client.HTTPResponse(Came(came))) as reply:
        reply.begin()  # which passes over what is interim
        answer = json.loads(reply.read())
    assert (reply.status, answer) == door.post(body)
    assert door.metric("sweepd_sweeps_cancelled_total") == cancelled


def test_a_client_that_has_half_closed_and_then_goes_cancels_its_sweep(door):
    cancelled = door.metric("sweepd_sweeps_cancelled_total")
    with begin_long(door) as s:
        s.shutdown(socket.SHUT_WR)
        time.sleep(1)
        assert door.metric("sweepd_sweeps_in_progress") == 1
    door.wait_until("sweepd_sweeps_cancelled_total", lambda n: n == cancelled + 1)


def test_where_there_is_no_interim_answer_half_closing_is_going(door):
    cancelled = door.metric("sweepd_sweeps_cancelled_total")
    head = ask_and_half_close(door, LONG, b"1.0").partition(b"\r\n")[0]
    assert head == b"" or head.split()[1] == b"503"
    door.wait_until("sweepd_sweeps_cancelled_total", lambda n: n == cancelled + 1)


def test_a_sweep_that_takes_too_long_is_given_up(small_door):
    door = small_door("--sweep-timeout", "1500ms")
    assert door.refused(LONG) == (504, "TIMED_OUT", None)
    door.wait_until("sweepd_sweeps_in_progress", lambda n: n == 0)


def test_a_connection_too_many_is_told_so_and_served_later(small_door):
    door = small_door("--max-connections", "2")
    body = {"close": [1, 2, 3], "length": 2}
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(door.raw()) for _ in range(2)]
        for s in held:  # one request each, so that they are the two
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert s.recv(12) == b"HTTP/1.1 200"
        assert door.refused(body) == (503, "BUSY", None)
        for _ in range(30):  # more than are told
            stack.enter_context(door.raw())
        held[0].sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"HTTP/1.1 200" in held[0].recv(4096) + held[0].recv(4096)
    end, code = time.monotonic() + PATIENCE, None
    while code != 200:
        assert time.monotonic() < end
        with contextlib.suppress(ConnectionError):  # while those that were closed are being let go
            code = door.post(body)[0]


# ---- The engine, and the end ----


def test_an_engine_that_comes_late_goes_and_comes_back(sweepd, sweepd_http, tmp_path):
    body = {"close": walk(500).tolist(), "length": [6, 7]}
    with Door(sweepd_http, f"unix:{tmp_path}/s", tmp_path / "http") as door:
        assert door.refused(body) == (502, "REFUSED", None)
        code, _, answer = door.ask("GET", "/healthz")
        assert (code, *error_of(json.loads(answer))) == (502, "REFUSED", None)
        assert door.ask("GET", "/metrics")[0] == 502
        with Served(sweepd, tmp_path):
            first = door.swept(body)
        assert door.refused(body)[0] == 502
        with Served(sweepd, tmp_path):
            assert door.swept(body) == first
            assert door.ask("GET", "/healthz")[0] == 200


def test_an_engine_that_is_killed_in_mid_sweep_is_an_error_not_a_number(sweepd, sweepd_http, tmp_path):
    with contextlib.ExitStack() as stack:
        engine = stack.enter_context(killed(Served(sweepd, tmp_path)))
        door = stack.enter_context(Door(sweepd_http, engine.ready().url("unix"), tmp_path / "http"))
        s = stack.enter_context(begin_long(door))
        engine.process.kill()
        with contextlib.closing(http.client.HTTPResponse(s)) as reply:
            reply.begin()
            assert (reply.status, error_of(json.loads(reply.read()))[0]) == (502, "CLOSED")


def test_an_engine_that_stands_still_is_unhealthy(sweepd, sweepd_http, tmp_path):
    with Served(sweepd, tmp_path) as engine, Door(sweepd_http, engine.url("unix"), tmp_path / "http") as door:
        engine.process.send_signal(signal.SIGSTOP)
        code, _, answer = door.ask("GET", "/healthz")
        engine.process.send_signal(signal.SIGCONT)
        assert (code, *error_of(json.loads(answer))) == (504, "TIMED_OUT", None)
        assert door.ask("GET", "/healthz")[0] == 200


def test_sigterm_lets_a_request_finish(sweepd_http, engine, tmp_path):
    body = json.dumps({"close": walk(20_000).tolist(), "length": [500] * 150, "kernel": "strict", "threads": 1})
    with Door(sweepd_http, engine.url("unix"), tmp_path / "log") as door, concurrent.futures.ThreadPoolExecutor(1) as pool:
        started = door.metric("sweepd_sweeps_started_total")
        asked = pool.submit(door.post, body)
        door.wait_until("sweepd_sweeps_started_total", lambda n: n > started)
        door.process.terminate()
        code, answer = asked.result(PATIENCE)
        assert (code, answer["combos"]) == (200, 150)
        assert door.process.wait(PATIENCE) == 0


def test_a_second_sigterm_ends_at_once(sweepd_http, engine, tmp_path):
    with Door(sweepd_http, engine.url("unix"), tmp_path / "log") as door, begin_long(door):
        door.process.terminate()
        with pytest.raises(subprocess.TimeoutExpired):
            door.process.wait(0.5)
        door.process.terminate()
        assert door.process.wait(PATIENCE) == 0


def test_options_that_cannot_be_are_named(sweepd_http, engine):
    for words, text in ((["--listen", "tcp:0.0.0.0:80"], "localhost"), (["--listen", "unix:/tmp/x"], "tcp"),
                        (["--max-body", "1"], "--max-body"), (["--engine", "http://x"], "expected unix:PATH"),
                        (["--token-file", "/nonexistent"], "No such file"), (["--lisen", "x"], "did you mean --listen")):
        done = subprocess.run([sweepd_http, "--engine", engine.url("unix"), *words], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode in (1, 2)
        assert text in done.stderr
        assert done.stderr.startswith("sweepd-http: ")


def test_a_port_that_is_taken_is_refused(sweepd_http, engine, door):
    words = [sweepd_http, "--engine", engine.url("unix"), "--listen", f"tcp:localhost:{door.port}"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1 and "already running" in done.stderr
