import { promisify } from "node:util";
import { setImmediate as nextTurn } from "node:timers/promises";
import { gzip } from "node:zlib";
import type * as z from "zod";
import type { SerializedData } from "../frame/serialized.ts";
import type { GatewayState } from "./read-state.ts";
import { stateData } from "./schemas.ts";

/** Entries that are written in one turn of the event loop. */
const SLICE = 500;
/** What is smaller fits a few packets as it is. */
const COMPRESSED_FROM = 16_384;

/** All that the schema has: what is added there is told, or does not compile. */
const MEMBERS = Object.keys(stateData.shape) as (keyof typeof stateData.shape)[];

const compress = promisify(gzip);

/** Writes a state through its schema, in slices: it may hold every customer, and others wait meanwhile. */
export async function serializeState(state: GatewayState): Promise<SerializedData> {
  const members: string[] = [];
  for (const name of MEMBERS) {
    const value: unknown = state[name];
    const schema = stateData.shape[name];
    const json = Array.isArray(value) ? await serializeList(schema, value) : serializeOne(schema, value);
    if (json !== undefined) members.push(`${JSON.stringify(name)}:${json}`);
  }
  const json = Buffer.from(`{${members.join(",")}}`);
  if (json.length < COMPRESSED_FROM) return { json };
  return { json, gzip: await compress(json) };
}

/** @returns `undefined` for an optional member that is not there */
function serializeOne(schema: z.ZodType, value: unknown): string | undefined {
  const parsed = schema.parse(value);
  return parsed === undefined ? undefined : JSON.stringify(parsed);
}

async function serializeList(schema: z.ZodType, items: readonly unknown[]): Promise<string> {
  const slices: string[] = [];
  for (let from = 0; from < items.length; from += SLICE) {
    if (from > 0) await nextTurn();
    slices.push(JSON.stringify(schema.parse(items.slice(from, from + SLICE))).slice(1, -1));
  }
  return `[${slices.join(",")}]`;
}
