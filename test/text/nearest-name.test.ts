import assert from "node:assert/strict";
import { nearestHint, nearestName } from "../../src/text/index.ts";

const METHODS = ["GET", "POST", "PUT", "DELETE"];

describe("text: the nearest name", () => {
  it("is the one that was probably meant", () => {
    assert.equal(nearestName("GTE", METHODS), "GET"); // swapped neighbours count one
    assert.equal(nearestName("post", METHODS), "POST");
    assert.equal(nearestName("DELET", METHODS), "DELETE");
    assert.equal(nearestName("departement", ["department", "customer"]), "department");
    assert.equal(nearestName("x", METHODS), undefined);
    assert.equal(nearestName("", []), undefined);
  });

  it("is that with the fewest slips, and of two the first", () => {
    assert.equal(nearestName("PST", ["POST", "PUT"]), "POST");
    assert.equal(nearestName("ab", ["ac", "ad"]), "ac");
  });

  it("differs in a third of its letters at most", () => {
    assert.equal(nearestName("abcdef", ["abcxyf"]), "abcxyf");
    assert.equal(nearestName("abcdef", ["abxyzf"]), undefined);
  });

  it("is named in a hint; where none is near, a few are", () => {
    assert.equal(nearestHint("GTE", METHODS), "did you mean `GET`?");
    assert.equal(nearestHint("TRACE", METHODS), "use one of: `GET`, `POST`, `PUT`, `DELETE`");
    assert.equal(nearestHint("x", []), undefined);
    assert.equal(
      nearestHint(
        "x",
        Array.from({ length: 13 }, (_, index) => `name${index}`),
      ),
      undefined,
    );
  });
});
