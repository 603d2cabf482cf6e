import { nearestHint, quoted } from "../../text/index.ts";
import { reportWithin } from "../syntax/report-within.ts";
import type { Reporter } from "../diagnostics/reporter.ts";
import { METHODS } from "../pattern/methods.ts";
import { parsePattern, type Wildcards } from "../pattern/parse-pattern.ts";
import type { ScalarNode, YamlNode } from "../syntax/tree.ts";
import type { PatternSource } from "./policy-source.ts";
import { readString } from "./reader.ts";

export interface PatternForm {
  /** Whether a method precedes the path. If it is optional and missing, the rule is for every method. */
  readonly method: "required" | "optional" | "none";
  readonly wildcards: Wildcards;
}

/**
 * Reads `GET /path` or `/path`.
 *
 * @returns `undefined` if it is not accepted, which is reported
 */
export function readPattern(
  report: Reporter,
  node: YamlNode,
  what: string,
  form: PatternForm,
): PatternSource | undefined {
  const scalar = readString(report, node, what);
  if (scalar === undefined) return undefined;
  const written = form.method === "none" ? null : /^([^\s/]+)(?: +|$)/.exec(scalar.text);
  if (written === null && form.method === "required") {
    reportMissingMethod(report, scalar, what);
    return undefined;
  }

  const [prefix = "", method = "*"] = written ?? [];
  const text = scalar.text.slice(prefix.length);
  const known = isMethod(report, scalar, method);
  const { segments, findings } = parsePattern(text, form.wildcards);
  for (const finding of findings) {
    const { start, end } = finding;
    reportWithin(report, scalar, { ...finding, start: start + prefix.length, end: end + prefix.length });
  }
  const good = known && findings.every(({ severity }) => severity === "warning");
  return good ? { node: scalar, method, text, segments } : undefined;
}

function reportMissingMethod(report: Reporter, scalar: ScalarNode, what: string): void {
  const example = scalar.text.startsWith("/") ? scalar.text.slice(0, 60) : "/orders/{id}";
  const hint = `write \`GET ${example}\`, or \`* ${example}\` for every method`;
  const finding = {
    severity: "error",
    code: "missing-method",
    message: `${what} has no method`,
    hint,
  } as const;
  reportWithin(report, scalar, { ...finding, start: 0, end: scalar.text.length });
}

function isMethod(report: Reporter, scalar: ScalarNode, method: string): boolean {
  if (method === "*" || METHODS.includes(method)) return true;
  const capitals = method.toUpperCase();
  const hint = () =>
    METHODS.includes(capitals)
      ? `write methods in upper case: \`${capitals}\``
      : nearestHint(capitals, METHODS);
  const message = `${quoted(method)} is not an HTTP method`;
  reportWithin(report, scalar, {
    severity: "error",
    code: "unknown-method",
    message,
    hint,
    start: 0,
    end: method.length,
  });
  return false;
}
