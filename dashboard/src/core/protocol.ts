import type { ExplainAsked, ExplainGiven } from "./explain-protocol.ts";
import type { Change } from "../../../src/policy/analyze/index.ts";
import type { Diagnostic, PolicyFile } from "../../../src/policy/diagnostic.ts";

export type { Change, Diagnostic, PolicyFile };

/** A policy set as it is edited: its name, for files that do not say it, and its files. */
export interface SourceSet {
  readonly name: string;
  readonly files: readonly PolicyFile[];
}

/** What the compiler says, and what the editor offers. */
export interface Checked {
  readonly diagnostics: readonly Diagnostic[];
  /** Absent if the set has an error. */
  readonly set?: {
    readonly name: string;
    readonly version: string;
    readonly digest: string;
    readonly rules: number;
    /** Attribute paths that conditions of the set read, such as `user.role`. */
    readonly reads: readonly string[];
  };
}

export interface Formatted {
  /** Absent if the file has an error. */
  readonly text?: string;
  readonly diagnostics: readonly Diagnostic[];
}

export interface CaseView {
  readonly name: string;
  readonly line: number;
  readonly ok: boolean;
  readonly expected: string;
  readonly actual: string;
  readonly differences: readonly string[];
  readonly explanation?: string;
}

export interface SuiteView {
  readonly file: string;
  readonly cases: readonly CaseView[];
}

/** What the tests show of one condition, and where it is. */
export interface CoverageView {
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly true: number;
  readonly false: number;
  readonly unknown: number;
  /** Empty if the tests show everything that can be shown of it. */
  readonly gap: string;
}

/** Either the diagnostics of suites and set, or the results. */
export interface Tested {
  readonly diagnostics: readonly Diagnostic[];
  readonly suites: readonly SuiteView[];
  readonly coverage: readonly CoverageView[];
}

/** A request that two sets decide differently, and what each says about it. */
export interface WitnessView {
  readonly request: string;
  readonly attributes: string;
  readonly before?: string;
  readonly after?: string;
}

export interface ChangeView {
  readonly change: Change;
  readonly resource: string;
  readonly section: string;
  readonly place: string;
  readonly notes: readonly string[];
  readonly gained?: WitnessView;
  readonly lost?: WitnessView;
}

export interface Compared {
  /** Of the set that has errors; then there are no changes. */
  readonly diagnostics: readonly Diagnostic[];
  readonly changes: readonly ChangeView[];
}

/** What the page asks, by name. */
export interface Tasks {
  readonly check: { readonly asks: SourceSet; readonly gives: Checked };
  readonly format: { readonly asks: PolicyFile; readonly gives: Formatted };
  readonly test: {
    readonly asks: { readonly set: SourceSet; readonly suites: readonly PolicyFile[] };
    readonly gives: Tested;
  };
  readonly compare: {
    readonly asks: { readonly before: SourceSet; readonly after: SourceSet };
    readonly gives: Compared;
  };
  readonly explain: { readonly asks: ExplainAsked; readonly gives: ExplainGiven };
}
export type TaskName = keyof Tasks;

export interface Asked {
  readonly id: number;
  readonly task: TaskName;
  readonly input: unknown;
}

/** Any number of times how far it is, then the result or the failure. */
export type Answered =
  | { readonly id: number; readonly done: number; readonly total: number }
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: string };
