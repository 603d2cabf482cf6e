import { errorAt, type ConditionFinding } from "./finding.ts";
import { quoted } from "../../text/index.ts";

/** The value of a literal. If there are findings, the value is a placeholder that lets parsing continue. */
export interface DecodedLiteral<T> {
  readonly value: T;
  readonly findings: readonly ConditionFinding[];
}

/** RFC 8259 section 6. */
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** RFC 8259 section 7, and `\'` because strings may be in single quotes. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

/**
 * Characters that must be written as escapes: controls, and those that reorder or hide text, so that what a reviewer
 * sees is what is compared (CVE-2021-42574).
 */
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;

/** @param image a string with its quotes; @param start its offset in the condition */
export function decodeString(image: string, start: number): DecodedLiteral<string> {
  const findings: ConditionFinding[] = [];
  const body = image.slice(1, -1);
  const hidden = HIDDEN.exec(body);
  if (hidden !== null) {
    const at = start + 1 + hidden.index;
    findings.push(
      errorAt(
        { start: at, end: at + 1 },
        "control-character",
        `unescaped invisible character ${codePointName(hidden[0])} in a string`,
        `write it as \`${escapeOf(hidden[0])}\``,
      ),
    );
  }
  const value = body.replace(
    /\\(?:u([0-9a-fA-F]{4})|[^])/g,
    (escape: string, hex: string | undefined, offset: number) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      const character = ESCAPES.get(escape.slice(1));
      if (character !== undefined) return character;
      const at = start + 1 + offset;
      findings.push(
        errorAt(
          { start: at, end: at + 2 },
          "invalid-escape",
          `${quoted(escape)} is not an escape`,
          escape === "\\u" ? "`\\u` takes four hexadecimal digits" : "write a backslash itself as `\\\\`",
        ),
      );
      return "";
    },
  );
  if (!value.isWellFormed()) {
    findings.push(
      errorAt(
        { start, end: start + image.length },
        "lone-surrogate",
        "unpaired surrogate in an escape",
        "write a character beyond U+FFFF as two `\\u` escapes, or unescaped",
      ),
    );
  }
  return { value, findings };
}

/** @param image what looks like a number; @param start its offset in the condition */
export function decodeNumber(image: string, start: number): DecodedLiteral<number> {
  const span = { start, end: start + image.length };
  if (!JSON_NUMBER.test(image)) {
    const finding = errorAt(
      span,
      "invalid-number",
      `${quoted(image)} is not a number`,
      "write numbers as in JSON: `7`, `-1.5`, `2e3`",
    );
    return { value: 0, findings: [finding] };
  }
  const value = Number(image);
  const vanished = value === 0 && /[1-9]/.test(image.replace(/[eE].*/, ""));
  if (Number.isFinite(value) && !vanished) return { value, findings: [] };
  return {
    value: 0,
    findings: [
      errorAt(
        span,
        "number-out-of-range",
        `${quoted(image)} is too ${vanished ? "small" : "large"} for a number`,
      ),
    ],
  };
}

/** @returns `text` as a string of the language, in double quotes. */
export function encodeString(text: string): string {
  return JSON.stringify(text).replace(new RegExp(HIDDEN, "g"), escapeOf);
}

/** @returns `U+00A0`. */
export function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
