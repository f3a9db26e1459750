"""`make install`: what a packager and a program that links libsweepd find."""
import os
import shutil
import subprocess

import pytest

from conftest import ROOT

PROGRAM = r"""
#include <stdio.h>
#include <swp/engine.h>
#include <swp/version.h>

int main(void)
{
    const double close[] = {1, 3, 2, 5, 4, 6};
    const int64_t combo[] = {1, 2, 1, 1, 1, 1};
    int64_t trades = -1;
    swp_engine *engine;
    swp_series *series;
    const swp_sweep_request request = {.grid = {.combos_count = 1, .rows = combo}, .fee = 0.09};
    const swp_sweep_result result = {.trades = &trades};
    if (swp_engine_new(NULL, &engine, NULL) != SWP_OK ||
        swp_series_new(engine, close, 6, 0, SWP_BORROW, &series, NULL) != SWP_OK ||
        swp_sweep(engine, series, &request, &result, NULL) != SWP_OK) {
        return 1;
    }
    printf("%s %lld\n", swp_version(), (long long)trades);
    swp_series_free(series);
    swp_engine_free(engine);
    return 0;
}
"""


def run(command, **environment):
    done = subprocess.run(
        list(map(str, command)), env={**os.environ, **environment}, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The tree below DESTDIR, of a build with a PREFIX of its own."""
    folder = tmp_path_factory.mktemp("install")
    source = folder / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns("build*", ".*", "__pycache__", "dist", "demo"))
    run(["make", "-C", source, "install", "PREFIX=/opt/sweepd", f"DESTDIR={folder / 'root'}"])
    return folder / "root"


def pkg_config(installed, *options):
    libdir = next(installed.rglob("sweepd.pc")).parent
    return run(
        ["pkg-config", *options, "sweepd"], PKG_CONFIG_PATH=str(libdir), PKG_CONFIG_SYSROOT_DIR=str(installed)
    ).split()


def test_everything_is_below_destdir_and_prefix(installed):
    assert [path.name for path in installed.iterdir()] == ["opt"]
    prefix = installed / "opt" / "sweepd"
    assert (prefix / "bin" / "sweepd").is_file()
    headers = {path.name for path in (prefix / "include" / "swp").iterdir()}
    assert headers == {path.name for path in (ROOT / "include" / "swp").glob("*.h")} | {"status.h"}
    assert [path.parent.name for path in prefix.rglob("sweepd.pc")] == ["pkgconfig"]


def test_names_with_spaces_are_one_name(installed, tmp_path):
    source = installed.parent / "source"
    run(["make", "-C", source, "install", "PREFIX=/opt/my sweepd", f"DESTDIR={tmp_path / 'the root'}"])
    assert [path.name for path in tmp_path.iterdir()] == ["the root"]
    assert (tmp_path / "the root" / "opt" / "my sweepd" / "bin" / "sweepd").is_file()


def test_the_program_runs_from_where_it_is_installed(installed):
    assert run([installed / "opt/sweepd/bin/sweepd", "--version"]).startswith("sweepd ")


@pytest.mark.parametrize("linking", ["shared", "static"])
def test_a_program_builds_with_pkg_config_alone_and_runs(linking, installed, tmp_path):
    (tmp_path / "program.c").write_text(PROGRAM)
    flags = pkg_config(installed, "--cflags", "--libs", *(["--static"] if linking == "static" else []))
    libdir = next(installed.rglob("libsweepd.so")).parent
    if linking == "static":
        flags = [str(libdir / "libsweepd.a") if flag == "-lsweepd" else flag for flag in flags]
    run([os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wpedantic", tmp_path / "program.c",
         "-o", tmp_path / "program", *flags])
    version, trades = run([tmp_path / "program"], LD_LIBRARY_PATH=str(libdir)).split()
    assert (version, trades) == (pkg_config(installed, "--modversion")[0], "4")


def test_the_shared_library_shows_swp_names_only(installed):
    (library,) = [path for path in installed.rglob("libsweepd.so*") if not path.is_symlink()]
    names = [line.split()[-1] for line in run(["nm", "-D", "--defined-only", library]).splitlines()]
    assert names and all(name.startswith("swp_") and not name.startswith("swp__") for name in names)


def test_the_program_links_nothing_but_libc_and_libm(sweepd):
    libraries = {line.split()[0] for line in run(["ldd", sweepd]).splitlines()}
    allowed = ("linux-vdso", "libc.so", "libm.so", "/lib", "libpthread")
    assert [name for name in libraries if not name.startswith((*allowed, "libasan", "libubsan"))] == []
