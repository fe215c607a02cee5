# Everything runs in a virtual environment below .venv; nothing else on the machine is touched, except that
# `make test-tools` installs Debian packages for the tests with real parts.
VENV ?= .venv
PYTHON ?= python3
RUN := $(VENV)/bin

.DEFAULT_GOAL := ignition
.PHONY: ignition install test test-slow test-tools vm-test lint format bench snippets man reference zipapp clean

# Set-up and the main job in one: install into the virtual environment, write a GPU node's Ignition config.
ignition: $(VENV)/.installed
	$(RUN)/flatcar-gpu ignition -o node.ign
	@echo "node.ign is ready: $$(wc -c < node.ign) bytes of Ignition for a GPU node"

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(RUN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# All tests that need no virtual machine. Tests with real tools skip where a tool is missing.
test: $(VENV)/.installed-dev
	$(RUN)/pytest -n auto -m "not vm and not slow" $(PYTEST_ARGS)

# Tests that build with packages from the network, a minute or so.
test-slow: $(VENV)/.installed-dev
	$(RUN)/pytest -m slow $(PYTEST_ARGS)

# The real parts that the tests use, from Debian; needs root.
test-tools:
	tests/install-tools.sh

# Boots machines from what the tool emits, some minutes without KVM; needs root and `make test-tools`.
vm-test: $(VENV)/.installed-dev
	$(RUN)/pytest -m vm tests/vm $(PYTEST_ARGS)

lint: $(VENV)/.installed-dev
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy

format: $(VENV)/.installed-dev
	$(RUN)/ruff check --fix .
	$(RUN)/ruff format .

bench: $(VENV)/.installed-dev
	$(RUN)/python -m tests.bench

# Write butane/ anew from the builders in flatcar_gpu/node.
snippets: $(VENV)/.installed
	$(RUN)/python -m flatcar_gpu.node.snippets

# Man pages below build/man, with the date of the last commit: the same sources make the same pages.
man: $(VENV)/.installed
	$(RUN)/python -m flatcar_gpu.manual.man build/man "$$(git log -1 --format=%cs 2>/dev/null || date +%F)"

# Write docs/reference.md anew from the commands, the spec and the rules.
reference: $(VENV)/.installed
	$(RUN)/python -m flatcar_gpu.manual.reference docs/reference.md

# One file that runs wherever there is a Python of the same version and platform; it unpacks itself below ~/.shiv.
ZIPAPP ?= dist/flatcar-gpu.pyz
zipapp: $(VENV)/.installed-dev
	mkdir -p $(dir $(ZIPAPP))
	$(RUN)/shiv --reproducible --compressed --console-script flatcar-gpu --output-file $(ZIPAPP) --quiet .

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis dist build node.ign
