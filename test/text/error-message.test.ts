import assert from "node:assert/strict";
import { errorMessage } from "../../src/text/index.ts";

describe("text: error message", () => {
  it("is what an error says, or what was thrown in place of one", () => {
    assert.equal(errorMessage(new RangeError("too far")), "too far");
    assert.equal(errorMessage("a text"), "a text");
    assert.equal(errorMessage(undefined), "undefined");
  });
});
