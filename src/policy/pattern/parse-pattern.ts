import { quoted } from "../../text/index.ts";
import type { SegmentIR } from "../ir.ts";

/** In UTF-16 units. */
export const MAX_PATTERN_LENGTH = 2048;
export const MAX_SEGMENTS = 64;

/**
 * The wildcards that a pattern may have. `rest`: a trailing `/**`. `web`: also `*`, which is one segment or, at the end
 * of the path, all the rest. `none`: none.
 */
export type Wildcards = "rest" | "web" | "none";

/** A mistake in a pattern, with its offsets in the text. */
export interface PatternFinding {
  readonly severity: "error" | "warning";
  readonly code: "invalid-pattern" | "suspicious-pattern";
  readonly message: string;
  readonly hint?: string;
  readonly start: number;
  readonly end: number;
}

/** Why a pattern or segment is not accepted. */
interface Refusal {
  readonly message: string;
  readonly hint?: string;
}

/** Text that no segment of a canonical request path contains, or that would match less than it seems to. */
const REFUSED: readonly (readonly [pattern: RegExp, message: string, hint?: string])[] = [
  [/^$/, "the path has an empty segment", "requests with `//` are refused"],
  [/^\.\.?$/, "the path has a dot segment", "requests with `.` and `..` segments are refused"],
  [/[\u0000-\u001F\u007F-\u009F]/, "the path has a control character"],
  [/^\s|\s$|[^\S ]/, "a segment begins or ends with white space"],
  [/%/, "the path has a `%`", "write the character itself: paths are compared decoded"],
  [/\?/, "the path has a `?`", "the query is not part of the path: use `request.query` in the condition"],
  [/#/, "the path has a `#`", "browsers do not send fragments; delete it"],
  [/;/, "the path has a `;`", "requests with path parameters are refused"],
  [/\\/, "the path has a backslash", "requests with backslashes are refused"],
  [
    /[{}]/,
    "a parameter must be a whole segment: `{name}`",
    "make the segment a parameter `{name}`, and use `path.name.startsWith(..)`",
  ],
  [
    /\*/,
    "a wildcard must be a whole segment",
    "make the segment a parameter `{name}`, and use `path.name.startsWith(..)`",
  ],
];

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Parses a path pattern such as `/api/customers/{customer_id}`. A trailing slash is ignored: `/a/` is `/a`.
 *
 * @returns the segments and the findings; if a finding is an error, the segments must not be used
 */
export function parsePattern(
  text: string,
  wildcards: Wildcards,
): { segments: SegmentIR[]; findings: PatternFinding[] } {
  const parts = text.slice(1).split("/");
  if (parts.at(-1) === "") parts.pop();
  const whole = refusalOf(text, parts.length);
  if (whole !== undefined) {
    return { segments: [], findings: [{ ...error(whole), start: 0, end: text.length }] };
  }

  const segments: SegmentIR[] = [];
  const findings: PatternFinding[] = [];
  const names = new Set<string>();
  let start = 1;
  for (const [index, part] of parts.entries()) {
    const place = { start, end: start + Math.max(1, part.length) };
    const segment = parseSegment(part, wildcards, index === parts.length - 1);
    if ("message" in segment) {
      findings.push({ ...error(segment), ...place });
    } else if (segment.kind === "param" && names.has(segment.name)) {
      findings.push({ ...error({ message: `duplicate parameter ${quoted(part)} in the path` }), ...place });
    } else {
      segments.push(segment);
      if (segment.kind === "param") names.add(segment.name);
      if (part.startsWith(":")) findings.push({ ...suspicious(part), ...place });
    }
    start += part.length + 1;
  }
  return { segments, findings };
}

/** @returns the names of a pattern's parameters. */
export function parametersOf(segments: readonly SegmentIR[]): string[] {
  return segments.flatMap((segment) => (segment.kind === "param" ? [segment.name] : []));
}

function refusalOf(text: string, segments: number): Refusal | undefined {
  if (/^[A-Z*]+ +\//.test(text))
    return { message: "a method is not allowed here", hint: "delete it: this applies to every method" };
  if (!text.startsWith("/")) return { message: "a path must begin with `/`" };
  if (text.length > MAX_PATTERN_LENGTH)
    return { message: `the path is longer than ${MAX_PATTERN_LENGTH} characters` };
  if (segments > MAX_SEGMENTS) return { message: `the path has more than ${MAX_SEGMENTS} segments` };
  return undefined;
}

function parseSegment(part: string, wildcards: Wildcards, last: boolean): SegmentIR | Refusal {
  if (part === "*" || part === "**") return parseWildcard(part, wildcards, last);
  const name = /^\{([^{}]*)\}$/.exec(part)?.[1];
  if (name !== undefined) {
    if (IDENTIFIER.test(name) && name !== "__proto__") return { kind: "param", name };
    return { message: `${quoted(name)} is not a valid parameter name`, hint: "use letters, digits and `_`" };
  }
  for (const [pattern, message, hint] of REFUSED) {
    if (pattern.test(part)) return hint === undefined ? { message } : { message, hint };
  }
  return { kind: "literal", value: part };
}

function parseWildcard(part: "*" | "**", wildcards: Wildcards, last: boolean): SegmentIR | Refusal {
  if (wildcards === "none")
    return { message: "a wildcard is not allowed here", hint: "use `{name}` for one segment" };
  if (last && (part === "**" || wildcards === "web")) return { kind: "rest" };
  if (part === "*" && wildcards === "web") return { kind: "any" };
  return part === "*"
    ? {
        message: "`*` is not allowed here",
        hint: "use `{name}` for one segment, or `/**` at the end for everything below",
      }
    : { message: "`**` is allowed only at the end of the path", hint: "use `{name}` for one segment" };
}

function error(refusal: Refusal): Omit<PatternFinding, "start" | "end"> {
  return { severity: "error", code: "invalid-pattern", ...refusal };
}

function suspicious(part: string): Omit<PatternFinding, "start" | "end"> {
  const message = `${quoted(part)} is a literal, not a parameter`;
  return {
    severity: "warning",
    code: "suspicious-pattern",
    message,
    hint: `for a parameter, write \`{${part.slice(1)}}\``,
  };
}
