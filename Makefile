# Everything is set up by the first target that needs it. `make help` lists what there is.

PYTHON ?= python3
VENV ?= .venv
# torch is asked for first and by itself: on Linux a plain requirement would take a CUDA build of several gigabytes.
# With a GPU, or for another build: make demo TORCH="torch --index-url https://download.pytorch.org/whl/cu130"
TORCH ?= torch==2.13.0

BIN := $(VENV)/bin
READY := $(VENV)/ready
PEERS_VENV ?= .venv-peers
OLDEST_VENV ?= .venv-oldest
OLDEST := $(OLDEST_VENV)/ready
OLDEST_INDEX ?=
PEERS := $(PEERS_VENV)/ready
TROPHY := The trophy did not fit in the suitcase because it was too big.
BUNDLE := src/heedmap/drawing/page/bundle/sources.sha256
NODE_MODULES := viewer/node_modules/.package-lock.json
VIEWER_SOURCES := $(shell find viewer/src -type f) viewer/tsconfig.json viewer/vite.config.ts
# A run of the tests ends after so many seconds, done or not.
LIMIT ?= 1200
TESTS = -n 2 --dist loadfile -q --durations 15 --session-timeout $(LIMIT)
# The machine that `make test` is to be, of those that `python -m tests.machines` lists.
MACHINE ?= turn
SEED ?=
NUMBERS := tests/reading tests/arithmetic tests/lab tests/cases src

.DEFAULT_GOAL := help
.PHONY: help demo viewer viewer-test chromium test test-all test-machines fuzz audit test-oldest lint docs readme docs-site bench bench-write bench-page gpu-check clean

help: ## list what there is
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(READY): pyproject.toml Makefile
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pip install --quiet --editable ".[notebook,parquet]" --group dev
	@touch $@

demo: $(READY) ## set up, fetch the default model, show where "it" looks, and write demo/trophy.png and demo/trophy.html
	@mkdir -p demo
	$(BIN)/heedmap read "$(TROPHY)" --word it --layer 16 --head 3
	$(BIN)/heedmap map "$(TROPHY)" --layer 16 --head 3 --output demo/trophy.png
	@if command -v npm > /dev/null; then $(MAKE) --no-print-directory viewer || echo "the page was not built: see above"; fi
	@if [ -f $(BUNDLE) ]; \
	then $(BIN)/heedmap view "$(TROPHY)" --word it --layer 16 --head 3 --steps-layers all --output demo/trophy.html; \
	else echo "demo/trophy.html was left out: its program is built with npm (Node 20.19 or newer); then again: make demo"; fi

viewer: $(BUNDLE) ## build the page's program from viewer/ (needs Node 20.19 or newer)

$(NODE_MODULES): viewer/package.json viewer/package-lock.json
	@command -v npm > /dev/null || { echo "npm is missing: install Node 20.19 or newer, which brings it" >&2; exit 1; }
	cd viewer && npm ci --no-audit --no-fund
	@touch $@

$(BUNDLE): $(NODE_MODULES) $(VIEWER_SOURCES)
	cd viewer && npm run --silent build
	@touch $@

viewer-test: $(BUNDLE) ## type check and test the page's program
	cd viewer && npm run --silent check
	cd viewer && npm run --silent test

chromium: # the browser of the page's tests; installed where that is allowed
	@command -v chromium > /dev/null || [ "$$(id -u)" != 0 ] || ! command -v apt-get > /dev/null || \
	{ apt-get -qq update && apt-get -qq install --yes --no-install-recommends chromium; } > /dev/null

test: lint viewer-test chromium ## set up, lint, type check, and test (under 10 minutes); MACHINE=native: as this machine is
	$(BIN)/heedmap models get smollm2
	$(BIN)/heedmap models get minilm
	$(BIN)/python -m tests.machines run $(MACHINE) $(TESTS) -m "not slow"

test-all: LIMIT = 14400
test-all: lint viewer-test chromium ## test everything, the slow rest and freshly drawn examples included
	$(BIN)/heedmap models get smollm2
	$(BIN)/heedmap models get minilm
	HYPOTHESIS_PROFILE=search $(BIN)/python -m pytest $(TESTS)

test-machines: $(READY) ## the tests of numbers on every machine that this one can be, with new examples (an hour)
	$(BIN)/heedmap models get smollm2
	$(BIN)/heedmap models get minilm
	SEED=$(SEED) $(BIN)/python -m tests.machines each $(TESTS) -m "not slow" $(NUMBERS)

fuzz: $(READY) ## tens of thousands of hard inputs, in limited processes; counts go to docs/hard-inputs.md (an hour)
	$(BIN)/heedmap models get smollm2
	$(BIN)/heedmap models get minilm
	$(BIN)/python -m tests.fuzz.run --write

audit: $(READY) ## known holes in the packages that are installed here, where the index can be asked
	$(BIN)/python -m tests.audit

# The oldest versions that pyproject.toml allows, chosen by uv; OLDEST_INDEX names an index of smaller builds of torch.
$(OLDEST): pyproject.toml Makefile
	$(PYTHON) -m venv --clear $(OLDEST_VENV)
	$(OLDEST_VENV)/bin/python -m pip install --quiet --upgrade "pip>=25.1" uv
	UV_INDEX_STRATEGY=unsafe-best-match UV_INDEX="$(OLDEST_INDEX)" VIRTUAL_ENV=$(abspath $(OLDEST_VENV)) \
	$(OLDEST_VENV)/bin/uv pip install --resolution lowest-direct --editable ".[notebook,parquet]"
	VIRTUAL_ENV=$(abspath $(OLDEST_VENV)) $(OLDEST_VENV)/bin/uv pip install --group dev
	@touch $@

test-oldest: $(OLDEST) $(BUNDLE) chromium ## the tests of `make test` with the oldest packages that are allowed (on Python 3.11)
	$(OLDEST_VENV)/bin/heedmap models get smollm2
	$(OLDEST_VENV)/bin/heedmap models get minilm
	$(OLDEST_VENV)/bin/python -m pytest $(TESTS) -m "not slow"

lint: $(READY) ## ruff and mypy
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

docs: $(READY) $(BUNDLE) chromium ## write the generated parts of README and docs again: command reference, outputs, pictures
	$(BIN)/python docs/build.py

readme: $(READY) ## write the README's picture and outputs again
	$(BIN)/python docs/build.py readme

docs-site: $(READY) ## build the documentation site into site/, strictly
	$(BIN)/zensical build --strict --clean
	@echo "site/index.html opens in a browser; with the search: $(BIN)/python -m http.server --directory site"

# Other tools want packages that the project does not: they get an environment of their own.
$(PEERS): Makefile
	$(PYTHON) -m venv $(PEERS_VENV)
	$(PEERS_VENV)/bin/python -m pip install --quiet $(TORCH)
	$(PEERS_VENV)/bin/python -m pip install --quiet transformer-lens nnsight accelerate gguf
	$(PEERS_VENV)/bin/python -m pip install --quiet --no-deps attnread
	$(PEERS_VENV)/bin/python -m pip install --quiet bertviz==1.4.1 attnview==0.5.1
	@touch $@

bench: $(READY) $(PEERS) ## measure speed and memory beside the plain pass, eager attention and other tools (an hour)
	$(BIN)/heedmap models get smollm2
	$(BIN)/python -m benchmarks.run

bench-write: $(READY) $(PEERS) ## the same, and put the tables into docs/performance.md
	$(BIN)/heedmap models get smollm2
	$(BIN)/python -m benchmarks.run --write

bench-page: $(READY) $(BUNDLE) $(PEERS) chromium ## measure the page in Chromium beside other viewers, and write it to docs/performance.md
	$(BIN)/heedmap models get smollm2
	$(BIN)/python -m benchmarks.page --write

gpu-check: $(READY) ## on a machine with a GPU: agreement, speed and memory there
	$(BIN)/python -m benchmarks.gpu_check

clean: ## remove the environment and what tools left behind; fetched models stay in their cache
	rm -rf $(VENV) $(PEERS_VENV) $(OLDEST_VENV) demo dist build site .cache viewer/node_modules $(dir $(BUNDLE)) .pytest_cache .mypy_cache .ruff_cache .hypothesis
