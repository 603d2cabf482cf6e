import assert from "node:assert/strict";
import fc from "fast-check";
import { parse } from "graphql";
import { evaluateGraphql, type GraphqlPayload, type GraphqlVerdict } from "../../src/graphql/index.ts";
import type { GraphqlPlanIR } from "../../src/policy/index.ts";
import { runs } from "../support/runs.ts";
import { conditionOf } from "./support/cases.ts";
import { fieldTrees, plainQuery, plans, rewrite } from "./support/arbitraries.ts";

const KINDS = ["query", "mutation", "subscription"] as const;
const kinds = fc.constantFrom("query" as const, "mutation" as const);
const choices = fc.infiniteStream(fc.integer({ min: 0, max: 9 }));

function evaluated(plan: GraphqlPlanIR, payload: GraphqlPayload, nullable = false): GraphqlVerdict {
  return evaluateGraphql(plan, { payloads: [payload], batch: false, kinds: KINDS, nullable }, { env: {} });
}

/** Rules that deny, `-` for what none names; only where all denials are listed. */
function denying(verdict: GraphqlVerdict): ReadonlySet<string> | undefined {
  if (verdict.kind !== "denied" || verdict.denials.length === 20) return undefined;
  return new Set(verdict.denials.map(({ rule = "-" }) => rule));
}

describe("GraphQL operations that are rewritten", () => {
  it("are never allowed where the plain one is denied", () => {
    let denied = 0;
    fc.assert(
      fc.property(plans, kinds, fieldTrees, choices, (plan, kind, trees, numbers) => {
        const plain = evaluated(plan, { query: plainQuery(kind, trees), variables: {} });
        if (plain.kind !== "denied") return;
        denied += 1;
        const rewritten = rewrite(kind, trees, numbers, { types: true });
        const verdict = evaluated(plan, rewritten);
        assert.notEqual(verdict.kind, "allowed", rewritten.query);
        const [before, after] = [denying(plain), denying(verdict)];
        for (const rule of (after && before) ?? [])
          assert.ok(after?.has(rule), `${rule}: ${rewritten.query}`);
      }),
      { numRuns: runs(2000) },
    );
    assert.ok(denied > 200, `only ${denied} were denied`);
  });

  it("have the same verdict, by the same rules, where they say nothing about types", () => {
    const seen = { allowed: 0, denied: 0, refused: 0 };
    fc.assert(
      fc.property(plans, kinds, fieldTrees, choices, (plan, kind, trees, numbers) => {
        const plain = evaluated(plan, { query: plainQuery(kind, trees), variables: {} });
        const rewritten = rewrite(kind, trees, numbers, { types: false });
        const verdict = evaluated(plan, rewritten);
        assert.equal(verdict.kind, plain.kind, rewritten.query);
        seen[plain.kind] += 1;
        const [before, after] = [denying(plain), denying(verdict)];
        if (before && after) assert.deepEqual([...after].sort(), [...before].sort());
      }),
      { numRuns: runs(2000) },
    );
    for (const [kind, count] of Object.entries(seen)) {
      assert.ok(kind === "refused" || count > 50, `${kind}: ${count}`);
    }
    assert.equal(seen.refused, 0);
  });

  it("are well-formed for graphql-js", () => {
    fc.assert(
      fc.property(kinds, fieldTrees, choices, fc.boolean(), (kind, trees, numbers, types) => {
        parse(rewrite(kind, trees, numbers, { types }).query);
      }),
      { numRuns: runs(200) },
    );
  });
});

describe("fields that come back null", () => {
  it("are all that are denied, or something around them, and rejected fields never do", () => {
    let nulled = 0;
    fc.assert(
      fc.property(plans, fieldTrees, choices, (plan, trees, numbers) => {
        const payload = rewrite("query", trees, numbers, { types: false });
        const verdict = evaluated(plan, payload, true);
        const rejected = evaluated(plan, payload);
        if (verdict.kind !== "allowed") {
          assert.equal(rejected.kind, "denied");
          return;
        }
        const keys = verdict.nulls.map((field) => field.keys.join("."));
        const denials = rejected.kind === "denied" ? rejected.denials : [];
        for (const { path, onDeny } of denials) {
          assert.equal(onDeny, "null");
          const place = ["data", ...path].join(".");
          assert.ok(
            keys.some((key) => `${place}.`.startsWith(`${key}.`)),
            `${place}: ${keys.join()}`,
          );
        }
        assert.equal(keys.length === 0, denials.length === 0);
        if (keys.length > 0) nulled += 1;
      }),
      { numRuns: runs(2000) },
    );
    assert.ok(nulled > 50, `only ${nulled}`);
  });
});

describe("hostile GraphQL documents", () => {
  const token = fc.constantFrom(
    ...'{ } ( ) [ ] : = ! $ @ ... | & , # \n " """ \\ a b on fragment query mutation true null 1 1.5 -0 $x é'.split(
      " ",
    ),
    "{ a }",
    "...F",
    "fragment F on Query { a ...F }",
    "query Q($x: Int = 1) { a(x: $x) }",
    " ",
  );

  it("never raise, and are refused where graphql-js refuses them", () => {
    const documents = fc.oneof(
      fc.array(token, { maxLength: 30 }).map((all) => all.join("")),
      fc.array(token, { maxLength: 30 }).map((all) => all.join(" ")),
      fc.string({ unit: "binary", maxLength: 40 }),
    );
    fc.assert(
      fc.property(plans, documents, (plan, query) => {
        const verdict = evaluated(plan, { query, variables: {} });
        if (verdict.kind !== "refused") parse(query);
      }),
      { numRuns: runs(3000) },
    );
  });

  it("take no time to speak of, whatever fragments do", () => {
    const doubled = Array.from(
      { length: 300 },
      (_, index) => `fragment F${index} on Query {...F${index + 1} ...F${index + 1}}`,
    );
    const chain = Array.from(
      { length: 20_000 },
      (_, index) => `fragment F${index} on Query {...F${index + 1}}`,
    );
    const plan = {
      rules: [],
      limits: { depth: 1e6, aliases: 1e6, rootFields: 1e6, tokens: 1e6 },
      introspection: "deny",
      default: "allow",
    } as const;
    for (const [fragments, last] of [
      [doubled, 300],
      [chain, 20_000],
    ] as const) {
      const query = `{...F0} ${fragments.join(" ")} fragment F${last} on Query {a}`;
      const verdict = evaluated(plan, { query, variables: {} });
      assert.ok(verdict.kind === "refused");
      assert.equal(verdict.code, "GRAPHQL_LIMIT_EXCEEDED");
    }
    const long = `{${"...F ".repeat(9000)}} fragment F on Query {a(x: [${"1 ".repeat(90_000)}])}`;
    const rule = {
      rule: "r",
      operation: "query",
      field: "a",
      onDeny: "reject",
      when: conditionOf("args.x.includes(2)"),
    } as const;
    assert.equal(evaluated({ ...plan, rules: [rule] }, { query: long, variables: {} }).kind, "refused");
    const circle = `{a} ${chain.join(" ")} fragment F20000 on Query {...F0}`;
    assert.equal(evaluated(plan, { query: circle, variables: {} }).kind, "refused");
  });
});
