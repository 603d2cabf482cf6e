import { counted } from "../../text/index.ts";
import type { Diagnostic } from "../diagnostic.ts";
import type { Range, SourceText } from "./source-text.ts";

/** Findings beyond this many are counted, not listed. */
export const MAX_DIAGNOSTICS = 100;

/** A position in a file. */
export interface SourceRange extends Range {
  readonly source: SourceText;
}

/**
 * The content of a finding. A hint that is costly to compute is a function, called only for findings that are shown.
 */
export interface DiagnosticContent {
  readonly severity: Diagnostic["severity"];
  readonly code: string;
  readonly message: string;
  readonly hint?: string | (() => string | undefined) | undefined;
}

interface Entry extends DiagnosticContent {
  readonly place: SourceRange;
  /** Equal for findings with the same content at the same position. */
  readonly key: string;
}

/**
 * Collects findings in bounded memory: beyond {@link MAX_DIAGNOSTICS}, the first ones are kept, errors before warnings.
 */
export class Reporter {
  #entries: Entry[] = [];
  #seen = new Set<string>();
  #dropped = 0;
  #errors = 0;

  /** True if no error was reported. */
  get clean(): boolean {
    return this.#errors === 0;
  }

  error(place: SourceRange, code: string, message: string, hint?: DiagnosticContent["hint"]): void {
    this.report(place, { severity: "error", code, message, hint });
  }

  warning(place: SourceRange, code: string, message: string, hint?: DiagnosticContent["hint"]): void {
    this.report(place, { severity: "warning", code, message, hint });
  }

  /** Reports a finding. The same finding at the same position, which aliases cause, is reported once. */
  report(place: SourceRange, finding: DiagnosticContent): void {
    if (finding.severity === "error") this.#errors++;
    const key = `${place.source.file}\0${place.start}\0${finding.code}\0${finding.message}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#entries.push({ ...finding, place, key });
    if (this.#entries.length >= 20 * MAX_DIAGNOSTICS) this.#compact();
  }

  /** @returns all findings, by file, line and column; if some are not shown, a last one gives their number */
  diagnostics(): Diagnostic[] {
    this.#compact();
    const shown = this.#entries.toSorted(byPlace).map(toDiagnostic);
    const last = shown.at(-1);
    if (this.#dropped === 0 || last === undefined) return shown;
    const { file, line, column } = last;
    const message = `${counted(this.#dropped, "more finding")} not shown`;
    return [
      ...shown,
      { severity: last.severity, code: "more-findings", message, file, line, column, length: 1 },
    ];
  }

  #compact(): void {
    this.#entries.sort((a, b) => Number(isWarning(a)) - Number(isWarning(b)) || byPlace(a, b));
    const dropped = this.#entries.splice(MAX_DIAGNOSTICS);
    this.#dropped += dropped.length;
    this.#seen = new Set(this.#entries.map((entry) => entry.key));
  }
}

/** @returns `file:line:column`, for messages that refer to another position */
export function placeName({ source, start }: SourceRange): string {
  const { line, column } = source.position(start);
  return `${source.file}:${line}:${column}`;
}

function isWarning({ severity }: Entry): boolean {
  return severity === "warning";
}

function byPlace({ place: a, code: x }: Entry, { place: b, code: y }: Entry): number {
  return compare(a.source.file, b.source.file) || a.start - b.start || compare(x, y);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function toDiagnostic({ severity, code, message, hint, place }: Entry): Diagnostic {
  const { line, column } = place.source.position(place.start);
  const left = place.source.line(line).length - column + 1;
  const length = Math.max(1, Math.min(place.end - place.start, left));
  const advice = typeof hint === "function" ? hint() : hint;
  const diagnostic = { severity, code, message, file: place.source.file, line, column, length };
  return advice === undefined ? diagnostic : { ...diagnostic, hint: advice };
}
