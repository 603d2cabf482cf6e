import { DATA } from "./fake-data.ts";
import type { JsonSchema } from "./fake-data-types.ts";

export interface Problem {
  readonly path: string;
  readonly message: string;
}

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [name: string]: Json;
}

export function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** What is wrong with a value; nothing, if it fits. */
export function problemsOf(value: Json | undefined, schema: JsonSchema, path = ""): readonly Problem[] {
  if (schema.$ref !== undefined) return problemsOf(value, DATA.schemas[schema.$ref] ?? {}, path);
  const wrong = (message: string) => [{ path, message }];
  if (value === undefined) return wrong("is required");
  if ("const" in schema)
    return value === schema.const ? [] : wrong(`must be ${JSON.stringify(schema.const)}`);
  if (schema.enum !== undefined && !schema.enum.includes(value))
    return wrong(`must be one of ${schema.enum.join(", ")}`);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choiceProblems(value, choices, path);
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.some((type) => hasType(value, type)))
    return wrong(`must be ${types.join(" or ")}`);
  if (typeof value === "string") return textProblem(value, schema).flatMap(wrong);
  if (typeof value === "number") {
    const { minimum = -Infinity, maximum = Infinity } = schema;
    return value < minimum || value > maximum ? wrong(`must be from ${minimum} to ${maximum}`) : [];
  }
  if (Array.isArray(value)) {
    const { minItems = 0, maxItems = Infinity, items = {} } = schema;
    if (value.length < minItems || value.length > maxItems)
      return wrong(`must have ${minItems} to ${maxItems} items`);
    return value.flatMap((item, index) => problemsOf(item, items, join(path, String(index))));
  }
  return typeof value === "object" && value !== null ? objectProblems(value, schema, path) : [];
}

/** Of the choice that comes nearest: for an object, the one whose constant members it has. */
function choiceProblems(value: Json, choices: readonly JsonSchema[], path: string): readonly Problem[] {
  const found = choices.map((choice) => problemsOf(value, choice, path));
  return found.reduce((best, one) => (one.length < best.length ? one : best));
}

function objectProblems(value: JsonObject, schema: JsonSchema, path: string): readonly Problem[] {
  const {
    properties = {},
    required = [],
    additionalProperties = true,
    propertyNames,
    minProperties = 0,
  } = schema;
  const names = Object.keys(value);
  if (names.length < minProperties) return [{ path, message: "must have a member" }];
  const missing = required
    .filter((name) => !(name in value))
    .map((name) => ({ path: join(path, name), message: "is required" }));
  const present = names.flatMap((name) => {
    const place = join(path, name);
    const known = properties[name];
    if (known !== undefined) return problemsOf(value[name], known, place);
    if (additionalProperties === false) return [{ path: place, message: "is not known" }];
    const named = propertyNames === undefined ? [] : problemsOf(name, propertyNames, place);
    return additionalProperties === true
      ? named
      : [...named, ...problemsOf(value[name], additionalProperties, place)];
  });
  return [...missing, ...present];
}

function textProblem(
  value: string,
  { minLength = 0, maxLength = Infinity, pattern, format }: JsonSchema,
): string[] {
  const length = Array.from(value).length;
  if (length < minLength || length > maxLength) return [`must have ${minLength} to ${maxLength} characters`];
  if (pattern !== undefined && !new RegExp(pattern, "u").test(value)) return [`must match ${pattern}`];
  if (format === "date-time" && (Number.isNaN(Date.parse(value)) || !value.includes("T")))
    return ["must be a date and time"];
  if (format === "email" && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value)) return ["must be an e-mail address"];
  if (format === "uri" && !URL.canParse(value)) return ["must be a URL"];
  return [];
}

function hasType(value: Json, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isSafeInteger(value);
    default:
      return typeof value === type;
  }
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** The members with a default that were left out. */
export function defaultsOf(schema: JsonSchema, value: JsonObject): JsonObject {
  const target = schema.$ref === undefined ? schema : (DATA.schemas[schema.$ref] ?? {});
  const choices = target.oneOf?.map((choice) =>
    choice.$ref === undefined ? choice : (DATA.schemas[choice.$ref] ?? {}),
  );
  const { properties = {} } = choices?.find((choice) => problemsOf(value, choice).length === 0) ?? target;
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, property]) =>
      "default" in property ? [[name, structuredClone(property.default) as Json]] : [],
    ),
  );
}
