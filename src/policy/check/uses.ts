import { parametersOf } from "../pattern/parse-pattern.ts";
import type { ConditionSource, PolicySetSource } from "../read/index.ts";
import type { ConditionUse } from "../roots.ts";

/** A condition of a policy set, and what it may read. */
export interface UsedCondition {
  readonly condition: ConditionSource;
  readonly use: ConditionUse;
  /** Parameters of its rule's path. */
  readonly parameters: readonly string[];
  /** The members of `args`, if the schema is known. */
  readonly fieldArguments?: readonly string[] | undefined;
  /** True if roots may also be names from the application's data. */
  readonly anyRoot: boolean;
  /** The method of its rule; absent if it has none. */
  readonly method?: string;
  /** What the condition permits or applies, for use in diagnostics. */
  readonly purpose: "permits" | "applies";
}

/** @returns every condition of the set that could be parsed */
export function conditionsOf(set: PolicySetSource): UsedCondition[] {
  const graphqlParameters = set.head.graphql?.parameters ?? [];
  const common = { anyRoot: false, purpose: "permits" } as const;
  const all: UsedCondition[] = [
    ...set.rules.map(({ condition, pattern }) => ({
      ...common,
      condition,
      use: "request" as const,
      parameters: parametersOf(pattern.segments),
      method: pattern.method,
    })),
    ...[...set.responses, ...set.messages].flatMap(({ fields, pattern }) =>
      fields.map(({ condition }) => ({
        condition,
        use: "response" as const,
        parameters: parametersOf(pattern.segments),
        ...("method" in pattern && { method: pattern.method }),
        anyRoot: false,
        purpose: "applies" as const,
      })),
    ),
    ...set.graphql.map(({ condition, operation, type = set.schema?.roots[operation], field }) => ({
      condition,
      fieldArguments: set.fieldArguments?.get(`${type ?? ""}.${field}`),
      use: "graphql" as const,
      parameters: graphqlParameters,
      // an event's root is named after its payload, e.g. `order.customer_id`
      anyRoot: operation === "subscription",
      purpose: "permits" as const,
    })),
    ...set.connections.map(({ condition, pattern }) => ({
      ...common,
      condition,
      use: "request" as const,
      parameters: parametersOf(pattern.segments),
    })),
    ...set.messages.map(({ condition, pattern }) => ({
      ...common,
      condition,
      use: "message" as const,
      parameters: parametersOf(pattern.segments),
    })),
  ];
  return all.filter(({ condition }) => !condition.broken);
}
