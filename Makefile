# Everything is set up by the first target that needs it. `make help` lists what there is.

PYTHON ?= python3
VENV ?= .venv
# torch is asked for first and by itself: on Linux a plain requirement would take a CUDA build of several gigabytes.
# With a GPU, or for another build: make demo TORCH="torch --index-url https://download.pytorch.org/whl/cu130"
TORCH ?= torch==2.13.0

BIN := $(VENV)/bin
READY := $(VENV)/ready
PEERS_VENV ?= .venv-peers
PEERS := $(PEERS_VENV)/ready
TROPHY := The trophy did not fit in the suitcase because it was too big.
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile -q --durations 15

.DEFAULT_GOAL := help
.PHONY: help demo test test-all lint docs bench bench-write gpu-check clean

help: ## list what there is
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(READY): pyproject.toml Makefile
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pip install --quiet --editable ".[parquet]" --group dev
	@touch $@

demo: $(READY) ## set up, fetch the default model, show where "it" looks, and draw the map as demo/trophy.png
	@mkdir -p demo
	$(BIN)/heedmap read "$(TROPHY)" --word it --layer 16 --head 3
	$(BIN)/heedmap map "$(TROPHY)" --layer 16 --head 3 --output demo/trophy.png

test: lint ## set up, lint, type check, and test (under 10 minutes)
	$(BIN)/heedmap models get smollm2
	$(BIN)/heedmap models get minilm
	$(PYTEST) -m "not slow"

test-all: lint ## test everything, the slow rest and freshly drawn examples included
	$(BIN)/heedmap models get smollm2
	$(BIN)/heedmap models get minilm
	HYPOTHESIS_PROFILE=search $(PYTEST)

lint: $(READY) ## ruff and mypy
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

docs: $(READY) ## write the generated parts of README and docs again: command reference, outputs, pictures
	$(BIN)/python docs/build.py

# Other tools want packages that the project does not: they get an environment of their own.
$(PEERS): Makefile
	$(PYTHON) -m venv $(PEERS_VENV)
	$(PEERS_VENV)/bin/python -m pip install --quiet $(TORCH)
	$(PEERS_VENV)/bin/python -m pip install --quiet transformer-lens nnsight accelerate gguf
	$(PEERS_VENV)/bin/python -m pip install --quiet --no-deps attnread
	@touch $@

bench: $(READY) $(PEERS) ## measure speed and memory beside the plain pass, eager attention and other tools (an hour)
	$(BIN)/heedmap models get smollm2
	$(BIN)/python -m benchmarks.run

bench-write: $(READY) $(PEERS) ## the same, and put the tables into docs/performance.md
	$(BIN)/heedmap models get smollm2
	$(BIN)/python -m benchmarks.run --write

gpu-check: $(READY) ## on a machine with a GPU: agreement, speed and memory there
	$(BIN)/python -m benchmarks.gpu_check

clean: ## remove the environment and what tools left behind; fetched models stay in their cache
	rm -rf $(VENV) $(PEERS_VENV) demo dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
