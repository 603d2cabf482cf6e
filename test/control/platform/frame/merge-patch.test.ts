import assert from "node:assert/strict";
import * as z from "zod";
import { ApiError } from "../../../../src/control/platform/errors.ts";
import { mergedBody, mergePatch } from "../../../../src/control/platform/frame/merge-patch.ts";

/** Target, patch and result, for each case that RFC 7396, section 2 tells apart. */
const CASES: readonly (readonly [unknown, unknown, unknown])[] = [
  [{ plan: "gold" }, { plan: "silver" }, { plan: "silver" }],
  [{ plan: "gold" }, { seats: 12 }, { plan: "gold", seats: 12 }],
  [{ plan: "gold" }, { plan: null }, {}],
  [{ plan: "gold" }, { seats: null }, { plan: "gold" }],
  [{ roles: ["viewer", "editor"] }, { roles: ["owner"] }, { roles: ["owner"] }],
  [{ roles: ["viewer"] }, { roles: { first: "owner" } }, { roles: { first: "owner" } }],
  [
    { limits: { day: 10, hour: 1 } },
    { limits: { hour: null, minute: 2 } },
    { limits: { day: 10, minute: 2 } },
  ],
  [
    { plan: "gold" },
    { limits: { day: { soft: null, hard: 1 } } },
    { plan: "gold", limits: { day: { hard: 1 } } },
  ],
  [{ unset: null }, { plan: "gold" }, { unset: null, plan: "gold" }],
  ["a text", { plan: "gold", seats: null }, { plan: "gold" }],
  [{ plan: "gold" }, "a text", "a text"],
  [{ plan: "gold" }, ["a list"], ["a list"]],
  [{ plan: "gold" }, null, null],
];

describe("merge patches", () => {
  for (const [target, patch, expected] of CASES)
    it(`${JSON.stringify(patch)} makes ${JSON.stringify(target)} ${JSON.stringify(expected)}`, () => {
      assert.deepEqual(mergePatch(target, patch), expected);
    });

  it("leave what they are applied to as it is", () => {
    const target = { a: { b: 1 } };
    mergePatch(target, { a: { b: null } });
    assert.deepEqual(target, { a: { b: 1 } });
  });

  it("have members of any name, and give no object another prototype", () => {
    const merged = mergePatch({}, JSON.parse('{"__proto__":{"admin":true}}')) as object;
    assert.equal(Object.getPrototypeOf(merged), Object.prototype);
    assert.equal("admin" in merged, false);
    assert.deepEqual(Object.keys(merged), ["__proto__"]);
  });

  it("merge only the members of a body that are meant, and are checked as a whole", () => {
    const schema = z.strictObject({
      tags: z
        .record(z.string(), z.string())
        .refine((tags) => Object.keys(tags).length < 3, "too many")
        .optional(),
      roles: z.record(z.string(), z.string()).optional(),
    });
    const current = { tags: { a: "1", b: "2" }, roles: { x: "1" }, other: true };
    assert.deepEqual(
      mergedBody(schema, current, { tags: { a: null, c: "3" }, roles: { y: "2" } }, ["tags"]),
      {
        tags: { b: "2", c: "3" },
        roles: { y: "2" },
      },
    );
    assert.throws(
      () => mergedBody(schema, current, { tags: { c: "3" } }, ["tags"]),
      (error) => error instanceof ApiError && error.code === "VALIDATION_FAILED",
    );
  });
});
