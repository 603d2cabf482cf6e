import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv, type ValidateFunction } from "ajv";

/**
 * Compares a schema with its file in `schemas` (GATEHOUSE_UPDATE=1 writes it).
 *
 * @returns what validates by the file
 */
export function committedSchema(name: string, schema: object): ValidateFunction {
  const file = fileURLToPath(new URL(`../../schemas/${name}`, import.meta.url));
  const text = `${JSON.stringify(schema, null, 2)}\n`;
  if (process.env["GATEHOUSE_UPDATE"] === "1") writeFileSync(file, text);
  assert.equal(readFileSync(file, "utf8"), text);
  return new Ajv({ allErrors: true, allowUnionTypes: true }).compile(JSON.parse(text) as object);
}
