/** How a body is to be read, by its Content-Type. */
export type BodyFormat =
  | { readonly kind: "json" }
  /** Not JSON: nothing here reads it. */
  | { readonly kind: "other" }
  /** Two stacks could take it for different things. */
  | { readonly kind: "ambiguous"; readonly why: string };

const OTHER: BodyFormat = { kind: "other" };

/** RFC 9110, section 8.3.1: `type/subtype`, then parameters, with nothing around `=`. */
const TYPE = /[ \t]*([!#$%&'*+\-.^_`|~0-9a-z]+\/[!#$%&'*+\-.^_`|~0-9a-z]+)[ \t]*(?=;|$)/iy;
const PARAMETER =
  /;[ \t]*(?:([!#$%&'*+\-.^_`|~0-9a-z]+)=([!#$%&'*+\-.^_`|~0-9a-z]+|"(?:[^"\\]|\\.)*"))?[ \t]*(?=;|$)/iy;

/** `application/json` and `application/*+json` (RFC 6839, section 3.1). */
const JSON_TYPE = /^application\/(?:json|.+\+json)$/;

/** Judges the values of Content-Type. RFC 8259, section 8.1: JSON is UTF-8, and other charsets mean different bytes. */
export function bodyFormat(contentTypes: readonly string[]): BodyFormat {
  const [contentType, ...others] = contentTypes;
  if (contentType === undefined) return OTHER;
  if (others.length > 0) return ambiguous("the header `content-type` is repeated");

  TYPE.lastIndex = 0;
  const type = TYPE.exec(contentType)?.[1]?.toLowerCase();
  if (type === undefined) return ambiguous("the header `content-type` names no single media type");
  const json = JSON_TYPE.test(type);

  let charsets = 0;
  PARAMETER.lastIndex = TYPE.lastIndex;
  while (PARAMETER.lastIndex < contentType.length) {
    const parameter = PARAMETER.exec(contentType);
    if (parameter === null) return ambiguous("the parameters of `content-type` are malformed");
    const [, name, value = ""] = parameter;
    if (!json || name?.toLowerCase() !== "charset") continue;
    charsets += 1;
    if (charsets > 1 || !/^"?utf-?8"?$/i.test(value)) return ambiguous("JSON in another charset than UTF-8");
  }
  return json ? { kind: "json" } : OTHER;
}

function ambiguous(why: string): BodyFormat {
  return { kind: "ambiguous", why };
}
