/** Bounds of one request to a GraphQL endpoint, all its operations together. */
export interface GraphqlLimitsIR {
  readonly depth: number;
  readonly aliases: number;
  readonly rootFields: number;
  readonly tokens: number;
}

/** A GraphQL schema as far as decisions need it. */
export interface GraphqlSchemaIR {
  /** Names of the root types; an operation without one is not served. */
  readonly roots: { readonly query?: string; readonly mutation?: string; readonly subscription?: string };
  /** Object, interface and union types by name. */
  readonly types: Readonly<Record<string, GraphqlTypeIR>>;
}

export interface GraphqlTypeIR {
  /** Empty for a union. */
  readonly fields: Readonly<Record<string, GraphqlFieldIR>>;
  /** For interfaces and unions: the object types that a value may be. */
  readonly possible?: readonly string[];
  /** For objects and interfaces: the interfaces that they implement. */
  readonly interfaces?: readonly string[];
}

export interface GraphqlFieldIR {
  /** Name of the type below all lists and non-nulls. */
  readonly type: string;
  /** The field itself cannot be null: nulling it nulls what is around it. */
  readonly nonNull?: true;
  /** Default values of arguments that have one, as JSON. */
  readonly defaults?: Readonly<Record<string, unknown>>;
}
