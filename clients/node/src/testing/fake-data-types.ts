/** JSON Schema, as far as the API's requests use it. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly propertyNames?: JsonSchema;
  readonly minProperties?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
}

export interface FakeOperation {
  readonly method: string;
  readonly path: string;
  readonly body?: JsonSchema;
  readonly query: Readonly<Record<string, JsonSchema>>;
}

export interface FakeData {
  readonly operations: Readonly<Record<string, FakeOperation>>;
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly errors: Readonly<Record<string, { readonly status: number; readonly message: string }>>;
}
