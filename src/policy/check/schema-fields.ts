import { type DiagnosticContent } from "../diagnostics/reporter.ts";
import { nearestHint, quoted } from "../../text/index.ts";
import type { GraphqlSchemaIR } from "../graphql-ir.ts";
import type { GraphqlRuleSource } from "../read/index.ts";
import type { PolicySetCheck } from "./policy-set-check.ts";
import { placeOf } from "../syntax/place-of.ts";

/** A rule for a field that the schema does not have guards nothing, and its author believes that it does. */
export const schemaFields: PolicySetCheck = ({ schema, graphql }, report) => {
  for (const rule of graphql) {
    const finding = schema === undefined ? withoutSchema(rule) : findIn(schema, rule);
    if (finding !== undefined) report.report(placeOf(rule.target), { severity: "error", ...finding });
  }
};

/** By what nearly all schemas do, names of types begin with a capital letter, and names of fields do not. */
const TYPE_NAME = /^_*[A-Z]/;

/**
 * Without the schema nobody knows which fields lead to a type: `Customer.ssn` would guard `customer { ssn }` and not
 * `owner { ssn }`, which delivers the same.
 */
function withoutSchema({ type, field }: GraphqlRuleSource): Omit<DiagnosticContent, "severity"> | undefined {
  if (type === undefined || !TYPE_NAME.test(type)) return undefined;
  const parent = type.replace(/[A-Z]/, (letter) => letter.toLowerCase());
  const root = ["query", "mutation", "subscription"].includes(parent);
  return {
    code: "graphql-type-without-schema",
    message: `${quoted(type)} is a type, and without the schema nobody knows which fields lead to it`,
    hint: root
      ? `write \`${parent}: ${field}\``
      : `name the SDL (\`graphql: { schema: api.graphql }\`), or write ${quoted(`${parent}.${field}`)} for what stands below a field ${quoted(parent)}`,
  };
}

function findIn(
  { roots, types }: GraphqlSchemaIR,
  { operation, type: given, field }: GraphqlRuleSource,
): Omit<DiagnosticContent, "severity"> | undefined {
  const name = given ?? roots[operation];
  if (name === undefined) {
    return { code: "unknown-graphql-type", message: `the schema has no ${operation}` };
  }
  const type = Object.hasOwn(types, name) ? types[name] : undefined;
  if (type === undefined) {
    const hint = () => nearestHint(name, Object.keys(types));
    return {
      code: "unknown-graphql-type",
      message: `the schema has no type ${quoted(name)} with fields`,
      hint,
    };
  }
  if (!Object.hasOwn(type.fields, field)) {
    const hint = () => nearestHint(field, Object.keys(type.fields));
    const message = `the type ${quoted(name)} of the schema has no field ${quoted(field)}`;
    return { code: "unknown-graphql-field", message, hint };
  }
  const kind = (["query", "mutation", "subscription"] as const).find((one) => roots[one] === name);
  if (kind === undefined || kind === operation) return undefined;
  const message = `${quoted(name)} is the root of each ${kind}, and no ${operation} has its fields`;
  return { code: "unknown-graphql-field", message, hint: `write \`${kind}: ${field}\`` };
}
