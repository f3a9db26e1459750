# The front door. `make demo` and `make test` set everything up by themselves on a bare Debian 12.
PREFIX ?= /usr/local
DESTDIR ?=
export CC ?= cc
VENV_MESON := .venv/bin/python -m mesonbuild.mesonmain
SANITIZE := -Dbuildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false \
	-Dc_args=-fno-sanitize-recover=all -Dpython=enabled -Dpython.platlibdir=/

.PHONY: all demo test test-million test-aarch64 parity nightly check fuzz python bench format install clean

all: build/build.ninja
	@ninja -C build --quiet
	@[ -x build/sweepd-http ] || echo "sweepd-http is not built: libmicrohttpd-dev or libjansson-dev was missing (make clean, then make)"

build/build.ninja:
	@tools/setup build
	@meson setup build --prefix="$(PREFIX)" >/dev/null

demo:
	@tools/setup test
	@$(MAKE) --no-print-directory all
	@tools/demo

# The Python package, into .venv.
python:
	@tools/setup test
	@[ -f build-python/build.ninja ] || $(VENV_MESON) setup build-python -Dpython=enabled -Dpython.install_env=venv >/dev/null
	@ninja -C build-python --quiet python-package
	@$(VENV_MESON) install -C build-python --no-rebuild --only-changed --quiet --tags python-runtime

# Into dist/: the package and the program, for any Python from 3.11 on.
wheel:
	@tools/setup test
	@tools/wheel dist

# The first make may have configured without cmocka.
test:
	@$(MAKE) --no-print-directory all python
	@[ "$$(meson introspect --tests build)" != "[]" ] || meson setup --reconfigure build >/dev/null
	@ninja -C build --quiet
	@tools/run_tests build

# A million pairs of a made series and a combo, the certified kernel against the strict one: minutes. SEED=N: others.
test-million: all
	@[ "$$(meson introspect --tests build)" != "[]" ] || meson setup --reconfigure build >/dev/null
	@ninja -C build --quiet
	@SWEEPD_FUZZ_ROUNDS=22000 SWEEPD_FUZZ_SEED=$(or $(SEED),1) build/tests/kernel_test "certified_is_strict_*"

# The numbers on another architecture: cross-built, run under qemu.
test-aarch64:
	@if tools/setup aarch64 && command -v qemu-aarch64 aarch64-linux-gnu-gcc >/dev/null; then \
		[ -f build-aarch64/build.ninja ] || meson setup build-aarch64 --cross-file .setup/aarch64/cross.ini >/dev/null; \
		ninja -C build-aarch64 --quiet && \
		meson test -C build-aarch64 --no-rebuild --print-errorlogs --timeout-multiplier 10 base kernel engine; \
	else \
		echo "skipped: no cross compiler for aarch64, qemu or libraries here"; \
	fi

# The same hashes (tests/golden/parity.json) from each compiler and optimisation there is, and another architecture under qemu.
parity:
	@tools/setup ci
	@.venv/bin/python tests/reference/parity.py --builds build-parity
	@if tools/setup aarch64 && command -v qemu-aarch64 aarch64-linux-gnu-gcc >/dev/null; then \
		[ -f build-aarch64/build.ninja ] || meson setup build-aarch64 --cross-file .setup/aarch64/cross.ini >/dev/null; \
		ninja -C build-aarch64 --quiet sweepd && \
		.venv/bin/python tests/reference/parity.py build-aarch64/sweepd --under "qemu-aarch64 -L /usr/aarch64-linux-gnu"; \
	else \
		echo "skipped: no cross compiler for aarch64, qemu or libraries here"; \
	fi

# The whole suite under the address and undefined-behaviour sanitizers; leaks too.
check:
	@$(MAKE) --no-print-directory all python
	@[ -f build-sanitize/build.ninja ] || $(VENV_MESON) setup build-sanitize $(SANITIZE) >/dev/null
	@ninja -C build-sanitize --quiet
	@$(VENV_MESON) install -C build-sanitize --no-rebuild --quiet --tags python-runtime --destdir package
	@MESON="$(VENV_MESON)" tools/run_tests build-sanitize

# The long versions: a night. FACTOR=0.01: a hundredth of each.
nightly:
	@tools/setup ci
	@tools/nightly $(FACTOR)

# Every target of tests/fuzz (ONLY=server,csv: those) for SECONDS (60) each; RUNS=N: so many executions each, from a fixed seed and
# nothing kept. What is found to reach new code is kept for the next time in build-fuzz/fuzz.
fuzz:
	@tools/setup ci
	@[ -f build-fuzz/build.ninja ] || CC=clang meson setup build-fuzz -Dfuzz=true -Dbuildtype=debugoptimized \
		-Db_sanitize=address,undefined -Db_lundef=false -Dc_args=-fno-sanitize-recover=all >/dev/null
	@ninja -C build-fuzz --quiet fuzz-targets
	@python3 tests/fuzz/run.py build-fuzz $(if $(RUNS),--runs $(RUNS),--seconds $(or $(SECONDS),60) --keep) $(if $(ONLY),--only $(ONLY))

# All tables of docs/performance.md, about ten minutes; ONLY=shapes: one of them (bench/kernels.py --help names them), ONLY=live,
# ONLY=python, ONLY=boundary, ONLY=shm, ONLY=files: one of the others. BENCH passes options on: make bench ONLY=shapes BENCH="--rounds 4 --shapes stale".
bench:
	@tools/setup ci
	@$(MAKE) --no-print-directory all $(if $(filter python shm files,$(ONLY)),python)
	@.venv/bin/python bench/$(if $(filter live python boundary shm files,$(ONLY)),$(ONLY).py,kernels.py $(if $(ONLY),--only $(ONLY))) $(BENCH)

# The C sources as .clang-format says, which is for Debian 12's clang-format (14).
format:
	@tools/setup ci
	@git ls-files -z '*.c' '*.h' '*.inc' | xargs -0 clang-format -i

install: all
	@meson configure build --prefix="$(PREFIX)"
	@DESTDIR="$(DESTDIR)" meson install -C build --quiet

clean:
	rm -rf build build-*
