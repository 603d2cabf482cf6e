import type { Reporter } from "../diagnostics/reporter.ts";
import type { PolicySetSource } from "../read/index.ts";

/** Looks for one kind of mistake in a policy set whose parts are each well-formed. */
export type PolicySetCheck = (set: PolicySetSource, report: Reporter) => void;
