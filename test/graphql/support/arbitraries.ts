import fc from "fast-check";
import type { GraphqlPlanIR, GraphqlSchemaIR, PlannedGraphqlRule } from "../../../src/policy/index.ts";
import { conditionOf, schemaOf } from "./cases.ts";

/** A field of a query, as a tree; printed by {@link plainQuery}, or rewritten. */
export interface FieldTree {
  readonly name: string;
  /** The argument `x`. */
  readonly x?: number;
  readonly below: readonly FieldTree[];
}

const NAMES = ["a", "b", "c", "secret", "__typename"];

/** Every field leads to every other one, and rules name them by interfaces, too. */
export const SCHEMA: GraphqlSchemaIR = schemaOf(`
  type Query implements I { a(x: Int): A, b(x: Int): B!, c(x: Int = 1): [I!], secret(x: Int): A }
  type Mutation { a(x: Int): A, b(x: Int): Query!, c(x: Int = 1): I, secret(x: Int): A }
  interface I { a(x: Int): A, b(x: Int): B!, c(x: Int = 1): [I!], secret(x: Int): A }
  type A implements I { a(x: Int): A, b(x: Int): B!, c(x: Int = 1): [I!], secret(x: Int): A }
  type B implements I { a(x: Int): A, b(x: Int): B!, c(x: Int = 1): [I!], secret(x: Int): A }
`);

const name = fc.constantFrom(...NAMES);
const x = fc.integer({ min: 0, max: 2 });

const { tree } = fc.letrec<{ tree: FieldTree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.record({ name, x, below: fc.constant([]) }, { requiredKeys: ["name", "below"] }),
    fc.record(
      { name, x, below: fc.array(tie("tree"), { maxLength: 3 }) },
      { requiredKeys: ["name", "below"] },
    ),
  ),
}));

/** The selections of an operation. `__typename` has none below it. */
export const fieldTrees: fc.Arbitrary<readonly FieldTree[]> = fc
  .array(tree, { minLength: 1, maxLength: 3 })
  .map((trees) => trees.map(withoutBelowTypename));

function withoutBelowTypename({ name, x, below }: FieldTree): FieldTree {
  if (name === "__typename") return { name, below: [] };
  return { name, ...(x !== undefined && { x }), below: below.map(withoutBelowTypename) };
}

const CONDITIONS = ["args.x == 1", "args.x != 1", "not exists(args.x)", "args.y == 1", "true"].map(
  conditionOf,
);

const rule: fc.Arbitrary<PlannedGraphqlRule> = fc
  .record(
    {
      operation: fc.constantFrom("query" as const, "mutation" as const),
      type: fc.constantFrom("Query", "Mutation", "A", "B", "I", "a", "b", "c"),
      field: fc.constantFrom(...NAMES.slice(0, 4)),
      when: fc.constantFrom(false as const, ...CONDITIONS),
      onDeny: fc.constantFrom("reject" as const, "null" as const),
    },
    { requiredKeys: ["operation", "field", "onDeny"] },
  )
  .map((made) => ({ ...made, rule: "" }));

/** Plans with wide limits, some with {@link SCHEMA}. */
export const plans: fc.Arbitrary<GraphqlPlanIR> = fc
  .record(
    {
      rules: fc.array(rule, { maxLength: 8 }),
      introspection: fc.constantFrom("allow" as const, "deny" as const),
      default: fc.constantFrom("allow" as const, "deny" as const),
      schema: fc.constant(SCHEMA),
    },
    { requiredKeys: ["rules", "introspection", "default"] },
  )
  .map((plan) => ({
    ...plan,
    rules: plan.rules.map((one, index) => ({ ...one, rule: `r${index}` })),
    limits: { depth: 1000, aliases: 10_000, rootFields: 10_000, tokens: 100_000 },
  }));

/** @returns the operation in the plainest way. */
export function plainQuery(kind: "query" | "mutation", trees: readonly FieldTree[]): string {
  const print = ({ name, x, below }: FieldTree): string =>
    `${name}${x === undefined ? "" : `(x: ${x})`}${below.length > 0 ? `{${below.map(print).join(" ")}}` : ""}`;
  return `${kind} {${trees.map(print).join(" ")}}`;
}

/** An operation that asks for the same, or for more, in another way. */
export interface Rewritten {
  readonly query: string;
  readonly variables: Readonly<Record<string, number>>;
  readonly operationName?: string;
}

/** How often each way to rewrite is taken; `types`: fragments have type conditions. */
export interface RewriteOptions {
  readonly types: boolean;
}

/**
 * Rewrites by aliases, named and inline fragments, directives, variables, repetition, another order, and a second
 * operation.
 *
 * @param choices - an endless source of numbers from 0 to 9
 */
export function rewrite(
  kind: "query" | "mutation",
  trees: readonly FieldTree[],
  choices: Iterator<number>,
  { types }: RewriteOptions,
): Rewritten {
  const choose = () => choices.next().value as number;
  const fragments: string[] = [];
  const variables: Record<string, number> = {};
  let made = 0;

  const argument = (x: number | undefined): string => {
    if (x === undefined) return "";
    if (choose() > 3) return `(x: ${x})`;
    const name = `v${Object.keys(variables).length}`;
    variables[name] = x;
    return `(x: $${name})`;
  };
  const directive = () => ["@skip(if: true)", "@include(if: false)", "@defer", "@x(y: [1])"][choose()] ?? "";
  const field = ({ name, x, below }: FieldTree): string => {
    const alias = choose() < 3 ? `x${made++}: ` : "";
    const selections = below.length > 0 ? `{${list(below, name)}}` : "";
    return `${alias}${name}${argument(x)}${directive()}${selections}`;
  };
  /** @param parent - name of the field around, "" at the root */
  const wrap = (text: string, parent: string): string => {
    const condition = types ? (choose() < 5 ? typeOf(parent, kind) : "I") : undefined;
    switch (choose()) {
      case 0:
        return `... ${condition !== undefined && condition !== "" ? `on ${condition} ` : ""}${directive()} {${text}}`;
      case 1: {
        if (condition === undefined || condition === "") return `...{${text}}`;
        const name = `F${fragments.length}`;
        fragments.push(`fragment ${name} on ${condition} {${text}}`);
        return `...${name} ${directive()}`;
      }
      case 2:
        return `${text} ${text}`;
      case 3:
        return `${text} z${made++}: __typename`;
      default:
        return text;
    }
  };
  const list = (below: readonly FieldTree[], parent: string): string => {
    const texts = below.map((one) => wrap(field(one), parent));
    if (choose() < 3) texts.reverse();
    return wrap(texts.join(choose() < 3 ? " ,#c\n" : " "), parent);
  };

  const body = list(trees, "");
  const names = Object.keys(variables);
  const defined = names.length > 0 ? `(${names.map((name) => `$${name}: Int = 1`).join(" ")})` : "";
  const operation = `${kind} Q${defined} {${body}}`;
  const second = choose() < 3;
  const parts = [...fragments, operation, ...(second ? ["query R { __typename }"] : [])];
  if (choose() < 5) parts.reverse();
  return { query: parts.join("\n"), variables, ...(second && { operationName: choose() < 5 ? "Q" : "R" }) };
}

/** What the schema says, so that fragments fit; where it depends on more, an interface. */
function typeOf(parent: string, kind: "query" | "mutation"): string {
  if (parent === "") return kind === "query" ? "Query" : "Mutation";
  return { a: "A", secret: "A" }[parent] ?? "";
}
