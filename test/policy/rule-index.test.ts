import assert from "node:assert/strict";
import fc from "fast-check";
import { compilePolicySet, createMatcher, createRuleIndex } from "../../src/policy/index.ts";
import { runs } from "../support/runs.ts";

/** `GET /a` or `/a/*`, as response rules write their paths. */
function indexOf(patterns: readonly string[]) {
  const entries = patterns.map(
    (pattern) =>
      `  - { endpoint: ${JSON.stringify(pattern)}, filter_rules: [{ field: x, condition: true, action: remove }] }`,
  );
  const text = ["response_filters:", ...entries].join("\n");
  const { ir, diagnostics } = compilePolicySet([{ name: "r.yaml", text }]);
  assert.ok(ir, JSON.stringify(diagnostics));
  return createRuleIndex(ir.responses);
}

const segmentsOf = (path: string) => path.split("/").filter((segment) => segment !== "");

function found(patterns: readonly string[], request: string): string[] {
  const [method = "", path = ""] = request.split(" ");
  return indexOf(patterns)
    .all(method, segmentsOf(path))
    .map(({ method, pattern }) => (method === "*" ? pattern : `${method} ${pattern}`));
}

describe("all rules of a request", () => {
  const patterns = ["/**", "/a/b", "/a/{x}", "/a/*", "POST /a/b", "GET /a/b", "/*/b", "/b", "/a/b/c"];

  it("are every one that matches, in the order of the set", () => {
    assert.deepEqual(found(patterns, "GET /a/b"), ["/**", "/a/b", "/a/{x}", "/a/*", "GET /a/b", "/*/b"]);
    assert.deepEqual(found(patterns, "POST /a/b"), ["/**", "/a/b", "/a/{x}", "/a/*", "POST /a/b", "/*/b"]);
    assert.deepEqual(found(patterns, "GET /a/b/c"), ["/**", "/a/*", "/a/b/c"]);
    assert.deepEqual(found(patterns, "GET /"), ["/**"]);
    assert.deepEqual(found(["/b"], "GET /a"), []);
    assert.deepEqual(createRuleIndex([]).all("GET", ["a"]), []);
  });

  it("take HEAD for GET, whose headers it asks for", () => {
    assert.deepEqual(found(["GET /a", "POST /a"], "HEAD /a"), ["GET /a"]);
  });

  it("are found in any letter case: the application may not care about it", () => {
    assert.deepEqual(found(["/Customers/{id}"], "GET /cUSTOMERS/7"), ["/Customers/{id}"]);
  });

  it("include the one that the matcher of one rule would take", () => {
    const segment = fc.constantFrom("a", "b", "{x}", "*");
    const pattern = fc
      .array(segment, { minLength: 1, maxLength: 3 })
      .map((parts) => `/${parts.map((part, index) => (part === "{x}" ? `{x${index}}` : part)).join("/")}`);
    const path = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 4 });
    fc.assert(
      fc.property(fc.uniqueArray(pattern, { maxLength: 6 }), path, (patterns, segments) => {
        const index = indexOf(["/never-asked-for", ...patterns]);
        const expected = index.rules.filter(
          (rule) =>
            createMatcher({ rules: [{ ...rule, section: "policies" }] }).match("GET", segments).kind ===
            "rule",
        );
        assert.deepEqual(index.all("GET", segments), expected);
      }),
      { numRuns: runs(100) },
    );
  });
});
