import type { GraphqlPlanIR, PlannedGraphqlRule } from "../policy/index.ts";
import type { Parent, Parents } from "./parents.ts";
import type { OperationKind } from "./types.ts";

/** A rule for a root field is one for a field of its root type. */
export interface TypedRule extends PlannedGraphqlRule {
  readonly type: string;
}

/** The rules of a plan by the field that they are for. */
export class Rules {
  readonly #byField = new Map<string, TypedRule[]>();
  readonly #parents: Parents;

  constructor({ rules }: GraphqlPlanIR, parents: Parents) {
    this.#parents = parents;
    for (const rule of rules) {
      const type = rule.type ?? parents.rootType(rule.operation);
      if (type === undefined) continue; // no operation of that kind is served
      const others = this.#byField.get(rule.field);
      if (others === undefined) this.#byField.set(rule.field, [{ ...rule, type }]);
      else others.push({ ...rule, type });
    }
  }

  /**
   * @returns the rules for a field, in their order. Rules for a type's fields hold in operations of every kind, unless
   *   there is one for the operation's own kind. Those for a root type are for that root alone.
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
