import assert from "node:assert/strict";
import { parseTraceparent, traceIdOf } from "../../src/telemetry/tracing.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

describe("telemetry: traceparent", () => {
  const valid: [string, boolean][] = [
    [`00-${TRACE}-${SPAN}-01`, true],
    [`00-${TRACE}-${SPAN}-00`, false],
    [`00-${TRACE}-${SPAN}-03`, true],
    [`00-${TRACE}-${SPAN}-fe`, false],
    [`cc-${TRACE}-${SPAN}-01`, true],
    [`cc-${TRACE}-${SPAN}-01-what-the-future-brings`, true],
  ];
  for (const [header, sampled] of valid) {
    it(`reads ${header}`, () => {
      assert.deepEqual(parseTraceparent(header), { traceId: TRACE, spanId: SPAN, sampled });
      assert.equal(traceIdOf(header), TRACE);
    });
  }

  const invalid = [
    "",
    "00",
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}-01 `,
    ` 00-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01\n`,
    `00-${TRACE}-${SPAN}-0g`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `ff-${TRACE}-${SPAN}-01`,
    `cc-${TRACE}-${SPAN}-01.more`,
    `00-${TRACE.slice(1)}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01,00-${TRACE}-${SPAN}-01`,
  ];
  for (const header of invalid) {
    it(`ignores ${JSON.stringify(header)}`, () => {
      assert.equal(parseTraceparent(header), undefined);
      assert.equal(traceIdOf(header), undefined);
    });
  }
});
