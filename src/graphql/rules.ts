import type { GraphqlPlanIR, PlannedGraphqlRule } from "../policy/index.ts";
import type { Parent, Parents } from "./parents.ts";
import type { OperationKind } from "./types.ts";

/** A rule for a root field is a rule for a field of the root type. */
export interface TypedRule extends PlannedGraphqlRule {
  readonly type: string;
}

/** The rules of a plan, by field. */
export class Rules {
  readonly #byField = new Map<string, TypedRule[]>();
  readonly #parents: Parents;

  constructor({ rules }: GraphqlPlanIR, parents: Parents) {
    this.#parents = parents;
    for (const rule of rules) {
      const type = rule.type ?? parents.rootType(rule.operation);
      if (type === undefined) continue; // operations of that kind are not supported
      const others = this.#byField.get(rule.field);
      if (others === undefined) this.#byField.set(rule.field, [{ ...rule, type }]);
      else others.push({ ...rule, type });
    }
  }

  /**
   * @returns the rules for a field, in order. Rules for a type's fields apply to every kind of operation, unless there
   *   is a rule for the operation's own kind. Rules for a root type apply to that root only.
   */
  matching(field: string, { names }: Parent, kind: OperationKind): readonly TypedRule[] {
    const candidates = (this.#byField.get(field) ?? []).filter(({ type }) =>
      names.includes(this.#parents.key(type)),
    );
    const owned = new Set(candidates.filter(({ operation }) => operation === kind).map(({ type }) => type));
    return candidates.filter(({ type, operation }) =>
      this.#parents.isRootType(type)
        ? this.#parents.rootType(operation) === type
        : operation === kind || !owned.has(type),
    );
  }
}
