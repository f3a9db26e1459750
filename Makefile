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

test:
	@tools/setup test
	@$(MAKE) --no-print-directory all
	@meson test -C build --print-errorlogs

install: all
	@DESTDIR=$(DESTDIR) meson install -C build

clean:
	rm -rf build build-*
