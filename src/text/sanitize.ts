import { HIDDEN } from "./hidden.ts";

const PLAIN = /^[\x20-\x7e]*$/;

/**
 * All characters in Unicode's category "Other" (controls, bidi and other format characters, lone surrogates,
 * unassigned), and line ends.
 */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** The characters of a token in compact form, percent-encoded or not. */
const TOKEN_RUN = /(?:[\w.-]|%[0-9A-Fa-f]{2})+/g;
/**
 * The start of a JSON object in base64url: `{"` is `eyJ` or `eyI`, with a space after the brace `eyA`, with a line end
 * `ew`.
 */
const OBJECT_START = /(?:e|%65)(?:(?:y|%79)|(?:w|%77))/g;
const QUOTED_OBJECT = /^(?:e|%65)(?:y|%79)(?:J|%4[Aa])/;
/** The minimum lengths of a header such as `{"alg":"RS256"}`, and of a token part that is worth hiding. */
const MIN_HEADER = 16;
const MIN_FRAGMENT = 11;

/** Credentials after their scheme (RFC 9110 section 11.4), but not the words `bearer token`. */
const CREDENTIALS =
  /(?:bearer|dpop|basic)(?:[\s\p{Cc}\p{Cf}:=+"']|%20|%09|%3a|%3d)+(?!(?:tokens?|authentication)(?:[\s,.;:]|$))[^\s"',;]+/giu;

/** A name with its separator: `name=` and `"name":"`. */
const NAMED = /(?<![\w-])([\w-]+)(?:["']?\s?[=:]\s?["']|=)/giu;
/** Words in the names of members that contain secrets. */
const SECRET_NAME = /token|secret|passw(?:or)?d|api[_-]?key|assertion|authorization|cookie/iu;
const NAMED_VALUE = /[^\s&"',;]+/y;

/** Without one of these there is nothing to hide. That is the case for nearly all texts. */
const SUSPECT = /e[yw]|%65|bearer|basic|dpop|token|secret|passw|api[_-]?key|assertion|authorization|cookie/i;

/** Members whose values are never written. */
const SENSITIVE_NAME =
  /authorization|cookie|token|secret|passw(?:or)?d|api[_-]?key|credential|assertion|private[_-]?key/i;

/** Whether a member, header or parameter of this name probably holds a credential. */
export function isSensitiveName(name: string): boolean {
  return SENSITIVE_NAME.test(name);
}

/** The members in which an explanation keeps values from the request. */
const VALUE_MEMBERS = new Set([
  "value",
  "values",
  "actual",
  "expected",
  "left",
  "right",
  "operands",
  "read",
  "reads",
]);

/**
 * Text that is safe to log: tokens and credentials replaced with `***`, control and other invisible characters escaped
 * as `\u{7}`, at most `max` UTF-16 units. It is safe to apply twice: a secret stays hidden, and an escape is not
 * changed.
 */
export function sanitize(text: string, max: number): string {
  // text far beyond the limit cannot appear in the result, and must not cost time
  let safe = text.length > 4 * max ? text.slice(0, 4 * max) : text;
  if (SUSPECT.test(safe)) safe = hideSecrets(safe);
  if (!PLAIN.test(safe)) safe = safe.replace(UNPRINTABLE, spelledOut);
  return safe.length > max ? `${safe.slice(0, max - 3).toWellFormed()}...` : safe;
}

function hideSecrets(text: string): string {
  return hideNamed(text.replace(TOKEN_RUN, hideToken).replace(CREDENTIALS, HIDDEN));
}

/** Works in steps over disjoint parts of the text: a single expression for all of it could not be proven linear. */
function hideNamed(text: string): string {
  let safe = "";
  let done = 0;
  for (const { 0: beginning, 1: name = "", index } of text.matchAll(NAMED)) {
    // a name inside a hidden value has been hidden with it
    if (index < done || !SECRET_NAME.test(name)) continue;
    const start = index + beginning.length;
    NAMED_VALUE.lastIndex = start;
    if (!NAMED_VALUE.test(text)) continue;
    safe += text.slice(done, start) + HIDDEN;
    done = NAMED_VALUE.lastIndex;
  }
  return safe + text.slice(done);
}

/**
 * Hides a JWS or JWE in compact form (RFC 7515 section 3.1, RFC 7516 section 3.1) within a run of its characters, and a
 * truncated one at the start of a word. Everything after its start is removed.
 */
function hideToken(run: string): string {
  if (run.length < MIN_FRAGMENT) return run;
  const lastDot = run.lastIndexOf(".");
  const secondLastDot = run.lastIndexOf(".", lastDot - 1);
  for (const { index } of run.matchAll(OBJECT_START)) {
    const quoted = QUOTED_OBJECT.test(run.slice(index, index + 9));
    const startsWord = index === 0 || !/[A-Za-z0-9]/.test(run.charAt(index - 1));
    const fragment = quoted && startsWord && run.length - index >= MIN_FRAGMENT;
    const compact =
      (quoted || startsWord) && secondLastDot > index && run.indexOf(".", index) - index >= MIN_HEADER;
    if (fragment || compact) return run.slice(0, index) + HIDDEN;
  }
  return run;
}

function spelledOut(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Limits of what is copied from a value. */
const MAX_DEPTH = 24;
const MAX_NODES = 2_000;
const MAX_STRING = 1_024;

/**
 * A copy of any value as plain JSON with every string sanitized and the values of sensitively named members hidden. If
 * an object names something sensitive (as an entry of an explanation names the attribute that it read), its values are
 * also hidden. Bounded in depth and number of nodes; never throws.
 */
export function sanitizeValue(value: unknown): unknown {
  let nodes = 0;

  function visit(node: unknown, depth: number): unknown {
    if (++nodes > MAX_NODES || depth > MAX_DEPTH) return "...";
    switch (typeof node) {
      case "string":
        return sanitize(node, MAX_STRING);
      case "number":
        return Number.isFinite(node) ? node : null;
      case "boolean":
        return node;
      case "bigint":
        return node.toString();
      case "object":
        if (node === null) return null;
        if (node instanceof Error) return visitError(node, depth);
        if (Array.isArray(node))
          return node.slice(0, MAX_NODES).map((item: unknown) => visit(item, depth + 1));
        return visitMembers(node, depth);
      default:
        return null;
    }
  }

  function visitError(error: Error, depth: number): unknown {
    return {
      type: sanitize(error.name, 256),
      message: sanitize(error.message, MAX_STRING),
      ...(error.stack !== undefined && { stack: sanitizeLines(error.stack) }),
      ...(error.cause !== undefined && { cause: visit(error.cause, depth + 1) }),
      ...(visitMembers(error, depth) as object),
    };
  }

  function visitMembers(node: object, depth: number): unknown {
    const entries = Object.entries(node).slice(0, MAX_NODES);
    const namesSecret = entries.some(([, member]) => namesSensitive(member));
    const copy: [string, unknown][] = [];
    for (const [name, member] of entries) {
      if (member === undefined) continue;
      const hide = SENSITIVE_NAME.test(name) || (namesSecret && VALUE_MEMBERS.has(name));
      copy.push([
        sanitize(name, 256),
        hide && typeof member !== "boolean" ? HIDDEN : visit(member, depth + 1),
      ]);
    }
    // not by assignment: a member named __proto__ is data
    return Object.fromEntries(copy);
  }

  try {
    return visit(value, 0);
  } catch {
    return "unreadable";
  }
}

/** A stack trace keeps its line ends: JSON escapes them anyway. */
function sanitizeLines(text: string): string {
  const lines = text.slice(0, 8 * MAX_STRING).split("\n");
  return lines.map((line) => sanitize(line, MAX_STRING)).join("\n");
}

function namesSensitive(member: unknown): boolean {
  if (typeof member === "string") return isSensitiveName(member);
  return Array.isArray(member) && member.some((item) => typeof item === "string" && isSensitiveName(item));
}
