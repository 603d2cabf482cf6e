import assert from "node:assert/strict";
import { canonicalize, type RawRequest } from "../../src/request/index.ts";

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
