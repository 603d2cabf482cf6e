import assert from "node:assert/strict";
import { renderDiagnostics, type Diagnostic } from "../../src/policy/index.ts";

const at = (line: number, column: number, length: number, more: Partial<Diagnostic> = {}): Diagnostic => {
  return { severity: "error", code: "c", message: "m", file: "f.yaml", line, column, length, ...more };
};
const render = (text: string, ...diagnostics: Diagnostic[]) =>
  renderDiagnostics(diagnostics, [{ name: "f.yaml", text }]);

describe("rendering diagnostics", () => {
  it("shows the line, a caret for each marked column, and the hint", () => {
    assert.equal(
      render("a\n  bcd # e\r\nf", at(2, 3, 3, { hint: "h" }), at(3, 2, 1, { severity: "warning" })),
      [
        "f.yaml:2:3: error: m [c]",
        " 2 |   bcd # e",
        "   |   ^^^",
        "   = h",
        "",
        "f.yaml:3:2: warning: m [c]",
        " 3 | f",
        "   |  ^",
        "",
      ].join("\n"),
    );
  });

  it("keeps carets below tabs, wide characters and combining marks", () => {
    const marked = (text: string, column: number, length: number) =>
      render(text, at(1, column, length))
        .split("\n")
        .slice(1, 3);
    assert.deepEqual(marked("\tx: y", 2, 1), [" 1 |   x: y", "   |   ^"]);
    assert.deepEqual(marked("日本 x", 4, 1), [" 1 | 日本 x", "   |      ^"]);
    assert.deepEqual(marked("x 日本", 3, 2), [" 1 | x 日本", "   |   ^^^^"]);
    assert.deepEqual(marked("e\u0301 x", 4, 1), [" 1 | e\u0301 x", "   |   ^"]);
    assert.deepEqual(marked("😀 x", 4, 1), [" 1 | 😀 x", "   |    ^"]);
  });

  it("cuts long lines around the mark", () => {
    const text = `${"a".repeat(500)}MARK${"b".repeat(500)}`;
    const [, line = "", carets = ""] = render(text, at(1, 501, 4)).split("\n");
    assert.ok(line.length < 120);
    assert.equal(line.slice(carets.indexOf("^"), carets.lastIndexOf("^") + 1), "MARK");
    const [, end = ""] = render(text, at(1, 1001, 4)).split("\n");
    assert.ok(end.endsWith("bbbb") && end.includes("…"));
  });

  it("lets nothing through that a terminal would act on", () => {
    const evil = "\u001b[31m\u202Eevil\u0007\ud800";
    const shown = render(`x: ${evil}`, at(1, 4, 3, { message: `\`${evil}\``, hint: evil }));
    assert.doesNotMatch(shown.replaceAll("\n", ""), /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\ud800-\udfff]/);
    assert.match(shown, /\\u001b\[31m/);
  });

  it("shows no line where there is no such file, and none for the count of the rest", () => {
    assert.equal(render("a", at(1, 1, 1, { file: "other.yaml" })), "other.yaml:1:1: error: m [c]\n");
    assert.equal(
      render("a", at(1, 1, 1, { code: "more-findings" })),
      "f.yaml:1:1: error: m [more-findings]\n",
    );
    assert.equal(render("a", at(7, 1, 1)), "f.yaml:7:1: error: m [c]\n 7 |\n   | ^\n");
    assert.equal(render("a"), "");
  });
});
