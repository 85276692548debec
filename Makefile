# Tare's front door. `make` lists the targets.
SHELL := /bin/bash
PY := .venv/bin/python
STAMP := .venv/.tare

# Tests that judge what others would disturb: the machine's settings, its processes, a server with probes on.
ALONE := tests/crash/test_isolate.py tests/crash/test_machine_settings.py tests/profile tests/unit/probe

.DEFAULT_GOAL := help
.PHONY: help demo build test lint generated format docs bench bench-wisconsin lock clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 17

demo: build ## Start a throw-away PostgreSQL, load data, weigh two queries
	@$(PY) examples/demo.py

build: $(STAMP)/built ## Install Tare into .venv (BPF tier included where clang and libelf are)

test: $(STAMP)/built-for-tests ## Install what tests need where allowed, then run every test
	cargo test --release --quiet --workspace $$(scripts/cargo-features)
	$(PY) -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder $(addprefix --ignore=,$(ALONE))
	$(PY) -m pytest $(ALONE)

lint: $(STAMP)/built-for-tests ## Formatting, clippy, ruff, mypy, stubtest
	cargo fmt --all --check
	cargo clippy --release --quiet --workspace --all-targets $$(scripts/cargo-features) -- -D warnings
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	$(PY) -m mypy.stubtest tare._probe
	$(PY) -m tare.report.schemas --check
	$(PY) -m tare.workload.oltp.contract --check

generated: $(STAMP)/built-for-tests ## Write again what is generated: counts of transactions, published schemas
	$(PY) -m tare.report.schemas
	$(PY) -m tare.workload.oltp.contract

format: $(STAMP)/built-for-tests ## Format Rust and Python
	cargo fmt --all
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

docs: $(STAMP)/built-for-tests ## Build the documentation site into target/docs
	$(PY) -m sphinx --quiet --fail-on-warning --keep-going --doctree-dir target/doctrees docs target/docs
	@echo "target/docs/index.html"

bench: $(STAMP)/built-for-tests ## Run every benchmark of Tare itself and print its figure
	@$(PY) -m benchmarks.run_all

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
