# `make run` and `make test` work on a machine that has only Python (3.11 or newer) and make.
PYTHON ?= python3
BIN := .venv/bin
REPORT := report

.PHONY: run test lint bench reproduce clean
.DELETE_ON_ERROR:

run: .venv/.installed          ## the demonstration, and the paper's table and figures from a few runs
	$(BIN)/truebest demo --output $(REPORT)
	@echo; echo "The paper's table, figures and claims, reproduced from a few runs; the report is in:"
	@$(BIN)/truebest reproduce all --runs 100 --output $(REPORT)/few-runs

test: .venv/.installed-dev     ## the whole test suite
	$(BIN)/python -m pytest -n auto

lint: .venv/.installed-dev     ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/.installed-dev    ## speed, as ratios within one run
	$(BIN)/python -m benchmarks

reproduce: .venv/.installed-dev  ## the paper in full, and the full-size check of its table
	$(BIN)/truebest reproduce all --output $(REPORT)
	TRUEBEST_REPORT=$(REPORT) $(BIN)/python -m pytest -m full
	@echo "The report is in $(REPORT)/index.html"

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis dist

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "truebest needs Python 3.11 or newer; call make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv .venv

.venv/.installed: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[plots,serve]'
	@touch $@

.venv/.installed-dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ .venv/.installed
