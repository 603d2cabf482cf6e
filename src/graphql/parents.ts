import type { GraphqlFieldIR, GraphqlPlanIR, GraphqlSchemaIR, GraphqlTypeIR } from "../policy/index.ts";
import { malformed, type OperationKind } from "./types.ts";

/** What is known about the type that a field is selected on. */
export interface Parent {
  /** Rules for these types apply to its fields. In the form of {@link Parents.key}. */
  readonly names: readonly string[];
  /** With a schema: the type itself. */
  readonly type?: string;
  /** Names of the root type that it is or may be. A field without a rule for one of these types gets the default. */
  readonly root?: readonly string[];
  /** True below `__schema` and `__type`: the same for everybody, and evaluated as a whole. */
  readonly introspection: boolean;
}

/** Default names of root types (GraphQL, section 3.3.1). */
const CONVENTIONAL: GraphqlSchemaIR["roots"] = {
  query: "Query",
  mutation: "Mutation",
  subscription: "Subscription",
};

/** The types of a plan, with or without a schema. */
export class Parents {
  readonly #schema: GraphqlSchemaIR | undefined;
  readonly #roots: GraphqlSchemaIR["roots"];
  readonly #names = new Map<string, readonly string[]>();
  readonly #overlaps = new Map<string, boolean>();

  constructor({ schema }: GraphqlPlanIR) {
    this.#schema = schema;
    this.#roots = schema?.roots ?? CONVENTIONAL;
  }

  rootType(kind: OperationKind): string | undefined {
    return this.#roots[kind];
  }

  isRootType(name: string): boolean {
    return Object.values(this.#roots).includes(name);
  }

  /**
   * The form in which type names are compared. Without a schema, a field's name or the client's text is used as the
   * type: `... on Customer` falls under a rule for `customer.ssn`.
   */
  key(type: string): string {
    return this.#schema ? type : type.toLowerCase();
  }

  /** The parent of an operation's root fields. */
  rootOf(kind: OperationKind): Parent {
    const name = this.#roots[kind] ?? malformed(`the schema does not support ${kind} operations`);
    return this.#schema ? this.#typed(name) : this.#named(name, [name]);
  }

  /** @returns the schema's field with this parent; `undefined` if there is no schema */
  fieldOf(parent: Parent, name: string): GraphqlFieldIR | undefined {
    if (this.#schema === undefined) return undefined;
    return own(this.#typeOf(parent.type)?.fields, name) ?? malformed("a field is not in the schema");
  }

  /** Whether the type `type` of the schema, or a possible type of its values, has the field. */
  hasField(type: string, name: string): boolean {
    const types = [type, ...this.#possible(type)];
    return types.some((one) => own(this.#typeOf(one)?.fields, name) !== undefined);
  }

  /** Whether `__schema` and `__type` are fields here. Without a schema they may be anywhere. */
  hasIntrospection({ type }: Parent): boolean {
    return this.#schema === undefined || type === this.#roots.query;
  }

  /** The parent of the selections of field `name`, whose type in the schema is `type`. */
  below(name: string, type: string | undefined): Parent {
    if (this.#schema === undefined) {
      // a field `query` returns the root type again (Relay); a field `subscription` is ordinary data
      const roots = this.#rootsLike(name).filter((root) => root === name || root === this.#roots.query);
      return this.#named(name, roots);
    }
    return type === undefined ? { names: [], introspection: false } : this.#typed(type);
  }

  /** The parent within a fragment on type `condition`. `top`: the fragment is not inside a field. */
  within(parent: Parent, condition: string, top: boolean): Parent {
    if (parent.introspection) return parent;
    if (this.#schema === undefined)
      return top ? parent : this.#named(condition, this.#rootsLike(condition), parent);
    if (this.#typeOf(condition) === undefined) {
      malformed("the type of a fragment is not in the schema");
    }
    if (!this.#overlap(parent.type, condition))
      malformed("the type of a fragment is not possible at this position");
    // a type condition does not change a root field
    return { ...this.#typed(condition), ...(parent.root && { root: parent.root }) };
  }

  /**
   * Without a schema.
   *
   * @param roots - possible root types
   * @param around - the name of the type of the enclosing fragment
   */
  #named(name: string, roots: readonly string[], around?: Parent): Parent {
    const names = [...(around?.names ?? []), this.key(name)];
    const root = [...(around?.root ?? []), ...roots];
    return { names, ...(root.length > 0 && { root }), introspection: false };
  }

  #rootsLike(name: string): readonly string[] {
    return Object.values(this.#roots).filter((root) => this.key(root) === this.key(name));
  }

  #typed(type: string): Parent {
    const names = this.#namesOf(type);
    return { names, type, ...(this.isRootType(type) && { root: names }), introspection: false };
  }

  /** GraphQL, section 5.5.2.3: whether a value may be of both types. */
  #overlap(around: string | undefined, condition: string): boolean {
    const pair = `${around ?? ""} ${condition}`;
    let overlap = this.#overlaps.get(pair);
    if (overlap === undefined) {
      const here = new Set(this.#possible(around));
      overlap = this.#possible(condition).some((type) => here.has(type));
      this.#overlaps.set(pair, overlap);
    }
    return overlap;
  }

  /** The object types that a value of type `name` may be. */
  #possible(name: string | undefined): readonly string[] {
    const type = this.#typeOf(name);
    return type?.possible ?? (type === undefined || name === undefined ? [] : [name]);
  }

  #typeOf(name: string | undefined): GraphqlTypeIR | undefined {
    return name === undefined ? undefined : own(this.#schema?.types, name);
  }

  /** The type, its interfaces, the possible types of its values, and their interfaces. */
  #namesOf(name: string): readonly string[] {
    let names = this.#names.get(name);
    if (names === undefined) {
      const type = this.#typeOf(name);
      const possible = type?.possible ?? [];
      const interfaces = [name, ...possible].flatMap((one) => this.#typeOf(one)?.interfaces ?? []);
      names = [...new Set([name, ...possible, ...interfaces])];
      this.#names.set(name, names);
    }
    return names;
  }
}

function own<T>(members: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined;
}
