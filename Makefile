# Tare's front door. `make` lists the targets.
SHELL := /bin/bash
PY := .venv/bin/python
STAMP := .venv/.tare

.DEFAULT_GOAL := help
.PHONY: help demo build test lint format bench bench-small bench-crash bench-wisconsin lock clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 17

demo: build ## Start a throw-away PostgreSQL, load data, weigh three queries
	@$(PY) examples/demo.py

build: $(STAMP)/built ## Install Tare into .venv (BPF tier included where clang and libelf are)

test: $(STAMP)/built-for-tests ## Install what tests need where allowed; lint, every test, each benchmark once
	@$(PY) -m tests.ci $(STAGES)

lint: $(STAMP)/built-for-tests ## Formatting, clippy, ruff, mypy, stubtest
	cargo fmt --all --check
	cargo clippy --release --quiet --workspace --all-targets $$(scripts/cargo-features) -- -D warnings
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	$(PY) -m mypy.stubtest tare._probe
	$(PY) -m tare.report.schema --check

format: $(STAMP)/built-for-tests ## Format Rust and Python
	cargo fmt --all
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

bench: $(STAMP)/built-for-tests ## Run every benchmark of Tare itself and print its figure
	@$(PY) -m benchmarks.run_all

bench-small: $(STAMP)/built-for-tests ## Run each benchmark once, small, to see that it works
	@$(PY) -m tests.ci small

bench-crash: $(STAMP)/built-for-tests ## Kill an experiment's executor, DBMS and lab 50 times, at new moments
	TARE_CRASH_LONG=1 TARE_CRASH_SEED=$$RANDOM $(PY) -m pytest --timeout 900 tests/crash/test_experiment_crashes.py

bench-wisconsin: $(STAMP)/built-for-tests ## Run the Wisconsin benchmark on four DBMSes; its report: target/wisconsin
	@$(PY) -m benchmarks.wisconsin

lock: ## Renew requirements/*.txt from their .in files and pyproject.toml
	scripts/lock

clean: ## Remove what was built (not the Cargo cache)
	rm -rf .venv target demo

RUST := $(shell find crates -name '*.rs' -o -name '*.c' -o -name '*.h' -o -name '*.S' -o -name Cargo.toml 2>/dev/null) Cargo.lock

$(STAMP)/built: pyproject.toml requirements/run.txt $(RUST) scripts/setup scripts/build/backend.py
	scripts/setup run

$(STAMP)/built-for-tests: $(STAMP)/built requirements/dev.txt requirements/mariadb-build.txt requirements/mariadb.txt
	scripts/setup dev
