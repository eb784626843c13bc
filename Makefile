# `make run` and `make test` work on a machine that has only Python (3.11 or newer) and make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test lint bench clean
.DELETE_ON_ERROR:

run: .venv/.installed          ## the demonstration
	$(BIN)/bestarm demo

test: .venv/.installed-dev     ## the whole test suite
	$(BIN)/python -m pytest -n auto

lint: .venv/.installed-dev     ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/.installed-dev    ## speed, as ratios within one run
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis dist

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "bestarm needs Python 3.11 or newer; call make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv .venv

.venv/.installed: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/.installed-dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ .venv/.installed
