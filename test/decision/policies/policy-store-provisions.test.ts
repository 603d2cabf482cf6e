import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Provisions } from "../../../src/decision/policies/not-provided.ts";
import { folderSource } from "../../../src/decision/policies/policy-source.ts";
import { PolicyStore } from "../../../src/decision/policies/policy-store.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { silent } from "../support.ts";

describe("decision: policy store, what the configuration does not provide", () => {
  let directory: string;
  let warnings: [Record<string, unknown>, string][];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "gatehouse-store-"));
    warnings = [];
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const write = (name: string, text: string) => writeFile(join(directory, name), text);
  /** Not started: it looks only when a test says so. */
  const storeOf = (provisions: Provisions) =>
    new PolicyStore(
      {
        source: folderSource(directory),
        policySet: "main",
        refreshIntervalMs: 3_600_000,
        caseSensitive: false,
        provisions,
      },
      {
        metrics: createMetrics(),
        log: {
          info: silent,
          error: silent,
          warn: (context, message) => warnings.push([context as Record<string, unknown>, message]),
        },
      },
    );

  it("warns at each load of every rule that reads what is not configured, and has the set in force", async () => {
    const headers = { names: [], prefixes: [], accepted: [] };
    const provisions = { sources: ["people"], claims: ["user.id"], headers, identityHeaders: {} };
    const set = (source: string, version: string) => `version: ${version}
attributes: { target: { source: ${source}, key: path.id } }
policies:
  - { name: first, resource: "GET /a/{id}", condition: target.x == 1 }
  - { resource: "GET /b/{id}", condition: target.x == 2 or user.id == "x" }
  - { resource: GET /c, condition: user.id == "x" }
`;
    await write("main.yaml", set("users", "v1"));
    const store = storeOf(provisions);
    await store.refresh();
    assert.equal(store.current?.label, "main@v1");
    assert.deepEqual(
      warnings.map(([{ policy_set, rule, rule_name, at, configure }]) => [
        policy_set,
        rule,
        rule_name,
        at,
        configure,
      ]),
      [
        ["main@v1", "policies[0]", "first", "main.yaml:4", "attribute_sources.users"],
        ["main@v1", "policies[1]", undefined, "main.yaml:5", "attribute_sources.users"],
      ],
    );
    assert.match(warnings[0]?.[1] ?? "", /`target` is always unknown: its attribute source `users` is not/);
    await store.refresh();
    assert.equal(warnings.length, 2, "nothing was loaded");
    await write("main.yaml", set("users", "v2"));
    await store.refresh();
    assert.equal(warnings.length, 4);
    await write("main.yaml", set("people", "v3"));
    await store.refresh();
    assert.equal(store.current.label, "main@v3");
    assert.equal(warnings.length, 4);
  });

  it("counts what finds no room among the warnings", async () => {
    const headers = { names: [], prefixes: [], accepted: [] };
    const rules = Array.from(
      { length: 130 },
      (_, at) => `  - { resource: GET /${at}, condition: exists(user.x) }\n`,
    );
    await write("main.yaml", `policies:\n${rules.join("")}`);
    await storeOf({ sources: [], claims: [], headers, identityHeaders: {} }).refresh();
    assert.equal(warnings.length, 101);
    assert.equal(warnings.at(-1)?.[0]["more"], 30);
  });
});
