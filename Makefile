# wallsplit: where every nanosecond of wall time went. `make` lists what there is.

PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
PIP     := $(BIN)/python -m pip --quiet --disable-pip-version-check
INSTALL := $(PIP) install -c constraints.txt
NSYS    := .nsys/usr/bin/nsys
SAMPLES := traces/keras-gpu.reconstructed.sqlite traces/numpy-loop.sqlite

WORKLOAD   ?=
BATCH      ?=
EPOCHS     ?=
ARGS       ?=
SECONDS    ?= 60
CASES      ?= 500
PYTESTARGS ?=
WORKERS    ?= auto

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint fuzz fuzz-native wheel audit nsys frameworks profile study bench samples docs goldens clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.core ## Create .venv with wallsplit in it

demo: $(VENV)/.core ## Analyse the committed samples and write their reports
	$(BIN)/analyze $(SAMPLES) --report-dir reports
	@echo "Reports: $(CURDIR)/reports/index.html"

test: lint ## Check style and types and run the tests; those for missing tools are skipped
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --cov --cov-report=term $(PYTESTARGS)

lint: $(VENV)/.dev ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

fuzz: $(VENV)/.dev ## Attack analyze with damaged and absurd input: make fuzz [CASES=500 ARGS="--start 500"]
	PYTHONPATH=tests $(BIN)/python -m fuzz --cases $(CASES) $(ARGS)

wheel: $(VENV)/.core ## Build dist/*.whl and test it where nothing else is, with the newest and the oldest dependencies
	rm -rf dist
	$(PIP) wheel --no-deps --wheel-dir dist .
	PYTHON="$(PYTHON)" scripts/try_wheel.sh dist/*.whl newest
	PYTHON="$(PYTHON)" scripts/try_wheel.sh dist/*.whl oldest

audit: $(VENV)/.audit ## Look up known vulnerabilities of all that constraints.txt pins
	$(VENV)/audit/bin/pip-audit --strict --no-deps --disable-pip --requirement constraints.txt

nsys: $(NSYS) ## Put Nsight Systems into .nsys (Debian on x86-64; elsewhere it says where to get one)

frameworks: $(VENV)/.core ## Add TensorFlow, JAX, PyTorch and Gensim: to .venv, or beside a GPU each to a .venv-… of its own
	@$(BIN)/wallsplit workloads --extra-of all > $(VENV)/.builds
	@PYTHON="$(PYTHON)" scripts/install_builds.sh < $(VENV)/.builds

profile: $(VENV)/.core ## Record a workload: make profile WORKLOAD=keras-gpu [BATCH=32 EPOCHS=1 ARGS="…"]
	@test -n "$(WORKLOAD)" || { echo "make profile: name a workload, e.g. WORKLOAD=numpy"; $(BIN)/wallsplit workloads; exit 2; }
	@$(BIN)/wallsplit workloads --extra-of "$(WORKLOAD)" -- $(ARGS) > $(VENV)/.builds
	@PYTHON="$(PYTHON)" scripts/install_builds.sh < $(VENV)/.builds
	@test -n "$$WALLSPLIT_NSYS$(findstring --nsys,$(ARGS))" || command -v nsys >/dev/null || $(MAKE) --no-print-directory nsys
	$(BIN)/wallsplit profile "$(WORKLOAD)" $(if $(BATCH),--batch $(BATCH)) $(if $(EPOCHS),--epochs $(EPOCHS)) $(ARGS)

study: frameworks ## Measure the published study on this machine, with nothing else running: make study [ARGS=--quick]
	$(BIN)/wallsplit sweep all $(ARGS)

bench: $(VENV)/.dev ## Measure speed and memory; takes minutes
	$(BIN)/python -m bench

samples: $(VENV)/.dev $(NSYS) ## Write the committed sample traces anew
	$(INSTALL) -e ".[profile]"
	$(BIN)/python -m samples.reconstruct_keras_gpu
	$(BIN)/python -m samples.record_numpy_loop

fuzz-native: $(VENV)/.dev ## Feed damaged files to the compiled core under AddressSanitizer: make fuzz-native [SECONDS=60]
	$(CC) -O1 -g -std=gnu11 -shared -fPIC -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	    -o $(VENV)/fuzzed.so analysis/wallsplit/native/wallsplit.c -lm
	LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0 \
	    WALLSPLIT_NATIVE=$(CURDIR)/$(VENV)/fuzzed.so PYTHONPATH=tests $(BIN)/python tests/fuzz_native.py $(SECONDS)

docs: $(VENV)/.dev ## Write the generated pages of docs/ anew
	$(BIN)/python scripts/write_cli_reference.py
	$(BIN)/python scripts/write_study_page.py

goldens: $(VENV)/.dev ## Write anew what every renderer is expected to make (tests/goldens)
	PYTHONPATH=tests $(BIN)/python -m golden_reports

clean: ## Remove .venv…, .nsys and caches; traces and reports stay
	rm -rf $(VENV) $(VENV)-tensorflow $(VENV)-jax $(VENV)-torch $(VENV)-cupy .nsys dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage

$(VENV)/.core: pyproject.toml constraints.txt hatch_build.py analysis/wallsplit/native/wallsplit.c
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "wallsplit needs Python 3.11 or later; name one with make PYTHON=…")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) -e .
	touch $@

$(VENV)/.dev: $(VENV)/.core
	$(INSTALL) -e ".[dev]"
	touch $@

$(VENV)/.audit: $(VENV)/.core
	$(PYTHON) -m venv $(VENV)/audit
	$(VENV)/audit/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt pip-audit
	touch $@

$(NSYS):
	scripts/get_nsys.sh
