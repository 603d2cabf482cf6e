import assert from "node:assert/strict";
import fc from "fast-check";
import {
  compilePolicySet,
  formatPolicyFile,
  MAX_DIAGNOSTICS,
  renderDiagnostics,
} from "../../src/policy/index.ts";
import { runs } from "../support/runs.ts";

function codesOf(text: string): string[] {
  const files = [{ name: "h.yaml", text }];
  const { ir, diagnostics } = compilePolicySet(files);
  assert.equal(
    ir === undefined,
    diagnostics.some(({ severity }) => severity === "error"),
  );
  assert.ok(diagnostics.length <= MAX_DIAGNOSTICS + 1);
  const lines = text.split(/\r\n?|\n/);
  for (const { line, column, length } of diagnostics) {
    const width = (lines[line - 1] ?? "").length;
    assert.ok(
      length >= 1 && column >= 1 && column + length - 1 <= width + 1,
      `${line}:${column} ${length} of ${width}`,
    );
  }
  renderDiagnostics(diagnostics, files);
  return [...new Set(diagnostics.map(({ code }) => code))];
}

const many = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join("");
const RULE = "policies:\n  - { resource: GET /a, condition: true }\n";

describe("hostile policy files", () => {
  const cases: Readonly<Record<string, [text: () => string, codes: readonly string[]]>> = {
    "more than 5 MB": [() => RULE + "#".repeat(5 * 1024 * 1024), ["file-too-large"]],
    "more keys than a file may hold": [() => many(300_000, (index) => `${index}:\n`), ["too-many-nodes"]],
    "many unknown keys": [() => many(100_000, (index) => `k${index}:\n`), ["unknown-key", "more-findings"]],
    "many duplicate keys": [() => "a:\n".repeat(100_000), ["unknown-key", "duplicate-key", "more-findings"]],
    "depth 1,000 in brackets": [() => "[".repeat(1000), ["yaml-syntax"]],
    "depth 1,000 in blocks": [() => many(1000, (index) => `${" ".repeat(index)}a:\n`), ["yaml-syntax"]],
    "a thousand pairs in a pair": [() => "? ".repeat(1000), ["yaml-syntax"]],
    "many aliases": [() => `a: &a x\nb: [${"*a, ".repeat(1001)}]`, ["too-many-aliases"]],
    "a million line breaks": [() => `policies: |\n${"\n".repeat(1_000_000)}`, ["wrong-type"]],
    "many documents": [() => "---\n".repeat(200_000), ["several-documents"]],
    "an endless condition": [
      () => `policies:\n  - resource: GET /a\n    condition: ${"true and ".repeat(400_000)}true`,
      ["condition-too-long"],
    ],
    "an endless path": [
      () => `web_policies:\n  - { path: /${"a".repeat(5000)}, condition: true }`,
      ["invalid-pattern"],
    ],
    "endless segments": [
      () => `web_policies:\n  - { path: ${"/a".repeat(500)}, condition: true }`,
      ["invalid-pattern"],
    ],
    "an endless key": [() => `${"k".repeat(1_000_000)}: 1`, ["unknown-key"]],
    NUL: [() => `${RULE}#\0`, ["yaml-syntax"]],
    "a byte order mark within": [() => `${RULE}# \uFEFF`, ["invalid-character"]],
    "text that turns its direction": [() => `${RULE}# \u202E`, ["invalid-character"]],
    "a lone surrogate": [() => `${RULE}name: \ud800`, ["yaml-syntax"]],
    "a control character": [() => `${RULE}name: \u0007`, ["yaml-syntax"]],
    "a file without anything": [() => "", ["empty-file"]],
    "a directive alone": [() => "%YAML 1.2\n", ["yaml-syntax"]],
    "a reserved indicator": [() => "policies: `x`", ["yaml-syntax"]],
  };
  for (const [name, [text, codes]] of Object.entries(cases)) {
    it(name, () => {
      assert.deepEqual(codesOf(text()), codes);
    });
  }

  it("accepts a byte order mark at the beginning, CRLF and CR, with the same columns", () => {
    for (const lineBreak of ["\r\n", "\r"]) {
      const text = `\uFEFFpolicies: # x\n  - { resource: GET /a, condition: usr.a == 1 }\n`.replaceAll(
        "\n",
        lineBreak,
      );
      const { diagnostics } = compilePolicySet([{ name: "a.yaml", text }]);
      assert.deepEqual(
        diagnostics.map(({ line, column, length }) => [line, column, length]),
        [[2, 36, 5]],
      );
    }
  });

  it("counts a node once for each alias, not once for each level", () => {
    const text = `policies:\n${many(120_000, (index) => `  - { resource: GET /${index} }\n`)}`;
    assert.deepEqual(codesOf(text), ["missing-key", "more-findings"]);
  });

  it("shows 100 findings, errors first, and counts the rest", () => {
    const warnings = many(3000, (index) => `  - { resource: GET /w${index}, condition: false }\n`);
    const text = `policies:\n${warnings}  - { resource: GET /e, condition: 1 }\n`;
    const { diagnostics, ir } = compilePolicySet([{ name: "a.yaml", text }]);
    assert.equal(ir, undefined);
    assert.equal(diagnostics.length, MAX_DIAGNOSTICS + 1);
    assert.equal(diagnostics.find(({ severity }) => severity === "error")?.code, "wrong-type");
    assert.match(diagnostics.at(-1)?.message ?? "", /^2901 more findings not shown$/);
    const two = compilePolicySet([{ name: "a.yaml", text: many(101, (index) => `k${index}:\n`) }]);
    assert.equal(two.diagnostics.at(-1)?.message, "1 more finding not shown");
  });

  it("needs a file", () => {
    assert.deepEqual(
      compilePolicySet([]).diagnostics.map(({ code }) => code),
      ["no-files"],
    );
  });

  it("never throws, whatever the text is", () => {
    const token = fc.constantFrom(
      "policies",
      "web_policies",
      "resource",
      "condition",
      "path",
      "websocket_policies",
      "connection",
      "attributes",
      "user",
      "graphql_policies",
      "query",
      "types",
      ":",
      ": ",
      "-",
      "- ",
      "\n",
      "\n  ",
      "\n    ",
      "[",
      "]",
      "{",
      "}",
      ",",
      '"',
      "'",
      "|",
      ">",
      "&a",
      "*a",
      "!!str",
      "<<",
      "GET /a",
      "/a/*",
      "{id}",
      "user.a == 1",
      "true",
      "5",
      "null",
      "#",
      "\t",
      "\\",
      "%",
      "---",
      "?",
    );
    const text = fc.oneof(
      fc.array(token, { maxLength: 40 }).map((all) => all.join("")),
      fc.string({ unit: "binary", maxLength: 60 }),
    );
    fc.assert(
      fc.property(text, (hostile) => {
        codesOf(hostile);
        formatPolicyFile({ name: "h.yaml", text: hostile });
      }),
      { numRuns: runs(3000) },
    );
  });
});
