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
# For example: --mutants 1000 --seed 7
MUTATE_ARGS ?=
# More options of `make soak`, such as --seed 2000 or --minutes 30.
SOAK_ARGS ?=
# More options of `make rdma-figures`, such as --only loss or --seeds 5, which leave docs alone.
FIGURES_ARGS ?=
# More options of `make formal`, such as --only barrier or --changed.
FORMAL_ARGS ?=
# How long `make fuzz` looks for a difference.
SECONDS := 600

CMAKE_QUIET := --log-level=NOTICE

BUILD := $(if $(filter release,$(PRESET)),build,build-$(PRESET))
PYTHON_VENV := build/venv

# All targets but files.
.PHONY: $(shell sed -nE 's/^([a-z-]+):([^=].*)?$$/\1/p' $(MAKEFILE_LIST))

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | while IFS=$$'\t' read -r name text; do printf '  make %-13s %s\n' "$$name" "$$text"; done
	@echo "  variables: PRESET=release|debug|asan|ubsan  WERROR=ON  JOBS=2  FILE=path (sim)  QUICK=1 (synth, fuzz, figures)  SECONDS=600 (fuzz, fuzz-files)"

setup: ## install missing Debian packages (root or sudo)
	@bash scripts/setup.sh

configure: setup
	@cmake --preset $(PRESET) -DWEFT_WERROR=$(WERROR) $(CMAKE_QUIET) >/dev/null

build: configure ## build everything into build/bin
	cmake --build --preset $(PRESET) -j $(JOBS)

sim: configure ## simulate the RDMA engine on a real file through losses, reordering, corruption; lookup blocks of a small fabric, barriers on a mesh
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft-sim weft
	$(BUILD)/bin/weft-sim matrix $(if $(FILE),--file $(FILE)) $(SIM_ARGS)
	$(BUILD)/bin/weft-sim switch --topology kfat2d:4x4:4 --groups random:16:8:1 --fail 1,2 --new-fail 3,0
	$(BUILD)/bin/weft-sim barrier --mesh 4x4 --broken 0.3 --loss 0.01 --duplicate 0.02 --corrupt 0.01 --reorder 2 --jitter 10
	$(BUILD)/bin/weft-sim barrier --mesh 4x4 --broken 0.3 --loss 0.01 --multicast

waves: configure ## weft-sim-waves, which weft-sim needs for --waves
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft-sim-waves

goodput: configure ## what loss costs and what helps, into docs/results/goodput.md
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft-sim
	$(BUILD)/bin/weft-sim goodput --jobs $(JOBS) --json $(BUILD)/goodput.json --markdown docs/results/goodput.md

soak: configure ## fault campaign: 1,000 runs with random faults, into docs/results/soak.md
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft-sim weft-sim-soak
	$(BUILD)/bin/weft-sim soak --runs 1000 --every-fault --threads $(JOBS) --json $(BUILD)/soak.json --markdown docs/results/soak.md $(SOAK_ARGS)

older-soak: configure ## fault campaign of the older schemes: 300 runs with random faults, into docs/results/older_soak.md
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft-sim weft-sim-soak
	$(BUILD)/bin/weft-sim soak --build older --runs 300 --every-fault --threads $(JOBS) --json $(BUILD)/older_soak.json --markdown docs/results/older_soak.md $(SOAK_ARGS)

# QUICK=1: 50 runs, into build.
barrier-soak: configure ## fault campaign of the barrier engines: 1,000 runs with random faults, into docs/results/barrier_soak.md
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft-sim
	$(BUILD)/bin/weft-sim barrier --runs $(if $(filter 1,$(QUICK)),50,1000) --markdown $(if $(filter 1,$(QUICK)),$(BUILD),docs/results)/barrier_soak.md

switch-bench: configure ## speed of the switch lookup block: lookups a clock, their latency, into docs/results/switch_bench.md
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft-sim
	$(BUILD)/bin/weft-sim switch-bench --json $(BUILD)/switch_bench.json --markdown docs/results/switch_bench.md

bench: configure ## speed in clocks: packets a clock, goodput without loss, into docs/results/bench.md
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft-sim weft-sim-bench
	$(BUILD)/bin/weft-sim bench --json $(BUILD)/bench.json --markdown docs/results/bench.md

OTHER_FIGURES := load-curves switch-figures barrier-figures boot-figures mcast-figures route-figures
figures: rdma-figures ## the papers' evaluations on RTL and generators, into docs/results and docs/img (QUICK=1: a part of each, into build/figures)
	$(MAKE) --no-print-directory $(OTHER_FIGURES)

rdma-figures: configure $(PYTHON_VENV)/ready ## the RDMA engine beside older schemes, the first paper's evaluation, into docs/results/rdma.md and docs/img (QUICK=1: few seeds and points, into build/figures)
	$(PYTHON_VENV)/bin/pip install --quiet --disable-pip-version-check -r experiments/requirements.txt
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft-sim-experiments
	$(PYTHON_VENV)/bin/python -B experiments/figures.py --program $(BUILD)/bin/weft-sim-experiments --jobs $(JOBS) $(if $(filter 1,$(QUICK)),--quick) $(FIGURES_ARGS)

load-curves: configure $(PYTHON_VENV)/ready ## latency and throughput of the network model against load, both routing algorithms, into docs/results/load_curves.md and docs/img (QUICK=1: into build/figures; needs PyPI)
	$(PYTHON_VENV)/bin/pip install --quiet --disable-pip-version-check -r experiments/requirements.txt
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft-sim
	$(PYTHON_VENV)/bin/python -B experiments/load_curves.py $(BUILD)/bin/weft-sim --jobs $(JOBS) $(if $(filter 1,$(QUICK)),--quick)

# What BookSim2 comes from: another clone of it, or the program itself; empty: its home on the network.
BOOKSIM ?=

booksim: configure ## the network model beside BookSim2, which is fetched and built, or BOOKSIM=clone or program, into docs/results/booksim.md (QUICK=1: a torus of 4x4x4, into build)
	@bash scripts/setup.sh scripts/apt-packages-booksim.txt
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft-sim
	python3 -B experiments/beside_booksim.py $(BUILD)/bin/weft-sim $(if $(filter 1,$(QUICK)),$(BUILD)/booksim.md --quick,docs/results/booksim.md) --folder $(BUILD)/booksim --jobs $(JOBS) $(if $(BOOKSIM),--booksim $(BOOKSIM))

route-booksim: configure ## the two-dimensional fat tree beside BookSim2, as for booksim, into docs/results/route_booksim.md (QUICK=1: 4x4 leaves, into build)
	@bash scripts/setup.sh scripts/apt-packages-booksim.txt
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft
	python3 -B experiments/route_beside_booksim.py $(BUILD)/bin/weft $(if $(filter 1,$(QUICK)),$(BUILD)/route_booksim.md --quick,docs/results/route_booksim.md) --folder $(BUILD)/route_booksim --jobs $(JOBS) $(if $(BOOKSIM),--booksim $(BOOKSIM))

# Of the messages; 1024 takes half an hour.
LONG_MIB ?= 64
LONG_TEXT = One transfer of 1 GiB each way between two engines, one packet in 100,000 lost, one in ten held back; and messages of $(LONG_MIB) MiB through the rings of two NICs, one packet in 100,000 lost. Every event compared with the golden model.
long: configure ## one transfer of 1 GiB each way, a message of LONG_MIB=64 of each kind, into docs/results/long.md
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft-sim weft-sim-bench
	set -o pipefail; $(BUILD)/bin/weft-sim rdma --bytes $$((1 << 30)) --loss 0.00001 --reorder 64 --json $(BUILD)/long.json | tee $(BUILD)/long.txt
	set -o pipefail; $(BUILD)/bin/weft-sim bench --messages $$(($(LONG_MIB) << 20)) | tee -a $(BUILD)/long.txt
	printf '# The longest transfer\n\nWritten by `make long$(if $(filter-out 64,$(LONG_MIB)), LONG_MIB=$(LONG_MIB))`. %s\n\n```\n%s\n```\n' "$(LONG_TEXT)" "$$(cat $(BUILD)/long.txt)" >docs/results/long.md.part
	mv docs/results/long.md.part docs/results/long.md

route-figures: configure ## traffic through fat trees with faults, how reliable their routes are, into docs/results/vtftr.md and docs/img (QUICK=1: into build/figures; needs PyPI)
	test -x $(PYTHON_VENV)/bin/pip || python3 -m venv $(PYTHON_VENV)
	$(PYTHON_VENV)/bin/pip install --quiet --disable-pip-version-check -r experiments/requirements.txt
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft
	$(PYTHON_VENV)/bin/python -B experiments/route.py $(BUILD)/bin/weft --jobs $(JOBS) $(if $(filter 1,$(QUICK)),--quick) $(ROUTE_ARGS)

slurm-test: configure ## the sweep of route-figures as a Slurm job array on a local Slurm, which is installed: the same results
	@bash scripts/setup.sh scripts/apt-packages-slurm.txt
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft
	bash tests/flow/local_slurm.sh $(BUILD)/bin/weft

mcast-figures: configure ## figures 6 to 12 of the multicast paper, into docs/results/mcast_figures.md and docs/img (QUICK=1: into build/figures; needs PyPI)
	test -x $(PYTHON_VENV)/bin/pip || python3 -m venv $(PYTHON_VENV)
	$(PYTHON_VENV)/bin/pip install --quiet --disable-pip-version-check -r experiments/requirements.txt
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft
	$(PYTHON_VENV)/bin/python -B experiments/mcast_figures.py $(BUILD)/bin/weft --jobs $(JOBS) $(if $(filter 1,$(QUICK)),--quick)

mcast-opensm: configure ## time of multicast routing beside stock OpenSM's under ibsim, into docs/results/mcast_opensm.md
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft weft_join
	python3 -B experiments/mcast_opensm.py $(BUILD) docs/results/mcast_opensm.md

boot-figures: configure ## boot plans of the paper's machine and of larger ones, into docs/results/boot.md and docs/img (QUICK=1: into build/figures; needs PyPI)
	test -x $(PYTHON_VENV)/bin/pip || python3 -m venv $(PYTHON_VENV)
	$(PYTHON_VENV)/bin/pip install --quiet --disable-pip-version-check -r experiments/requirements.txt
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft
	$(PYTHON_VENV)/bin/python -B experiments/boot.py $(BUILD)/bin/weft $(if $(filter 1,$(QUICK)),--quick)

barrier-figures: configure ## barrier algorithms on meshes with broken links, the paper's figures 5 to 7, into docs/results/barrier.md and docs/img (QUICK=1: 2 seeds, into build; needs PyPI)
	test -x $(PYTHON_VENV)/bin/pip || python3 -m venv $(PYTHON_VENV)
	$(PYTHON_VENV)/bin/pip install --quiet --disable-pip-version-check -r experiments/requirements.txt
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft weft-sim
	$(PYTHON_VENV)/bin/python -B experiments/barrier.py $(BUILD)/bin/weft $(BUILD)/bin/weft-sim --jobs $(JOBS) $(if $(filter 1,$(QUICK)),$(BUILD)/barrier.md --seeds 2 --figures $(BUILD)/figures,docs/results/barrier.md)

barrier-software: configure ## barriers of 64 Verilated NICs by their engines and by software over RDMA, into docs/results/barrier_software.md (QUICK=1: 16, into build)
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft-nic-barriers
	$(BUILD)/bin/weft-nic-barriers --mesh $(if $(filter 1,$(QUICK)),4x4,8x8) --markdown $(if $(filter 1,$(QUICK)),$(BUILD),docs/results)/barrier_software.md

switch-figures: configure ## packets of all groups and pairs through Verilated lookup blocks of whole fabrics, into docs/results/switch.md (QUICK=1: small ones, into build)
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft weft-sim
	python3 -B experiments/switch.py $(BUILD) $(if $(filter 1,$(QUICK)),$(BUILD)/switch.md --quick,docs/results/switch.md) --threads $(JOBS)

switch-colours: configure ## colours with one multicast table and with one for each input port, what both cost, into docs/results/switch_colours.md
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft
	python3 -B experiments/switch_colours.py $(BUILD) docs/results/switch_colours.md

mcast: configure ## colours, EFI, time and memory of multicast trees on the paper's topologies, and which goals they meet, into docs/results/mcast.md (MCAST_ARGS: of experiments/mcast.py)
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft
	python3 -B experiments/mcast.py $(BUILD)/bin/weft docs/results/mcast.md $(MCAST_ARGS)

mcast-growth: configure ## how time and memory of multicast trees grow, into docs/results/mcast_growth.md
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft
	python3 -B experiments/mcast.py $(BUILD)/bin/weft docs/results/mcast_growth.md --growth

mcast-bench: configure ## how long the parts of multicast planning take (BENCH_ARGS: of Google Benchmark)
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft-mcast-bench
	$(BUILD)/bin/weft-mcast-bench $(BENCH_ARGS)

systemc-bench: configure ## speed of the SystemC platform beside the plain harness, into docs/results/systemc.md
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft-systemc weft-nic-plain
	python3 -B experiments/systemc.py $(BUILD) docs/results/systemc.md

package: configure ## Debian package build/weft_VERSION_amd64.deb, installed and run in a fresh Debian 12 (CHECK=0: only made)
	cmake --build --preset $(PRESET) -j $(JOBS) --target installable
	cpack -B $(BUILD)/package --config $(BUILD)/CPackConfig.cmake
	mv $(BUILD)/package/weft_*.deb $(BUILD)/
	$(if $(filter 0,$(CHECK)),,scripts/check_package.sh $(BUILD)/weft_*.deb)

test: build ## run all tests; lists those that were skipped (WEFT_MUST_NOT_SKIP=1: fails then)
	ctest --test-dir $(BUILD) --output-on-failure --test-output-size-passed 1000000 --output-junit $(abspath $(BUILD))/tests.xml -j $(JOBS) || failed=1; \
	python3 -B scripts/skipped.py $(BUILD)/tests.xml && exit $${failed:-0}

FUSESOC_TARGETS = $(shell sed -n 's/^  \(lint_[a-z_]*\):.*/\1/p' weft.core)
fusesoc: setup ## lint the RTL as FuseSoC sees it, by weft.core (needs PyPI)
	test -d build/fusesoc-venv || python3 -m venv build/fusesoc-venv
	build/fusesoc-venv/bin/pip install --quiet --disable-pip-version-check fusesoc==2.4.7
	for target in $(FUSESOC_TARGETS); do PATH="$$PWD/build/fusesoc-venv/bin:$$PATH" fusesoc --cores-root . run --build-root build/fusesoc --target=$$target weft::weft || exit 1; done

# Neither Debian nor PyPI has Bender: it has to be there, or be named.
BENDER := bender
BENDER_TOPS = $(patsubst lint_%,%,$(FUSESOC_TARGETS))
bender: configure ## lint the RTL as Bender sees it, by Bender.yml (needs Bender: BENDER=program)
	@command -v $(BENDER) >/dev/null || { echo "make bender: $(BENDER): not found; github.com/pulp-platform/bender" >&2; exit 2; }
	$(BENDER) script verilator >$(BUILD)/bender.f
	@# -Wno-UNUSEDPARAM: the list is of all units, and each top leaves parameters of the others' packages unused.
	for top in $(BENDER_TOPS); do echo "$$top"; verilator --lint-only -Wall -Wno-UNUSEDPARAM --assert --top-module $$top rtl/lint.vlt rtl/selftest/selftest.vlt -f $(BUILD)/bender.f || exit 1; done

lint: configure ## check RTL, C++, scripts
	@scripts/lint

format: setup ## format the C++ sources
	find model sw tb tests -name '*.cpp' -o -name '*.hpp' | xargs -r clang-format -i

formats: configure ## write docs/*_formats.md and docs/contexts.md from spec/*.json
	cmake --build --preset $(PRESET) --target formats

$(PYTHON_VENV)/ready: fpga/requirements.txt | setup
	python3 -m venv $(PYTHON_VENV)
	$(PYTHON_VENV)/bin/pip install --quiet --disable-pip-version-check -r fpga/requirements.txt
	@touch $@

# Room for a control packet of each write under way, as rdma_top gives its receiver.
AS_IN_THE_ENGINE := -G CTL_DEPTH=128

verilog: configure $(PYTHON_VENV)/ready ## elaborate the engine into plain Verilog, build/verilog/*.v
	$(PYTHON_VENV)/bin/python fpga/elaborate.py --out build/verilog rdma_top
	$(PYTHON_VENV)/bin/python fpga/elaborate.py --out build/verilog $(AS_IN_THE_ENGINE) rdma_receiver
	$(PYTHON_VENV)/bin/python fpga/elaborate.py --out build/verilog --name rdma_receiver_transfers $(AS_IN_THE_ENGINE) -G TRANSFERS=1 rdma_receiver
	$(PYTHON_VENV)/bin/python fpga/elaborate.py --out build/verilog $(addprefix --list ,$(wildcard rtl/rdma*/*.f)) --formats build/gen/rtl/rdma_formats_pkg.sv --formats build/gen/rtl/rdma_queues_formats_pkg.sv rdma_queues rdma_nic
	$(PYTHON_VENV)/bin/python fpga/elaborate.py --out build/verilog $(addprefix --list ,$(wildcard rtl/rdma*/*.f) rtl/barrier/barrier.f rtl/nic/nic.f) $(patsubst %,--formats build/gen/rtl/%_formats_pkg.sv,rdma rdma_queues barrier barrier_ring) weft_nic
	$(PYTHON_VENV)/bin/python fpga/elaborate.py --out build/verilog --list rtl/switch/switch.f --formats build/gen/rtl/switch_lookup_formats_pkg.sv switch_lookup
	$(PYTHON_VENV)/bin/python fpga/elaborate.py --out build/verilog --list fpga/window_designs/windows.f window_plain window_tree window_round window_holes
	fpga/check_plain.sh build/verilog/*.v

sim-verilog: verilog ## the simulations of `make sim`, quick, on the plain Verilog
	cmake --preset verilog $(CMAKE_QUIET) >/dev/null
	cmake --build --preset verilog -j $(JOBS) --target weft-sim rdma_engine_test
	seq 0 $$(($(JOBS) - 1)) | GTEST_TOTAL_SHARDS=$(JOBS) xargs -P $(JOBS) -I{} env GTEST_SHARD_INDEX={} build-verilog/bin/rdma_engine_test --gtest_brief=1
	build-verilog/bin/weft-sim matrix --quick $(if $(FILE),--file $(FILE)) $(SIM_ARGS)

# ABC recurses deeply on whole engines.
synth: verilog ## area and timing of engine, switch lookup block and barrier engine, into build/synth/*.json and docs/results/*.md (QUICK=1: few, into build)
	ulimit -s hard; python3 fpga/area.py --jobs $(JOBS) $(if $(filter 1,$(QUICK)),--quick)
	$(if $(filter 1,$(QUICK)),,python3 fpga/windows.py --jobs $(JOBS))
	$(if $(filter 1,$(QUICK)),,ulimit -s hard; $(PYTHON_VENV)/bin/python fpga/contexts.py --jobs $(JOBS))
	$(MAKE) --no-print-directory switch-synth $(if $(filter 1,$(QUICK)),,barrier-synth)

schemes: configure $(PYTHON_VENV)/ready ## area of the engine's scheme and the older ones at 64 to 4,096 contexts, into docs/results/schemes.md
	ulimit -s hard; $(PYTHON_VENV)/bin/python fpga/schemes.py --jobs $(JOBS)

switch-synth: configure $(PYTHON_VENV)/ready ## area of the switch lookup block, 16 to 64 ports, 64 to 16,384 entries, into docs/results/switch_area.md
	ulimit -s hard; $(PYTHON_VENV)/bin/python fpga/switch.py --jobs $(JOBS) $(if $(filter 1,$(QUICK)),--quick)

nic-synth: configure $(PYTHON_VENV)/ready ## area and speed of the NIC with both engines, into docs/results/nic_area.md (QUICK=1: a small one, into build)
	ulimit -s hard; $(PYTHON_VENV)/bin/python fpga/nic.py --jobs $(JOBS) $(if $(filter 1,$(QUICK)),--small)

barrier-synth: configure $(PYTHON_VENV)/ready ## area and speed of the barrier engine, 1 to 64 groups, into docs/results/barrier_area.md
	ulimit -s hard; $(PYTHON_VENV)/bin/python fpga/barrier.py --jobs $(JOBS)

growth: verilog ## has the receiver's logic grown by more than 3 %, against fpga/expected_logic.json?
	ulimit -s hard; python3 fpga/growth.py --jobs $(JOBS)

place: configure $(PYTHON_VENV)/ready ## place and route of the receiver on iCE40 and ECP5, into docs/results/fpga.md
	$(PYTHON_VENV)/bin/pip install --quiet --disable-pip-version-check -r fpga/requirements-place.txt
	$(PYTHON_VENV)/bin/python fpga/place.py --jobs $(JOBS)

switch-place: configure $(PYTHON_VENV)/ready ## place and route of the switch lookup block on iCE40 and ECP5, into docs/results/switch_fpga.md
	$(PYTHON_VENV)/bin/pip install --quiet --disable-pip-version-check -r fpga/requirements-place.txt
	$(PYTHON_VENV)/bin/python fpga/switch_place.py --jobs $(JOBS)

fpga: configure $(PYTHON_VENV)/ready ## bitstreams of the self-test for two boards, their netlists simulated, into docs/results/boards.md
	$(PYTHON_VENV)/bin/pip install --quiet --disable-pip-version-check -r fpga/requirements-place.txt
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft-selftest-vectors
	$(PYTHON_VENV)/bin/python -B fpga/boards.py

formal: configure $(PYTHON_VENV)/ready ## protocol by SPIN, receive window, blocks and receiver by induction or bounded, into docs/results/formal.md
	$(PYTHON_VENV)/bin/python formal/prove.py --jobs $(JOBS) $(FORMAL_ARGS)

netlist: configure $(PYTHON_VENV)/ready ## tests of the receiver on its gates, window unit's gates against its source, into docs/results/netlist.md
	$(PYTHON_VENV)/bin/python fpga/netlist.py --jobs $(JOBS)

switch-netlist: configure $(PYTHON_VENV)/ready ## tests of the switch lookup block on its gates, into docs/results/switch_netlist.md
	$(PYTHON_VENV)/bin/python fpga/switch_netlist.py --jobs $(JOBS)

mutate: configure $(PYTHON_VENV)/ready ## mutants of the receiver against its tests, into docs/results/mutation.md
	$(PYTHON_VENV)/bin/python tests/mutation/mutate.py --jobs $(JOBS) $(MUTATE_ARGS)

switch-mutate: configure $(PYTHON_VENV)/ready ## mutants of the switch lookup block against its tests, into docs/results/switch_mutation.md
	$(PYTHON_VENV)/bin/python tests/mutation/mutate.py --unit switch --jobs $(JOBS) $(MUTATE_ARGS)

barrier-mutate: configure $(PYTHON_VENV)/ready ## mutants of the barrier engine against its tests, into docs/results/barrier_mutation.md
	$(PYTHON_VENV)/bin/python tests/mutation/mutate.py --unit barrier --jobs $(JOBS) $(MUTATE_ARGS)

older-mutate: configure $(PYTHON_VENV)/ready ## mutants of the blocks of the older schemes against their tests, into docs/results/older_mutation.md
	$(PYTHON_VENV)/bin/python tests/mutation/mutate.py --unit older --jobs $(JOBS) $(MUTATE_ARGS)

fuzz: setup ## fuzz the packet input of the engine beside the golden model (SECONDS=600), into docs/results/fuzz.md
	cmake --preset fuzz $(CMAKE_QUIET) >/dev/null
	cmake --build --preset fuzz -j $(JOBS) --target weft-fuzz weft-fuzzer $(if $(filter 1,$(QUICK)),,weft-fuzzer-faulty weft-fuzzer-older weft-fuzz-older)
	python3 tests/fuzz/fuzz.py build-fuzz --seconds $(SECONDS) $(if $(filter 1,$(QUICK)),--part engine)

FUZZ_FILES = build-fuzz/files
# fuzz_reader(KIND): what was found before and tests/data/KIND to begin with
define fuzz_reader
	mkdir -p $(FUZZ_FILES)/$(1)
	build-fuzz/bin/weft-fuzzer-$(1) $(FUZZ_FILES)/$(1) tests/data/$(1) -max_total_time=$(SECONDS) -max_len=4096 -timeout=10 -seed=1 \
		-dict=tests/fuzz/$(1).dict -artifact_prefix=$(FUZZ_FILES)/$(1)- -print_final_stats=1 -verbosity=1

endef
READERS := topology groups mcfdbs mft journal

fuzz-files: setup ## fuzz the readers of files one after the other, with sanitizers (SECONDS=600 each, READERS="groups mft")
	cmake --preset fuzz $(CMAKE_QUIET) >/dev/null
	cmake --build --preset fuzz -j $(JOBS) --target $(addprefix weft-fuzzer-,$(READERS))
	$(foreach reader,$(READERS),$(call fuzz_reader,$(reader)))

# Courses that `make coverage` draws, besides those that fuzzing starts from; runs of NICs in the fault campaign.
COVERAGE_COURSES := 400
COVERAGE_SOAK := 30
COVERAGE_DIR = $(BUILD)/coverage

coverage: configure ## which points of docs/testplan.json tests, fault campaign and random packets hit, into docs/results/coverage.md
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft-fuzz weft-sim weft-sim-soak rdma_nic_test test_rtl
	rm -rf $(COVERAGE_DIR) && mkdir -p $(addprefix $(COVERAGE_DIR)/,fuzz nic soak unit)
	$(BUILD)/bin/weft-fuzz --seeds $(COVERAGE_DIR)/courses --drawn $(COVERAGE_COURSES)
	WEFT_TRACES=$(COVERAGE_DIR)/fuzz xargs -P $(JOBS) -n 50 $(BUILD)/bin/weft-fuzz --quiet >$(COVERAGE_DIR)/fuzz.log < <(ls -d $(COVERAGE_DIR)/courses/*)
	seq 0 $$(($(JOBS) - 1)) | WEFT_TRACES=$(COVERAGE_DIR)/nic GTEST_TOTAL_SHARDS=$(JOBS) xargs -P $(JOBS) -I{} env GTEST_SHARD_INDEX={} $(BUILD)/bin/rdma_nic_test --gtest_brief=1
	WEFT_TRACES=$(COVERAGE_DIR)/unit $(BUILD)/bin/test_rtl --gtest_brief=1 --gtest_filter='RdmaReceiver*:RdmaSender.*-*WithAnySettings:RdmaSender.EqualsTheGoldenModelUnder*'
	WEFT_TRACES=$(COVERAGE_DIR)/soak $(BUILD)/bin/weft-sim soak --build nic_full --runs $(COVERAGE_SOAK) --threads $(JOBS)
	python3 tests/coverage/functional.py --jobs $(JOBS) --units rx,tx,inbox,queues $(COVERAGE_DIR) fuzz=$(COVERAGE_DIR)/fuzz nic=$(COVERAGE_DIR)/nic soak=$(COVERAGE_DIR)/soak unit=$(COVERAGE_DIR)/unit

SWITCH_COVERAGE_DIR = $(BUILD)/switch_coverage

switch-coverage: configure ## which points of docs/testplan.json the tests of the switch lookup block hit, into docs/results/switch_coverage.md
	cmake --build --preset $(PRESET) -j $(JOBS) --target test_switch
	rm -rf $(SWITCH_COVERAGE_DIR) && mkdir -p $(SWITCH_COVERAGE_DIR)/traces
	WEFT_TRACES=$(SWITCH_COVERAGE_DIR)/traces $(BUILD)/bin/test_switch --gtest_brief=1
	python3 tests/coverage/functional.py --jobs $(JOBS) --units lookup --page switch_coverage $(SWITCH_COVERAGE_DIR) switch=$(SWITCH_COVERAGE_DIR)/traces

BARRIER_COVERAGE_DIR = $(BUILD)/barrier_coverage

barrier-coverage: configure ## which points of docs/testplan.json the tests of the barrier engine hit, into docs/results/barrier_coverage.md
	cmake --build --preset $(PRESET) -j $(JOBS) --target test_barrier_rtl
	rm -rf $(BARRIER_COVERAGE_DIR) && mkdir -p $(BARRIER_COVERAGE_DIR)/traces
	WEFT_TRACES=$(BARRIER_COVERAGE_DIR)/traces $(BUILD)/bin/test_barrier_rtl --gtest_brief=1
	python3 tests/coverage/functional.py --jobs $(JOBS) --units barrier --page barrier_coverage $(BARRIER_COVERAGE_DIR) barrier=$(BARRIER_COVERAGE_DIR)/traces

OLDER_COVERAGE_DIR = $(BUILD)/older_coverage

older-coverage: configure ## which points of docs/testplan.json the tests of the older schemes hit, into docs/results/older_coverage.md and docs/results/older_coverage_points.md
	cmake --build --preset $(PRESET) -j $(JOBS) --target rdma_older_test test_rdma_baseline
	rm -rf $(OLDER_COVERAGE_DIR) && mkdir -p $(addprefix $(OLDER_COVERAGE_DIR)/,engine unit)
	WEFT_TRACES=$(OLDER_COVERAGE_DIR)/engine $(BUILD)/bin/rdma_older_test --gtest_brief=1
	WEFT_TRACES=$(OLDER_COVERAGE_DIR)/unit $(BUILD)/bin/test_rdma_baseline --gtest_brief=1 --gtest_filter='RdmaOlderSenders.*'
	python3 tests/coverage/functional.py --jobs $(JOBS) --units rxcounter_rx,rxcounter_tx,txwindow_rx,txwindow_tx --page older_coverage $(OLDER_COVERAGE_DIR) \
	  engine=$(OLDER_COVERAGE_DIR)/engine unit=$(OLDER_COVERAGE_DIR)/unit

# Each in two parts at a time, so that both cores have work.
COVERAGE_TESTS := rdma_nic_test weft_nic_test test_rtl test_rdma_baseline rdma_older_test test_rdma_queues test_rdma_inbox test_rdma_requests test_switch test_barrier_rtl test_nic_blocks

code-coverage: configure $(PYTHON_VENV)/ready ## which lines and bits of the RTL the tests exercise, into docs/results/code_coverage.md
	cmake --preset coverage $(CMAKE_QUIET) >/dev/null
	cmake --build --preset coverage -j $(JOBS) --target $(COVERAGE_TESTS)
	rm -rf build-coverage/code && mkdir build-coverage/code
	for test in $(COVERAGE_TESTS); do echo "0 $$test"; echo "1 $$test"; done | WEFT_COVERAGE_DIR=$(CURDIR)/build-coverage/code GTEST_TOTAL_SHARDS=2 \
	  xargs -P $(JOBS) -L 1 sh -c 'GTEST_SHARD_INDEX=$$0 build-coverage/bin/$$1 --gtest_brief=1'
	$(PYTHON_VENV)/bin/python tests/coverage/constants.py build-coverage build-coverage/code --jobs $(JOBS)
	python3 tests/coverage/code_coverage.py build-coverage/code

# What the report shows as it stands when the page is made.
REPORT := build/report
REPORT_MATRIX := --quick
REPORT_RUN := --nodes 3x1x1 --bytes 16384 --transfers 4 --loss 0.04 --duplicate 0.04 --corrupt 0.02 --reorder 8 --delay 200 --seed 5
REPORT_PY = $(PYTHON_VENV)/bin/python -B report/report.py

# A run that fails is shown, too: the page is written, then make fails.
report: configure $(PYTHON_VENV)/ready ## one HTML page of results, figures and a timeline of packets: build/report/index.html (needs PyPI)
	$(PYTHON_VENV)/bin/pip install --quiet --disable-pip-version-check -r report/requirements.txt
	cmake --build --preset $(PRESET) -j $(JOBS) --target weft-sim
	rm -rf $(REPORT)/traces && mkdir -p $(REPORT)
	$(BUILD)/bin/weft-sim matrix $(REPORT_MATRIX) --jobs $(JOBS) --json $(REPORT)/matrix.json >$(REPORT)/matrix.txt || test $$? = 1
	$(BUILD)/bin/weft-sim rdma $(REPORT_RUN) --trace $(REPORT)/traces --json $(REPORT)/run.json >$(REPORT)/run.txt || test $$? = 1
	$(REPORT_PY) --results docs/results --figures docs/img --matrix $(REPORT)/matrix.json --traces $(REPORT)/traces --run $(REPORT)/run.json \
	  --matrix-command "weft-sim matrix $(REPORT_MATRIX)" --run-command "weft-sim rdma $(REPORT_RUN)" -o $(REPORT)/index.html

# The sample has a case that failed, so its page comes with exit code 1.
SAMPLE := tests/report/sample
report-test: report ## the report in a headless Chromium, which is installed (400 MB)
	@bash scripts/setup.sh scripts/apt-packages-browser.txt
	$(REPORT_PY) --results $(SAMPLE)/results --figures $(SAMPLE)/figures --matrix $(SAMPLE)/matrix.json --traces $(SAMPLE)/traces --run $(SAMPLE)/run.json \
	  -o $(REPORT)/sample.html || test $$? = 1
	/usr/bin/python3 -B tests/report/test_page.py $(REPORT)/index.html $(REPORT)/sample.html $(REPORT)/pictures

clean: ## remove everything built
	rm -rf build build-debug build-asan build-ubsan build-fuzz build-coverage build-verilog build-gates build-mutation
