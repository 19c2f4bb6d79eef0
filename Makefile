# Two commands do everything from a clean clone: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := dev

.PHONY: demo faults fuzz lowest mutants round-trips test test-alone test-skipped site wheel pythons lint format bench clean

$(VENV)/ready: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$(EXTRAS)]"
	touch $@

demo: $(VENV)/ready ## build a small scene, scan it, write files and a picture
	$(BIN)/tussock demo --out demo_out --force

test: $(VENV)/ready ## the whole test suite
	TUSSOCK_SKIPPED=build/skipped $(BIN)/python -m pytest --numprocesses auto

test-skipped: $(VENV)/ready ## what the last `make test` skipped, and what does more with a library that has come since
	$(BIN)/python -m pytest --numprocesses auto @build/skipped tests/faults/test_corpus.py tests/unit/files/test_same_bytes.py

test-alone: $(VENV)/ready ## the tests that would read recordings (docs/recordings.md), as if there were none
	TUSSOCK_RECORDINGS=/nowhere $(BIN)/python -m pytest -m recordings -rs

site: $(VENV)/ready ## the documentation site, into site/; warnings are errors (EXAMPLES=no: without running the examples)
	TUSSOCK_SITE_EXAMPLES=$(EXAMPLES) NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	$(BIN)/python tools/check_links.py site

wheel: $(VENV)/ready ## wheel and sdist into dist/, the wheel tried in an empty environment
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python tools/try_wheel.py dist

pythons: ## a part of the suite on every supported Python that is at hand (ALL=--all: the whole suite)
	$(PYTHON) tools/try_pythons.py $(ALL)

mutants: $(VENV)/ready ## small mistakes put in one at a time: do the tests notice? Hours; stopped, it goes on
	$(BIN)/python tools/mutants.py $(ARGS)

fuzz: $(VENV)/ready ## damaged files for every loader and command (ARGS="--cases 100000 --seed 7"); what goes wrong is kept in build/fuzz
	$(BIN)/python tools/fuzz.py $(ARGS)

faults: $(VENV)/ready ## signals at any moment, refusals of the system at any step, no cache, no rights (ARGS="--signals 300")
	$(BIN)/python tools/faults.py $(ARGS)

EACH := 9
round-trips: $(VENV)/ready ## packets of every model and mode written and read back, every pulse compared (EACH=20 ONLY="vlp-16 xt32")
	PYTHONPATH=src:tests $(BIN)/python tests/round_trips.py $(EACH) $(ONLY)

lowest: ## a part of the suite with the lowest versions that pyproject.toml declares
	$(PYTHON) tools/try_lowest.py

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/ready
	$(BIN)/tussock bench

clean:
	rm -rf $(VENV) build dist site demo_out .pytest_cache .mypy_cache .ruff_cache
