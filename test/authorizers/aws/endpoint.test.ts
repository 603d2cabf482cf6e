import assert from "node:assert/strict";
import { readJson } from "../../../src/authorizers/read-json.ts";

describe("authorizers: the body of a request to an API", () => {
  const read = (text: string | Uint8Array) => readJson(typeof text === "string" ? Buffer.from(text) : text);

  it("is read once and in one way", () => {
    const good = read('{"a":[1]}');
    assert.equal(JSON.stringify(good), '{"ok":true,"value":{"a":[1]}}');
    for (const [body, problem] of [
      ["", /not valid JSON/],
      ["{", /not valid JSON/],
      ['{"a":1,"a":2}', /duplicate member/],
      [`${"[".repeat(70)}${"]".repeat(70)}`, /not valid JSON/],
      [Uint8Array.of(0x22, 0xff, 0x22), /not valid UTF-8/],
    ] as const) {
      const result = read(body);
      assert.ok(!result.ok);
      assert.match(result.error, problem);
    }
  });
});
