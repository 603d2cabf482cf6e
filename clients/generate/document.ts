/** What the generators read of an OpenAPI document, and no more. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly description?: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** A schema with the name under which both libraries have its type. */
export interface NamedSchema {
  readonly name: string;
  readonly schema: Schema;
}

/** One method of one path. */
export interface RouteOf {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export function routesOf(document: Document): readonly RouteOf[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/**
 * The types of the libraries: every schema but the envelopes, which the libraries open, and one for the query of each
 * operation that has one.
 */
export function typesOf(document: Document): readonly NamedSchema[] {
  const schemas = Object.entries(document.components.schemas)
    .filter(([name, { properties }]) => name !== "Error" && properties?.["success"] === undefined)
    .map(([name, schema]) => ({ name, schema }));
  const queries = routesOf(document).flatMap(({ operation }) => {
    const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === "query");
    if (parameters.length === 0) return [];
    const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
    const required = parameters.flatMap((parameter) => (parameter.required === true ? [parameter.name] : []));
    return [{ name: queryName(operation.operationId), schema: { type: "object", properties, required } }];
  });
  return [...schemas, ...queries];
}

export function errorCodesOf(document: Document): readonly string[] {
  const error = document.components.schemas["Error"]?.properties?.["error"];
  return (error?.properties?.["code"]?.enum ?? []) as readonly string[];
}

export function refName(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}

function queryName(operationId: string): string {
  return `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Query`;
}
