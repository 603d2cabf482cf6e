import assert from "node:assert/strict";
import fc from "fast-check";
import { canonicalContent, compilePolicySet, formatPolicyFile } from "../../src/policy/index.ts";
import { runs } from "../support/runs.ts";

function formatted(text: string): string {
  const { text: result, diagnostics } = formatPolicyFile({ name: "f.yaml", text });
  assert.ok(result !== undefined, JSON.stringify(diagnostics));
  return result;
}

function contentOf(text: string): string {
  const { ir, diagnostics } = compilePolicySet([{ name: "f.yaml", text }]);
  assert.ok(ir, JSON.stringify(diagnostics) + text);
  return canonicalContent(ir);
}

describe("formatting a policy file", () => {
  it("formats conditions, and keeps comments, order and quotes", () => {
    const before = [
      "\uFEFF# head   ",
      "",
      "",
      "policies:  # why",
      "  - resource: 'GET /a'  ",
      "    condition: user.role=='a'  and   (user.b==1)   # keep",
      '  - {resource: "GET /b", condition: "user.a   ==  1"}',
      '  - {resource: "GET /c", condition: "user.a==\\"it\'s\\""}',
      "  - {resource: GET /d, condition: user.a==1}",
      "  - resource: GET /e",
      "    condition: True",
      "",
      "",
      "",
    ].join("\r\n");
    const after = [
      "# head",
      "",
      "policies:  # why",
      "  - resource: 'GET /a'",
      '    condition: user.role == "a" and user.b == 1   # keep',
      '  - {resource: "GET /b", condition: "user.a == 1"}',
      "  - {resource: \"GET /c\", condition: 'user.a == \"it''s\"'}",
      "  - {resource: GET /d, condition: user.a == 1}",
      "  - resource: GET /e",
      "    condition: true",
      "",
    ].join("\n");
    assert.equal(formatted(before), after);
  });

  it("puts conditions of several lines on one where it is short", () => {
    const long = Array.from({ length: 12 }, (_, index) => `user.attribute${index} == ${index}`).join(
      "\n      and ",
    );
    const before = `policies:
  - resource: GET /a
    condition: >-   # block
        user.a==1

        and user.b==2


  - resource: GET /b
    condition: >
      ${long}
  - resource: GET /c
    condition: user.a == 1
       and user.b==2
  - resource: GET /d
    name: |+
      kept   


    condition: |
      true
`;
    const after = `policies:
  - resource: GET /a
    condition: >-   # block
        user.a == 1 and user.b == 2

  - resource: GET /b
    condition: >
      ${long}
  - resource: GET /c
    condition: user.a == 1 and user.b == 2
  - resource: GET /d
    name: |+
      kept   


    condition: |
      true
`;
    assert.equal(formatted(before), after);
  });

  it("quotes what would no longer be read as the same text", () => {
    const before = `policies:
  - { resource: GET /a, condition: ('a' == user.x) }
  - { resource: GET /b, condition: not(user.x) }
  - resource: GET /c
    condition: user.a in ["x:y"] or user.b == 'a#b'
  - resource: GET /d
    condition: ("a" == user.x)
`;
    assert.match(formatted(before), /GET \/d\n {4}condition: '"a" == user.x'/);
    assert.equal(contentOf(formatted(before)), contentOf(before));
    assert.equal(formatted(formatted(before)), formatted(before));
  });

  it("formats a condition that an alias repeats once", () => {
    const before =
      "policies:\n  - { resource: GET /a, condition: &c user.a==1 }\n  - { resource: GET /b, condition: *c }\n";
    assert.equal(formatted(before), before.replace("a==1", "a == 1"));
  });

  it("formats the conditions of masked fields, of responses and of messages", () => {
    const field = "{ name: x, condition: item.a==1, mask_type: full }";
    const before =
      `response_masks:\n  - { api_pattern: /a, fields: [${field}] }\n` +
      "websocket_policies:\n  - connection: { condition: true }\n    message_types:\n" +
      `      - { type: t, direction: receive, condition: true, fields: [${field}] }\n`;
    assert.equal(formatted(before), before.replaceAll("a==1", "a == 1"));
  });

  it("leaves a file with errors alone, and says what they are", () => {
    const broken = formatPolicyFile({
      name: "f.yaml",
      text: "policies:\n  - { resource: GET /a, condition: user.a = 1 }\n",
    });
    assert.equal(broken.text, undefined);
    assert.deepEqual(
      broken.diagnostics.map(({ code }) => code),
      ["foreign-operator"],
    );
    assert.equal(formatPolicyFile({ name: "f.yaml", text: "a: [" }).text, undefined);
  });

  it("keeps the meaning, and formats what it formatted to the same text", () => {
    fc.assert(
      fc.property(files(), (text) => {
        const once = formatted(text);
        assert.equal(contentOf(once), contentOf(text));
        assert.equal(formatted(once), once);
        assert.ok(once.endsWith("\n") && !once.includes("\r"));
      }),
      { numRuns: runs(500) },
    );
  });
});

/** Policy files of all layouts. */
function files(): fc.Arbitrary<string> {
  const term = fc.constantFrom(
    "user.a",
    "user.a==1",
    "'x' in user.l",
    'user.s == "it\'s"',
    "not  (user.b)",
    '"# x: y" != user.c',
    "exists( user.d )",
  );
  const join = fc.constantFrom(" and ", "  or ", " and\n", "\n\nor ", " and (true) and ");
  const condition = fc
    .tuple(term, fc.array(fc.tuple(join, term), { maxLength: 7 }))
    .map(([first, rest]) => first + rest.flat().join(""));
  const scalar = fc.tuple(condition, fc.integer({ min: 0, max: 4 })).map(([text, style]) => {
    const indented = text.replaceAll("\n", "\n      ").replace(/ +$/gm, "");
    const flat = text.replaceAll("\n", " ");
    if (style === 0) return `'${flat.replaceAll("'", "''")}'`;
    if (style === 1) return `"${indented.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
    if (style === 2) return `>-\n      ${indented}`;
    if (style === 3) return `|+\n      ${indented}\n\n`;
    return /^['"]|[#]/.test(flat) ? `(${flat.replaceAll(" #", "#").replaceAll(": ", ":")})` : flat;
  });
  const filler = fc.constantFrom("", "   ", "\n\n\n", "    # comment   \n");
  return fc
    .tuple(
      fc.array(fc.tuple(scalar, filler), { minLength: 1, maxLength: 5 }),
      fc.constantFrom("\n", "\r\n", "\r"),
    )
    .map(([rules, lineBreak]) => {
      const text = rules.map(
        ([value, end], index) =>
          `  - resource: GET /r${index}\n    condition: ${value}\n${end === "   " ? "   \n" : end}`,
      );
      return `policies:\n${text.join("")}`.replaceAll("\n", lineBreak);
    });
}
