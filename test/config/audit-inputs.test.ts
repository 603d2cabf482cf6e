import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadGatewayConfig } from "../../src/config/index.ts";

describe("configuration of the inputs of records", () => {
  let folder: string;
  let file: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "gatehouse-"));
    file = join(folder, "gateway.yaml");
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  function load(audit: string) {
    writeFileSync(file, `identity: { issuer: https://login.test, audience: app }\naudit: { ${audit} }\n`);
    return loadGatewayConfig({ file, env: {} });
  }

  it("is off by default, and counts the key file from the file's folder", () => {
    const off = load("");
    assert.ok(off.ok);
    const { inputs, inputs_values: values, inputs_others: others } = off.config.audit;
    assert.deepEqual([inputs, values, others], [false, [], "redact"]);
    const on = load(
      "inputs: true, inputs_values: [user.role, args.id], inputs_others: hash, inputs_key_file: a.key",
    );
    assert.ok(on.ok, on.ok ? "" : on.errors);
    assert.equal(on.config.audit.inputs_key_file, join(folder, "a.key"));
  });

  const wrong: readonly (readonly [audit: string, code: string, expected: string])[] = [
    ["inputs: sometimes", "invalid-value", "must be `true` or `false`"],
    ["inputs_values: [user role]", "invalid-value", "must be an attribute such as `user.role`"],
    ["inputs_values: ['user[role]']", "invalid-value", "must be an attribute such as `user.role`"],
    ["inputs_others: keep", "invalid-value", "must be one of"],
    ["input: true", "unknown-key", "`audit.input`"],
    ["inputs: true, inputs_others: hash", "contradiction", "needs `audit.inputs_key_file`"],
    ["inputs: true, enabled: false", "contradiction", "has no effect with `audit.enabled: false`"],
  ];
  for (const [audit, code, expected] of wrong)
    it(`is refused: ${audit}`, () => {
      const result = load(audit);
      assert.ok(!result.ok, "no error was found");
      const findings = result.findings.map(({ diagnostic }) => diagnostic);
      assert.equal(findings.length, 1, result.errors);
      assert.deepEqual([findings[0]?.line, findings[0]?.code], [2, code]);
      assert.ok(findings[0]?.message.includes(expected), findings[0]?.message);
    });
});
