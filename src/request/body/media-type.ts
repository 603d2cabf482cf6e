/** How to read a body, according to its Content-Type. */
export type BodyFormat =
  | { readonly kind: "json" }
  /** Not JSON: the gateway does not parse it. */
  | { readonly kind: "other" }
  /** Ambiguous: two stacks could read it differently. */
  | { readonly kind: "ambiguous"; readonly why: string };

const JSON_FORMAT: BodyFormat = { kind: "json" };
const OTHER: BodyFormat = { kind: "other" };

/** RFC 9110, section 5.6.2. */
const TOKEN = /[!#$%&'*+\-.^_`|~0-9a-z]+/iy;
/** Section 8.3.1: `type/subtype`. */
const TYPE = /[!#$%&'*+\-.^_`|~0-9a-z]+\/[!#$%&'*+\-.^_`|~0-9a-z]+/iy;
/** Section 5.6.4. */
const QUOTED_STRING = /"(?:[^"\\]|\\.)*"/y;

/** `application/json` and `application/*+json` (RFC 6839, section 3.1). */
const JSON_TYPE = /^application\/(?:json|.+\+json)$/;

/** Reads the values of Content-Type. RFC 8259, section 8.1: JSON is UTF-8; another charset means different bytes. */
export function bodyFormat(contentTypes: readonly string[]): BodyFormat {
  const [contentType, ...others] = contentTypes;
  if (contentType === undefined) return OTHER;
  if (others.length > 0) return ambiguous("the header `content-type` is repeated");
  if (contentType === "application/json") return JSON_FORMAT;

  const scanner = new Scanner(contentType);
  scanner.skipBlanks();
  const type = scanner.match(TYPE)?.toLowerCase();
  scanner.skipBlanks();
  if (type === undefined || !scanner.atBoundary()) {
    return ambiguous("the header `content-type` does not name exactly one media type");
  }
  const json = JSON_TYPE.test(type);

  let charsets = 0;
  while (scanner.take(";")) {
    const parameter = readParameter(scanner);
    if (parameter === undefined) return ambiguous("the parameters of `content-type` are malformed");
    if (!json || parameter.name !== "charset") continue;
    charsets += 1;
    if (charsets > 1 || !/^"?utf-?8"?$/i.test(parameter.value))
      return ambiguous("JSON in a charset other than UTF-8");
  }
  return json ? JSON_FORMAT : OTHER;
}

/** RFC 9110, section 5.6.6: empty, or `name=value` without blanks around `=`; `undefined` for anything else. */
function readParameter(scanner: Scanner): { readonly name: string; readonly value: string } | undefined {
  scanner.skipBlanks();
  const name = scanner.match(TOKEN);
  let value: string | undefined = "";
  if (name !== undefined) {
    if (!scanner.take("=")) return undefined;
    value = scanner.match(TOKEN) ?? scanner.match(QUOTED_STRING);
  }
  scanner.skipBlanks();
  if (value === undefined || !scanner.atBoundary()) return undefined;
  return { name: name?.toLowerCase() ?? "", value };
}

/** Scans a header value from left to right without backtracking, in time linear in its length. */
class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** At the end, or before the next parameter. */
  atBoundary(): boolean {
    return this.#at === this.#text.length || this.#text[this.#at] === ";";
  }

  skipBlanks(): void {
    while (this.#text[this.#at] === " " || this.#text[this.#at] === "\t") this.#at += 1;
  }

  take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  /** @param pattern - sticky */
  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}

function ambiguous(why: string): BodyFormat {
  return { kind: "ambiguous", why };
}
