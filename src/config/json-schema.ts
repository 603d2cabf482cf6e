import * as z from "zod";
import { keyInfo, valueTypes } from "../setting-types.ts";
import { gatewaySchema } from "./schema.ts";

/**
 * The schema of gateway.yaml, for editors (JSON Schema, draft 7): keys, types, defaults and descriptions as the program has them.
 * Reading checks more, above all what depends on several keys.
 */
export function gatewayFileSchema(): Readonly<Record<string, unknown>> {
  const { $schema, ...schema } = jsonSchemaOf(gatewaySchema);
  return { $schema, title: "Gatehouse gateway.yaml", ...schema };
}

function jsonSchemaOf(schema: z.ZodType): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(schema, {
    io: "input",
    target: "draft-7",
    unrepresentable: "any",
    override({ zodSchema, jsonSchema }) {
      const info = keyInfo.get(zodSchema as unknown as z.ZodType);
      const type = valueTypes.get(zodSchema as unknown as z.ZodType);
      if (type?.each !== undefined) Object.assign(jsonSchema, oneOrMore(type.each() as z.ZodType));
      if (type !== undefined) Object.assign(jsonSchema, type.json, { description: sentence(type.name) });
      if (info !== undefined) jsonSchema.description = info.description;
      if (info?.fallback !== undefined) jsonSchema.default = info.fallback;
      // what a section has if it is left out
      if (jsonSchema.type === "object" && jsonSchema.properties !== undefined) delete jsonSchema.default;
    },
  });
}

function oneOrMore(item: z.ZodType) {
  const { $schema: _, ...items } = jsonSchemaOf(item);
  return { type: undefined, items: undefined, anyOf: [items, { type: "array", minItems: 1, items }] };
}

function sentence(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}.`;
}
