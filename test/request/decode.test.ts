import assert from "node:assert/strict";
import fc from "fast-check";
import { decodeBytes } from "../../src/request/decode.ts";
import { canonicalize, type RawRequest } from "../../src/request/index.ts";
import { runs } from "../support/runs.ts";

const octet = fc.oneof(
  fc.constantFrom(0x41, 0x80, 0xbd, 0xbf, 0xc3, 0xe0, 0xed, 0xef, 0xf0, 0xff),
  fc.integer({ min: 0, max: 255 }),
);

const raw = (target: string): RawRequest => ({
  method: "GET",
  target,
  scheme: "http",
  host: "app.test",
  protocol: "HTTP/1.1",
  headers: [],
});

/** How many times a decoder is asked, and how often it throws. */
function decodings(target: string): readonly [calls: number, thrown: number] {
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const { decode } = TextDecoder.prototype;
  let calls = 0;
  let thrown = 0;
  TextDecoder.prototype.decode = function (...args) {
    calls += 1;
    try {
      return decode.apply(this, args);
    } catch (error) {
      thrown += 1;
      throw error;
    }
  };
  try {
    assert.ok(canonicalize(raw(target), { switchedOff: new Set(["invalid_utf8"] as const) }).ok);
  } finally {
    TextDecoder.prototype.decode = decode;
  }
  return [calls, thrown];
}

describe("request: decoding", () => {
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
        assert.equal(decodeBytes(octets).valid, isValid(octets));
      }),
      { numRuns: runs(5000), examples: known.map((bytes) => [bytes]) },
    );
  });

  const shapes: readonly (readonly [what: string, part: string, head: string])[] = [
    ["values of a query", "a=%ff&", "/a?"],
    ["runs of one value", "%ffa", "/a?x="],
    ["one run", "%ff", "/a?x="],
    ["runs of a path", "%ffa", "/"],
  ];
  for (const [what, part, head] of shapes) {
    it(`of what is not UTF-8 takes work by its length, and no exceptions: ${what}`, () => {
      for (const times of [50, 100, 300]) {
        const [calls, thrown] = decodings(head + part.repeat(times));
        assert.ok(calls <= 10 * times + 10, `${calls} of ${times}`);
        assert.equal(thrown, 0);
      }
    });
  }
});
