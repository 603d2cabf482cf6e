import assert from "node:assert/strict";
import fc from "fast-check";
import {
  clip,
  counted,
  escapeHtml,
  inBackticks,
  quoted,
  quotedAscii,
  spellOut,
  visible,
} from "../../src/text/index.ts";

describe("text: what people read", () => {
  it("is quoted in backticks, on one line, and cut", () => {
    assert.equal(quoted("user.role"), "`user.role`");
    assert.equal(quoted("caf\u00e9\n\u202e"), "`caf\u00e9\\u000a\\u202e`");
    assert.equal(quoted("x".repeat(60)), `\`${"x".repeat(60)}\``);
    assert.equal(quoted("x".repeat(61)), `\`${"x".repeat(59)}…\``);
    assert.equal(quoted("abcdef", 4), "`abc…`");
  });

  it("is printable ASCII in logs, of at most 60 characters", () => {
    assert.equal(quotedAscii("GET"), "`GET`");
    assert.equal(quotedAscii("caf\xe9\n\u2028"), "`caf\\xe9\\x0a\\u{2028}`");
    assert.equal(quotedAscii("x".repeat(60)), `\`${"x".repeat(60)}\``);
    assert.equal(quotedAscii("x".repeat(61)), `\`${"x".repeat(60)}...\``);
    assert.equal(quotedAscii("\x80".repeat(16)), `\`${"\\x80".repeat(15)}...\``);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        assert.match(quotedAscii(text), /^`[\x20-\x7e]{0,63}`$/);
        assert.match(spellOut(text), /^[\x20-\x7e]*$/);
      }),
    );
  });

  it("names several in backticks", () => {
    assert.equal(inBackticks([]), "");
    assert.equal(inBackticks(["a"]), "`a`");
    assert.equal(inBackticks(["a", "b"]), "`a`, `b`");
    assert.equal(inBackticks(["a", "b"], " or "), "`a` or `b`");
  });

  it("has spelled out what a terminal would act on", () => {
    assert.equal(
      visible("a\u001b[2J\u0085\u200e\u2066\ufeff\ud800"),
      "a\\u001b[2J\\u0085\\u200e\\u2066\\ufeff\\ud800",
    );
    assert.equal(visible("caf\u00e9 \u{1F600}"), "caf\u00e9 \u{1F600}");
  });

  it("is cut with an ellipsis, never within a character", () => {
    assert.equal(clip("abc", 3), "abc");
    assert.equal(clip("abcd", 3), "ab…");
    assert.equal(clip("a\u{1F600}bc", 3), "a…");
    assert.equal(clip("\ud800abc", 3), "\ud800a…");
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 20 }), (text, limit) => {
        const cut = clip(text, limit);
        assert.ok(cut.length <= limit && cut.isWellFormed());
        assert.ok(cut === text || text.startsWith(cut.slice(0, -1)));
      }),
    );
  });

  it("counts", () => {
    assert.deepEqual(
      [0, 1, 2].map((count) => counted(count, "rule")),
      ["0 rules", "1 rule", "2 rules"],
    );
  });

  it("is text in HTML and XML, whatever it holds", () => {
    assert.equal(
      escapeHtml(`<img src=x onerror="a('b')"> & \u{1F600}`),
      "&lt;img src=x onerror=&quot;a(&#39;b&#39;)&quot;&gt; &amp; \u{1F600}",
    );
    assert.equal(escapeHtml("]]>\ud800"), "]]&gt;\ufffd");
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        assert.doesNotMatch(escapeHtml(text), /[<>"']/);
      }),
    );
  });
});
