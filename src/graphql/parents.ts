import type { GraphqlFieldIR, GraphqlPlanIR, GraphqlSchemaIR, GraphqlTypeIR } from "../policy/index.ts";
import { malformed, type OperationKind } from "./types.ts";

/** What is known of the type that a field is selected on. */
export interface Parent {
  /** Rules for one of these types are for its fields; as {@link Parents.key} has them. */
  readonly names: readonly string[];
  /** With a schema: the type itself. */
  readonly type?: string;
  /** Names of the root type that it is, or may be: a field that no rule for one of these names gets the default. */
  readonly root?: readonly string[];
  /** Below `__schema` and `__type`: the same for everybody, and evaluated as a whole. */
  readonly introspection: boolean;
}

/** Names of root types where no schema says otherwise (GraphQL, section 3.3.1). */
const CONVENTIONAL: GraphqlSchemaIR["roots"] = {
  query: "Query",
  mutation: "Mutation",
  subscription: "Subscription",
};

/** Types as a plan knows them. */
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
   * How names of types are compared. Without a schema the name of a field, or what a client writes, stands for a type:
   * `... on Customer` is within a rule for `customer.ssn`.
   */
  key(type: string): string {
    return this.#schema ? type : type.toLowerCase();
  }

  /** The parent of an operation's root fields. */
  rootOf(kind: OperationKind): Parent {
    const name = this.#roots[kind] ?? malformed(`the schema has no ${kind}`);
    return this.#schema ? this.#typed(name) : this.#named(name, [name]);
  }

  /** @returns what a field with this parent is in the schema; `undefined` where there is no schema. */
  fieldOf(parent: Parent, name: string): GraphqlFieldIR | undefined {
    if (this.#schema === undefined) return undefined;
    return own(this.#typeOf(parent.type)?.fields, name) ?? malformed("a field that the schema does not have");
  }

  /** Whether type `type` of the schema, or one that a value of it may be, has the field. */
  hasField(type: string, name: string): boolean {
    const types = [type, ...this.#possible(type)];
    return types.some((one) => own(this.#typeOf(one)?.fields, name) !== undefined);
  }

  /** Whether `__schema` and `__type` stand here. Without a schema they may be anywhere. */
  hasIntrospection({ type }: Parent): boolean {
    return this.#schema === undefined || type === this.#roots.query;
  }

  /** The parent of the selections of field `name`, whose type in the schema is `type`. */
  below(name: string, type: string | undefined): Parent {
    if (this.#schema === undefined) {
      // `query` is the root once more (Relay); a `subscription` is what somebody has ordered
      const roots = this.#rootsLike(name).filter((root) => root === name || root === this.#roots.query);
      return this.#named(name, roots);
    }
    return type === undefined ? { names: [], introspection: false } : this.#typed(type);
  }

  /** The parent within a fragment on type `condition`; `top`: no field is around it. */
  within(parent: Parent, condition: string, top: boolean): Parent {
    if (parent.introspection) return parent;
    if (this.#schema === undefined)
      return top ? parent : this.#named(condition, this.#rootsLike(condition), parent);
    if (this.#typeOf(condition) === undefined) {
      malformed("a fragment on a type that the schema does not have");
    }
    if (!this.#overlap(parent.type, condition)) malformed("a fragment on a type that cannot be there");
    // a type condition does not make a root field another one
    return { ...this.#typed(condition), ...(parent.root && { root: parent.root }) };
  }

  /**
   * Without a schema.
   *
   * @param roots - root types that it may be
   * @param around - it is within a fragment on a type of this name
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

  /** The type, its interfaces, what a value of it may be, and the interfaces of that. */
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
