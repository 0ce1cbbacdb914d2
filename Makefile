# A fresh machine needs Python (3.10 or newer), git and make; everything else is installed into .venv.

# The first of these that is new enough and can make a virtual environment; `make PYTHON=...` names another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.10; do \
	$$p -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo $$p && break; done)

# What `make bench` measures; `make bench BENCH=cases` replays recorded calls, see benchmarks/README.md.
BENCH ?= overhead speed

# The pages that hold tables from the code, or the changelog.
COGGED := docs/changelog.md docs/envelope.md docs/evidence.md docs/rules.md docs/reference/command-line.md docs/reference/limits.md $(wildcard docs/rules/*.md)

# What is checked and formatted: not what a reader keeps in the clone, such as a server to try.
CODE := mcp_lenient examples tests benchmarks fuzz docs $(wildcard *.md) pyproject.toml

# `make VENV=.venv-3.10 PYTHON=python3.10 test` keeps another one beside it.
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Container images often set it. Without bytecode each test process would compile all test files again in each run.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test test-all suites lint types format catalogs docs bench clean

help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## Set up .venv, or add to the one that is there, with the library and all it is built and tested with

# A .venv that is there, such as a reader's, is kept. uv, where there is one, takes a fraction of the time. pip is made new
# first: the one of Python 3.10 to 3.13 knows no dependency groups.
$(READY): pyproject.toml
	@test -n "$(PYTHON)" || { echo "No Python 3.10 or newer with venv was found. Name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Setting up $(VENV): mcp-lenient, FastMCP and the tools it is developed with, about 170 packages; it takes a minute or two ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@if command -v uv >/dev/null; then \
		uv pip install --quiet --python $(BIN)/python --compile-bytecode --editable . --group dev; \
	else \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1" && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev; \
	fi
	@touch $@

demo: $(READY) ## See nearly right calls run, over stdio, with FastMCP alone and with mcp-lenient
	@$(BIN)/mcp-lenient demo

test: lint types docs ## Lint, check types, build the docs, and run the tests and the code in the docs
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile

test-all: lint types docs ## The same with every test there is, nightly and before a release
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile -m ""
	@$(MAKE) --no-print-directory suites

suites: $(READY) ## Run FastMCP's own tests, MCP conformance and the JSON Schema suite, without and with mcp-lenient
	@$(BIN)/python -m benchmarks suites

lint: $(READY) ## Check style, formatting, spelling and which module imports which
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/codespell mcp_lenient examples benchmarks docs *.md
	$(BIN)/lint-imports

types: $(READY) ## Check types
	$(BIN)/mypy

format: $(READY) ## Put the code into shape
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)
	@PYTHONPATH=docs $(BIN)/cog -r $(COGGED)
	@$(BIN)/python docs/event_schema.py

catalogs: $(READY) ## Bring the message catalogs up to the code, and compile them
	$(BIN)/python tests/refusal/catalogs.py

docs: .cache/.code ## Build the documentation site into site/, strictly
	@if test -x $(BIN)/zensical; then PYTHONPATH=docs $(BIN)/zensical build --strict && $(BIN)/python docs/llms.py site; \
		else echo "The site is not built: its generator needs Python 3.11 or newer."; fi

# The generator keeps each page whose text is the same, but the pages of the reference are made from the code, too.
.cache/.code: $(READY) mkdocs.yml $(wildcard docs/*.py) $(shell find mcp_lenient -name '*.py')
	@rm -rf .cache site
	@mkdir .cache
	@touch $@

bench: $(READY) ## Measure what the middleware and a repair cost
	@for part in $(BENCH); do $(BIN)/python -m benchmarks $$part || exit 1; done

.PHONY: examples
examples: $(READY) ## See each example as a transcript: what was said, called, repaired, done
	@$(BIN)/python examples/transcripts/play.py

clean: ## Remove what was made
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .cache dist build site
