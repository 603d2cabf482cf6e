/** One finding about a policy file. Findings are values: collected, sorted, and printed by the caller. */
export interface Diagnostic {
  readonly severity: "error" | "warning";
  /** Stable and kebab-case, e.g. `unknown-key`; tests and tools match it, never the message. */
  readonly code: string;
  /** Lower case, no final stop, the author's own text in backticks. */
  readonly message: string;
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1, in UTF-16 units. */
  readonly column: number;
  /** Length of the marked text in UTF-16 units, at least 1, within `line`. */
  readonly length: number;
  /** What to do about it, if there is more to say than the message does. */
  readonly hint?: string;
}

/** A file of a policy set: its name as shown to people, and its text. */
export interface PolicyFile {
  readonly name: string;
  readonly text: string;
}
