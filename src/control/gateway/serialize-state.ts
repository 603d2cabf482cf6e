import { promisify } from "node:util";
import { setImmediate as nextTurn } from "node:timers/promises";
import { gzip } from "node:zlib";
import type * as z from "zod";
import { stateData } from "../../protocol/index.ts";
import type { SerializedData } from "../platform/frame/serialized.ts";
import type { GatewayState } from "./read-state.ts";

/** Entries serialized per turn of the event loop. */
const SLICE = 500;
/** In bytes. A smaller state fits into a few packets uncompressed. */
const COMPRESSED_FROM = 16_384;

/** All members of the schema, so that one added there is sent as well, or does not compile. */
const MEMBERS = Object.keys(stateData.shape) as (keyof typeof stateData.shape)[];

const compress = promisify(gzip);

/** Serializes a state through its schema, in slices, because it may contain every customer and other work is waiting. */
export async function serializeState(state: GatewayState): Promise<SerializedData> {
  const members: string[] = [];
  for (const name of MEMBERS) {
    const value: unknown = state[name];
    // optional members only: the type requires the others
    if (value === undefined) continue;
    const schema = stateData.shape[name];
    const json = Array.isArray(value)
      ? await serializeList(schema, value)
      : JSON.stringify(schema.parse(value));
    members.push(`${JSON.stringify(name)}:${json}`);
  }
  const json = Buffer.from(`{${members.join(",")}}`);
  if (json.length < COMPRESSED_FROM) return { json };
  return { json, gzip: await compress(json) };
}

async function serializeList(schema: z.ZodType, items: readonly unknown[]): Promise<string> {
  const slices: string[] = [];
  for (let from = 0; from < items.length; from += SLICE) {
    if (from > 0) await nextTurn();
    slices.push(JSON.stringify(schema.parse(items.slice(from, from + SLICE))).slice(1, -1));
  }
  return `[${slices.join(",")}]`;
}
