# The commands of the repository: `make help` lists them.

SHELL := /bin/sh
.SHELLFLAGS := -ec
.DEFAULT_GOAL := help
.SILENT:
MAKEFLAGS += --no-print-directory

# The destination of `make install`. DESTDIR is for packagers.
PREFIX = /usr/local
DESTDIR =
export PREFIX DESTDIR

# The files and folders for swift-format.
SWIFT_SOURCES = Package.swift Sources Plugins Tests Window/Package.swift Window/Sources Window/Tests examples

# The program that a target runs: HEMIOLA, else the one that `make install` installs, which is built.
PROGRAM = $${HEMIOLA:-$$(packaging/build hemiola)}

# $(call one_of,VARIABLE,VALUES): ends with a message unless the variable has one of the values.
one_of = $(if $(filter $($1),$2),,$(error $(if $($1),$1=$($1) is unknown,$1= is missing); $1 is one of: $2))

.PHONY: help setup run program window test release-check lint format install uninstall package examples bench accuracy fuzz soak sanitize docs clean

help: ## List these targets.
	awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile
	echo "The training of the beat network: make -C Training"

setup: ## Check for the libraries that Hemiola is built with, and install missing ones.
	scripts/setup

run: ## Build Hemiola, analyse the bundled minuet, print sample records and a summary.
	scripts/summary "$(PROGRAM)" examples/music/minuet.flac .build/minuet.jsonl

program: ## Build the program as it is installed, and print its path.
	packaging/build hemiola

window: ## Build hemiola-window, the native window for pages, and print its path.
	packaging/build window

test: ## Run the tests for every change, in about 20 minutes; WHAT=STAGE runs one stage.
	scripts/test $(WHAT)

release-check: ## Run all other checks: packages, documents, every window and page test; WHAT=PART runs one.
	scripts/release-check $(WHAT)

# MkDocs and rumdl, with exact versions.
SITE = .build/site-python/bin
.build/site-python/installed: docs/requirements.txt
	python3 -m venv --clear .build/site-python
	$(SITE)/pip install --quiet --disable-pip-version-check --no-deps -r docs/requirements.txt
	touch $@

lint: .build/site-python/installed ## Check the sources' format, and the links, charts and versions of the documents.
	# Links and anchors as the forge has them.
	$(SITE)/rumdl check --isolated --no-cache --enable MD042,MD051,MD057 --config 'MD057.absolute-links = "warn"' .
	swift format lint --strict --recursive $(SWIFT_SOURCES)
	scripts/make-charts --check
	packaging/version --check

format: ## Format the sources.
	swift format --in-place --recursive $(SWIFT_SOURCES)

PRODUCT = hemiola
install: ## Install under PREFIX (/usr/local): `make program && sudo make install`; PRODUCT=window: the window.
	packaging/install "$(PRODUCT)"

uninstall: ## Remove what `make install` installed, with the same PREFIX and PRODUCT.
	packaging/install "$(PRODUCT)" --remove

package: ## Make a package in dist/: FORMAT=deb, dist (tarballs), wheel, container, window-deb, vamp.
	$(call one_of,FORMAT,deb dist wheel container window-deb vamp)
	case $(FORMAT) in \
		deb) packaging/make-deb hemiola ;; \
		window-deb) packaging/make-deb window ;; \
		vamp) packaging/build vamp ;; \
		*) packaging/make-$(FORMAT) ;; \
	esac

examples: ## Run every example that has a run script.
	HEMIOLA="$(PROGRAM)"; export HEMIOLA; \
	if [ -x .build/python/bin/python ]; then export HEMIOLA_PYTHON="$(CURDIR)/.build/python/bin/python"; fi; \
	failed=; \
	for script in examples/*/run; do \
		echo "== $$script"; \
		"$$script" || failed="$$failed $$script"; \
	done; \
	if [ -n "$$failed" ]; then echo "error: failed:$$failed" >&2; exit 1; fi

bench: WHAT ?= speed
bench: ## Measure WHAT=speed (and memory), bridge, corpus, midi, peers (DATA=DIR), sinks, tonal.
	$(call one_of,WHAT,speed bridge corpus midi peers sinks tonal)
	HEMIOLA="$(PROGRAM)"; \
	case $(WHAT) in \
		speed) Tests/Benchmarks/run $(OPTIONS) ;; \
		midi) Tests/Benchmarks/midi.py "$$HEMIOLA" --seconds 625 $(OPTIONS) ;; \
		peers) Tests/Benchmarks/peers.py "$$HEMIOLA" $(if $(DATA),--data "$(DATA)") $(if $(PYTHON),--python "$(PYTHON)") $(OPTIONS) ;; \
		*) python3 Tests/Benchmarks/$(WHAT).py "$$HEMIOLA" $(OPTIONS) ;; \
	esac

accuracy: ## Score analyzers on music: WHAT=beats, peers, cqt, chroma, key, chords, pitch, structure; DATA=DIR.
	$(call one_of,WHAT,beats peers cqt chroma key chords pitch structure)
	$(if $(filter beats peers,$(WHAT)),$(if $(DATA),,$(error DATA=DIR is missing: a folder with audio/ and annotations/)))
	HEMIOLA="$(PROGRAM)"; export HEMIOLA; \
	case $(WHAT) in \
		beats) Tests/Accuracy/run "$(DATA)" $(OPTIONS) ;; \
		peers) Tests/Benchmarks/peer_accuracy.py "$$HEMIOLA" "$(DATA)" $(if $(PYTHON),--python "$(PYTHON)") $(OPTIONS) ;; \
		structure) Tests/Accuracy/compare structure $(if $(DATA),--music "$(DATA)") $(if $(RECORDINGS),--recordings "$(RECORDINGS)") $(OPTIONS) ;; \
		*) Tests/Accuracy/compare $(WHAT) $(addprefix --music ,$(DATA)) $(addprefix --sheets ,$(SHEETS)) $(addprefix --scores ,$(SCORES)) $(OPTIONS) ;; \
	esac

fuzz: ## Fuzz the captures and parsers, MINUTES=30 in total.
	Tests/Fuzz/run

soak: ## Capture from a private sound server for MINUTES=30; check memory, dropped audio and CPU time.
	Tests/Soak/soak "$(PROGRAM)" --minutes $(or $(MINUTES),30) $(OPTIONS)

sanitize: ## Run the tests under the address, thread and undefined-behaviour sanitizers.
	Tests/Sanitizers/run

docs: .build/site-python/installed ## Build the documentation site into .build/docs, with the API where docc is installed.
	if command -v docc >/dev/null; then scripts/docs; fi
	HEMIOLA="$(PROGRAM)" NO_MKDOCS_2_WARNING=1 $(SITE)/mkdocs build --strict

clean: ## Remove all build products.
	rm -rf .build dist Window/.build examples/*/.build examples/*/*/.build Tests/*/.build
