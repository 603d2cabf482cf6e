/** A response that cannot be encoded without changing its meaning. */
export class EncodeError extends Error {
  override readonly name = "EncodeError";
}

/** Names in lower case. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** Names come from configuration and are few; the limit guards against made-up ones. */
const knownNames = new Set<string>();
const MAX_KNOWN_NAMES = 1_000;

/**
 * RFC 9110, section 5.1: a field name is a token. Lower case as in HTTP/2, and not a pseudo-header or `host`: those would
 * change the request's method, path or host after it was decided.
 */
export function assertHeaderName(name: string): void {
  if (knownNames.has(name)) return;
  if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name) || name === "host") {
    throw new EncodeError(`${JSON.stringify(name)} is not the name of a header that may be changed`);
  }
  if (knownNames.size < MAX_KNOWN_NAMES) knownNames.add(name);
}

const TAB = 0x09;
const SPACE = 0x20;
const DELETE = 0x7f;

/**
 * RFC 9110, section 5.5: CR, LF and NUL in a value are dangerous, and other control characters are useless. A text without
 * a UTF-8 form (a lone surrogate) would be changed.
 */
export function assertHeaderValue(name: string, value: string): void {
  let ascii = true;
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    if ((code < SPACE && code !== TAB) || code === DELETE) {
      throw new EncodeError(`control character in the value of header \`${name}\``);
    }
    if (code > DELETE) ascii = false;
  }
  if (!ascii && !value.isWellFormed())
    throw new EncodeError(`lone surrogate in the value of header \`${name}\``);
}
