import { readdirSync, readFileSync } from "node:fs";
import { load } from "js-yaml";
import { z } from "zod";
import {
  compileCondition,
  compilePolicySet,
  parseCondition,
  type GraphqlPlanIR,
  type GraphqlSchemaIR,
  type PlannedGraphqlRule,
} from "../../../src/policy/index.ts";

const FOLDER = new URL("../../cases/graphql/", import.meta.url);

const Rule = z.strictObject({
  rule: z.string().optional(),
  query: z.string().optional(),
  mutation: z.string().optional(),
  subscription: z.string().optional(),
  when: z.union([z.string(), z.literal(false)]).optional(),
  on_deny: z.enum(["reject", "null"]).default("reject"),
});
const Plan = z.strictObject({
  rules: z.array(Rule).optional(),
  schema: z.string().nullable().optional(),
  limits: z.partialRecord(z.enum(["depth", "aliases", "rootFields", "tokens"]), z.int()).optional(),
  default: z.enum(["allow", "deny"]).optional(),
  introspection: z.enum(["allow", "deny"]).optional(),
  guardedNames: z.array(z.string()).optional(),
});
const Text = z.union([
  z.string(),
  z.array(z.union([z.string(), z.strictObject({ repeat: z.string(), times: z.int() })])),
]);
const Case = z.strictObject({
  name: z.string(),
  plan: Plan.default({}),
  query: Text.optional(),
  variables: z.unknown().optional(),
  operationName: z.unknown().optional(),
  extensions: z.unknown().optional(),
  json: z.string().optional(),
  env: z.record(z.string(), z.unknown()).default({}),
  verdict: z.enum(["allowed", "denied", "refused"]),
  code: z.enum(["GRAPHQL_MALFORMED", "GRAPHQL_LIMIT_EXCEEDED", "PERSISTED_QUERY_NOT_SUPPORTED"]).optional(),
  denied: z
    .array(z.strictObject({ path: z.string(), rule: z.string().optional(), message: z.string().optional() }))
    .default([]),
  nulls: z.array(z.string()).optional(),
  events: z.array(z.strictObject({ rule: z.string(), paths: z.array(z.string()) })).default([]),
  deliver: z.array(z.unknown()).default([]),
  withhold: z.array(z.unknown()).default([]),
});
const CaseFile = z.strictObject({ about: z.string(), plan: Plan, cases: z.array(Case).min(1) });

/** One published case, ready to be evaluated. */
export interface GraphqlCase extends Omit<z.infer<typeof Case>, "plan" | "query" | "json"> {
  readonly plan: GraphqlPlanIR;
  /** The payload. */
  readonly json: string;
}

/** @returns the cases of every file in the folder, by file name. */
export function allCases(): Map<string, GraphqlCase[]> {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"));
  return new Map(names.map((name) => [name, casesOf(name)]));
}

function casesOf(name: string): GraphqlCase[] {
  const { plan: common, cases } = CaseFile.parse(load(readFileSync(new URL(name, FOLDER), "utf8")));
  return cases.map(({ plan, query, json, ...one }) => {
    const { variables, operationName, extensions } = one;
    const payload = {
      ...(query !== undefined && { query: textOf(query) }),
      variables,
      operationName,
      extensions,
    };
    return { ...one, plan: planOf({ ...common, ...plan }), json: json ?? JSON.stringify(payload) };
  });
}

const LARGE = { depth: 1000, aliases: 1000, rootFields: 1000, tokens: 100_000 };

function planOf({ rules = [], schema, limits, guardedNames, ...plan }: z.infer<typeof Plan>): GraphqlPlanIR {
  return {
    rules: rules.map(ruleOf),
    limits: { ...LARGE, ...limits },
    introspection: plan.introspection ?? "deny",
    default: plan.default ?? "deny",
    ...(schema && { schema: schemaOf(schema) }),
    ...(guardedNames && { guardedNames }),
  };
}

function ruleOf({ rule, when, on_deny, ...targets }: z.infer<typeof Rule>): PlannedGraphqlRule {
  const [operation, target] = Object.entries(targets)[0] as [PlannedGraphqlRule["operation"], string];
  const [field = "", type] = target.split(".").reverse();
  return {
    rule: rule ?? `${operation} ${target}`,
    operation,
    ...(type !== undefined && { type }),
    field,
    onDeny: on_deny,
    ...(when !== undefined && { when: when === false ? false : conditionOf(when) }),
  };
}

/** @returns a condition's expression. */
export function conditionOf(text: string) {
  const { ast, findings } = parseCondition(text);
  if (ast === undefined) throw new Error(`${text}: ${JSON.stringify(findings)}`);
  return compileCondition(ast, text).expression;
}

const schemas = new Map<string, GraphqlSchemaIR>();

/** @returns what a policy set that names this SDL knows of it. */
export function schemaOf(sdl: string): GraphqlSchemaIR {
  let schema = schemas.get(sdl);
  if (schema === undefined) {
    const text = "graphql: { schema: a.graphql }\npolicies: [{ resource: GET /, condition: true }]\n";
    const { ir, diagnostics } = compilePolicySet([
      { name: "a.yaml", text },
      { name: "a.graphql", text: sdl },
    ]);
    schema = ir?.graphql.settings.schema;
    if (schema === undefined) throw new Error(JSON.stringify(diagnostics));
    schemas.set(sdl, schema);
  }
  return schema;
}

function textOf(text: z.infer<typeof Text>): string {
  if (typeof text === "string") return text;
  return text
    .map((part) => {
      if (typeof part === "string") return part;
      return Array.from({ length: part.times }, (_, index) =>
        part.repeat.replaceAll("#", `${index + 1}`),
      ).join("");
    })
    .join("");
}
