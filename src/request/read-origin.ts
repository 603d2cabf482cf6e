import { readHost } from "./read-host.ts";

/** Default ports, which an origin omits (RFC 6454, section 6.2; RFC 9110, section 4.2). */
const DEFAULT_PORTS: ReadonlyMap<string, string> = new Map([
  ["http", "80"],
  ["https", "443"],
]);

/** RFC 6454, section 7: a scheme, a host and an optional port. No path, no user information, no list. */
const ORIGIN = /^([a-z][a-z0-9+.-]{0,31}):\/\/([^\s/?#@,\\]{1,300})$/i;

/**
 * Reads an Origin header's value, or an origin of the configuration.
 *
 * @returns the origin in canonical form: lower case, with its port (browsers write an IPv6 address in the same way in
 *   Origin and Host); `undefined` for `null` and anything else without a host
 */
export function readOrigin(text: string): string | undefined {
  const [, scheme, host] = ORIGIN.exec(text) ?? [];
  return scheme === undefined || host === undefined ? undefined : originOf(scheme, host);
}

/**
 * @param host - Host or :authority
 * @returns the origin of a resource on that host, in the form of {@link readOrigin}; `undefined` if the host is not
 *   valid
 */
export function originOf(scheme: string, host: string): string | undefined {
  const { name, port, valid } = readHost(host);
  if (!valid) return undefined;
  const lower = scheme.toLowerCase();
  // `0080` is 80
  const number = port === "" ? (DEFAULT_PORTS.get(lower) ?? "") : String(Number(port));
  return `${lower}://${name}:${number}`;
}
