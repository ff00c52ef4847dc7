# SPDX-License-Identifier: Apache-2.0
# The usual ways in; `make` lists them. CMake does the work (CMakePresets.json).
.DEFAULT_GOAL := help
SHELL := /bin/bash

JOBS   ?= 2
WERROR ?= OFF
PRESET ?= release
# File that `make sim` sends through the engine; empty: the program itself.
FILE   ?=
SIM_ARGS ?=

BUILD := $(if $(filter release,$(PRESET)),build,build-$(PRESET))
PYTHON_VENV := build/venv

.PHONY: help setup configure build sim sim-verilog test lint format formats verilog synth formal clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | while IFS=$$'\t' read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done
	@echo "  variables: PRESET=release|debug|asan|ubsan  WERROR=ON  JOBS=2  FILE=path (sim)  QUICK=1 (synth)"

setup: ## install missing Debian packages (root or sudo)
	@bash scripts/setup.sh

configure: setup
	@cmake --preset $(PRESET) -DWEFT_WERROR=$(WERROR) --log-level=NOTICE -Wno-dev >/dev/null

build: configure ## build everything into build/bin
	cmake --build --preset $(PRESET) -j $(JOBS)

sim: configure ## simulate the RDMA engine on a real file through losses, reordering, corruption
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft-sim weft-sim-waves weft
	$(BUILD)/bin/weft-sim matrix $(if $(FILE),--file $(FILE)) $(SIM_ARGS)

test: build ## run all tests
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

lint: configure ## check RTL, C++, scripts
	@scripts/lint

format: setup ## format the C++ sources
	find model sw tb tests -name '*.cpp' -o -name '*.hpp' | xargs -r clang-format -i

formats: configure ## write docs/rdma_formats.md from spec/rdma.json
	cmake --build --preset $(PRESET) --target formats

$(PYTHON_VENV)/ready: fpga/requirements.txt | setup
	python3 -m venv $(PYTHON_VENV)
	$(PYTHON_VENV)/bin/pip install --quiet --disable-pip-version-check -r fpga/requirements.txt
	@touch $@

verilog: configure $(PYTHON_VENV)/ready ## elaborate the engine into plain Verilog, build/verilog/*.v
	$(PYTHON_VENV)/bin/python fpga/elaborate.py --out build/verilog rdma_top rdma_receiver
	$(PYTHON_VENV)/bin/python fpga/elaborate.py --out build/verilog --list fpga/window_designs/windows.f window_plain window_tree window_round window_holes
	fpga/check_plain.sh build/verilog/*.v

sim-verilog: verilog ## the simulations of `make sim`, quick, on the plain Verilog
	cmake --preset verilog --log-level=NOTICE -Wno-dev >/dev/null
	cmake --build --preset verilog -j $(JOBS) --target weft-sim rdma_engine_test
	build-verilog/bin/rdma_engine_test --gtest_brief=1
	build-verilog/bin/weft-sim matrix --quick $(if $(FILE),--file $(FILE)) $(SIM_ARGS)

synth: verilog ## area and timing into build/synth/*.json and docs/results/*.md
	python3 fpga/area.py --jobs $(JOBS) $(if $(filter 1,$(QUICK)),--quick)
	$(if $(filter 1,$(QUICK)),,python3 fpga/windows.py --jobs $(JOBS))

formal: configure $(PYTHON_VENV)/ready ## protocol by SPIN, receive window by induction, into docs/results/formal.md
	$(PYTHON_VENV)/bin/python formal/prove.py --jobs $(JOBS)

clean: ## remove everything built
	rm -rf build build-debug build-asan build-ubsan build-verilog
