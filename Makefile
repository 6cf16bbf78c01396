# Every command sets up its own environment first: `make test` and `make reproduce` are all one needs.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV := .venv
NEWEST := .venv-newest
BIN := $(VENV)/bin
STAMP := $(VENV)/.complete
COLLECTED := $(VENV)/.collected
WORKERS ?= 3
PORT ?= 8000
ARGS ?=

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Where Python may not keep its bytecode, every process that the tests start reads all packages anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup lint style format test fuzz check coverage package check-package check-newest reproduce bench bench-peers scenarios docs docs-serve lock clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile
	@echo "Variables: WORKERS=$(WORKERS) test processes, PORT=$(PORT) of docs-serve, ARGS for test, reproduce and bench."

setup: $(STAMP) ## create .venv from requirements.lock and install tarry into it

# The shims of version managers exist without their Python, so each candidate is run, not looked up.
# The lock file is installed by hash, by the uv that is in it: pip takes a minute longer. The build
# backend is in it too, so installing tarry downloads nothing.
$(STAMP): requirements.lock pyproject.toml
	@for candidate in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11; do \
	  if "$$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$candidate; break; fi; \
	done; \
	if [ -z "$${found:-}" ]; then \
	  echo "tarry needs Python 3.11 or newer with its venv module; install it or name it with 'make setup PYTHON=/path/to/python'." >&2; exit 1; \
	fi; \
	if ! $(BIN)/python -c 'import pip' 2>/dev/null; then \
	  echo "Creating $(VENV) with $$("$$found" --version)."; "$$found" -m venv --clear $(VENV); \
	fi
	@echo "Installing the packages of requirements.lock into $(VENV); the first time this takes half a minute."
	@$(BIN)/python -m pip install --quiet --require-hashes \
	  -r <(awk '/^uv==/ { found = 1 } found { print } found && !/\\$$/ { exit }' requirements.lock)
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock || { \
	  echo "uv could not install them (it does not read pip's settings, say); now pip does, which takes a minute."; \
	  $(BIN)/python -m pip install --require-hashes -r requirements.lock \
	    | sed -un -e 's/^Collecting \([^ ]*\).*/  fetching \1/p' -e 's/^Installing collected.*/  installing/p'; }
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@
	@echo "Ready: $$($(BIN)/python --version), tarry $$($(BIN)/python -c 'import tarry; print(tarry.__version__)')."

lint: setup style ## style, types, import contract and spelling
	$(BIN)/mypy

style: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	$(BIN)/codespell

format: setup ## let ruff format and fix what it can
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

# Types are checked beside the tests: on a fresh machine that takes half a minute. Collecting once by
# one process leaves bytecode behind, which the processes of the tests would each make for themselves.
test: setup ## quick checks, then types and all tests
	@types=$$(mktemp); trap 'rm -f "$$types"' EXIT; failed=0; \
	$(BIN)/mypy > "$$types" 2>&1 & checking=$$!; \
	{ [ -e $(COLLECTED) ] || exec $(BIN)/pytest --collect-only -qq > /dev/null 2>&1; } & collecting=$$!; \
	$(MAKE) style || { kill $$checking $$collecting 2> /dev/null || true; exit 1; }; \
	wait $$collecting && touch $(COLLECTED) || true; \
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup $(ARGS) || failed=1; \
	wait $$checking || failed=1; cat "$$types"; exit $$failed

fuzz: setup ## new random examples, twenty times as many as the tests look at; takes long
	HYPOTHESIS_PROFILE=explore $(BIN)/pytest -n $(WORKERS) --dist loadgroup $(ARGS)

check: setup lint coverage docs check-package check-newest ## everything: lint, tests with coverage, documentation, packages, newest Numba

# A line counts when it ran interpreted, so each rule needs a test that runs it so; the code that
# prepares compilation runs only while the cache is cold.
coverage: setup ## all tests, with the lines and branches that none of them reaches
	@cache=$$(mktemp -d); trap 'rm -rf "$$cache"' EXIT; \
	NUMBA_CACHE_DIR="$$cache" $(BIN)/pytest -n $(WORKERS) --dist loadgroup --cov --cov-report=term $(ARGS)

package: setup ## build wheel and source distribution
	rm -rf dist
	$(BIN)/python -m build --no-isolation

check-package: package ## try both, and each extra alone, in empty environments without the sources
	$(BIN)/python tests/packaging/check.py dist

# The lock file has the Numba of its day; the bridge to it leans on more than its documented interface.
check-newest: setup ## the bridge, the simulator and the policies with the newest Numba that pip offers
	@if ! $(NEWEST)/bin/python -c 'import pip' 2>/dev/null; then $(BIN)/python -m venv --clear $(NEWEST); fi
	@$(NEWEST)/bin/python -m pip install --quiet --upgrade --upgrade-strategy eager \
	  editables hatchling hypothesis numba pytest pytest-xdist
	@$(NEWEST)/bin/python -m pip install --quiet --upgrade --upgrade-strategy eager --no-build-isolation --editable .
	@echo "With Numba $$($(NEWEST)/bin/python -c 'import numba; print(numba.__version__)'):"
	$(NEWEST)/bin/python -m pytest -n $(WORKERS) tests/compiled tests/simulation tests/conformance $(ARGS)

reproduce: setup ## run the experiments of the paper and draw their figures
	$(BIN)/tarry reproduce $(ARGS)

bench: setup ## speed and memory of the simulator, as ratios measured in one run
	$(BIN)/python -m benchmarks $(ARGS)

bench-peers: setup ## the same work done by other libraries, in an environment of their own
	$(BIN)/python -m benchmarks.peers $(ARGS)

scenarios: setup ## routes that break: every policy and router, into docs/scenarios.md
	$(BIN)/python -m benchmarks.scenarios $(or $(ARGS),--write)

docs: setup ## build the documentation into site/; every warning is an error
	$(BIN)/sphinx-build --fail-on-warning --keep-going --jobs auto --doctree-dir site/.doctrees docs site
	@echo "Open site/index.html, or run 'make docs-serve'."

docs-serve: docs ## show the documentation on this machine
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory site $(PORT)

lock: setup ## choose the newest versions that fit pyproject.toml and pin them
	$(BIN)/uv pip compile --universal --python-version 3.11 --all-extras --group dev \
	  --generate-hashes --no-annotate --no-header --no-emit-package tarry --upgrade --quiet \
	  --output-file requirements.lock pyproject.toml
	@echo "requirements.lock is new; 'make test' installs it."

clean: ## remove the environment and all that the commands produced, except results/
	rm -rf $(VENV) $(NEWEST) .venv-peers site dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage .coverage.* htmlcov
	find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +
