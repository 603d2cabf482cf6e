import type { Identity } from "../../identity/types.ts";
import { readAttribute, type AttributePath, type Value } from "../../policy/evaluation.ts";

/** Changes to a request's headers before it reaches the application. No name is in both lists. */
export interface HeaderChanges {
  /** Set with OVERWRITE, which replaces a client's header of that name. */
  readonly set: readonly (readonly [name: string, value: string])[];
  readonly remove: readonly string[];
}

/** Headers that only the gateway reads, always removed. */
const GATEWAY_HEADERS = ["x-user-token", "x-backend-url"];
/** A client address that cannot be trusted; a trusted proxy's is kept. */
const PROXY_HEADERS = ["x-real-ip"];

/**
 * @param mapping - header name (lower case) to attribute path, e.g. `x-user-role` to `["user", "role"]`
 * @param reserved - further names that clients may not use, mapped or not
 * @returns a function that returns the headers for an identity (or for nobody). Every mapped header is either set or
 *   removed, so that the upstream only gets ours.
 */
export function createIdentityHeaders(
  mapping: readonly (readonly [header: string, path: AttributePath])[],
  reserved: readonly string[] = [],
): (identity: Identity | undefined, trustedPeer: boolean) => HeaderChanges {
  const known = new WeakMap<Identity, readonly (readonly [string, string])[]>();
  const names = [...new Set([...mapping.map(([header]) => header), ...reserved])];
  const fixed = (trusted: boolean) => (trusted ? GATEWAY_HEADERS : [...GATEWAY_HEADERS, ...PROXY_HEADERS]);
  const nobody = {
    true: { set: [], remove: [...names, ...fixed(true)] },
    false: { set: [], remove: [...names, ...fixed(false)] },
  };

  return (identity, trustedPeer) => {
    if (identity === undefined) return nobody[`${trustedPeer}`];
    let set = known.get(identity);
    if (set === undefined) {
      const attributes = { user: identity.user, customer: identity.customer };
      set = mapping.flatMap(([header, path]) => {
        const text = headerText(readAttribute(path, attributes));
        return text === undefined ? [] : [[header, text] as const];
      });
      known.set(identity, set);
    }
    const present = new Set(set.map(([name]) => name));
    return { set, remove: [...names.filter((name) => !present.has(name)), ...fixed(trustedPeer)] };
  };
}

/**
 * A list becomes one comma-separated value; a comma or percent sign inside an item is percent-encoded, so that one item
 * cannot look like two. Values that cannot be represented as a header (objects, control characters, empty values) are
 * left out.
 */
function headerText(value: Value | symbol | undefined): string | undefined {
  if (Array.isArray(value)) {
    const items = value.map((item: Value) => headerText(Array.isArray(item) ? undefined : item));
    if (items.length === 0 || items.includes(undefined)) return undefined;
    return items.map((item) => item?.replaceAll("%", "%25").replaceAll(",", "%2C")).join(",");
  }
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : undefined;
  if (typeof value === "boolean") return String(value);
  if (typeof value !== "string" || value === "") return undefined;
  return hasControl(value) || hasBlankEnds(value) || !value.isWellFormed() ? undefined : value;
}

/** RFC 9110, section 5.5: recipients strip white space around a header value, but ` admin` is not `admin`. */
function hasBlankEnds(text: string): boolean {
  return text.startsWith(" ") || text.endsWith(" ");
}

function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}
