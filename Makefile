# Every target sets up what it needs; see scripts/bootstrap.sh. System packages are installed by setup, demo and
# test, and by those that name what they install; plain make says which are missing. `make help` lists them.
.DEFAULT_GOAL := build
.PHONY: help setup build install uninstall wheel package intel debian demo test check thorough gym lab-test sim-test lint tidy sanitize clang format generate site clean distclean

BOOTSTRAP = ./scripts/bootstrap.sh
PYTHON = .venv/bin/python

help:
	@echo "make demo       build what it needs, then time two MPI libraries with and without Unisono"
	@echo "make test       build, then every test and lint"
	@echo "make            build into build/; says which system packages are missing"
	@echo "make setup      install those packages (apt, as root or by sudo), MPI libraries, Python tools"
	@echo "make install    build, then install into PREFIX=/usr/local;  make uninstall"
	@echo "make wheel      build, then build/wheels/unisono-...whl;  make package: a Debian package"
	@echo "make check      the tests without MPI only (two minutes)"
	@echo "make thorough   the same and random programs of MPI calls, of larger samples: longer"
	@echo "make gym        what online selection makes of recorded jobs"
	@echo "make lab-test   the tests of the lab: a cluster of network namespaces (root)"
	@echo "make sim-test   the tests of the simulator (SimGrid)"
	@echo "make intel      Intel MPI into .deps, for unisono compare --mpi intel"
	@echo "make debian     Debian's own Open MPI and MPICH, for tests on them: --mpi debian-openmpi,debian-mpich"
	@echo "make lint       layers, format, generated files, ruff, mypy, house"
	@echo "make tidy       clang-tidy on src/ (a quarter of an hour); goes on where it was"
	@echo "make sanitize   units and the runtime under address, undefined and thread sanitizers (an hour)"
	@echo "make clang      the same tests built by a second compiler, clang 15 or newer"
	@echo "make format     clang-format and ruff format"
	@echo "make generate   write the generated files anew"
	@echo "make site       the documentation as a site, into site/: open site/index.html"
	@echo "make clean      remove build*/, site/;  make distclean: .deps and .venv too"

setup:
	@$(BOOTSTRAP) setup

build:
	@$(BOOTSTRAP) build

PREFIX ?= /usr/local
install: build
	@cmake --install build --strip --prefix $(PREFIX) >/dev/null && echo "unisono: installed in $(PREFIX)"

uninstall:
	@cmake --build build --target uninstall

wheel: build
	@$(PYTHON) -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/wheels . && ls build/wheels/*.whl

package: build
	@cpack --config build/CPackConfig.cmake -B build/packages

intel:
	@$(BOOTSTRAP) intel

debian:
	@$(BOOTSTRAP) debian

demo:
	@$(BOOTSTRAP) demo
	@$(PYTHON) scripts/demo.py

test:
	@$(BOOTSTRAP) test
	@$(PYTHON) scripts/test.py

check: build
	@$(PYTHON) scripts/test.py -L unit

thorough: build
	@UNISONO_TESTS=thorough $(PYTHON) scripts/test.py -L "unit|thorough"

gym: build
	@$(PYTHON) scripts/gym.py

lab-test:
	@$(BOOTSTRAP) test
	@$(PYTHON) scripts/test.py -L lab

sim-test:
	@$(BOOTSTRAP) test
	@$(PYTHON) scripts/test.py -L sim

lint: build
	@$(PYTHON) scripts/test.py -L lint

tidy:
	@$(BOOTSTRAP) tidy
	@$(PYTHON) scripts/tidy.py

sanitize: setup
	@$(PYTHON) scripts/quality.py sanitize

clang:
	@$(BOOTSTRAP) clang
	@$(PYTHON) scripts/quality.py clang

format:
	@$(BOOTSTRAP) python
	@$(PYTHON) scripts/lint.py format --fix

generate: build
	@$(PYTHON) scripts/lint.py generated --fix

site:
	@$(BOOTSTRAP) site
	@NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --quiet

clean:
	rm -rf build build-* site

distclean: clean
	rm -rf .deps .venv
