import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { appendFile, cp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { compileSet } from "../../src/cli/policy-sets.ts";
import { createSuiteSubject } from "../../src/decision/explain/index.ts";
import { startDemoApplication } from "../../src/demo/application.ts";
import { PEOPLE, personOfRole, type DemoRole } from "../../src/demo/people.ts";
import type { PathRuleIR, PolicySetIR } from "../../src/policy/index.ts";
import { coverageGap, parseSuite, runSuite } from "../../src/policy/suite/index.ts";
import { DEMO_POLICIES } from "../support/demo-policies.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

function shipped(name: string): { name: string; text: string } {
  return { name, text: readFileSync(join(DEMO_POLICIES, name), "utf8") };
}

const { ir, diagnostics } = await compileSet(DEMO_POLICIES, "default", { severalProviders: true });
const { suite, diagnostics: suiteDiagnostics } = parseSuite(shipped("default.test.yaml"));
assert.ok(ir);
assert.ok(suite);
const [set, tests] = [ir, suite];

/** Runs the shipped tests against a set, through the function that the gateway decides with. */
function run(against: PolicySetIR) {
  return runSuite(tests, createSuiteSubject(against));
}

function withCondition(rule: PathRuleIR, value: boolean): PolicySetIR {
  const condition = { expression: { op: "literal", value }, source: String(value), reads: [] } as const;
  return { ...set, rules: set.rules.map((other) => (other === rule ? { ...rule, condition } : other)) };
}

describe("shipped policies", () => {
  it("compile without a finding, though customers' providers say who has which role, and so do their tests", () => {
    assert.deepEqual(diagnostics, []);
    assert.deepEqual(suiteDiagnostics, []);
  });

  it("pass their tests, which show every rule from both sides", async () => {
    const { cases, coverage } = await run(set);
    assert.deepEqual(
      cases.filter(({ ok }) => !ok),
      [],
    );
    assert.deepEqual(
      coverage.filter((rule) => coverageGap(rule) !== ""),
      [],
    );
  });

  it("have tests that notice when a rule lets everybody in, or nobody", async () => {
    for (const rule of set.rules) {
      for (const value of [true, false]) {
        if (rule.condition.source === String(value)) continue;
        const { cases } = await run(withCondition(rule, value));
        assert.ok(
          cases.some(({ ok }) => !ok),
          `no test notices that ${rule.name ?? rule.id} is always ${value}`,
        );
      }
    }
  });

  it("guard what the demo application has", async () => {
    const application = await startDemoApplication({ port: 0 });
    try {
      const deletingLast = set.rules.toSorted(
        (a, b) => Number(a.method === "DELETE") - Number(b.method === "DELETE"),
      );
      for (const { method, pattern } of deletingLast) {
        const path = pattern
          .replace("{customer_id}", "c-1")
          .replace("{user_id}", "u-1")
          .replace("/assets/{file}", "/assets/style.css")
          .replace("/admin/*", "/admin/settings")
          .replace("/contacts/**", "/contacts");
        const answer = await fetch(application.url + path, { method: method === "*" ? "GET" : method });
        assert.notEqual(answer.status, 404, `${method} ${path}`);
      }
    } finally {
      await application.close();
    }
  });
});

describe("shipped directory and test people", () => {
  it("have the departments and customers that tokens have", () => {
    assert.deepEqual(
      JSON.parse(shipped("directory/users.json").text),
      Object.fromEntries(PEOPLE.map(({ id, department, customer_id }) => [id, { department, customer_id }])),
    );
  });

  it("have the attributes that tokens have", () => {
    const users = new Map(tests.cases.map(({ input }) => [input.user?.["id"], input.user]));
    for (const role of ["admin", "manager", "support", "viewer"] satisfies DemoRole[]) {
      const person = personOfRole(role);
      const { name, email } = person;
      assert.deepEqual({ name, email, ...users.get(person.id) }, person);
    }
  });
});

describe("the policies of the checkout, which a newcomer edits", () => {
  it("are read by no test", () => {
    const root = fileURLToPath(new URL("../..", import.meta.url));
    const readers = globSync("test/**/*.ts", { cwd: root }).filter((name) => {
      const text = readFileSync(join(root, name), "utf8");
      return /(?:"|`)(?:\.\.\/)+policies(?:\/|"|`)|\b(?:ROOT|CHECKOUT), "policies"/.test(text);
    });
    // not a test: what is done before publishing
    assert.deepEqual(readers, ["test/support/check-delivered-policies.ts"]);
  });
});

describe("publishing", () => {
  const check = (folder: string) => {
    const script = fileURLToPath(new URL("../support/check-delivered-policies.ts", import.meta.url));
    return promisify(execFile)(process.execPath, [script, folder]);
  };

  it("is refused with policies that tests do not know", async () => {
    const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      scripts: Record<string, string>;
    };
    assert.match(manifest.scripts["prepack"] ?? "", /^node test\/support\/check-delivered-policies\.ts && /);
    const folder = join(await temporaryDirectory(), "policies");
    await cp(DEMO_POLICIES, folder, { recursive: true });
    await check(folder);
    await appendFile(join(folder, "default.yaml"), "# edited\n");
    await assert.rejects(check(folder), /tests know it otherwise/);
    await cp(DEMO_POLICIES, folder, { recursive: true });
    await appendFile(join(folder, "another.yaml"), "version: v1\n");
    await assert.rejects(check(folder), { stdout: /Only in .*another\.yaml/ });
  });
});
