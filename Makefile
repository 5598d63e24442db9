# Two targets do everything, installing included: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TEST_PROCESSES ?= 4

.PHONY: demo test lint types check lock clean install browser typescript schemas

install: $(STAMP)

$(STAMP): pyproject.toml requirements/lock.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v <= (3, 13) else f"memledger needs Python 3.11 to 3.13, this is {v[0]}.{v[1]}: run make PYTHON=/path/to/python3.11")'
	@echo "installing the locked dependencies into $(VENV) (about a minute the first time)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements/lock.txt
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --no-index -e .
	@touch $(STAMP)

demo: install
	@$(BIN)/memledger demo
	@echo "to go on: README.md, 'The first five minutes'; the command is $(BIN)/memledger"

# A process that ended in the middle of a test is not replaced: its successor would run the same test.
# Python keeps what it compiled, whatever the environment says: hundreds of processes are started.
test: export PYTHONDONTWRITEBYTECODE =
test: check browser typescript
	@$(BIN)/python -m compileall -q schemas producers processors projections deploy
	$(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder \
		--max-worker-restart 0

# The page's tests drive Debian's own Chromium. Where it is missing and may not be installed, they
# are left out and say so; with MEMLEDGER_TEST_BROWSER=chromium they fail instead.
browser:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing chromium and chromium-driver (about a minute, this once)"; \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
			--no-install-recommends chromium chromium-driver; } >/dev/null 2>&1 \
			|| echo "they could not be installed: run \`apt-get install chromium chromium-driver\` to see why"; \
	else \
		echo "no chromium and chromedriver: install them to have the page tested in a browser"; \
	fi

# The example in TypeScript is checked and made runnable by its compiler, whose version and hash are
# locked. Without Node.js its tests are left out and say so; with MEMLEDGER_TEST_TYPESCRIPT=node they
# fail instead.
typescript:
	@cd tests/typescript && \
	if ! command -v npm >/dev/null; then \
		echo "no npm: install Node.js 20 or newer to have the example in TypeScript tested"; \
	elif ! [ node_modules/.package-lock.json -nt package-lock.json ]; then \
		echo "installing the TypeScript compiler (about 15 s, this once)"; \
		npm ci --no-audit --no-fund --ignore-scripts --loglevel=error \
			|| echo "it could not be installed: the tests of the example in TypeScript are left out"; \
	fi

check: lint types

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy
	$(BIN)/mypy docs/examples/chat_loop.py

schemas: install
	$(BIN)/python -m schemas.jsonschema

# Needs uv on the PATH; run it after a change of the dependencies in pyproject.toml.
lock:
	uv pip compile pyproject.toml --all-extras --group dev --universal --generate-hashes \
		--python-version 3.11 --no-header --no-annotate --quiet -o requirements/lock.txt

clean:
	rm -rf $(VENV) tests/typescript/node_modules .mypy_cache .ruff_cache .pytest_cache *.egg-info
