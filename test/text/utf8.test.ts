import assert from "node:assert/strict";
import fc from "fast-check";
import { decodeUtf8 } from "../../src/text/index.ts";
import { runs } from "../support/runs.ts";

const octet = fc.oneof(
  fc.constantFrom(0x41, 0x80, 0xbd, 0xbf, 0xc3, 0xe0, 0xed, 0xef, 0xf0, 0xff),
  fc.integer({ min: 0, max: 255 }),
);

describe("text: UTF-8", () => {
  it("says what is UTF-8 as a decoder does that throws", () => {
    const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    const isValid = (bytes: Uint8Array) => {
      try {
        strict.decode(bytes);
        return true;
      } catch {
        return false;
      }
    };
    const known = [
      [0xef, 0xbf, 0xbd],
      [0xef, 0xbf, 0xbd, 0xff],
      [0xff, 0xef, 0xbf, 0xbd],
      [0xef, 0xbf],
      [0xef, 0xef, 0xbf, 0xbd],
      [0xef, 0xbb, 0xbf],
    ];
    fc.assert(
      fc.property(fc.array(octet, { maxLength: 8 }), (bytes) => {
        const octets = Uint8Array.from(bytes);
        assert.equal(decodeUtf8(octets).valid, isValid(octets));
      }),
      { numRuns: runs(5000), examples: known.map((bytes) => [bytes]) },
    );
  });

  it("takes a byte order mark for a character, and says what it cannot read", () => {
    assert.deepEqual(decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x78)), { text: "\ufeffx", valid: true });
    assert.deepEqual(decodeUtf8(Uint8Array.of(0x78, 0xff)), { text: "x\ufffd", valid: false });
  });
});
