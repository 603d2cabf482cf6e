import assert from "node:assert/strict";
import fc from "fast-check";
import { EVENT_ID, getScalarValue, parseEvents } from "js-yaml";
import { readScalar } from "../../src/policy/syntax/read-scalar.ts";
import { offsetsOf, sourceOffset } from "../../src/policy/syntax/scalar-offset.ts";
import { SourceText } from "../../src/policy/diagnostics/source-text.ts";
import type { ScalarNode } from "../../src/policy/syntax/tree.ts";
import { runs } from "../support/runs.ts";

/** The last scalar of a document, or nothing where it is no YAML. */
function lastScalar(text: string): ScalarNode | undefined {
  const source = new SourceText({ name: "s.yaml", text });
  try {
    const event = parseEvents(source.text, {}).findLast((one) => one.type === EVENT_ID.SCALAR);
    assert.ok(event?.type === EVENT_ID.SCALAR);
    const node = readScalar(event, source, 0);
    assert.equal(node.text, getScalarValue(source.text, event));
    return node;
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return undefined;
  }
}

const piece = fc.constantFrom(
  "a",
  "b",
  " ",
  "  ",
  "\t",
  "\n",
  "\n\n",
  "\r\n",
  "\r",
  "\n ",
  "\n  ",
  "\n   ",
  "''",
  "é",
  "😀",
  "#",
);
const escape = fc.constantFrom(
  "\\n",
  "\\x41",
  "\\u00e9",
  "\\U0001F600",
  "\\UFFFFFFFF",
  '\\"',
  "\\\\",
  "\\\n",
  "\\\r\n  ",
  "\\ ",
  "\\t",
);
const text = (...parts: fc.Arbitrary<string>[]) =>
  fc.array(fc.oneof(...parts), { maxLength: 12 }).map((all) => all.join(""));
const header = fc.constantFrom("|", ">", "|-", ">+", "|+", ">-", ">2", "|1-");
const documents = fc.oneof(
  text(piece).map((content) => `k: x${content}`),
  text(piece).map((content) => `k: '${content}'`),
  text(piece, escape).map((content) => `k: "${content}"`),
  fc.tuple(header, text(piece)).map(([head, content]) => `k: ${head}\n  ${content}`),
);

describe("offsets of a scalar", () => {
  it("are one for each unit of the decoded text, in order, within the content", () => {
    let evaluated = 0;
    fc.assert(
      fc.property(documents, (document: string) => {
        const node = lastScalar(document);
        if (node === undefined) return;
        evaluated++;
        const offsets = offsetsOf(node);
        assert.equal(offsets.length, node.text.length);
        for (const [index, offset] of offsets.entries()) {
          assert.ok(offset >= node.content.start && offset <= node.content.end);
          assert.ok(index === 0 || offset >= (offsets[index - 1] ?? 0));
          const decoded: string = node.text[index] ?? "";
          const there: string | undefined = node.source.text[offset];
          // what is neither white space nor written as an escape stands there as it is
          if (!/\s/.test(decoded) && there !== "\\") assert.equal(there, decoded);
        }
      }),
      { numRuns: runs(5000) },
    );
    assert.ok(evaluated > 1000, `only ${evaluated} were YAML`);
  });

  it("end at the end of the content", () => {
    const node = lastScalar("k: 'it''s'");
    assert.ok(node);
    assert.deepEqual(
      [0, 2, 3, 4, 9].map((index) => sourceOffset(node, index)),
      [4, 6, 8, 9, 9],
    );
  });
});
