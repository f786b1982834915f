# Everything a checkout needs, from a bare Python 3.11 on. `make help` lists the targets.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# What each half installs. The full half is where heavy extras (models) join.
LIGHT_EXTRAS := arrow,test,check
FULL_EXTRAS := $(LIGHT_EXTRAS),plot,models

# KARAT_REFERENCE_DATA, where the environment sets it, is the folder of reference data: it reaches
# the tests as it is. Without it the parity tests are skipped and say so.

.DEFAULT_GOAL := help
.PHONY: help demo test test-core check format bench docs samples clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.core ## score the built-in samples: the shortest way to see karat work
	$(BIN)/karat demo

test: $(VENV)/.full ## every test, with every extra
	$(BIN)/python -m pytest -n 2

test-core: $(VENV)/.light ## every test that needs no heavy extra
	$(BIN)/python -m pytest -n 2

check: $(VENV)/.light ## format, lint, types, layering and the fast tests, in under a minute
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict src
	$(BIN)/python -m pytest -n 2 -q -m "not slow"

format: $(VENV)/.light ## rewrite the code in house style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.light ## karat against its peers on this machine; NAME=entities, ROWS=100000
	$(BIN)/python benchmarks/$(or $(NAME),classification).py $(if $(ROWS),--rows $(ROWS))

docs: $(VENV)/.core ## regenerate docs/reference from the commands and the task cards
	$(BIN)/python tools/make_docs.py

samples: $(VENV)/.core ## regenerate src/karat/samples
	$(BIN)/python tools/make_samples.py

clean: ## remove the environment and everything that was made
	rm -rf $(VENV) dist build karat-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- set-up: made once, and again when the requirements change --------------------------------

$(VENV)/.python:
	@set -e; for python in python3.11 python3 python3.12 python3.13 python; do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "making $(VENV) with $$($$python --version)"; \
	    $$python -m venv $(VENV); touch $@; exit 0; \
	  fi; \
	done; \
	echo "karat needs Python 3.11 or newer, and none of python3.11, python3, python was." >&2; exit 1

$(VENV)/.core: $(VENV)/.python pyproject.toml constraints.txt
	$(PIP) -e .
	@touch $@

$(VENV)/.light: $(VENV)/.python pyproject.toml constraints.txt
	$(PIP) -e '.[$(LIGHT_EXTRAS)]'
	@touch $@ $(VENV)/.core

$(VENV)/.full: $(VENV)/.light
	$(PIP) -e '.[$(FULL_EXTRAS)]'
	@touch $@
