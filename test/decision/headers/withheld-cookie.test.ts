import assert from "node:assert/strict";
import { withoutCookie } from "../../../src/decision/headers/withheld-cookie.ts";

describe("decision: withheld cookie", () => {
  const cases: readonly (readonly [cookies: readonly string[], left: string | undefined])[] = [
    [["session=x"], undefined],
    [["a=1; session=x; b=2"], "a=1; b=2"],
    [["a=1", "session=x", "b=2"], "a=1; b=2"],
    [["session=x; session=y; a=session=z"], "a=session=z"],
    [["a=1;session=x;;  b=2;"], "a=1; b=2"],
    [["Session=x; session =y; \tsession=z; session; xsession=1; session2=2"], "xsession=1; session2=2"],
    [["a=1"], "a=1"],
    [[], undefined],
    [['a="x y"; session="z"'], 'a="x y"'],
    [["a=d\u00c3\u00a9; session=x"], "a=d\u00e9"],
    [["a=d\u00e9; session=x"], undefined],
  ];
  for (const [cookies, left] of cases) {
    it(`leaves ${left ?? "nothing"} of ${JSON.stringify(cookies)}`, () => {
      const headers = [
        ["accept", "session=x"] as const,
        ...cookies.map((value) => ["cookie", value] as const),
      ];
      const expected =
        left === undefined ? { set: [], remove: ["cookie"] } : { set: [["cookie", left]], remove: [] };
      assert.deepEqual(withoutCookie(headers, "session"), expected);
    });
  }
});
