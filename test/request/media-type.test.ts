import assert from "node:assert/strict";
import { bodyFormat } from "../../src/request/body/media-type.ts";

/** As long as the headers of a request may be. */
const LONG = 60_000;
const blanks = " \t".repeat(LONG / 2);

/** Long values that former or naive readers take seconds for, with what they are. */
const CASES: Readonly<Record<string, readonly [value: string, kind: string]>> = {
  "blanks before a malformed parameter": [`application/json;${blanks}(`, "ambiguous"],
  "blanks after a malformed parameter": [`application/json;a${blanks}=b`, "ambiguous"],
  "blanks before the type": [`${blanks}(`, "ambiguous"],
  "blanks between type and rest": [`application/json${blanks}(`, "ambiguous"],
  "blanks after the type": [`application/json${blanks}`, "json"],
  "blanks of an empty parameter": [`application/json;${blanks};`, "json"],
  "blanks around a value": [`application/json;${blanks}charset=utf-8${blanks}`, "json"],
  "empty parameters": [`application/json${";".repeat(LONG)}`, "json"],
  "parameters of blanks": [`application/json${"; ".repeat(LONG / 2)}(`, "ambiguous"],
  "a type that does not end": [`application/${"a".repeat(LONG)}/`, "ambiguous"],
  "suffixes of a subtype": [`application/${"+json".repeat(LONG / 5)}`, "json"],
  "suffixes of a subtype, but not the last": [`application/${"+json".repeat(LONG / 5)}x`, "other"],
  "a string that does not end": [`application/json;a="${"a".repeat(LONG)}`, "ambiguous"],
  "a string of escapes that does not end": [`application/json;a="${'\\"'.repeat(LONG / 2)}`, "ambiguous"],
  "a string of escapes": [`application/json;a="${'\\"'.repeat(LONG / 2)}"`, "json"],
  "many parameters": [`application/json${";a=b".repeat(LONG / 4)}`, "json"],
};

describe("request: long content types", () => {
  for (const [title, [value, kind]] of Object.entries(CASES)) {
    it(`${title}: ${kind}`, () => {
      assert.equal(bodyFormat([value]).kind, kind);
    });
  }
});
