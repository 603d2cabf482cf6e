import assert from "node:assert/strict";
import { compileDocuments } from "../../src/policy/compile/compile-documents.ts";
import { Reporter } from "../../src/policy/diagnostics/reporter.ts";
import { SourceText } from "../../src/policy/diagnostics/source-text.ts";

const MANIFEST = { format: "apollo-persisted-query-manifest", version: 1 };
const operation = (id: unknown, body: unknown) => ({ id, body, name: "Q", type: "query" });

describe("policy: lists of GraphQL documents", () => {
  const compiled = (text: string) => {
    const report = new Reporter();
    const documents = compileDocuments(new SourceText({ name: "documents.json", text }), report);
    return (
      documents ??
      report
        .diagnostics()
        .map(({ code, message }) => `${code}: ${message}`)
        .join()
    );
  };

  it("are maps by id, or manifests", () => {
    assert.deepEqual(compiled('{ "a": "{ me }" }'), { a: "{ me }" });
    assert.deepEqual(compiled(JSON.stringify({ ...MANIFEST, operations: [operation("a", "{ me }")] })), {
      a: "{ me }",
    });
  });

  const nested = `${"{ a ".repeat(20_000)}${"}".repeat(20_000)}`;
  for (const [what, text] of [
    ["no JSON", "{"],
    ["a member twice", '{ "a": "{ me }", "a": "{ you }" }'],
    ["a list", '["{ me }"]'],
    ["a document that is no text", '{ "a": 1 }'],
    ["a manifest of another version", JSON.stringify({ ...MANIFEST, version: 2, operations: [] })],
    ["a manifest without operations", JSON.stringify(MANIFEST)],
    ["an operation that is no object", JSON.stringify({ ...MANIFEST, operations: ["{ me }"] })],
    ["an operation without a body", JSON.stringify({ ...MANIFEST, operations: [operation("a", undefined)] })],
    [
      "an id twice",
      JSON.stringify({ ...MANIFEST, operations: [operation("a", "{ me }"), operation("a", "{ you }")] }),
    ],
    ["a document that is not GraphQL", '{ "a": "query {" }'],
    ["a document that is nested too deeply", JSON.stringify({ a: nested })],
    ["more than 5 MB", `{ "a": "{ me }"${" ".repeat(5 * 1024 * 1024)}}`],
  ] as const)
    it(`are refused with ${what}`, () => {
      const refusal = compiled(text);
      assert.ok(typeof refusal === "string");
      assert.match(refusal, /^invalid-documents: /);
    });
});
