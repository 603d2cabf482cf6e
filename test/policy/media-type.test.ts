import assert from "node:assert/strict";
import { fitsKind, mediaKind, otherKind } from "../../src/policy/mask/index.ts";
import { BODY_CASES, TYPE_CASES } from "./media-type-cases.ts";

describe("media types of answers", () => {
  it("are read, may pass, or neither; never two of these", () => {
    for (const [value, expected] of TYPE_CASES) {
      const kinds = [mediaKind(value), otherKind(value)].filter((kind) => kind !== undefined);
      assert.deepEqual(kinds, expected === "none" ? [] : [expected], value);
    }
    assert.deepEqual([mediaKind(undefined), otherKind(undefined)], [undefined, undefined]);
  });

  it("are not read where they are longer than any", () => {
    for (const value of ["application/json;a=", "text/csv;a="]) {
      assert.notEqual(mediaKind(value + "x".repeat(200)) ?? otherKind(value + "x".repeat(200)), undefined);
      assert.equal(mediaKind(value + "x".repeat(300)) ?? otherKind(value + "x".repeat(300)), undefined);
    }
  });

  it("are compared with the way the body begins", () => {
    for (const [kind, body, expected] of BODY_CASES)
      assert.equal(fitsKind(kind, body), expected, `${kind} ${body.toString("latin1")}`);
  });
});
