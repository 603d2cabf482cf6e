import * as z from "zod";
import { gatewaySchema } from "./schema.ts";
import { keyInfo, valueTypes } from "../setting-types.ts";
import type { KeyInfo, ValueType } from "../setting-types.ts";

/** One key of gateway.yaml. */
export interface ConfigKey extends KeyInfo {
  readonly path: readonly string[];
  /** `gateway.listen_port` */
  readonly name: string;
  /** `GATEHOUSE_GATEWAY_LISTEN_PORT` */
  readonly variable: string;
  readonly type: ValueType;
}

/** Every key, in the schema's order. */
export const CONFIG_KEYS: readonly ConfigKey[] = [...keysOf(gatewaySchema, [])];

/** Names of the top-level sections. */
export const SECTIONS: readonly string[] = Object.keys(gatewaySchema.shape);

function* keysOf(schema: z.ZodType, path: readonly string[]): Generator<ConfigKey> {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject) {
    for (const [name, member] of Object.entries(inner.shape))
      yield* keysOf(member as z.ZodType, [...path, name]);
    return;
  }
  const info = keyInfo.get(schema);
  const type = valueTypes.get(inner);
  const name = path.join(".");
  if (info === undefined || type === undefined) throw new Error(`the schema does not describe ${name}`);
  yield { ...info, path, name, variable: `GATEHOUSE_${path.join("_").toUpperCase()}`, type };
}

/**
 * @returns the keys allowed in the section (or the map entry) at `path`; undefined if a value belongs there.
 */
export function namesAt(path: readonly PropertyKey[]): readonly string[] | undefined {
  let schema: z.ZodType = gatewaySchema;
  for (const step of path) {
    const inner = unwrap(schema);
    if (inner instanceof z.ZodObject) schema = inner.shape[String(step)] as z.ZodType;
    else if (inner instanceof z.ZodRecord) schema = inner.valueType as z.ZodType;
    else return undefined;
  }
  const inner = unwrap(schema);
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : undefined;
}

/** @returns the value of a configuration at `path`; undefined if a part of the path is missing */
export function valueAt(config: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (current, step) =>
      typeof current === "object" && current !== null ? Reflect.get(current, step) : undefined,
    config,
  );
}

function unwrap(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return unwrap(schema.unwrap() as z.ZodType);
  return schema;
}
