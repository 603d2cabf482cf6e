import assert from "node:assert/strict";
import fc from "fast-check";
import { build } from "esbuild";
import {
  canonicalContent,
  compilePolicySet,
  createMatcher,
  type PolicySetIR,
} from "../../src/policy/index.ts";
import { runs } from "../support/runs.ts";

function compiled(text: string, name = "a.yaml", options = {}): PolicySetIR {
  const { ir, diagnostics } = compilePolicySet([{ name, text }], options);
  assert.ok(ir, JSON.stringify(diagnostics));
  return ir;
}

const rule = (path: string, condition = "true") => `  - { resource: GET ${path}, condition: ${condition} }\n`;

describe("compiling a policy set", () => {
  it("merges files in the order of their names", () => {
    const files = ["b.yaml", "a.yaml", "B.yaml"].map((name) => ({
      name,
      text: `policies:\n${rule(`/${name}`)}`,
    }));
    const { ir } = compilePolicySet(files);
    assert.deepEqual(
      ir?.rules.map(({ id, pattern }) => [id, pattern]),
      [
        ["policies[0]", "/B.yaml"],
        ["policies[1]", "/a.yaml"],
        ["policies[2]", "/b.yaml"],
      ],
    );
  });

  it("names the set as its head does, else as the caller does", () => {
    const text = `policies:\n${rule("/")}`;
    assert.equal(compiled(`policy_set: head\n${text}`, "a.yaml", { name: "caller" }).name, "head");
    assert.equal(compiled(text, "a.yaml", { name: "caller" }).name, "caller");
    assert.equal(compiled(text).name, "default");
  });

  it("is plain JSON", () => {
    const ir = compiled(
      `attributes: { user: { types: { constructor: list } } }\npolicies:\n${rule('"/{toString}"', "path.toString == 'x'").replace('GET "', '"GET ')}`,
    );
    assert.deepEqual(JSON.parse(JSON.stringify(ir)), ir);
    assert.deepEqual(structuredClone(ir), ir);
  });

  it("flags as unreachable only what is never reached", () => {
    const segment = fc.constantFrom("a", "b", "{x}", "{y}", "*");
    const pattern = fc
      .tuple(fc.array(segment, { maxLength: 3 }), fc.boolean())
      .filter(
        ([parts]) =>
          new Set(parts.filter((part) => part.startsWith("{"))).size ===
          parts.filter((part) => part.startsWith("{")).length,
      )
      .map(([parts, rest]) => `/${[...parts, ...(rest ? ["**"] : [])].join("/")}`);
    const paths = [[]] as string[][];
    for (let from = 0; from < 85; from++)
      for (const next of ["a", "b", "c", "d"]) paths.push([...(paths[from] ?? []), next]);
    let flagged = 0;
    fc.assert(
      fc.property(fc.uniqueArray(pattern, { minLength: 2, maxLength: 6 }), (patterns) => {
        const text = `web_policies:\n${patterns.map((path) => `  - { path: "${path}", condition: true }\n`).join("")}`;
        const { diagnostics } = compilePolicySet([{ name: "u.yaml", text }]);
        if (diagnostics.some(({ code }) => code !== "unreachable-rule")) return;
        const hidden = new Set(diagnostics.map(({ line }) => patterns[line - 2]));
        flagged += hidden.size;
        const matcher = createMatcher({
          rules: patterns.flatMap(
            (path) => compiled(`web_policies:\n  - { path: "${path}", condition: true }\n`).rules,
          ),
        });
        for (const path of paths) {
          const match = matcher.match("GET", path);
          assert.ok(match.kind !== "rule" || !hidden.has(match.rule.pattern), `${path.join("/")}: ${text}`);
        }
      }),
      { numRuns: runs(300) },
    );
    assert.ok(flagged > 10, `only ${flagged} flagged`);
  });
});

describe("canonical content", () => {
  const text = (layout: string) =>
    `policy_set: s\n${layout}policies:\n${rule("/a", "user.a == 1 and (user.b == 2)")}`;

  it("is the same for another layout, another spelling, another file name", () => {
    const content = canonicalContent(compiled(text("# comment\n\n")));
    assert.equal(
      content,
      canonicalContent(compiled(text("").replace("(user.b == 2)", "user.b==2"), "z.yaml")),
    );
    assert.doesNotMatch(content, /"at"|"line"|a\.yaml/);
  });

  it("differs wherever decisions could", () => {
    const base = text(
      "attributes: { t: { source: s, key: path.x }, user: { types: { at: string, source: string }, open: true } }\n",
    );
    const ip = (mask: string, condition: string) =>
      `, fields: [{ name: ip, condition: ${condition}, mask_type: ${mask} }]`;
    const variants = [
      base,
      base.replace("source: s,", "source: t,"),
      base.replace("key: path.x", "key: path.y"),
      base.replace("at: string", "at: number"),
      base.replace("source: string", "source: number"),
      base.replace("user.a == 1", "user.a == 2"),
      base.replace("GET /a", "GET /b"),
      base.replace("GET /a", "PUT /a"),
      `default: allow\n${base}`,
      `preflight: allow\n${base}`,
      `cors: { origins: [https://a.test] }\n${base}`,
      `cors: { origins: [https://a.test], credentials: true }\n${base}`,
      `audit: required\n${base}`,
      `version: v1\n${base}`,
      `graphql: { introspection: allow }\n${base}`,
      `${base}response_masks:\n  - { api_pattern: /a, fields: [{ name: x, condition: true, mask_type: full }] }\n`,
      `${base}response_masks:\n  - { api_pattern: /a, fields: [{ name: x, condition: true, mask_type: partial }] }\n`,
      `${base}websocket_policies: { connection: { condition: true } }\n`,
      ...["", ip("full", "true"), ip("partial", "true"), ip("full", "item.a == 1")].map(
        (fields) =>
          `${base}websocket_policies:\n  - connection: { condition: true }\n    message_types:\n` +
          `      - { type: a, direction: receive, condition: true${fields} }\n`,
      ),
      `${base}graphql_policies: [{ query: a, condition: true }]\n`,
      `${base}graphql_policies: [{ query: a, condition: true, on_deny: null }]\n`,
    ].map((variant) => canonicalContent(compiled(variant)));
    assert.equal(new Set(variants).size, variants.length);
  });
});

describe("purity", () => {
  for (const room of ["policy", "request", "graphql"]) {
    it(`src/${room} can be bundled for a platform without I/O`, async () => {
      const { metafile, warnings } = await build({
        entryPoints: [new URL(`../../src/${room}/index.ts`, import.meta.url).pathname],
        bundle: true,
        write: false,
        metafile: true,
        platform: "neutral",
        mainFields: ["module", "main"],
        conditions: ["import"],
        format: "esm",
        logLevel: "silent",
      });
      assert.deepEqual(warnings, []);
      const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
      assert.deepEqual(imports, []);
      const packages = Object.keys(metafile.inputs).flatMap(
        (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
      );
      const allowed = new Set([
        "chevrotain",
        "@chevrotain/cst-dts-gen",
        "@chevrotain/gast",
        "@chevrotain/regexp-to-ast",
        "@chevrotain/types",
        "@chevrotain/utils",
        "graphql",
        "js-yaml",
      ]);
      assert.deepEqual(
        packages.filter((name) => !allowed.has(name)),
        [],
      );
    });
  }
});
