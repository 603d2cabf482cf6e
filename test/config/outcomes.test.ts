import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadGatewayConfig } from "../../src/config/index.ts";

describe("configuration: what is written of requests that are over", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "gatehouse-"));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  function load(text: string) {
    const file = join(folder, "gateway.yaml");
    writeFileSync(file, `identity: { issuer: https://login.test, audience: app }\n${text}\n`);
    return loadGatewayConfig({ file, env: {} });
  }

  it("is nothing by default", () => {
    const result = load("");
    assert.ok(result.ok);
    assert.deepEqual([result.config.gateway.access_log, result.config.audit.outcomes], ["off", false]);
  });

  it("goes to stderr, or to a file beside the configuration", () => {
    const destinations = [
      ["off", "off"],
      ["stderr", "stderr"],
      ["access.log", join(folder, "access.log")],
      ["logs/access", join(folder, "logs/access")],
      ["./stderr", join(folder, "stderr")],
      ["/var/log/access.log", "/var/log/access.log"],
    ];
    for (const [text, expected] of destinations) {
      const result = load(`gateway: { access_log: ${text} }`);
      assert.ok(result.ok, text);
      assert.equal(result.config.gateway.access_log, expected);
    }
  });

  const wrong: readonly (readonly [text: string, expected: string])[] = [
    ["gateway: { access_log: stdout }", "must be `off`, `stderr`, or the path of a file"],
    ["gateway: { access_log: on }", "must be `off`, `stderr`, or the path of a file"],
    ["gateway: { access_log: stder }", "must be `off`, `stderr`, or the path of a file"],
    ["gateway: { access_log: true }", "must be a path"],
    ['gateway: { access_log: "" }', "must not be empty"],
    ["audit: { outcomes: all }", "must be `true` or `false`, not `all`"],
    ["audit: { enabled: false, outcomes: true }", "has no effect with `audit.enabled: false`"],
    [
      "gateway: { access_log: ./audit.log }\naudit: { destination: file }",
      "is the same file as `audit.path`",
    ],
  ];
  for (const [text, expected] of wrong) {
    it(`is refused: ${text}`, () => {
      const result = load(text);
      assert.ok(!result.ok);
      const messages = result.findings.map(({ diagnostic }) => diagnostic.message);
      assert.equal(messages.length, 1, messages.join("\n"));
      assert.ok(messages[0]?.includes(expected), messages[0]);
    });
  }
});
