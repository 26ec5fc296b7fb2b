# One vocabulary for hand, hook and CI; `make help` explains each word.
#   make serve ARGS="--port 6000"     flags for the command behind a word
#   make test ARGS="tests/client -x"  likewise for pytest

PYTHON ?= python3
CONFIG ?=
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

# A stamp carries the checksum of all that decides an environment: an environment is made once, made
# anew when a version moves or the checkout does, and left alone otherwise.
KEY := $(shell { pwd; cat pyproject.toml constraints.txt; } | cksum | cut -d' ' -f1)
SERVER := $(VENV)/server-$(KEY)
DEV := $(VENV)/dev-$(KEY)

# The engines that `make bench` compares with come on top.
PEERS_KEY := $(shell { echo $(KEY); cat benchmarks/peers/*.txt; } | cksum | cut -d' ' -f1)
PEERS := $(VENV)/peers-$(PEERS_KEY)

# ONNX Runtime's builds report usage to their maker unless told not to.
export ORT_DISABLE_TELEMETRY := 1

.DEFAULT_GOAL := help
.PHONY: setup demo serve test lint format bench train clean help

setup: $(DEV) ## make .venv with everything: server, client, training, tests (torch included)

demo: $(SERVER) ## start the server, translate over gRPC, show some metrics, stop (no torch needed)
	$(BIN)/python client/examples/demo.py $(ARGS)

serve: $(SERVER) ## serve the default model on 127.0.0.1:50051, metrics on port 9090 (no torch needed)
	$(BIN)/dragoman serve $(ARGS)

test: $(DEV) ## run every test
	$(BIN)/python -m pytest --numprocesses logical --maxprocesses 4 $(ARGS)

lint: $(DEV) ## check style, types and the contract, changing nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/buf lint protos
	$(BIN)/buf breaking protos --against protos/v1.binpb

format: $(DEV) ## put all sources into the one style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(PEERS) ## measure speed and memory, beside other engines (installed first): one table
	$(BIN)/python -m benchmarks $(ARGS)

train: $(DEV) ## train a model: make train CONFIG=my-model.toml
	@test -n "$(CONFIG)" || { echo "name a recipe: make train CONFIG=my-model.toml" >&2; exit 2; }
	$(BIN)/dragoman train $(CONFIG) $(ARGS)

clean: ## remove .venv, caches and build results; training runs stay
	rm -rf $(VENV) build dist .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

help: ## explain these words
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "$(PYTHON) is older than Python 3.11; name a newer one: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# An order-only prerequisite: the interpreter's own date says nothing about what is installed.
$(SERVER): | $(BIN)/python
	$(PIP) install --quiet --constraint constraints.txt --editable '.[server]'
	@touch $@

$(DEV): | $(BIN)/python
	$(PIP) install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $(SERVER) $@

$(PEERS): | $(DEV)
	$(PIP) install --quiet --constraint constraints.txt --requirement benchmarks/peers/requirements.txt
	rm -rf $(VENV)/optimum
	$(PIP) install --quiet --no-deps --target $(VENV)/optimum --requirement benchmarks/peers/optimum.txt \
		|| echo "optimum can't be installed: its rows will have no figures" >&2
	@touch $@
