# The commands of the repository: `make help` lists them.

SHELL := /bin/sh
.SHELLFLAGS := -ec
.DEFAULT_GOAL := help
.SILENT:
MAKEFLAGS += --no-print-directory

# The files and folders for swift-format, as far as they exist.
SWIFT_SOURCES = $(wildcard Package.swift Sources Plugins Tests Window/Package.swift Window/Sources Window/Tests examples)

# The Python environment of the tests, if scripts/setup --strict has created it.
WITH_PYTHON = if [ -x .build/python/bin/python ]; then export HEMIOLA_PYTHON="$(CURDIR)/.build/python/bin/python"; fi

# The tests are built with optimisation, in a separate folder: the build takes longer than a debug build, but the tests take a tenth of
# the time. `assert` and the bounds checks of unsafe buffers stay enabled, as in a debug build.
TEST_FLAGS = -c release -Xswiftc -enable-testing -Xswiftc -assert-config -Xswiftc Debug --scratch-path .build/tests
SWIFT_TEST = swift test $(TEST_FLAGS)
# A limit of tests at a time: without one, all tests start at once, and each waits for seconds to minutes between two steps.
AT_ONCE = --parallel --experimental-maximum-parallelization-width
SWIFT_TEST_PARALLEL = $(SWIFT_TEST) $(AT_ONCE) 4
# Tests of sound servers wait more than they compute.
SWIFT_TEST_SOUND = $(SWIFT_TEST) --skip-build $(AT_ONCE) 8 --filter '$(SOUND_TESTS)'
SWIFT_BUILD_TESTS = swift build --build-tests $(TEST_FLAGS)

# Tests of sound servers and of time run after all others: in parallel with computing tests, a wait of one second may take a minute. Each
# group runs alone: sound servers; the program as a whole; the page in a browser.
SOUND_TESTS = PulseCaptureTests|ListenTests|FootprintTests|EndToEndTests.SocketTests
PROGRAM_TESTS = EndToEndTests.(Web|Recording|Service|Demo|Network|Link|Light|RealTime)Tests|^(OS2L|MQTT|Link|OSC|Lights|WLED)SinkTests|^MIDIControlTests
BROWSER_TESTS = ^BrowserTests
REAL_TIME = $(SOUND_TESTS)|$(PROGRAM_TESTS)|$(BROWSER_TESTS)

.PHONY: help setup run test examples sanitize fuzz soak accuracy accuracy-peers accuracy-cqt accuracy-chroma accuracy-key accuracy-chords accuracy-pitch accuracy-structure bench bench-bridge bench-corpus bench-midi bench-peers bench-sinks bench-tonal docs site test-docs screenshots pictures lint format vectors music vamp-plugin \
	program install uninstall man dist deb container test-install test-container test-roots test-reproducible wheel test-wheel test-python test-ray clean training-data train weights test-training \
	window test-window install-window uninstall-window deb-window test-install-window

# The destination of `make install`. DESTDIR is for packagers.
PREFIX = /usr/local
DESTDIR =
export PREFIX DESTDIR

help: ## List these targets.
	awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## Check and install the libraries that Hemiola is built with.
	scripts/setup

run: setup ## Build Hemiola, analyse the bundled minuet, print sample records and a summary; HEMIOLA: a program that exists.
	if [ -z "$$HEMIOLA" ]; then swift build -c release --product hemiola >&2; fi
	scripts/summary "$${HEMIOLA:-.build/release/hemiola}" examples/music/minuet.flac .build/minuet.jsonl

ifeq ($(STRICT),1)
test: ## Run the tests; STRICT=1 installs all tools, skips no test, and tests installation and examples too.
	scripts/stage --begin
	scripts/stage setup sh -c 'scripts/setup --strict && scripts/setup --window'
	scripts/stage lint $(MAKE) lint
	$(WITH_PYTHON); export HEMIOLA_STRICT=1; \
	scripts/stage build $(SWIFT_BUILD_TESTS); \
	scripts/stage tests $(SWIFT_TEST_PARALLEL) --skip-build --skip '$(REAL_TIME)'; \
	scripts/stage python $(MAKE) test-python; \
	scripts/stage 'sound tests' $(SWIFT_TEST_SOUND); \
	scripts/stage 'program tests' $(SWIFT_TEST_PARALLEL) --skip-build --filter '$(PROGRAM_TESTS)'; \
	scripts/stage 'browser tests' $(SWIFT_TEST) --skip-build --filter '$(BROWSER_TESTS)'
	HEMIOLA_STRICT=1 scripts/stage window $(MAKE) test-window
	HEMIOLA_STRICT=1 scripts/stage 'window install' $(MAKE) test-install-window
	HEMIOLA_STRICT=1 scripts/stage install $(MAKE) test-install
	HEMIOLA_STRICT=1 scripts/stage wheel $(MAKE) test-wheel
	HEMIOLA="$$(packaging/build 2>/dev/null)" scripts/stage footprint $(SWIFT_TEST) --skip-build --filter FootprintTests
	HEMIOLA="$$(packaging/build 2>/dev/null)" scripts/stage run $(MAKE) run
	HEMIOLA_STRICT=1 HEMIOLA="$(CURDIR)/.build/tests/release/hemiola" scripts/stage examples $(MAKE) examples
	HEMIOLA=.build/tests/release/hemiola scripts/stage documents $(MAKE) test-docs
	scripts/stage site scripts/site --program .build/tests/release/hemiola
	HEMIOLA="$$(packaging/build 2>/dev/null)" scripts/stage soak $(MAKE) soak MINUTES=2 OPTIONS=--shared-machine
	scripts/stage --summary
else
test:
	scripts/setup --test
	$(WITH_PYTHON); \
	$(SWIFT_TEST_PARALLEL) --skip '$(REAL_TIME)'; \
	$(SWIFT_TEST_SOUND); \
	$(SWIFT_TEST_PARALLEL) --skip-build --filter '$(PROGRAM_TESTS)'; \
	$(SWIFT_TEST) --skip-build --filter '$(BROWSER_TESTS)'; \
	if pkg-config --exists webkitgtk-6.0 2>/dev/null; then $(MAKE) test-window; \
	else echo "not installed: libwebkitgtk-6.0-dev; the tests of the window are skipped" >&2; fi
endif

examples: ## Run every example that has a run script, with the program HEMIOLA (default: built from the sources).
	if [ -z "$$HEMIOLA" ]; then swift build -c release --product hemiola >&2; fi
	$(WITH_PYTHON); \
	ran=0; failed=; \
	for script in examples/*/run; do \
		if [ ! -x "$$script" ]; then continue; fi; \
		ran=$$((ran + 1)); \
		echo "== $$script"; \
		"$$script" || failed="$$failed $$script"; \
	done; \
	if [ -n "$$failed" ]; then echo "error: of $$ran examples failed:$$failed" >&2; exit 1; fi; \
	echo "examples: $$ran ran, none failed"

# The window is a package of its own. It needs the development files of WebKitGTK: scripts/setup --window installs them.
WINDOW_BUILD = swift build --package-path Window -c release
WINDOW_LIBRARY = pkg-config --exists webkitgtk-6.0 || \
	{ echo "The window needs the development files of WebKitGTK 6.0: apt-get install libwebkitgtk-6.0-dev" >&2; exit 1; }

window: ## Build hemiola-window, the native window for pages, and print its path.
	$(WINDOW_LIBRARY)
	$(WINDOW_BUILD) --product hemiola-window >&2
	echo "$$($(WINDOW_BUILD) --show-bin-path)/hemiola-window"

test-window: ## Test the window on private displays, with the hemiola HEMIOLA (default: that of the tests); STRICT=1 installs what it needs and skips no test, HEMIOLA_PICTURES=DIR keeps pictures.
	if [ "$(STRICT)" = 1 ]; then scripts/setup --window; export HEMIOLA_STRICT=1; fi; \
	$(WINDOW_LIBRARY); \
	swift test --package-path Window $(AT_ONCE) 2

install-window: ## Install the window under PREFIX (default /usr/local), where `hemiola window` finds it.
	packaging/install-window "$$(packaging/build-window)"

uninstall-window: ## Remove the files that `make install-window` installed, with the same PREFIX.
	packaging/install-window --remove

deb-window: ## Make the Debian package of the window in dist/.
	packaging/make-deb-window

test-install-window: ## Test installing and uninstalling the window in a temporary root, and its Debian package.
	packaging/test-window

sanitize: setup ## Run the tests under the address, thread and undefined-behaviour sanitizers.
	$(WITH_PYTHON); REAL_TIME='$(REAL_TIME)' Tests/Sanitizers/run

fuzz: setup ## Fuzz the captures and parsers; MINUTES=30 in total.
	Tests/Fuzz/run

soak: setup ## Capture from a private sound server for MINUTES=30 and check memory, dropped audio and CPU time; HEMIOLA: a program that exists.
	if [ -z "$$HEMIOLA" ]; then swift build -c release --product hemiola >&2; fi
	Tests/Soak/soak "$${HEMIOLA:-.build/release/hemiola}" --minutes $(or $(MINUTES),30) $(OPTIONS)

accuracy: setup ## Score beats and onsets on annotated music: DATA=DIR, OPTIONS='-- --whole-file'.
	@test -n "$(DATA)" || { echo "make accuracy needs DATA=DIR: a folder with audio/ and annotations/" >&2; exit 2; }
	Tests/Accuracy/run "$(DATA)" $(OPTIONS)

accuracy-peers: setup ## Score Hemiola and other programs on annotated music: DATA=DIR, PYTHON=python3; installs them in .build/peers.
	@test -n "$(DATA)" || { echo "make accuracy-peers needs DATA=DIR: a folder with audio/ and annotations/" >&2; exit 2; }
	Tests/Benchmarks/peer_accuracy.py "$$(packaging/build 2>/dev/null)" "$(DATA)" $(if $(PYTHON),--python "$(PYTHON)") $(OPTIONS)

accuracy-cqt: setup ## Compare cqt with librosa's on tones and music: DATA='DIR ...' with MIDI files, else music is made.
	Tests/Accuracy/compare cqt $(addprefix --music ,$(DATA)) $(OPTIONS)

accuracy-chroma: setup ## Compare chroma with librosa's on rendered music: made music, and DATA='DIR ...' with MIDI files.
	Tests/Accuracy/compare chroma $(addprefix --music ,$(DATA)) $(OPTIONS)

accuracy-key: setup ## Compare musical-key with Essentia's on rendered music: made songs, and .mxl files in SHEETS='DIR ...', SCORES='DIR ...'.
	Tests/Accuracy/compare key $(addprefix --sheets ,$(SHEETS)) $(addprefix --scores ,$(SCORES)) $(OPTIONS)

accuracy-chords: setup ## Compare chords with templates on librosa's chroma on rendered music: made songs, and .mxl files in SHEETS='DIR ...'.
	Tests/Accuracy/compare chords $(addprefix --sheets ,$(SHEETS)) $(OPTIONS)

accuracy-pitch: setup ## Compare pitch with librosa's pyin and aubio's yinfft on synthesised voices and instruments.
	Tests/Accuracy/compare pitch $(OPTIONS)

accuracy-structure: setup ## Compare structure with librosa's on pieces with known segments: DATA=DIR with MIDI files, RECORDINGS=DIR.
	Tests/Accuracy/compare structure $(if $(DATA),--music "$(DATA)") $(if $(RECORDINGS),--recordings "$(RECORDINGS)") $(OPTIONS)

bench: setup ## Measure speed and memory.
	Tests/Benchmarks/run

bench-bridge: setup ## Measure the cost of socket clients: CPU time, dropped batches, memory.
	swift build -c release --product hemiola >&2
	python3 Tests/Benchmarks/bridge.py .build/release/hemiola $(OPTIONS)

bench-corpus: setup ## Measure many files: gain of a second processor, cost of a short file, memory per job, CPU time against a C program.
	swift build -c release --product hemiola >&2
	python3 Tests/Benchmarks/corpus.py .build/release/hemiola $(OPTIONS)

bench-midi: setup ## Measure the MIDI clock: jitter beside a bare timer loop, phase error over ten minutes, CPU time.
	Tests/Benchmarks/midi.py "$$(packaging/build 2>/dev/null)" --seconds 625 $(OPTIONS)

bench-sinks: setup ## Measure the CPU time of the sinks for programs, lights and the network beside the analysis alone.
	Tests/Benchmarks/sinks.py "$$(packaging/build 2>/dev/null)" $(OPTIONS)

bench-tonal: setup ## Compare CPU time and memory of chroma, key, chords, pitch and structure with aubiotrack.
	Tests/Benchmarks/tonal.py "$$(packaging/build 2>/dev/null)" $(OPTIONS)

bench-peers: setup ## Compare CPU time and memory with other programs: DATA=DIR, PYTHON=python3; installs them in .build/peers.
	Tests/Benchmarks/peers.py "$$(packaging/build 2>/dev/null)" $(if $(DATA),--data "$(DATA)") $(if $(PYTHON),--python "$(PYTHON)") $(OPTIONS)

lint: ## Check the sources' format, and the links, charts and versions of the documents.
	swift format lint --strict --recursive $(SWIFT_SOURCES)
	scripts/check-links --self-test
	scripts/check-links
	scripts/check-commands --self-test
	scripts/make-charts --check
	packaging/version --check

format: ## Format the sources.
	swift format --in-place --recursive $(SWIFT_SOURCES)

# The training of the beat network: Training/README.md. It needs its own Python environment, and never runs in CI.
TRAINING = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/hemiola-training
EXCERPTS = 5000
JOBS = 1
THREADS = 2
TRAIN_OPTIONS =
PAUSE =
TRAINING_PYTHON = $(CURDIR)/.build/training/bin/python
TRAINING_PAUSE = $(if $(PAUSE),--pause-file $(PAUSE))

.build/training/installed: Training/requirements.txt
	python3 -m venv .build/training
	$(TRAINING_PYTHON) -m pip install --quiet -r Training/requirements.txt
	touch $@

training-data: .build/training/installed ## Render the excerpts for the beat network's training: DATA=DIR, TRAINING=DIR, JOBS=1.
	@test -n "$(DATA)" || { echo "make training-data needs DATA=DIR: the archives training-*.tar.xz or their contents" >&2; exit 2; }
	cd Training && $(TRAINING_PYTHON) -m beats.render "$(abspath $(DATA))" "$(TRAINING)" --count $(EXCERPTS) --jobs $(JOBS) $(TRAINING_PAUSE)

train: .build/training/installed ## Train the beat network; resumes; results in TRAINING/model.
	cd Training && $(TRAINING_PYTHON) -m beats.pipeline "$(TRAINING)" --threads $(THREADS) $(TRAINING_PAUSE) $(TRAIN_OPTIONS)

weights: ## Copy trained networks and their test vectors into the sources: MODEL=DIR, the results of `make train`.
	@test -n "$(MODEL)" || { echo "make weights needs MODEL=DIR: a folder with beats-causal.bin, beats-whole-file.bin, vectors.bin" >&2; exit 2; }
	cp "$(MODEL)/beats-causal.bin" "$(MODEL)/beats-whole-file.bin" Libraries/CBeatWeights
	cp "$(MODEL)/vectors.bin" Plugins/Analyzers/Beat/Tests

test-training: .build/training/installed ## Run the tests of the training.
	cd Training && $(TRAINING_PYTHON) -m pytest -q tests

docs: setup ## Build the documentation site with the API into .build/docs; a public symbol without a comment fails.
	scripts/docs
	$(MAKE) site

site: setup ## Build the documentation site without rendering the API again.
	swift build -c release --product hemiola >&2
	scripts/site

test-docs: setup ## Run the commands of the documents in docs/, and compare their output; UPDATE=1 writes it into the documents.
	if [ -z "$$HEMIOLA" ]; then swift build -c release --product hemiola >&2; fi
	$(WITH_PYTHON); scripts/check-commands $(if $(UPDATE),--update)

screenshots: setup ## Render the documentation's pictures of the web page in Chromium.
	HEMIOLA_SCREENSHOTS=1 $(SWIFT_TEST) --filter "ScreenshotTests|MovingPictureTests"

pictures: setup ## Render the documentation's picture of the minuet again; needs cairo and ffmpeg.
	swift build -c release --product hemiola >&2
	examples/render/run examples/render

vectors: ## Recompute the tests' reference vectors.
	Tests/References/make

music: ## Render the bundled minuet again.
	python3 examples/music/make.py

program: ## Build the program for installation: stripped, with the Swift runtime linked statically.
	packaging/build >/dev/null

vamp-plugin: ## Build the analyzers beat, spectrum, chroma and musical-key as a Vamp plugin, in .build/vamp/plugin.
	echo "built $$(packaging/build-vamp): copy it to ~/vamp, or set VAMP_PATH"

install: program ## Install under PREFIX (default /usr/local): `make program && sudo make install`.
	packaging/install "$$(packaging/build 2>/dev/null)"

uninstall: ## Remove the files that `make install` installed, with the same PREFIX.
	packaging/install --remove

man: program ## Generate the manual page from the program's help.
	packaging/make-man "$$(packaging/build 2>/dev/null)" >.build/hemiola.1
	mv .build/hemiola.1 packaging/hemiola.1

dist: ## Make tarballs in dist/: the program, and the source, which builds without the network.
	packaging/make-dist

deb: ## Make a Debian package in dist/.
	packaging/make-deb

container: deb ## Make a container image in dist/ from the Debian package, without a registry; needs root, mmdebstrap, buildah.
	packaging/make-container

wheel: ## Make a Python wheel in dist/ that contains the program and its libraries.
	packaging/make-wheel

test-wheel: wheel ## Test the wheel where the libraries that it contains are hidden from the system.
	packaging/test-wheel "$$(ls dist/hemiola_audio-*.whl)"

# The Python package's tests run with the program that the Swift tests have built, or HEMIOLA.
test-python: ## Test the Python package: pytest and mypy.
	$(WITH_PYTHON); export HEMIOLA="$${HEMIOLA:-$(CURDIR)/.build/tests/release/hemiola}" PYTHONPATH="$(CURDIR)/python"; \
	python=$${HEMIOLA_PYTHON:-python3}; \
	cd python; "$$python" -m mypy; "$$python" -m pytest -q

# Ray has 600 MB with its dependencies: not part of `make test`.
test-ray: ## Test the Ray pipeline with a cluster on this machine; installs Ray in .build/ray.
	HEMIOLA="$${HEMIOLA:-$(CURDIR)/.build/tests/release/hemiola}" examples/ray/check

test-install: ## Test installing and uninstalling in a temporary root, the tarballs and the package.
	$(WITH_PYTHON); packaging/test
	packaging/test-packages
	packaging/test-tag

# The release checks need minutes and a Debian mirror: they are not part of `make test`.
test-container: ## Make the container image and run it; needs root, and mounts that the kernel allows.
	scripts/setup --release
	packaging/test-container

test-roots: deb ## Install the Debian package in fresh Debian 12 and 13 roots, and follow the documents there; needs root.
	scripts/setup --release
	packaging/test-roots

test-reproducible: ## Build all packages of this commit in two folders, and compare the bytes.
	packaging/test-reproducible

clean: ## Remove all build products.
	rm -rf .build dist
