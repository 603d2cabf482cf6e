import * as z from "zod";
import { isObject } from "../../../json/index.ts";

export type Json = Readonly<Record<string, unknown>>;

/** Creates JSON Schemas from the schemas that routes validate with; those with an `id` are collected and referenced. */
export interface SchemaWriter {
  write(schema: z.ZodType, io: "input" | "output"): Json;
  /** Collects a schema that was written by hand, and refers to it. @throws if another one has the name */
  name(name: string, schema: Json): Json;
  /** The collected schemas, by id. */
  readonly named: Readonly<Record<string, Json>>;
}

export function createSchemaWriter(): SchemaWriter {
  const named: Record<string, Json> = {};

  function keep(id: string, schema: Json): void {
    const before = named[id];
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(schema))
      throw new Error(`two schemas of the API have the id ${id}`);
    named[id] = schema;
  }

  return {
    named,
    name(id, schema) {
      keep(id, schema);
      return schemaRef(id);
    },
    write(schema, io) {
      const { $defs = {}, ...root } = toJsonSchema(schema, io);
      for (const [id, part] of Object.entries($defs as Record<string, Json>)) keep(id, referring(part));
      return referring(root);
    },
  };
}

export function schemaRef(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

/** A schema as a part of the document, which has its own place for definitions and declares the dialect. */
function referring(schema: Json): Json {
  const text = JSON.stringify(schema, (name, value: unknown) =>
    name === "$ref" && typeof value === "string" ? value.replace("#/$defs/", "#/components/schemas/") : value,
  );
  return Object.fromEntries(
    Object.entries(JSON.parse(text) as Json).filter(([name]) => name !== "$schema" && name !== "id"),
  );
}

function toJsonSchema(schema: z.ZodType, io: "input" | "output"): Json {
  return z.toJSONSchema(schema, {
    io,
    target: "draft-2020-12",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema: part }) => {
      // of an object whose members have defaults of their own: generators of clients take it for an invalid value
      if (isObject(part.default) && Object.keys(part.default).length === 0) delete part.default;
      // an explicit `type` replaces the generated one, which describes only how the input is parsed
      const own = z.globalRegistry.get(zodSchema);
      if (own?.["type"] === undefined) return;
      for (const name of Object.keys(part))
        if (!(name in own) && name !== "default") Reflect.deleteProperty(part, name);
    },
  });
}
