import {
  Kind,
  type FieldNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionNode,
} from "graphql";
import type { GraphqlFieldIR, GraphqlPlanIR } from "../policy/index.ts";
import { checkArguments } from "./literals.ts";
import type { Parent, Parents } from "./parents.ts";
import { malformed, overLimit, type OperationKind } from "./types.ts";

/** A selected field, visited once for each way that fragments lead to it. */
export interface Occurrence {
  readonly node: FieldNode;
  readonly name: string;
  readonly parent: Parent;
  /** Response keys, from the root field to this one. */
  readonly path: readonly string[];
  /** The schema's entries for the field and its parents, starting at the root field. */
  readonly fields: readonly (GraphqlFieldIR | undefined)[];
  /** Directly below the operation, and not `__typename`. */
  readonly rootField: boolean;
}

/** Maximum number of selections visited per request: fragments can multiply them exponentially. */
const MAX_SELECTIONS = 10_000;
/** Maximum nesting depth of selections. */
const MAX_LEVELS = 200;

/** Counters for one request, over all of its documents. */
export interface Counters {
  selections: number;
  aliases: number;
}

interface SelectionPlace {
  readonly parent: Parent;
  readonly path: readonly string[];
  readonly fields: readonly (GraphqlFieldIR | undefined)[];
  readonly level: number;
  /** Nesting depth of the field around. */
  readonly depth: number;
}

/**
 * Visits everything that an operation may select, in source order, with fragments expanded in place. Directives are
 * ignored: `@skip` and `@include` depend on variables and on how the server coerces them.
 */
export class Walk {
  readonly #limits: GraphqlPlanIR["limits"];
  readonly #parents: Parents;
  readonly #kind: OperationKind;
  readonly #operation: OperationDefinitionNode;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #counters: Counters;
  readonly #visit: (occurrence: Occurrence) => void;
  readonly #checked = new Set<FieldNode>();
  #rootFields = 0;

  constructor(of: {
    readonly limits: GraphqlPlanIR["limits"];
    readonly parents: Parents;
    readonly operation: OperationDefinitionNode;
    readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
    readonly counters: Counters;
    readonly visit: (occurrence: Occurrence) => void;
  }) {
    this.#limits = of.limits;
    this.#parents = of.parents;
    this.#kind = of.operation.operation;
    this.#operation = of.operation;
    this.#fragments = of.fragments;
    this.#counters = of.counters;
    this.#visit = of.visit;
  }

  /** @throws GraphqlRefusal */
  run(): void {
    const parent = this.#parents.rootOf(this.#kind);
    const top = { parent, path: [], fields: [], level: 1, depth: 0 };
    this.#selections(this.#operation.selectionSet.selections, top);
    if (this.#kind === "subscription" && this.#rootFields === 0)
      malformed("a subscription must have a field");
  }

  #selections(selections: readonly SelectionNode[], place: SelectionPlace): void {
    for (const selection of selections) this.#selection(selection, place);
  }

  #selection(selection: SelectionNode, place: SelectionPlace): void {
    this.#counters.selections += 1;
    if (this.#counters.selections > MAX_SELECTIONS) overLimit(`more than ${MAX_SELECTIONS} selections`);
    if (place.level > MAX_LEVELS) overLimit(`selections are nested more than ${MAX_LEVELS} levels deep`);
    const level = place.level + 1;
    switch (selection.kind) {
      case Kind.FIELD:
        this.#field(selection, place);
        return;
      case Kind.INLINE_FRAGMENT: {
        const parent = this.#within(place, selection.typeCondition?.name.value);
        this.#selections(selection.selectionSet.selections, { ...place, parent, level });
        return;
      }
      case Kind.FRAGMENT_SPREAD: {
        const fragment = this.#fragments.get(selection.name.value);
        const parent = this.#within(place, fragment?.typeCondition.name.value);
        this.#selections(fragment?.selectionSet.selections ?? [], { ...place, parent, level });
      }
    }
  }

  #within({ parent, path }: SelectionPlace, condition: string | undefined): Parent {
    return condition === undefined ? parent : this.#parents.within(parent, condition, path.length === 0);
  }

  #field(node: FieldNode, { parent, path: around, fields: outer, level, ...place }: SelectionPlace): void {
    const name = node.name.value;
    const path = [...around, node.alias?.value ?? name];
    const rootField = around.length === 0 && name !== "__typename";
    // the introspection query unwraps types with nine nested `ofType`, each of which is a single object
    const depth = parent.introspection && name === "ofType" ? place.depth : place.depth + 1;
    this.#count(node, depth, rootField);
    this.#checkOnce(node);

    const introspection = parent.introspection || this.#isIntrospection(name, parent);
    const known = !introspection && name !== "__typename";
    const fields = [...outer, known ? this.#parents.fieldOf(parent, name) : undefined];
    this.#visit({ node, name, parent, path, fields, rootField });

    const below = this.#parents.below(name, fields.at(-1)?.type);
    const selections = node.selectionSet?.selections ?? [];
    const inner = { ...below, introspection };
    this.#selections(selections, { parent: inner, path, fields, level: level + 1, depth });
  }

  #count({ name, alias }: FieldNode, depth: number, rootField: boolean): void {
    if (depth > this.#limits.depth) overLimit("fields are nested too deeply");
    if (alias !== undefined && alias.value !== name.value) this.#counters.aliases += 1;
    if (this.#counters.aliases > this.#limits.aliases) overLimit("too many aliases");
    if (rootField) this.#rootFields += 1;
    if (this.#rootFields > this.#limits.rootFields) overLimit("too many root fields");
    if (this.#kind === "subscription" && this.#rootFields > 1) {
      malformed("a subscription has more than one field"); // GraphQL, section 5.2.4.1
    }
  }

  /** Fragments may lead to a field many times, so the result is cached. */
  #checkOnce(node: FieldNode): void {
    if (this.#checked.has(node)) return;
    this.#checked.add(node);
    checkArguments(node.arguments ?? []);
  }

  #isIntrospection(name: string, parent: Parent): boolean {
    if (name !== "__schema" && name !== "__type") return false;
    return this.#parents.hasIntrospection(parent) || malformed("a field that the schema does not have");
  }
}
