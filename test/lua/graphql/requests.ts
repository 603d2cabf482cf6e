import fc from "fast-check";
import type { GraphqlSchemaIR } from "../../../src/policy/graphql-ir.ts";
import type { GraphqlPlanIR, PlannedGraphqlRule } from "../../../src/policy/plan.ts";
import { planOf, ruleOf } from "./plans.ts";

/** A request to a GraphQL endpoint: what decides, what is asked for, and what is delivered later. */
export interface GraphqlCase {
  readonly plan: GraphqlPlanIR;
  /** JSON text. */
  readonly payload: string;
  readonly env: object;
  /** JSON texts of what a subscription delivers. */
  readonly events: readonly string[];
}

const field = (type: string, more: object = {}) => ({ type, ...more });

const OBJECT = {
  a: field("A"),
  b: field("Int", { nonNull: true }),
  n: field("N"),
  q: field("Query"),
  x: field("Int"),
};

/** Interfaces, unions, a root type that is reached from elsewhere, defaults, leaves. */
const schema: GraphqlSchemaIR = {
  roots: { query: "Query", mutation: "Mutation", subscription: "Subscription" },
  types: {
    Query: {
      fields: { ...OBJECT, a: field("A", { defaults: { x: 1, y: ["p"], o: { m: null } } }) },
      interfaces: ["N"],
    },
    Mutation: { fields: OBJECT },
    Subscription: { fields: OBJECT },
    A: { fields: OBJECT, interfaces: ["N"] },
    B: { fields: { b: field("Int"), q: field("Query"), n: field("U") }, interfaces: ["N"] },
    N: { fields: OBJECT, possible: ["A", "B", "Query"] },
    U: { fields: {}, possible: ["A", "B"] },
  },
};

/** What is read of delivered values. */
const LATE = [
  "a.b == 1",
  "args.x == 1 or a.b == 1",
  "a.a.b == 1 and n.b != args.x",
  "not exists(a.b)",
  "a.b == 1 and env.open == true",
  "n.b != 2 or exists(args.z)",
];
const CONDITIONS = [
  "args.x == 1",
  "exists(args.x)",
  "not exists(args.x)",
  'args.y.includes("p")',
  "args.o.m == null",
  "env.open == true",
  "exists(args.x) and args.x != 2",
  ...LATE,
  "b == 1",
  "user.id == 1 or env.open == true",
];

const names = fc.constantFrom("a", "b", "n", "q", "x");
const objects = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom("a", "n", "q") },
  fc.constantFrom("__schema", "b"),
);
const leaves = fc.oneof({ weight: 20, arbitrary: names }, fc.constantFrom("__typename", "__type"));
const types = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom("A", "B", "N", "Query") },
  fc.constantFrom("U", "Mutation", "a"),
);
const kinds = fc.constantFrom<PlannedGraphqlRule["operation"]>("query", "query", "mutation", "subscription");
/** Mostly `usual`. */
const mostly = <T>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, fc.constantFrom(usual, ...others));

const when = fc.oneof(
  fc.constant(undefined),
  fc.constantFrom(...CONDITIONS),
  fc.constantFrom(...CONDITIONS),
  fc.constant(false),
);
const rules = fc
  .array(fc.tuple(kinds, fc.option(types), names, when), { minLength: 1, maxLength: 8 })
  .map((all) =>
    all.map(([kind, type, name, condition], index) => ({
      ...ruleOf(`${kind} ${type === null ? "" : `${type}.`}${name}`, condition),
      rule: String(index),
    })),
  );

const limits = fc.record({
  depth: mostly(100, 3),
  aliases: mostly(100, 1),
  rootFields: mostly(100, 2),
  tokens: mostly(10_000, 30),
});

const plans = fc
  .record({
    rules,
    limits,
    introspection: fc.constantFrom<GraphqlPlanIR["introspection"]>("allow", "deny"),
    default: fc.constantFrom<GraphqlPlanIR["default"]>("allow", "deny"),
    guardedNames: fc.constantFrom([], ["b"]),
    schema: fc.option(fc.constant(schema), { nil: undefined }),
  })
  .map(({ rules: some, schema: types, ...more }) =>
    planOf(some, { ...more, ...(types && { schema: types }) }),
  );

const values = fc.constantFrom(
  ...[
    "1",
    "1",
    "2",
    "1.0",
    "9007199254740993",
    '"p"',
    '"""\n p\n"""',
    "null",
    "p",
    "true",
    "$v",
    "$v",
    "$w",
    "$u",
  ],
  ...['["p" 1]', "[$v]", "[[$u]]", "{m:null}", "{m:$w}", "{}", "[]"],
);
const argument = fc.oneof(
  { weight: 30, arbitrary: values.map((value) => `(x:${value})`) },
  { weight: 30, arbitrary: values.map((value) => `(y:${value} o:${value})`) },
  fc.constantFrom("(x:1 x:2)", "(o:{m:1 m:2})"),
);
const args = fc.oneof(fc.constant(""), argument);
const alias = fc.oneof(
  { weight: 6, arbitrary: fc.constant("") },
  names.map((name) => `${name}:`),
);
const directive = fc.constantFrom("", "", "@skip(if:$v)", "@include(if:true)");

const head = (name: fc.Arbitrary<string>) =>
  fc.tuple(alias, name, args, directive).map((parts) => parts.join(""));
const { selections } = fc.letrec<{ readonly selections: string; readonly selection: string }>((tie) => ({
  selection: fc.oneof(
    { depthIdentifier: "request", depthSize: "small" },
    head(leaves),
    fc.tuple(head(objects), tie("selections")).map((parts) => parts.join("")),
    fc.constantFrom("...F", "...G"),
    fc
      .tuple(fc.option(types), directive, tie("selections"))
      .map(([type, on, below]) => `...${type === null ? "" : `on ${type}`}${on}${below}`),
  ),
  selections: fc
    .array(tie("selection"), { minLength: 1, maxLength: 3, depthIdentifier: "request" })
    .map((some) => `{${some.join(" ")}}`),
}));

const variables = mostly("($v:Int)", "", "($v:Int=1$w:T={m:null})", '($v:[Int]=["p"])', "($v:A$v:A)");
/** One root field, and most often what conditions read. */
const subscription = fc
  .tuple(variables, head(fc.constantFrom("a", "n")), mostly("{b a{b} n{b}}", "{b}", "{...F b}"), selections)
  .map(([declared, root, read, more]) => `subscription Q${declared}{${root}{...${read} ...${more}}}`);
const operation = fc.oneof(
  selections,
  fc.tuple(kinds, variables, selections).map(([kind, declared, below]) => `${kind} Q${declared}${below}`),
  subscription,
);
const documents = fc
  .tuple(
    operation,
    mostly("", "mutation R{a}", "query Q{a}", "{a}", "query R{...F}", "fragment F on A{b}", "type A{a:B}"),
    fc
      .tuple(types, selections)
      .map(([type, below]) => `fragment F on ${type}${below.replaceAll("...F", "...G")}`),
    fc
      .tuple(types, selections)
      .map(([type, below]) => `fragment G on ${type}${below.replaceAll(/\.\.\.[FG]/g, "b")}`),
  )
  .map((parts) => parts.join(" "));

const given = fc.constantFrom(
  undefined,
  null,
  ...[{ v: 1 }, { v: ["p"] }, { v: null, w: 2 }, { v: { m: null } }, { u: 1 }, { v: 1.5 }],
);

const result: fc.Arbitrary<unknown> = fc.letrec<{ readonly value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthIdentifier: "result", depthSize: "small", withCrossShrink: true },
    fc.constantFrom(1, 2, null, "p"),
    fc.dictionary(names, tie("value"), { depthIdentifier: "result", maxKeys: 3 }),
    fc.array(tie("value"), { depthIdentifier: "result", maxLength: 2 }),
  ),
})).value;
const read = fc.constantFrom<unknown>(
  { b: 1, a: { b: 1 }, n: { b: 2 } },
  { b: 1 },
  { a: { b: 1 } },
  { b: null, a: {} },
  {},
);
const event = fc.oneof(
  { weight: 6, arbitrary: fc.dictionary(names, fc.oneof(read, result)).map((data) => ({ data })) },
  { weight: 6, arbitrary: fc.tuple(read, read).map(([a, n]) => ({ data: { a, n } })) },
  { weight: 3, arbitrary: fc.tuple(read, read).map((items) => ({ data: { a: items, n: [items] } })) },
  fc.record({ data: result }),
  fc.record({ data: result, hasNext: fc.boolean() }),
  result,
);

const environments = fc.constantFrom({}, { open: true });
const events = fc.array(event, { maxLength: 4 });

const requests: fc.Arbitrary<GraphqlCase> = fc
  .record({
    plan: plans,
    query: documents,
    variables: given,
    operationName: mostly<string | null | undefined>(undefined, null, "Q", "R"),
    env: environments,
    events,
  })
  .map(({ plan, env, events: delivered, ...payload }) => ({
    plan,
    payload: JSON.stringify(payload),
    env,
    events: delivered.map((one) => JSON.stringify(one)),
  }));

/** Rules on what is delivered, and operations that most often select it. */
const subscriptions: fc.Arbitrary<GraphqlCase> = fc
  .record({
    rules: fc.array(fc.tuple(names, fc.constantFrom(...LATE)), { minLength: 1, maxLength: 3 }),
    types: fc.option(fc.constant(schema), { nil: undefined }),
    query: fc
      .tuple(
        variables,
        head(fc.constantFrom("a", "n")),
        mostly("b", "b:x", "x:b"),
        mostly("a{b a{b}} n{b}", "", "a:n{b}"),
      )
      .map(([declared, root, ...read]) => `subscription S${declared}{${root}{...on A{${read.join(" ")}}}}`),
    variables: given,
    env: environments,
    events,
  })
  .map(({ rules: some, types: typed, env, events: delivered, ...payload }) => ({
    plan: planOf(
      [...some, ["a"] as const, ["n"] as const].map(([name, condition]) =>
        ruleOf(`subscription ${name}`, condition),
      ),
      { ...(typed && { schema: typed }) },
    ),
    payload: JSON.stringify(payload),
    env,
    events: delivered.map((one) => JSON.stringify(one)),
  }));

/** Random plans and requests over few names, so that they meet. */
export const graphqlCases: fc.Arbitrary<GraphqlCase> = fc.oneof(
  { weight: 3, arbitrary: requests },
  { weight: 1, arbitrary: subscriptions },
);
