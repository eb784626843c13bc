# `make run` and `make test` work on a machine that has only Python (3.11 or newer) and make.
PYTHON ?= python3
BIN := .venv/bin
REPORT := report
QUICK := 'not slow and not full'
SLOW := 'slow and not full'

.PHONY: run test test-all spent test-lowest lint bench reproduce clean
.DELETE_ON_ERROR:

run: .venv/.installed          ## the demonstration, and the paper's table and figures from a few runs
	$(BIN)/python examples/demo.py $(REPORT)
	@echo; echo "The paper's table, figures and claims, reproduced from a few runs; the report is in:"
	@$(BIN)/truebest reproduce all --runs 100 --output $(REPORT)/few-runs

test: .venv/.installed-dev     ## nearly all tests, in a few minutes
	$(BIN)/python -m pytest -n auto --dist worksteal -m $(QUICK) $(SPENT)

test-all: test                 ## and the others: crashes, PostgreSQL, browsers, CUDA, the largest samples
	TRUEBEST_EXAMPLES=all $(BIN)/python -m pytest -n auto --dist worksteal -m $(SLOW) $(SPENT)

spent:                         ## all tests, with an empty cache; what they take goes to tests/spent.json
	XDG_CACHE_HOME=$$(mktemp -d) $(MAKE) test-all SPENT='--spent keep'

# What a first user and an old store need; warnings of old libraries are theirs.
test-lowest: .venv-lowest/.installed  ## some tests, with the lowest versions of everything that pyproject.toml allows
	.venv-lowest/bin/python -m pytest -n auto -o filterwarnings=default tests/e2e/test_start.py \
	  tests/e2e/test_solve_command.py tests/golden/test_stored_by_0_2.py tests/unit/server/test_service.py \
	  tests/unit/plots/test_simulation_plot.py tests/unit/experiment/store/test_postgres_store.py

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
	rm -rf .venv .venv-lowest .mypy_cache .pytest_cache .ruff_cache .hypothesis dist

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

.venv-lowest/.installed: pyproject.toml
	@$(PYTHON) -m venv --clear .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct \
	  --editable '.[dask,plots,postgres,serve]'
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python hypothesis mpmath pytest pytest-xdist
	@touch $@
