# Needs only Python 3.11 or newer. Installs everything into .venv, from the lock files.
# ARGS is passed on: make test ARGS="tests/storage -k overlap", make run ARGS="--port 9000".

VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime-installed
DEV := $(VENV)/.dev-installed

# The first of these that works creates the environment. PYTHON=/path/to/python3 overrides them.
PYTHON ?= python3.13 python3.12 python3.11 python3
# Runs Python, because pyenv has shims for missing versions, and because some distributions lack
# parts of the standard library.
USABLE := import ensurepip, sqlite3, ssl, sys, venv; sys.exit(sys.version_info < (3, 11))

PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
UV ?= uv
COMPILE := $(UV) pip compile pyproject.toml --quiet --universal --python-version 3.11 \
  --generate-hashes --no-emit-index-url --no-header

# Container images often set it; without byte code every start compiles all modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: run test test-all test-cluster install lint bench fuzz client bruno catalogues screenshots swagger-ui \
  sbom lock help

run: $(RUNTIME)  ## Start Hiatus with demo data at http://127.0.0.1:8000
	$(BIN)/hiatus serve --demo $(ARGS)

test: $(DEV)  ## Run the tests, on SQLite and on a PostgreSQL that it starts and stops
	-@$(BIN)/python -m tests.javascript  # Without these packages, the tests that need them fail with a message.
	$(BIN)/pytest -n auto --dist worksteal -m "not slow" $(ARGS)

test-all: $(DEV)  ## Run the slow tests as well: processes that are killed, browsers, fuzzing
	-@$(BIN)/python -m tests.javascript
	$(BIN)/pytest -n auto --dist worksteal --hypothesis-profile=thorough $(ARGS)

test-cluster: $(DEV)  ## Run the tests with PgBouncer, Redis, nginx, Caddy and standbys; test-all runs them as well
	$(BIN)/pytest tests/cluster $(ARGS)

install: $(DEV)  ## Create .venv with everything that the other targets need

lint: $(DEV)  ## Check format, style, types and import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(DEV)  ## Measure
	$(BIN)/python -m tests.bench $(ARGS)

fuzz: $(DEV)  ## Run schemathesis in full; ARGS="--engine both --examples 1000" for more
	$(BIN)/python -m tests.fuzz $(ARGS)

client: $(DEV)  ## Generate the models and operations of clients/python
	$(BIN)/python -m tests.python_client

bruno: $(DEV)  ## Make the Bruno collection in clients/bruno
	$(BIN)/python -m tests.bruno_collection

catalogues: $(DEV)  ## Update bot/catalogues/*.po from the code; NEW=fr adds a language
	$(BIN)/python -m tests.catalogues $(NEW)

screenshots: $(DEV)  ## Remake the pictures in docs/screenshots, in light and dark
	$(BIN)/python -m tests.screenshots $(ARGS)

swagger-ui: $(DEV)  ## Print the version of the vendored Swagger UI; ARGS=5.35.0 replaces it by that version
	$(BIN)/python -m tests.swagger_ui $(ARGS)

sbom: $(DEV)  ## Write sbom.cdx.json: what production installs, with licences, as CycloneDX
	$(BIN)/python -m tests.sbom $(ARGS)

lock:  ## Resolve the dependencies (needs uv); ARGS=--upgrade takes newer versions
	$(COMPILE) --extra build --extra mcp --extra pictures $(ARGS) --output-file requirements.txt
	$(COMPILE) --extra build --extra dev --constraint requirements.txt $(ARGS) \
	  --output-file requirements-dev.txt

help:  ## List these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' $(MAKEFILE_LIST)

# pip is installed below, so an interrupted first run leaves no half-installed environment.
$(BIN)/python:
	@for python in $(PYTHON); do \
	  if $$python -c '$(USABLE)' 2>/dev/null; then \
	    echo "Creating $(VENV) with $$($$python --version) ($$python)"; \
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
