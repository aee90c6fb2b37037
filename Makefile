# Two commands matter: `make run` and `make test`. All knobs are environment variables (see .env.example).
PYTHON ?= python3
RUN = .venv/bin/python

.PHONY: help run demo test test-slow fuzz chaos openapi check fix bench bench-startup screenshots install install-dev

help:
	@echo "make run         install, start everything, print the address (Ctrl-C stops it)"
	@echo "make demo        the main job in the terminal: make demo FILE=invoice.pdf"
	@echo "make test        every check and the fast tests; make test-slow: kills, crashes, long corpora"
	@echo "make fuzz        5,000 made-up requests; make openapi: write docs/openapi.yaml anew"
	@echo "make chaos       50 kill -9 of random processes under steady uploads, with figures (KILLS=50)"
	@echo "make check       only the checks; make fix: format and mend what can be mended"
	@echo "make bench       speed beside the bare libraries; make bench-startup: installing and starting"

run: install
	@exec $(RUN) -m docrouter.run

demo: install
	@exec $(RUN) -m docrouter.run demo "$$FILE"

test: install-dev
	@exec $(RUN) -m tests.run fast

test-slow: install-dev
	@exec $(RUN) -m tests.run slow

fuzz: install-dev
	@exec $(RUN) -m tests.run fuzz

chaos: install-dev
	@exec $(RUN) -m tests.chaos

openapi: install
	@exec $(RUN) manage.py spectacular --file docs/openapi.yaml --validate --fail-on-warn

check: install-dev
	@exec $(RUN) -m tests.run check

fix: install-dev
	@exec $(RUN) -m tests.run fix

bench: install-dev
	@exec $(RUN) -m tests.run bench

screenshots: install-dev
	@exec $(RUN) -m tests.run screenshots

bench-startup: install
	@exec $(RUN) bench/startup.py

install:
	@$(PYTHON) docrouter/install.py

install-dev:
	@$(PYTHON) docrouter/install.py --dev
