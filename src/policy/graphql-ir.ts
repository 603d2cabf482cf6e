/** Limits of one request to a GraphQL endpoint, over all its operations together. */
export interface GraphqlLimitsIR {
  readonly depth: number;
  readonly aliases: number;
  readonly rootFields: number;
  readonly tokens: number;
}

/** Documents that requests may name instead of sending them, by id. */
export type GraphqlDocumentsIR = Readonly<Record<string, string>>;

/** The parts of a GraphQL schema that decisions need. */
export interface GraphqlSchemaIR {
  /** Names of the root types. An operation without a root type is not supported. */
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
  /** Name of the type inside all lists and non-null wrappers. */
  readonly type: string;
  /** The field is non-null: setting it to null makes its parent null. */
  readonly nonNull?: true;
  /** Default values of arguments, as JSON, where there is one. */
  readonly defaults?: Readonly<Record<string, unknown>>;
}
