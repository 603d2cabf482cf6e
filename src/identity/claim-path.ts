import { isObject } from "../json/index.ts";
import type { Value, ValueObject } from "../policy/value.ts";

/** Where a claim is in a payload. */
export interface ClaimPath {
  /** As configured: a claim with exactly this name comes first. */
  readonly whole: string;
  readonly names: readonly string[];
}

/**
 * Reads `realm_access.roles` or `resource_access."my.client".roles`: names between dots, each as it is, or quoted as in
 * JSON if it contains dots. A text without quotes is always a path, whatever it contains.
 *
 * @returns `undefined` if the text is empty, or has quotes in other places than around a name
 */
export function parseClaimPath(text: string): ClaimPath | undefined {
  if (text === "") return undefined;
  if (!text.includes('"')) return { whole: text, names: text.split(".") };
  const name = /"(?:[^"\\]|\\.)*"|[^".]+/y;
  const names: string[] = [];
  do {
    const [found] = name.exec(text) ?? [];
    const read = found === undefined ? undefined : unquoted(found);
    if (read === undefined) return undefined;
    names.push(read);
    if (name.lastIndex === text.length) return { whole: text, names };
  } while (text[name.lastIndex++] === ".");
  return undefined;
}

/** @returns the claim by its whole name, otherwise by its path */
export function findClaim(payload: ValueObject, { whole, names }: ClaimPath): Value | undefined {
  if (Object.hasOwn(payload, whole)) return payload[whole];
  let value: Value | undefined = payload;
  for (const name of names) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

function unquoted(name: string): string | undefined {
  if (!name.startsWith('"')) return name;
  try {
    return String(JSON.parse(name));
  } catch {
    return undefined;
  }
}
