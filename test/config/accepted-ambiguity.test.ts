import assert from "node:assert/strict";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { loadGatewayConfig } from "../../src/config/index.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

describe("configuration: checks that are accepted below a path", () => {
  it("may be given as JSON in the environment", () => {
    const value = '["letter_case", { "path": "/npm/**", "checks": ["encoded_slash"] }]';
    const loaded = loadGatewayConfig({ env: { GATEHOUSE_GATEWAY_ACCEPT_AMBIGUOUS: value } });
    assert.ok(loaded.ok, loaded.ok ? "" : loaded.errors);
    assert.deepEqual(loaded.config.gateway.accept_ambiguous, [
      "letter_case",
      { path: "/npm/**", checks: ["encoded_slash"], reading: "every" },
    ]);
  });

  const WRONG: readonly (readonly [entry: string, error: string, column?: number])[] = [
    ["{ path: npm, checks: [encoded_slash] }", "must begin with `/`"],
    ["{ path: /a%2fb, checks: [encoded_slash] }", "the path has a `%`"],
    ["{ path: /a, checks: [letter_case] }", "must be one of"],
    ["{ path: /a, checks: [] }", "must not be empty"],
    ["{ path: /a }", "`gateway.accept_ambiguous.0.checks` is missing", 31],
    ["{ path: /a, checks: [encoded_slash], read: kept }", "`gateway.accept_ambiguous.0.read` is not a key"],
    ["{ path: /a, checks: [encoded_slash], reading: both }", "must be one of `every`, `kept`, `resolved`"],
    ["{ path: /a, checks: [dot_segment], reading: kept }", "has no meaning for `dot_segment`"],
    ["{ path: /a, checks: [double_encoding], reading: resolved }", "has no meaning for `double_encoding`"],
    ["[encoded_slash]", "must be"],
    ["1", "must be one of"],
  ];
  for (const [entry, error, column] of WRONG) {
    it(`is refused: ${entry}`, async () => {
      const file = join(await temporaryDirectory(), "gateway.yaml");
      writeFileSync(file, `gateway: { accept_ambiguous: [${entry}] }\n`);
      const loaded = loadGatewayConfig({ file, env: {} });
      assert.ok(!loaded.ok);
      const [found, ...others] = loaded.findings;
      assert.deepEqual(others, []);
      assert.ok(found);
      assert.ok(found.diagnostic.message.includes(error), loaded.errors);
      assert.equal(found.diagnostic.line, 1);
      if (column !== undefined) assert.equal(found.diagnostic.column, column);
    });
  }
});
