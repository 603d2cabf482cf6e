import assert from "node:assert/strict";
import { rememberHashes } from "../../../src/decision/replay/index.ts";
import { HASH } from "./support.ts";

describe("replay: hashes of literals", () => {
  it("are those of the key, each value hashed once", () => {
    let hashed = 0;
    const remembered = rememberHashes({
      keyId: HASH.keyId,
      of(value) {
        hashed += 1;
        return HASH.of(value);
      },
    });
    const values = ["1", 1, true, "true", "", 0, -0, NaN, "admin"];
    for (const value of [...values, ...values]) assert.equal(remembered.of(value), HASH.of(value));
    assert.equal(hashed, values.length - 1, "0 equals -0");
    assert.equal(remembered.keyId, HASH.keyId);
  });

  it("are right whatever number of values there is", () => {
    const remembered = rememberHashes(HASH);
    for (let n = 0; n < 25_000; n += 1) remembered.of(n);
    for (const n of [0, 9_999, 24_999]) assert.equal(remembered.of(n), HASH.of(n));
  });
});
