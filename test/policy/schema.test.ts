import assert from "node:assert/strict";
import fc from "fast-check";
import {
  canonicalContent,
  compilePolicySet,
  isAttachedFile,
  mentionedFiles,
} from "../../src/policy/index.ts";
import { runs } from "../support/runs.ts";

const POLICY = "graphql: { schema: a.graphql }\ngraphql_policies: [{ query: a, condition: true }]\n";

function compile(sdl: string, name = "a.graphql") {
  return compilePolicySet([
    { name: "main.yaml", text: POLICY },
    { name, text: sdl },
  ]);
}

function contentOf(sdl: string): string {
  const { ir, diagnostics } = compile(sdl);
  assert.ok(ir, JSON.stringify(diagnostics));
  return canonicalContent(ir);
}

describe("a policy set's GraphQL schema", () => {
  it("is a part of what the set means, its layout and descriptions are not", () => {
    const base =
      "type Query { a(x: Int = 1): A, b: String! } interface I { c: Int } type A implements I { c: Int }";
    const content = contentOf(base);
    assert.equal(content, contentOf(`"""Text"""\n# comment\n${base.replaceAll(" ", "\n")}`));
    assert.equal(
      content,
      contentOf(base.replace("a(x: Int = 1): A, b: String!", "b: String!, a(x: Int = 1): A")),
    );
    const variants = [
      base,
      base.replace("x: Int = 1", "x: Int = 2"),
      base.replace("x: Int = 1", "x: Int"),
      base.replace("String!", "String"),
      base.replace("b: String!", "b: Int!"),
      base.replace("type A implements I", "type A"),
      `${base} type B implements I { c: Int }`,
      `${base} type Mutation { a: Int }`,
      `${base} union U = A`,
    ];
    assert.equal(new Set(variants.map(contentOf)).size, variants.length);
  });

  it("makes the set plain JSON", () => {
    const { ir } = compile("type Query { a(x: I = {y: [1]}): Int } input I { y: [Int] }");
    assert.deepEqual(JSON.parse(JSON.stringify(ir)), ir);
    assert.deepEqual(structuredClone(ir), ir);
  });

  it("is named by one file of several, and found beside that file", () => {
    const files = [
      { name: "set/1.yaml", text: "graphql: { schema: more/api.gql }\n" },
      { name: "set/2.yaml", text: "graphql_policies: [{ query: b, condition: true }]\n" },
      { name: "set/more/api.gql", text: "type Query { b: Int }" },
      { name: "set/other.graphqls", text: "not named, and so not read" },
    ];
    assert.deepEqual(compilePolicySet(files).diagnostics, []);
    assert.equal(compilePolicySet(files).ir?.graphql.settings.schema?.roots.query, "Query");
    assert.deepEqual(files.map(isAttachedFile), [false, false, true, true]);
  });

  it("is no schema without a name in the set", () => {
    assert.equal(compilePolicySet([{ name: "a.graphql", text: "type Query { a: Int }" }]).ir, undefined);
  });

  it("may begin with a byte order mark, and end its lines in three ways", () => {
    for (const end of ["\n", "\r\n", "\r"]) {
      const { diagnostics } = compile(`\uFEFF# é\n  type Query { a: Gone }`.replaceAll("\n", end));
      assert.deepEqual(
        diagnostics.map(({ file, line, column, length }) => [file, line, column, length]),
        [["a.graphql", 2, 19, 4]],
      );
    }
  });

  it("is bounded, and every mistake in it is a finding", () => {
    const texts = {
      "": "1:1 not a valid schema: unexpected <EOF>",
      "type Query { a: Int": "1:20 not a valid schema: expected Name, found <EOF>",
      [`type Query { a: ${"[".repeat(100_000)}`]: "1:1 not a valid schema: it cannot be read",
      [`# ${"x".repeat(5 * 1024 * 1024)}`]: "1:1 not a valid schema: it is longer than 5 MB",
      "{ a }": "1:1 not a valid schema: query root type must be provided",
    };
    for (const [text, expected] of Object.entries(texts)) {
      const { ir, diagnostics } = compile(text);
      assert.equal(ir, undefined);
      assert.deepEqual(
        diagnostics.map(({ line, column, message }) => `${line}:${column} ${message}`),
        [expected],
      );
    }
  });

  it("never makes the compiler throw", () => {
    const token = fc.constantFrom(
      ...'type Query Mutation A interface union enum input scalar extend schema implements directive on & | = : ! [ ] { } ( ) @ # a: Int Int! [A] __x $ ... " """ 1 -'.split(
        " ",
      ),
      "type Query { a: Int }",
      "type A implements B { a(x: Int = 1): A }",
      "interface B { a: A }",
      "schema { query: A }",
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 30 }), (tokens) => {
        const { ir, diagnostics } = compile(tokens.join(" "));
        assert.equal(ir === undefined, diagnostics.length > 0);
      }),
      { numRuns: runs(1000) },
    );
  });
});

describe("schema files that a policy file mentions", () => {
  const mentioned = (text: string) => mentionedFiles({ name: "set/main.yaml", text });

  it("are those that it may name, by their names in the set", () => {
    assert.deepEqual(mentioned("graphql: { schema: api.graphql }"), ["set/api.graphql"]);
    assert.deepEqual(mentioned("graphql:\n  'schema': \"v1/api.gql\" # or b.graphqls"), [
      "set/v1/api.gql",
      "set/b.graphqls",
    ]);
  });

  it("never lie outside of its folder", () => {
    for (const name of [
      "../a",
      "/etc/a",
      "b/../../a",
      "b/..",
      "./a",
      ".",
      ".a",
      "b//a",
      "~/a",
      "C:/a",
      "..\\a",
    ]) {
      const text = `graphql: { schema: ${name}.graphql }`;
      assert.ok(!mentioned(text).some((file) => file.includes("..") || !file.startsWith("set/")), name);
      const { ir, diagnostics } = compilePolicySet([{ name: "main.yaml", text }]);
      assert.equal(ir, undefined);
      assert.deepEqual(
        diagnostics.map(({ code }) => code),
        ["invalid-value"],
        name,
      );
    }
  });

  it("are all that the compiler would take", () => {
    const part = fc.stringMatching(/^[A-Za-z0-9_.-]{1,5}$/);
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 3 }), (parts) => {
        const text = `graphql: { schema: "${parts.join("/")}.graphql" }\npolicies: [{ resource: GET /, condition: true }]`;
        const files = mentioned(text).map((name) => ({ name, text: "type Query { a: Int }" }));
        const codes = compilePolicySet([{ name: "set/main.yaml", text }, ...files]).diagnostics.map(
          ({ code }) => code,
        );
        assert.deepEqual(codes, files.length === 0 ? ["invalid-value"] : []);
      }),
      { numRuns: runs(300) },
    );
  });
});
