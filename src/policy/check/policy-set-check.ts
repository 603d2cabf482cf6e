import type { Reporter } from "../diagnostics/reporter.ts";
import type { PolicySetSource } from "../read/index.ts";

/** Looks for one kind of mistake in a set whose parts are well-formed. */
export type PolicySetCheck = (set: PolicySetSource, report: Reporter) => void;
