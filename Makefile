# Needs Python 3.11 or newer and nothing else: everything is installed into .venv, from the lock files.
# ARGS is handed on: make test ARGS="tests/storage -k overlap", make run ARGS="--port 9000".

VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime-installed
DEV := $(VENV)/.dev-installed

# The first of these that works makes the environment; PYTHON=/path/to/python3 overrides.
PYTHON ?= python3.13 python3.12 python3.11 python3
# By executing, because a pyenv shim exists for versions that are not there, and because a
# distribution may leave out parts of the standard library.
USABLE := import ensurepip, sqlite3, ssl, sys, venv; sys.exit(sys.version_info < (3, 11))

PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
UV ?= uv
COMPILE := $(UV) pip compile pyproject.toml --quiet --universal --python-version 3.11 \
  --generate-hashes --no-emit-index-url --no-header

# Container images often set it; without byte code every start compiles all modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: run test test-all install lint bench fuzz docs catalogues swagger-ui lock help

run: $(RUNTIME)  ## Start Hiatus with demo data at http://127.0.0.1:8000
	$(BIN)/hiatus serve --demo $(ARGS)

test: $(DEV)  ## Run the tests, on SQLite and on a PostgreSQL that it starts and stops
	-@$(BIN)/python -m tests.javascript  # Without them, the tests that need them fail and say so.
	$(BIN)/pytest -n auto -m "not slow" $(ARGS)

test-all: $(DEV)  ## Run the slow tests as well: processes that are killed, browsers, fuzzing
	-@$(BIN)/python -m tests.javascript
	$(BIN)/pytest -n auto --hypothesis-profile=thorough $(ARGS)

install: $(DEV)  ## Make .venv with everything that the other targets need

lint: $(DEV)  ## Check format, style, types and import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(DEV)  ## Measure
	$(BIN)/python -m tests.bench $(ARGS)

docs: $(RUNTIME)  ## Write docs/errors.md
	$(BIN)/python -m api.documentation.error_page > docs/errors.md

fuzz: $(DEV)  ## Run schemathesis in full; ARGS="--engine both --examples 1000" for more
	$(BIN)/python -m tests.fuzz $(ARGS)

catalogues: $(DEV)  ## Bring bot/catalogues/*.po up to date with the code; NEW=fr begins another
	$(BIN)/python -m tests.catalogues $(NEW)

swagger-ui: $(DEV)  ## Say which Swagger UI is vendored for /docs; ARGS=5.35.0 replaces it by that one
	$(BIN)/python -m tests.swagger_ui $(ARGS)

lock:  ## Resolve the dependencies (needs uv); ARGS=--upgrade takes newer versions
	$(COMPILE) --extra build $(ARGS) --output-file requirements.txt
	$(COMPILE) --extra build --extra dev --constraint requirements.txt $(ARGS) \
	  --output-file requirements-dev.txt

help:  ## List these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' $(MAKEFILE_LIST)

# pip comes with the installation below: an interrupted first run leaves nothing half made.
$(BIN)/python:
	@for python in $(PYTHON); do \
	  if $$python -c '$(USABLE)' 2>/dev/null; then \
	    echo "Making $(VENV) with $$($$python --version) ($$python)"; \
	    exec $$python -m venv --clear --without-pip $(VENV); \
	  fi; \
	done; \
	echo "Hiatus needs Python 3.11 or newer with ensurepip, sqlite3 and ssl, and found none as:" \
	  "$(PYTHON). Name one with PYTHON=/path/to/python3." >&2; \
	exit 1

$(RUNTIME): $(BIN)/python requirements.txt pyproject.toml
	@echo "Installing the locked dependencies (about a minute the first time)"
	@$(BIN)/python -m ensurepip >/dev/null
	@$(PIP) install --require-hashes --requirement requirements.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): $(BIN)/python requirements.txt requirements-dev.txt pyproject.toml
	@echo "Installing the locked dependencies (a minute or two the first time)"
	@$(BIN)/python -m ensurepip >/dev/null
	@$(PIP) install --require-hashes --requirement requirements-dev.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $(RUNTIME) $@
