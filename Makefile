# The things a contributor does. Only python3 (3.11 or newer), pip and make are needed.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP     = $$(test -x $(BIN)/pip && echo "$(BIN)/python -m pip" || echo "$(PYTHON) -m pip --python $(BIN)/python")
INSTALL = $(PIP) install --quiet --disable-pip-version-check
DOC    ?= sample:manual

.PHONY: run test check bench shots readme requirements clean

run: $(VENV)/.ready-run
	@$(BIN)/roamtui $(DOC)

test: $(VENV)/.ready-dev
	$(BIN)/python -m pytest -n auto

check: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy roamtui tests
	$(BIN)/lint-imports

bench: $(VENV)/.ready-dev
	@for script in tests/benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

# Pictures of the real screen for the README.
shots: $(VENV)/.ready-dev
	$(BIN)/python -m tests.tools.shots docs

# The generated parts of the README and the manual.
readme: $(VENV)/.ready-dev
	$(BIN)/python -m tests.tools.readme --write

# New versions of everything, with the hashes of every platform; needs uv.
requirements:
	uv pip compile pyproject.toml requirements.in --output-file requirements.txt $(COMPILE)
	uv pip compile pyproject.toml requirements.in --extra dev --constraints requirements.txt \
		--output-file requirements-dev.txt $(COMPILE)
COMPILE = --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	--no-emit-index-url --no-emit-find-links

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("roamtui needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	@echo "Making an environment in $(VENV) and installing into it. This is done once and takes a minute or two."
	@$(PYTHON) -m venv $(VENV) || $(PYTHON) -m venv --clear --without-pip $(VENV)

$(VENV)/.ready-run: requirements.txt pyproject.toml | $(BIN)/python
	@$(INSTALL) --require-hashes --requirement requirements.txt
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.ready-dev: requirements-dev.txt pyproject.toml | $(BIN)/python
	@$(INSTALL) --require-hashes --requirement requirements-dev.txt
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@
