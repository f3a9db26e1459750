# The front door. `make demo` and `make test` set everything up by themselves on a bare Debian 12.
PREFIX ?= /usr/local
DESTDIR ?=
export CC ?= cc
VENV_MESON := .venv/bin/python -m mesonbuild.mesonmain

.PHONY: all demo test check python bench install clean

all: build/build.ninja
	@ninja -C build --quiet

build/build.ninja:
	@tools/setup build
	@meson setup build --prefix=$(PREFIX) >/dev/null

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

# Runs everything even when something fails, then says how many did. The first make may have configured without cmocka.
test:
	@$(MAKE) --no-print-directory all python
	@[ "$$(meson introspect --tests build)" != "[]" ] || meson setup --reconfigure build >/dev/null
	@ninja -C build --quiet
	@rm -f build/meson-logs/testlog.junit.xml build/pytest.xml
	@failed=0; \
	meson test -C build --no-rebuild --print-errorlogs || failed=1; \
	.venv/bin/python -m pytest --quiet --junitxml=build/pytest.xml || failed=1; \
	python3 tools/sum_tests.py build/meson-logs/testlog.junit.xml build/pytest.xml && exit $$failed

install: all
	@DESTDIR=$(DESTDIR) meson install -C build

clean:
	rm -rf build build-*
