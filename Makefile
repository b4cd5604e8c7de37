# SPDX-License-Identifier: GPL-3.0-or-later
# IK 2D. `make` alone lists the targets.

# Blender's Python module: which version to work with, and the environment that holds it.
BPY  ?= 5.0.1
VENV ?= $(if $(filter 5.0.1,$(BPY)),.venv,.venv-$(BPY:.*=))
# More arguments: make test ARGS="-k plane"
ARGS ?=

PYTHON = $(VENV)/bin/python
IS_311 := import sys; sys.exit(sys.version_info[:2] != (3, 11))
PYTHON311 = $(shell for python in python3.11 python3 python; do \
    "$$python" -c '$(IS_311)' 2>/dev/null && { echo "$$python"; break; }; done)
NO_311 = Python 3.11 was not found, and Blender's module bpy $(BPY) runs on no other: \
    install it, or name it with PYTHON311=/path/to/python3.11
# Makes the environment, or checks and mends it, before a target uses it.
ENVIRONMENT = "$(or $(PYTHON311),$(error $(NO_311)))" tools/environment.py "$(VENV)" "$(BPY)"
DEMO := build/02_excavator

.PHONY: help demo farm farm-slurm check test test-gui test-processors bench bench-check compare-bakes mutants fuzz soak lint docs build package release samples translations pictures clean

help:  ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 26

demo:  ## Bake the excavator sample and render its motion into build/
	@$(ENVIRONMENT)
	@mkdir -p build
	"$(PYTHON)" -m ik2d_addon bake sample_scenes/02_excavator.blend \
	    --output $(DEMO)_baked.blend --report $(DEMO)_report.json
	"$(PYTHON)" tools/render_strip.py $(DEMO)_baked.blend $(DEMO)_strip.png
	@echo
	@echo "The baked scene:      $(DEMO)_baked.blend"
	@echo "The report:           $(DEMO)_report.json"
	@echo "The motion, rendered: $(DEMO)_strip.png"

farm:  ## Run the farm's job on the sample scenes, with openjd, into build/farm (BLENDER=/path/to/blender, which EXTENSION=a.zip installs)
	@$(ENVIRONMENT) farm
	"$(PYTHON)" tools/run_farm.py build/farm $(if $(BLENDER),"$(BLENDER)" $(if $(EXTENSION),"$(EXTENSION)"))

farm-slurm:  ## Run the Slurm scripts on 40 scenes, on a cluster of this machine that loses tasks and workers (packages slurmctld, slurmd)
	@$(ENVIRONMENT)
	"$(PYTHON)" tools/run_slurm.py build/farm_slurm

check:  ## Check style and run the quick tests of solvers, rig and bake: the first thing to run
	@$(ENVIRONMENT) dev
	"$(PYTHON)" -m ruff check .
	"$(PYTHON)" -m ruff format --check .
	"$(PYTHON)" -m pytest -q -n auto -m "not slow" tests/core tests/blender/rig tests/blender/bake $(ARGS)

test:  ## Run every test that needs no screen (BPY=4.2.* for another Blender, ARGS=--thorough for all cases)
	@$(ENVIRONMENT) dev bench farm manual package
	"$(PYTHON)" -m pytest $(ARGS)

test-gui:  ## Run the tests in a real Blender window (BLENDER=/path/to/blender)
	@$(ENVIRONMENT) dev
	"$(PYTHON)" -m pytest tests/gui $(ARGS)

test-processors:  ## Run the solvers' tests as other processors would round
	@$(ENVIRONMENT) dev
	"$(PYTHON)" tools/processors.py $(ARGS)

bench:  ## Compare with plain CCD, C and Blender's own IK: writes docs/benchmarks.md and its plots
	@$(ENVIRONMENT) bench
	"$(PYTHON)" -m benchmarks

bench-check:  ## Compare speeds with those in docs/benchmarks.json: fails on a loss (ARGS=--short, ARGS=--write)
	@$(ENVIRONMENT)
	"$(PYTHON)" -m benchmarks.check $(ARGS)

compare-bakes:  ## Compare all keys and messages with those of a commit (ARGS="COMMIT --tolerance 1e-6")
	@$(ENVIRONMENT)
	"$(PYTHON)" tools/compare_bakes.py $(ARGS)

mutants:  ## Change the code in 270 places, one at a time, to see whether a test notices (an hour and a half)
	@$(ENVIRONMENT) dev bench mutants manual
	"$(PYTHON)" -m tools.mutants $(ARGS)

fuzz:  ## Hurt the command line, and bake random limbs, for five minutes: damaged files, kills (ARGS=--short for one)
	@$(ENVIRONMENT)
	"$(PYTHON)" -m tools.fuzz $(ARGS)

soak:  ## Do 10,000 random things to live chains (ARGS="ACTIONS SEED"; BLENDER=/path/to/blender in that one)
	@$(ENVIRONMENT) dev
	$(if $(BLENDER),"$(BLENDER)" --background --factory-startup --python-exit-code 3 --python,"$(PYTHON)") \
	    tests/blender/soak.py $(if $(BLENDER),--) $(ARGS)

lint:  ## Check style (ruff) and types (mypy)
	@$(ENVIRONMENT) dev
	"$(PYTHON)" -m ruff check .
	"$(PYTHON)" -m ruff format --check .
	"$(PYTHON)" -m mypy

docs:  ## Build a searchable site of README.md and docs/ into build/site; a link that leads nowhere fails
	@$(ENVIRONMENT) docs manual
	NO_MKDOCS_2_WARNING=1 "$(PYTHON)" -m mkdocs build --strict
	@echo
	@echo "The site: build/site/index.html (to search it: $(PYTHON) -m http.server --directory build/site)"

build:  ## Build and validate the extension: dist/ik2d-VERSION.zip
	@$(ENVIRONMENT) manual
	"$(PYTHON)" tools/build_extension.py dist

package:  ## Build the solvers as a Python package: dist/ik2d_core-VERSION, a wheel and its source
	@$(ENVIRONMENT) package
	"$(PYTHON)" -m build --no-isolation --outdir dist .

release:  ## Check everything and build what is published: build/release (ARGS=--tested leaves out the tests)
	@$(ENVIRONMENT) dev bench farm manual package docs pictures
	"$(PYTHON)" tools/release.py build/release $(ARGS)

samples: BPY = 4.2.*
samples:  ## Build the sample scenes anew, in Blender 4.2 so that every version opens them
	@$(ENVIRONMENT)
	"$(PYTHON)" sample_scenes/build_scenes.py

translations:  ## Bring the texts to translate up to date, and say which are not translated
	@$(ENVIRONMENT) dev
	"$(PYTHON)" tools/translations.py

pictures:  ## Renew the pictures of sample scenes and pages, and the window's where BLENDER_GUI=/path/to/blender-gui
	@$(ENVIRONMENT) bench pictures
	"$(PYTHON)" tools/render_pictures.py
	"$(PYTHON)" tools/platform_pictures.py docs/publishing
	"$(PYTHON)" tools/core_demo.py --save docs/core_demo.png
	"$(PYTHON)" tools/draw_feet.py
	"$(PYTHON)" tools/draw_exports.py
	$(if $(BLENDER_GUI),"$(PYTHON)" tools/take_pictures.py --gui "$(BLENDER_GUI)")

clean:  ## Remove everything that these targets made
	rm -rf build dist .venv .venv-* .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
