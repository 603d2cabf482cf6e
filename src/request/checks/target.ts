import { quotedAscii } from "../../text/index.ts";
import { findPart, inQuery, type Finder, type Finding } from "./check.ts";

const SCHEME = /^(?:https?)?$/i;

/**
 * Only origin-form, and `*` for OPTIONS (RFC 9112, section 3.2). If switched off, absolute-form is also read; any other
 * form has no path and is still refused. The scheme is checked because it can smuggle a second authority.
 */
export const malformedTarget: Finder = ({ raw, originForm, readable }) => {
  if (!readable) return `the target ${quotedAscii(withoutQuery(raw.target))} has no path`;
  if (!originForm) return "the target is in absolute-form";
  return SCHEME.test(raw.scheme)
    ? undefined
    : `the scheme ${quotedAscii(raw.scheme)} is neither http nor https`;
};

function withoutQuery(target: string): string {
  return target.split(/[?#]/, 1).join("");
}

const MAX_TARGET = 64 * 1024;
const MAX_SEGMENTS = 256;
const MAX_PARAMETERS = 1000;
/** Envoy accepts 200 from a client, and adds a few. */
const MAX_HEADERS = 216;

/**
 * More than any real application needs. Where the application truncates, drops or ignores the rest, it reads a
 * different request.
 */
export const tooManyParts: Finder = ({ raw, rawSegments, rawParameters }) => {
  if (raw.target.length > MAX_TARGET) return `a target of ${raw.target.length} bytes`;
  if (rawSegments.length > MAX_SEGMENTS) return `${rawSegments.length} path segments`;
  if (rawParameters.length > MAX_PARAMETERS) return inQuery(`${rawParameters.length} query parameters`);
  return raw.headers.length > MAX_HEADERS ? `${raw.headers.length} headers` : undefined;
};

/** RFC 9112, section 3.2: a target has no fragment. Some stacks cut it off, others do not. */
export const fragment: Finder = ({ raw }) => (raw.target.includes("#") ? "a `#` in the target" : undefined);

const RAW_CONTROL = /[\0-\x1f\x7f]/;
const CONTROL = /[\0-\x1f\x7f-\x9f]/;
/** Line breaks are common in query values. Other control characters truncate strings or split lines in some stacks. */
const CONTROL_IN_VALUE = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/;

/** Controls (C0, DEL, and C1 in UTF-8), raw or encoded. */
export const controlCharacter: Finder = (reading) => {
  const { target } = reading.raw;
  if (RAW_CONTROL.test(target)) return rawIn(target, RAW_CONTROL, "control character");
  return findPart(
    reading,
    ({ kind, text }) => (kind === "value" ? CONTROL_IN_VALUE : CONTROL).test(text),
    "contains an encoded control character",
  );
};

const RAW_CHARACTER = /[ \x80-\uffff]/;

function rawIn(target: string, sought: RegExp, what: string): Finding {
  const path = target.split("?", 1).join("");
  return sought.test(path) ? `a raw ${what} in the path` : inQuery(`a raw ${what} in the query`);
}

/** RFC 3986, section 2: a URI is ASCII without spaces. Raw bytes are UTF-8 to one stack and Latin-1 to the next. */
export const unencodedCharacter: Finder = ({ raw }) =>
  RAW_CHARACTER.test(raw.target) ? rawIn(raw.target, RAW_CHARACTER, "space or non-ASCII byte") : undefined;

/** RFC 3986, section 2.1: two hex digits follow every `%`. If switched off, a lone `%` is a literal character. */
export const malformedPercentEncoding: Finder = (reading) =>
  findPart(reading, ({ malformed }) => malformed, "contains a `%` without two hex digits");

/** RFC 3629, section 3: overlong forms and surrogates are also invalid. If switched off, U+FFFD replaces them. */
export const invalidUtf8: Finder = (reading) => findPart(reading, ({ invalid }) => invalid, "is not UTF-8");
