import assert from "node:assert/strict";
import { maskDocument } from "../../src/policy/mask/index.ts";
import { allMaskCases } from "./mask-cases.ts";

describe("masking in TypeScript", () => {
  for (const [file, cases] of allMaskCases()) {
    describe(file, () => {
      for (const { name, document, plan, response, expected } of cases) {
        it(name, () => {
          const result = maskDocument(document, plan, response);
          const seen = result.ok ? { text: result.text, paths: result.paths } : { reason: result.reason };
          assert.deepEqual(seen, expected);
        });
      }
    });
  }

  it("counts every member that it changes", () => {
    const fields = [{ rule: "r", anchored: false, keys: ["a"], action: { kind: "full" } as const }];
    const result = maskDocument('[{"a":1,"a":2},{"a":{"a":3}}]', { fields }, {});
    assert.ok(result.ok);
    assert.deepEqual([result.count, result.paths], [3, ["$[*].a"]]);
  });

  it("refuses what UTF-8 cannot say", () => {
    assert.deepEqual(maskDocument('{"a":"\ud83d"}', { fields: [] }, {}), { ok: false, reason: "utf8" });
  });

  it("takes time in proportion to the document where a key stands very often", () => {
    const times = 20_000;
    const when = { op: "exists", path: ["item", "nothing"] } as const;
    const fields = [{ rule: "r", anchored: false, keys: ["a"], action: { kind: "full" } as const, when }];
    const result = maskDocument(`{${'"a":1,'.repeat(times)}"b":1}`, { fields }, {});
    assert.ok(result.ok && result.count === 0);
  });
});
