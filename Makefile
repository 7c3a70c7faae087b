# Everything that is run from a clone: `make help` lists it.

SHELL := /bin/sh
.SHELLFLAGS := -ec
.DEFAULT_GOAL := help
.SILENT:
MAKEFLAGS += --no-print-directory

# What swift-format reads; a folder that does not exist yet is left out.
SWIFT_SOURCES = $(wildcard Package.swift Sources Plugins Tests examples)

# The tests' Python, where scripts/setup --strict has made one.
WITH_PYTHON = if [ -x .build/python/bin/python ]; then export HEMIOLA_PYTHON="$(CURDIR)/.build/python/bin/python"; fi

# The tests are built optimised, in a folder of their own: the build takes longer than one for debugging, the run a tenth, and a
# test that waits for its turn does not wait for minutes. What only a debug build checks stays checked: `assert`, and the bounds
# of unsafe buffers.
TEST_FLAGS = -c release -Xswiftc -enable-testing -Xswiftc -assert-config -Xswiftc Debug --scratch-path .build/tests
SWIFT_TEST = swift test $(TEST_FLAGS)
SWIFT_BUILD_TESTS = swift build --build-tests $(TEST_FLAGS)

# What listens to a sound server or measures time runs when nothing else does: beside tests that compute, a wait of a second may
# take a minute.
REAL_TIME = PulseCaptureTests|ListenTests|FootprintTests|EndToEndTests.SocketTests

.PHONY: help setup run test examples sanitize fuzz soak accuracy bench bench-bridge docs lint format vectors music \
	program install uninstall man dist deb test-install clean

# Where `make install` puts things; DESTDIR is for packagers, who want them somewhere else at first.
PREFIX = /usr/local
DESTDIR =
export PREFIX DESTDIR

help: ## List these targets.
	awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## Make sure that the libraries Hemiola is built with are here.
	scripts/setup

run: setup ## Build Hemiola, analyse the bundled minuet, print sample records and a summary.
	swift build -c release --product hemiola >&2
	scripts/summary .build/release/hemiola examples/music/minuet.flac .build/minuet.jsonl

ifeq ($(STRICT),1)
test: ## Run the tests; STRICT=1 installs every tool they use, skips nothing, tries the installation and the examples.
	scripts/stage --begin
	scripts/stage setup scripts/setup --strict
	$(WITH_PYTHON); export HEMIOLA_STRICT=1; \
	scripts/stage build $(SWIFT_BUILD_TESTS); \
	scripts/stage tests $(SWIFT_TEST) --skip-build --parallel --skip '$(REAL_TIME)'; \
	scripts/stage 'real-time tests' $(SWIFT_TEST) --skip-build --filter '$(REAL_TIME)'
	HEMIOLA_STRICT=1 scripts/stage install $(MAKE) test-install
	HEMIOLA="$$(packaging/build 2>/dev/null)" scripts/stage footprint $(SWIFT_TEST) --skip-build --filter FootprintTests
	HEMIOLA_STRICT=1 scripts/stage examples $(MAKE) examples
	scripts/stage soak $(MAKE) soak MINUTES=2 OPTIONS=--shared-machine
	scripts/stage --summary
else
test:
	scripts/setup --test
	$(WITH_PYTHON); \
	$(SWIFT_TEST) --parallel --skip '$(REAL_TIME)'; \
	$(SWIFT_TEST) --skip-build --filter '$(REAL_TIME)'
endif

examples: ## Run every example that has a run script.
	$(WITH_PYTHON); \
	ran=0; failed=0; \
	for script in examples/*/run; do \
		if [ ! -x "$$script" ]; then continue; fi; \
		ran=$$((ran + 1)); \
		echo "== $$script"; \
		"$$script" || { failed=$$((failed + 1)); echo "$$script failed" >&2; }; \
	done; \
	echo "examples: $$ran ran, $$failed failed"; \
	[ $$failed = 0 ]

sanitize: setup ## Run the tests under the address, thread and undefined-behaviour sanitizers.
	$(WITH_PYTHON); REAL_TIME='$(REAL_TIME)' Tests/Sanitizers/run

fuzz: setup ## Fuzz what reads bytes from strangers; MINUTES=30 in all.
	Tests/Fuzz/run

soak: setup ## Listen to a private sound server for MINUTES=30 and watch memory, losses and processor time.
	swift build -c release --product hemiola >&2
	Tests/Soak/soak .build/release/hemiola --minutes $(or $(MINUTES),30) $(OPTIONS)

accuracy: setup ## Score beats and onsets on annotated music: DATA=DIR, OPTIONS='-- --whole-file'.
	@test -n "$(DATA)" || { echo "make accuracy needs DATA=DIR: a folder with audio/ and annotations/" >&2; exit 2; }
	Tests/Accuracy/run "$(DATA)" $(OPTIONS)

bench: setup ## Measure speed and memory.
	Tests/Benchmarks/run

bench-bridge: setup ## Measure what visualizers at the socket cost: processor time, losses, memory.
	swift build -c release --product hemiola >&2
	python3 Tests/Benchmarks/bridge.py .build/release/hemiola $(OPTIONS)

lint: ## Check the sources' format.
	swift format lint --strict --recursive $(SWIFT_SOURCES)

format: ## Bring the sources into their format.
	swift format --in-place --recursive $(SWIFT_SOURCES)

docs: setup ## Render the libraries' documentation into .build/docs; a public symbol without a comment fails.
	scripts/docs

vectors: ## Make the tests' reference vectors anew.
	Tests/References/make

music: ## Render the bundled minuet anew.
	python3 examples/music/make.py

program: ## Build the program that is installed: stripped, the Swift runtime linked in.
	packaging/build >/dev/null

install: program ## Install it under PREFIX, /usr/local unless told otherwise: `make program && sudo make install`.
	packaging/install "$$(packaging/build 2>/dev/null)"

uninstall: ## Remove what `make install` with the same PREFIX installed.
	packaging/install --remove

man: program ## Write the manual page anew, from the program's help.
	packaging/make-man "$$(packaging/build 2>/dev/null)" >.build/hemiola.1
	mv .build/hemiola.1 packaging/hemiola.1

dist: ## Make dist/: the program as a tarball, and a source tarball that builds without the network.
	packaging/make-dist

deb: ## Make a Debian package in dist/.
	packaging/make-deb

test-install: ## Install into a scratch root, run it from there, uninstall it; try the tarballs and the package too.
	packaging/test
	packaging/test-packages

clean: ## Remove everything that was built.
	rm -rf .build dist
