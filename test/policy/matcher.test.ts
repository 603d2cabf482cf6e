import assert from "node:assert/strict";
import fc from "fast-check";
import { compilePolicySet, createMatcher, type Match, type MatcherOptions } from "../../src/policy/index.ts";
import { runs } from "../support/runs.ts";

/** `GET /a` goes to policies, `/a` to web_policies. */
function matcherOf(rules: readonly string[], options?: MatcherOptions) {
  const policies = rules.filter((rule) => !rule.startsWith("/"));
  const web = rules.filter((rule) => rule.startsWith("/"));
  const text = [
    "policies:",
    ...policies.map((rule) => `  - { resource: ${JSON.stringify(rule)}, condition: true }`),
    "web_policies:",
    ...web.map((rule) => `  - { path: ${JSON.stringify(rule)}, condition: true }`),
  ];
  if (policies.length === 0) text[0] = "policies: []";
  if (web.length === 0) text[text.length - 1] = "web_policies: []";
  const { ir, diagnostics } = compilePolicySet([{ name: "m.yaml", text: text.join("\n") }]);
  assert.ok(ir, JSON.stringify(diagnostics));
  return createMatcher(ir, options);
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "");
}

function outcome(match: Match): string {
  if (match.kind !== "rule") return match.kind;
  const { rule } = match;
  return rule.section === "policies" ? `${rule.method} ${rule.pattern}` : rule.pattern;
}

function assertMatches(
  rules: readonly string[],
  expected: Readonly<Record<string, string>>,
  options?: MatcherOptions,
) {
  const matcher = matcherOf(rules, options);
  for (const [request, rule] of Object.entries(expected)) {
    const [method = "", path = ""] = request.split(" ");
    assert.equal(outcome(matcher.match(method, segmentsOf(path))), rule, request);
  }
}

describe("matching", () => {
  it("takes the most specific rule, segment by segment", () => {
    assertMatches(["GET /a/b", "GET /a/{x}", "GET /{x}/b", "GET /{x}/{y}", "/*/c", "/**", "GET /a/**"], {
      "GET /a/b": "GET /a/b",
      "GET /a/z": "GET /a/{x}",
      "GET /z/b": "GET /{x}/b",
      "GET /z/z": "GET /{x}/{y}",
      "GET /a/b/c": "GET /a/**",
      "GET /z/b/c": "/**",
      "POST /z/c": "/*/c",
      "POST /a/b": "/**",
      "GET /": "/**",
    });
  });

  it("goes back where a more specific branch leads nowhere", () => {
    assertMatches(["GET /a/{x}/c", "GET /a/b/d", "GET /{x}/b/e", "POST /a/b/e"], {
      "GET /a/b/c": "GET /a/{x}/c",
      "GET /a/b/d": "GET /a/b/d",
      "GET /a/b/e": "GET /{x}/b/e",
      "POST /a/b/e": "POST /a/b/e",
      "GET /a/b": "none",
      "GET /a/b/c/d": "none",
      "DELETE /a/b/e": "none",
    });
  });

  it("lets the rest of a path be empty", () => {
    assertMatches(["/admin/*", "GET /files/**"], {
      "GET /admin": "/admin/*",
      "GET /admin/": "/admin/*",
      "PUT /admin/a/b/c": "/admin/*",
      "GET /files": "GET /files/**",
      "GET /administrator": "none",
      "GET /": "none",
    });
  });

  it("takes the exact method first, GET for HEAD, then every method, then web_policies", () => {
    assertMatches(["GET /a", "* /a", "HEAD /b", "GET /b", "* /b", "GET /c", "/c", "* /d"], {
      "GET /a": "GET /a",
      "HEAD /a": "GET /a",
      "POST /a": "* /a",
      "HEAD /b": "HEAD /b",
      "HEAD /c": "GET /c",
      "POST /c": "/c",
      "get /c": "/c",
      "web /a": "* /a",
      "* /a": "* /a",
      "__proto__ /d": "* /d",
    });
  });

  it("takes a trailing slash for nothing, in patterns too", () => {
    assertMatches(["GET /a/", "/b/*/"], {
      "GET /a": "GET /a/",
      "GET /a/": "GET /a/",
      "GET /b/c/d/": "/b/*/",
    });
  });

  it("refuses what is a rule's path but for the letter case", () => {
    assertMatches(
      ["GET /Admin/users", "GET /{any}/users", "GET /straße", "GET /admin/x/y", "GET /open/{id}"],
      {
        "GET /Admin/users": "GET /Admin/users",
        "GET /admin/users": "case",
        "GET /ADMIN/USERS": "case",
        "GET /ＡＤＭＩＮ/users": "case",
        "GET /adm\u0131n/users": "case",
        "GET /other/users": "GET /{any}/users",
        "GET /STRASSE": "case",
        "GET /Admin/x/y": "case",
        "GET /Admin/x/Z": "none",
        "POST /ADMIN/users": "none",
        "GET /open/ABC": "GET /open/{id}",
      },
    );
  });

  it("refuses what is a rule's path on a server that drops dots and spaces at the end", () => {
    assertMatches(["GET /admin", "GET /v1.", "GET /**"], {
      "GET /admin.": "case",
      "GET /Admin...": "case",
      "GET /v1.": "GET /v1.",
      "GET /v1": "case",
      "GET /other.": "GET /**",
      "GET /.": "GET /**",
    });
  });

  it("refuses where a folded branch is more specific than the exact one", () => {
    assertMatches(["GET /A/x", "GET /a/{y}"], {
      "GET /a/x": "case",
      "GET /A/x": "GET /A/x",
      "GET /a/y": "GET /a/{y}",
    });
  });

  it("keeps rules apart whose paths differ in letter case", () => {
    assertMatches(["GET /a/x", "GET /A/x"], {
      "GET /a/x": "GET /a/x",
      "GET /A/x": "GET /A/x",
      "GET /a/X": "case",
    });
  });

  it("looks at letter case only where it is told not to care", () => {
    assertMatches(
      ["GET /admin", "/**"],
      { "GET /ADMIN": "/**", "GET /admin": "GET /admin" },
      { caseSensitive: true },
    );
    assertMatches(["GET /admin", "/**"], { "GET /ADMIN": "case" }, { caseSensitive: false });
  });

  it("hands over the decoded segments as parameters, without a prototype", () => {
    const match = matcherOf(["GET /{a}/x/{constructor}/**"]).match("GET", ["1 2", "x", "é/", "rest"]);
    assert.ok(match.kind === "rule");
    assert.equal(Object.getPrototypeOf(match.params), null);
    assert.deepEqual({ ...match.params }, { a: "1 2", constructor: "é/" });
  });

  it("finds what a look at every rule finds", () => {
    const segment = fc.constantFrom("a", "b", "A", "{x}", "{y}", "*");
    const pattern = fc
      .tuple(fc.array(segment, { maxLength: 4 }), fc.boolean())
      .map(([parts, rest]) => `/${[...parts, ...(rest ? ["**"] : [])].join("/")}`);
    const path = fc.array(fc.constantFrom("a", "b", "A", "B", "c"), { maxLength: 5 });
    fc.assert(
      fc.property(fc.array(pattern, { minLength: 1, maxLength: 8 }), path, (patterns, request) => {
        const rules = patterns.map(toRule);
        const matcher = createMatcher({ rules });
        assert.equal(outcome(matcher.match("GET", request)), slowly(rules, request));
      }),
      { numRuns: runs(2000) },
    );
  });
});

type Rule = ReturnType<typeof matcherOf>["rules"][number];

function toRule(pattern: string, index: number): Rule {
  const parts = segmentsOf(pattern);
  return {
    id: `web_policies[${index}]`,
    section: "web_policies",
    method: "*",
    pattern,
    at: { file: "", line: 1, column: 1 },
    auditRequired: false,
    condition: { expression: { op: "literal", value: true }, source: "true", reads: [] },
    segments: parts.map((part) => {
      if (part.startsWith("{")) return { kind: "param", name: part.slice(1, -1) } as const;
      if (part === "*") return { kind: "any" } as const;
      return part === "**" ? ({ kind: "rest" } as const) : ({ kind: "literal", value: part } as const);
    }),
  };
}

/** The same by brute force: of all rules that match when letter case is ignored the first in order of specificity. */
function slowly(rules: readonly Rule[], path: readonly string[]): string {
  const order = { literal: "0", param: "1", any: "2", rest: "3" } as const;
  const key = ({ segments }: Rule) =>
    segments.map((s) => (s.kind === "literal" ? `0${s.value.toLowerCase()}` : order[s.kind])).join() +
    (segments.at(-1)?.kind === "rest" ? "" : ",-");
  const matching = rules.filter(({ segments }) => {
    const rest = segments.at(-1)?.kind === "rest";
    const own = rest ? segments.slice(0, -1) : segments;
    if (rest ? path.length < own.length : path.length !== own.length) return false;
    return own.every(
      (s, index) => s.kind !== "literal" || s.value.toLowerCase() === path[index]?.toLowerCase(),
    );
  });
  const best = matching.map(key).sort()[0];
  if (best === undefined) return "none";
  const exact = matching.find(
    (rule) =>
      key(rule) === best &&
      rule.segments.every((s, index) => s.kind !== "literal" || s.value === path[index]),
  );
  return exact?.pattern ?? "case";
}
