import { type DiagnosticContent } from "../diagnostics/reporter.ts";
import { nearestHint, quoted } from "../../text/index.ts";
import type { GraphqlSchemaIR } from "../graphql-ir.ts";
import type { GraphqlRuleSource } from "../read/index.ts";
import type { PolicySetCheck } from "./policy-set-check.ts";
import { placeOf } from "../syntax/place-of.ts";

/** A rule for a field that the schema does not have protects nothing, although its author believes that it does. */
export const schemaFields: PolicySetCheck = ({ schema, graphql }, report) => {
  for (const rule of graphql) {
    const finding = introspected(rule) ?? (schema === undefined ? withoutSchema(rule) : findIn(schema, rule));
    if (finding !== undefined) report.report(placeOf(rule.target), { severity: "error", ...finding });
  }
};

/** GraphQL, section 4.1 and 4.2: every type has `__typename`, and the query root has the other two. */
const INTROSPECTION: readonly string[] = ["__typename", "__schema", "__type"];

function introspected({ field }: GraphqlRuleSource): Omit<DiagnosticContent, "severity"> | undefined {
  if (!INTROSPECTION.includes(field)) return undefined;
  const message = `no rule applies to ${quoted(field)}`;
  const hint =
    field === "__typename"
      ? "the name of a type is delivered with every object whose field is permitted"
      : "`graphql.introspection` says whether introspection is allowed";
  return { code: "unknown-graphql-field", message, hint };
}

/** By convention, type names begin with a capital letter and field names do not. */
const TYPE_NAME = /^_*[A-Z]/;

/**
 * Without the schema it is not known which fields return a type: `Customer.ssn` would guard `customer { ssn }` but not
 * `owner { ssn }`, which returns the same value.
 */
function withoutSchema({ type, field }: GraphqlRuleSource): Omit<DiagnosticContent, "severity"> | undefined {
  if (type === undefined || !TYPE_NAME.test(type)) return undefined;
  const parent = type.replace(/[A-Z]/, (letter) => letter.toLowerCase());
  const root = ["query", "mutation", "subscription"].includes(parent);
  return {
    code: "graphql-type-without-schema",
    message: `${quoted(type)} looks like a type, but without the schema it is not known which fields return it`,
    hint: root
      ? `write \`${parent}: ${field}\``
      : `name the SDL file (\`graphql: { schema: api.graphql }\`), or write ${quoted(`${parent}.${field}`)} for the field below ${quoted(parent)}`,
  };
}

function findIn(
  { roots, types }: GraphqlSchemaIR,
  { operation, type: given, field }: GraphqlRuleSource,
): Omit<DiagnosticContent, "severity"> | undefined {
  const name = given ?? roots[operation];
  if (name === undefined) {
    return { code: "unknown-graphql-type", message: `the schema does not support ${operation} operations` };
  }
  const type = Object.hasOwn(types, name) ? types[name] : undefined;
  if (type === undefined) {
    const hint = () => nearestHint(name, Object.keys(types));
    return {
      code: "unknown-graphql-type",
      message: `the schema has no object or interface type ${quoted(name)}`,
      hint,
    };
  }
  if (!Object.hasOwn(type.fields, field)) {
    const hint = () => nearestHint(field, Object.keys(type.fields));
    const message = `the type ${quoted(name)} has no field ${quoted(field)} in the schema`;
    return { code: "unknown-graphql-field", message, hint };
  }
  const kind = (["query", "mutation", "subscription"] as const).find((one) => roots[one] === name);
  if (kind === undefined || kind === operation) return undefined;
  const message = `${quoted(name)} is the root of each ${kind}, and no ${operation} has its fields`;
  return { code: "unknown-graphql-field", message, hint: `write \`${kind}: ${field}\`` };
}
