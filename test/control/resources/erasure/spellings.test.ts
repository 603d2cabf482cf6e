import assert from "node:assert/strict";
import fc from "fast-check";
import { withoutAddresses } from "../../../../src/control/platform/personal-data.ts";
import { runs } from "../../../support/runs.ts";
import { encoded } from "../../../text/encodings.ts";

const PEOPLE = ["ada.lovelace@mail.example", "zoë@müller.example", "+491701234567", "+1 (555) 010-9999"];

describe("erasure: addresses in any spelling", () => {
  it("are hidden, however they are encoded", () => {
    fc.assert(
      fc.property(fc.constantFrom(...PEOPLE.slice(0, 3)), encoded(5), (who, encode) => {
        // in a segment of its own, for a decoded slash or space begins no other one
        const hidden = withoutAddresses(`/people/${encode(who).replaceAll("/", "%2F")}/orders no such`);
        assert.equal(hidden, "/people/***/orders no such", encode(who));
      }),
      { numRuns: runs(500) },
    );
  });

  for (const spelled of [
    "a%2525%2534%2530b.example",
    "a%5Cu0040b.example",
    "a%26%2364%3Bb.example",
    "a&amp;commat;b.example",
    "a%26amp%3B%2364;b.example",
    "a\\\\u0040b.example",
    "a=40b.example",
    "a%3D40b.example",
    "a=\r\n=40b.example",
    "a\ufe6bb.example",
    "%2B491701234567",
    "tel:+49-170-1234567",
    "%2b1%20(555)%20010-9999",
    `a%${"25".repeat(50)}40b.example`,
  ])
    it(`are hidden in ${JSON.stringify(spelled.slice(0, 40))}`, () => {
      assert.equal(withoutAddresses(`/p/${spelled}/x`), "/p/***/x");
    });

  for (const text of [
    "/p/@a/b@/%40c/d%40/%4a0/40",
    "/search/max=4010.5/key=40/id=4055",
    "/p/2026-11-22T10:00:00+0100/1+1/c++/+44/shoes+1234567",
    "/p/100%25/a&b/a&copy;b/C:\\users\\x40/\\d+/%E2%82%AC",
    "access_denied: Zoë may not = \r\n sign in here",
  ])
    it(`are not seen in ${JSON.stringify(text)}`, () => {
      assert.equal(withoutAddresses(text), text);
    });

  it("leave everything else as it is, however it is encoded", () => {
    const word = fc.stringMatching(/^[a-zA-Z0-9._~-]{1,12}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), encoded(2), (words, encode) => {
        const text = `/${words.map(encode).join("/")}`;
        assert.equal(withoutAddresses(text), text);
      }),
      { numRuns: runs(500) },
    );
  });

  it("are hidden with all that is encoded, where there is more of it than anybody writes", () => {
    const much = "/%2525255C&amp;=3D".repeat(1_000);
    const hidden = withoutAddresses(`${much}/plain/a@b.example`);
    assert.ok(hidden.endsWith("/***/plain/***"), hidden.slice(-100));
    assert.match(hidden, /^\/%2525255C&amp;=3D\//);
    const usual = "/%E2%82%AC/caf%C3%A9".repeat(50);
    assert.equal(withoutAddresses(usual), usual);
  });

  it("stay where they are the reader's own", () => {
    const own = (read: string) => read === "ada@mail.example";
    const text = "/p/ada%2540mail.example/bob@mail.example/ada@mail.example";
    assert.equal(withoutAddresses(text, own), "/p/ada%2540mail.example/***/ada@mail.example");
  });
});
