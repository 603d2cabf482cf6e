import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ApiError, Gatehouse, GatehouseError, List } from "../../../clients/node/src/index.ts";
import { HOSTILE_ANSWERS, startHostileServer, type HostileServer } from "./support/hostile-server.ts";
import { pythonEnvironment, pythonPackages } from "./support/python-project.ts";
import { PYTHON_RUNTIMES } from "./support/python-runtimes.ts";

const SOURCE = fileURLToPath(new URL("../../../clients/python/src", import.meta.url));
const SCRIPT = fileURLToPath(new URL("support/hostile.py", import.meta.url));
const NAMES = Object.keys(HOSTILE_ANSWERS);

type Outcome = readonly [get: string, list?: string, follow?: string];

/** What each client must make of each answer, and how often it asks for it. */
const EXPECTED = Object.fromEntries(
  Object.entries(HOSTILE_ANSWERS).map(([name, { expected, isLong = false }]) => {
    const outcome = typeof expected === "string" ? [expected, expected, expected] : expected;
    return [name, outcome.slice(0, isLong ? 1 : 3)];
  }),
);
const REQUESTS = Object.fromEntries(
  // one call with a retry, a list without one, and the feed until it fails for the first time
  Object.entries(HOSTILE_ANSWERS).map(([name, { requests = 1, isLong = false }]) => [
    name,
    requests + (isLong ? 0 : 2),
  ]),
);

describe("client libraries and servers that mean no good", function () {
  this.timeout(300_000);
  let server: HostileServer;
  beforeEach(async () => {
    server = await startHostileServer();
  });
  afterEach(() => server.close());

  function check(found: Readonly<Record<string, Outcome>>): void {
    assert.deepEqual(found, EXPECTED);
    const counts = Object.groupBy(server.asked, (name) => name);
    assert.deepEqual(
      Object.fromEntries(NAMES.map((name) => [name, counts[name]?.length])),
      REQUESTS,
      "requests",
    );
    // no redirect is followed, with the key or without it
    assert.equal(server.stolen.length, 0);
  }

  it("Node.js: every answer has its outcome", async () => {
    const found: Record<string, Outcome> = {};
    for (const name of NAMES) found[name] = await outcomesOf(`${server.url}/${name}`, EXPECTED[name]!.length);
    check(found);
  });

  for (const { program, version, requirements } of PYTHON_RUNTIMES)
    for (const flavour of ["sync", "async"])
      it(`Python ${version}, ${requirements} packages (${flavour}): every answer has its outcome`, async () => {
        const env = pythonEnvironment(SOURCE, await pythonPackages(requirements));
        const calls = Object.entries(EXPECTED).map(([name, { length }]) => [name, length]);
        const args = [SCRIPT, flavour, server.url, JSON.stringify(Object.fromEntries(calls))];
        const { stdout } = await promisify(execFile)(program, args, { env });
        check(JSON.parse(stdout) as Record<string, Outcome>);
      });
});

async function outcomesOf(url: string, calls: number): Promise<Outcome> {
  const gatehouse = new Gatehouse({
    ...{ apiKey: "gh_test_1", environment: "sandbox", baseUrls: { sandbox: url } },
    ...{ timeoutMs: 60_000, maxRetries: 1 },
  });
  const get = await outcomeOf(() => gatehouse.customers.get("cus_1"));
  if (calls === 1) return [get];
  const list = await outcomeOf(() => gatehouse.customers.list({}, { maxRetries: 0 }));
  return [get, list, await followed(gatehouse)];
}

/** The class of the error, and what an error response says. */
async function outcomeOf(call: () => PromiseLike<unknown>): Promise<string> {
  try {
    const result = call();
    await (result instanceof List ? result.then() : result);
    return "ok";
  } catch (error) {
    if (error instanceof ApiError) {
      // whatever the server sent, reading the error does not fail
      assert.ok(!("fields" in error) || Array.isArray(error.fields));
      return `${error.name} ${error.code} ${error.status}`;
    }
    assert.ok(error instanceof GatehouseError, String(error));
    return error.name;
  }
}

/** Ends at the first answer, failure, or retry. */
async function followed(gatehouse: Gatehouse): Promise<string> {
  const stop = new AbortController();
  const onRetry = () => {
    stop.abort(new RetriedError());
  };
  const feed = gatehouse.events.follow({}, { signal: stop.signal, onRetry });
  return outcomeOf(async () => {
    await feed.next();
  }).catch((error: unknown) => {
    if (stop.signal.aborted) return "retried";
    throw error;
  });
}

class RetriedError extends Error {}
