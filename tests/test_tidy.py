"""The tree's own rules: which folder may include which, and what may not stand in the project."""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Arrows point one way (ARCHITECTURE.md). A folder may always include itself and swp/.
MAY_INCLUDE = {
    "base": set(),
    "bars": {"base"},
    "kernel": {"base"},
    "engine": {"base", "kernel"},
    "wire": {"base"},
    "transport": {"base", "wire"},
    "server": {"base", "wire", "transport", "engine"},
    "client": {"base", "wire", "transport", "engine"},
    "http": {"base", "wire", "transport", "engine"},
    "cli": {"base", "bars", "kernel", "engine", "wire", "transport", "server", "client", "http"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z0-9_]+)/', re.M)


def tracked(*patterns):
    out = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in out.splitlines()]


def test_includes_point_one_way():
    wrong = []
    for path in tracked("src/*.c", "src/*.h", "src/*.inc"):
        module = path.relative_to(ROOT / "src").parts[0]
        allowed = MAY_INCLUDE[module] | {module, "swp"}
        if path.stem.endswith("_test"):
            allowed = allowed | {"support", "simulation", "bars"}
        for target in INCLUDE.findall(path.read_text()):
            if target not in allowed:
                wrong.append(f"{path.relative_to(ROOT)} includes {target}/")
    assert not wrong


def test_every_source_file_opens_with_what_it_promises():
    silent = [
        str(path.relative_to(ROOT))
        for path in tracked("src/*.h", "include/swp/*.h")
        if not path.read_text().lstrip().startswith("/*")
    ]
    assert not silent


def test_no_fast_math_and_no_contraction_in_the_build():
    text = "\n".join(p.read_text() for p in tracked("meson.build", "*/meson.build", "Makefile"))
    text = re.sub(r"foreach flag : get_option\('c_args'\).*?endforeach", "", text, flags=re.DOTALL)  # there they are refused
    assert "-ffp-contract=off" in text
    assert "-ffast-math" not in text and "-Ofast" not in text


def test_the_wall_clock_is_in_log_lines_alone():
    """B50: setting it changes nothing."""
    wall = re.compile(r"CLOCK_REALTIME|\bgettimeofday\b|\btime\(NULL\)|TIMER_ABSTIME")
    users = [str(path.relative_to(ROOT)) for path in tracked("src/*.c", "src/*.h") if wall.search(path.read_text())]
    assert users == ["src/base/log.c"]


def test_doubles_in_texts_have_a_point_in_every_locale():
    """printf writes a comma where the embedding program's locale has one: base/number.c alone uses it, in the C locale."""
    real = re.compile(r'"[^"\n]*%[-+0#]*[0-9*]*(?:\.[0-9*]+)?[efgEFG]')
    users = {
        str(path.relative_to(ROOT))
        for path in tracked("src/*.c", "src/*.h", "src/*.inc", "python/*.c")
        if real.search(path.read_text()) and not path.stem.endswith("_test")
    }
    program = {path for path in users if path.startswith("src/cli/")}  # which never leaves the C locale
    assert users - program == {"src/base/number.c"}
