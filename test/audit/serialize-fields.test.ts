import assert from "node:assert/strict";
import fc from "fast-check";
import { fieldsWriter } from "../../src/audit/serialize-fields.ts";
import { runs } from "../support/runs.ts";

const text = fc.oneof(fc.string({ maxLength: 90 }), fc.string({ unit: "binary", maxLength: 30 }));
const denied = fc.record({ direction: text, rule: text, type: text, count: fc.maxSafeNat() });

describe("audit: lists in a line", () => {
  const lists = {
    texts: fc.array(text, { maxLength: 12 }),
    denied: fc.array(denied, { maxLength: 12 }),
  };
  for (const kind of ["texts", "denied"] as const) {
    it(`of ${kind} keep to their limit, and lose nothing that fits`, () => {
      fc.assert(
        fc.property(lists[kind], fc.integer({ min: 80, max: 900 }), (list, limit) => {
          const write = (most: number) => {
            const member = fieldsWriter({ list: { kind, usual: most, tight: most } })({ list }, "usual");
            assert.ok(member.startsWith('"list":'));
            return member.slice('"list":'.length);
          };
          const short = write(limit);
          assert.ok(short.length <= limit, `${short.length} > ${limit}`);
          const all = JSON.parse(write(100_000)) as readonly unknown[];
          assert.equal(all.length, list.length);
          const kept = JSON.parse(short) as readonly unknown[];
          const more = kept.at(-1);
          const isCut =
            kind === "texts" ? more === "..." : (more as { type?: unknown } | undefined)?.type === "...";
          const whole = isCut && kept.length <= all.length ? kept.slice(0, -1) : kept;
          assert.deepEqual(whole, all.slice(0, whole.length));
          if (whole.length < all.length) assert.ok(isCut);
        }),
        { numRuns: runs(300) },
      );
    });
  }
});
