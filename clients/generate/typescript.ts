import { errorCodesOf, refName, typesOf, type Document, type Schema } from "./document.ts";

/** The types of the library for Node.js. */
export function typescriptOf(document: Document): string {
  const types = typesOf(document).map(({ name, schema }) =>
    isObject(schema) && schema.properties !== undefined
      ? `export interface ${name} ${objectOf(schema)}`
      : `export type ${name} = ${typeOf(schema)};`,
  );
  return [
    "// Generated from the OpenAPI document of the control plane: see clients/README.md.",
    `/** Every error code of the API. */\nexport const ERROR_CODES = [\n${errorCodesOf(document)
      .map((code) => `  ${JSON.stringify(code)},`)
      .join("\n")}\n] as const;`,
    "export type ErrorCode = (typeof ERROR_CODES)[number];",
    ...types,
    "",
  ].join("\n\n");
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return refName(schema.$ref);
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(" | ");
  if (Array.isArray(schema.type))
    return (schema.type as string[]).map((type) => typeOf({ ...schema, type })).join(" | ");
  switch (schema.type) {
    case "array":
      return arrayOf(typeOf(schema.items ?? {}));
    case "object":
      return objectOf(schema);
    case "integer":
      return "number";
    case "string":
    case "number":
    case "boolean":
    case "null":
      return schema.type;
    default:
      return "unknown";
  }
}

function arrayOf(item: string): string {
  return /[|{ ]/.test(item) ? `(${item})[]` : `${item}[]`;
}

function objectOf({ properties, required = [], additionalProperties }: Schema): string {
  if (properties === undefined)
    return `Record<string, ${typeof additionalProperties === "object" ? typeOf(additionalProperties) : "unknown"}>`;
  const members = Object.entries(properties).map(([name, schema]) => {
    const comment =
      schema.description === undefined ? "" : `/** ${schema.description.replaceAll("*/", "* /")} */\n`;
    return `${comment}${JSON.stringify(name)}${required.includes(name) ? "" : "?"}: ${typeOf(schema)};`;
  });
  if (typeof additionalProperties === "object") members.push("[name: string]: unknown;");
  return `{\n${members.join("\n")}\n}`;
}

function isObject(schema: Schema): boolean {
  return schema.type === "object";
}
