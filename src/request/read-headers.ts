import { decodeLatin1 } from "./decode.ts";
import type { RawRequest } from "./types.ts";

/** The headers of a request, with what is wrong with them. */
export interface HeaderReading {
  /** Values by name, without `host`. Null prototype. */
  readonly byName: Readonly<Record<string, readonly string[]>>;
  readonly hosts: readonly string[];
  /** The first name that is not a lower-case token. */
  readonly malformedName: string | undefined;
  /** Name of the first header whose value is malformed. */
  readonly malformedValue: string | undefined;
  /** The first name with an underscore that is otherwise a token. */
  readonly underscoreName: string | undefined;
}

const NONE: readonly string[] = [];
const UNDERSCORE = 0x5f;
const TAB = 0x09;
const SPACE = 0x20;

/** RFC 9110, section 5.6.2, without capitals: 1 for the characters of a token. */
const TOKEN = new Uint8Array(256);
for (const character of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz")
  TOKEN[character.charCodeAt(0)] = 1;

const BEYOND_PRINTABLE = /[^\x20-\x7e]/;
/** C1 controls also count as controls in UTF-8. */
const C1 = /[\x80-\x9f]/;

/** Reads the headers; names in lower case, values as UTF-8 and without the whitespace around them. */
export function readHeaders(headers: RawRequest["headers"]): HeaderReading {
  const byName = Object.create(null) as Record<string, string[]>;
  let hosts = NONE;
  let malformedName: string | undefined;
  let malformedValue: string | undefined;
  let underscoreName: string | undefined;

  for (const [rawName, rawValue] of headers) {
    let name = rawName;
    const spelling = spellingOf(rawName);
    if (spelling === "malformed") {
      malformedName ??= rawName;
      name = rawName.toLowerCase();
    } else if (spelling === "underscore") underscoreName ??= rawName;

    let value = rawValue;
    let asLatin1: string | undefined;
    if (BEYOND_PRINTABLE.test(rawValue)) {
      const decoded = decodeValue(rawValue);
      if (!decoded.valid) {
        malformedValue ??= rawName;
        asLatin1 = trimBlanks(rawValue);
      }
      value = decoded.text;
    }
    value = trimBlanks(value);

    if (name === "host") hosts = [...hosts, value];
    else {
      const values = byName[name];
      if (values === undefined) byName[name] = [value];
      else values.push(value);
      if (asLatin1 !== undefined && asLatin1 !== value) byName[name]?.push(asLatin1);
    }
  }
  return { byName, hosts, malformedName, malformedValue, underscoreName };
}

function spellingOf(name: string): "token" | "underscore" | "malformed" {
  let underscore = false;
  for (let index = 0; index < name.length; index += 1) {
    const code = name.charCodeAt(index);
    if (TOKEN[code] !== 1) return "malformed";
    if (code === UNDERSCORE) underscore = true;
  }
  if (name === "") return "malformed";
  return underscore ? "underscore" : "token";
}

/** RFC 9110, section 5.5: CR, LF and NUL are dangerous; other controls except tab are useless. */
const CONTROL_BUT_TAB = /[\0-\x08\x0a-\x1f\x7f]/;

function decodeValue(bytes: string): { readonly text: string; readonly valid: boolean } {
  const { text, valid } = decodeLatin1(bytes);
  return { text, valid: valid && !CONTROL_BUT_TAB.test(text) && !C1.test(text) };
}

/** Removes optional whitespace as in RFC 9110, section 5.6.3, and no other. */
function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return end - start === text.length ? text : text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}
