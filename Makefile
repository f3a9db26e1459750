# The front door. `make demo` and `make test` set everything up by themselves on a bare Debian 12.
PREFIX ?= /usr/local
DESTDIR ?=
export CC ?= cc

.PHONY: all test install clean

all: build/build.ninja
	@ninja -C build --quiet

build/build.ninja:
	@tools/setup build
	@meson setup build --prefix=$(PREFIX) >/dev/null

# Runs everything even when something fails, then says how many did. The first make may have configured without cmocka.
test:
	@tools/setup test
	@$(MAKE) --no-print-directory all
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
