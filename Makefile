# Two commands do everything on a fresh machine with Python and pip: `make demo` and `make test`.
PYTHON ?= python3
# Environments of the matrix that `make test` runs; tests/environments/run knows each one's share.
ENVIRONMENTS ?= newest
RUN = PYTHON="$(PYTHON)" bash tests/environments/create
BIN = .venvs/newest/bin

.PHONY: help demo test freshness sdk-suites check dashboards screenshots stack stack-test bench clean
help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

demo: ## one bad Monday morning, classified: three views and a trace per class
	@$(RUN) newest
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/llm-errors demo $(ARGS)

test: ## every test of the chosen environments (ENVIRONMENTS="newest middle oldest longtail adk frameworks frameworks-openai2 litellm litellm-oldest peers peers-openlit quickstarts suites python3.10")
	@set -e; for e in $(ENVIRONMENTS); do PYTHON="$(PYTHON)" bash tests/environments/run $$e $(ARGS); done

sdk-suites: ## the SDKs' own tests from their source distributions, bare and with us on
	@PYTHON="$(PYTHON)" bash tests/environments/run suites

freshness: ## what the newest releases of the SDKs add, and whether every value of theirs is decided (needs the network)
	@$(RUN) newest
	@$(BIN)/python -m tests.completeness.freshness $(ARGS)

check: ## lint, types, layers, and that generated files are what the taxonomy says
	@$(RUN) newest
	@$(BIN)/ruff format --check --quiet src tests
	@$(BIN)/ruff check --quiet src tests
	@$(BIN)/mypy
	@$(BIN)/basedpyright --pythonpath $(BIN)/python --level error
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/llm-errors generate --check

dashboards: ## write dashboards, rules, alerts and the generated blocks of the pages
	@$(RUN) newest
	@$(BIN)/llm-errors generate

bench: ## cost per call and per chunk, as ratios against a hand-written minimum and two peers
	@$(RUN) bench
	@.venvs/bench/bin/python -m tests.bench

clean: ## remove environments and caches
	rm -rf .venvs .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

-include collector-config/stack.mk dashboards/screenshots.mk
