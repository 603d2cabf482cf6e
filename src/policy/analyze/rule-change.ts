import type { SourcePosition } from "../ir.ts";
import type { Attributes } from "../value.ts";
import type { Change } from "./compare.ts";
import type { Finding } from "./find-attributes.ts";

/** A request, or what a condition reads of one, that a change treats differently. */
export interface Witness {
  readonly attributes: Attributes;
  /** For path rules. */
  readonly method?: string;
  readonly segments?: readonly string[];
}

/** What a change means for one rule. */
export interface RuleChange {
  readonly section: string;
  /** What the rule is for, as in the policy. */
  readonly resource: string;
  readonly before?: { readonly id: string; readonly at: SourcePosition };
  readonly after?: { readonly id: string; readonly at: SourcePosition };
  readonly change: Change;
  /** A request that is permitted, or a value that is visible, only after the change. */
  readonly gained?: Witness;
  /** The same, only before the change. */
  readonly lost?: Witness;
  /** Why the change is undecided, or what else changed. */
  readonly notes: readonly string[];
}

/** @returns where the rules are */
export function placed(
  before: { readonly id: string; readonly at: SourcePosition } | undefined,
  after: { readonly id: string; readonly at: SourcePosition } | undefined,
): Pick<RuleChange, "before" | "after"> {
  return {
    ...(before && { before: { id: before.id, at: before.at } }),
    ...(after && { after: { id: after.id, at: after.at } }),
  };
}

/** @returns the examples that were found */
export function witnesses(
  gained: Finding,
  lost: Finding,
  of: (finding: Finding) => Witness | undefined,
): Pick<RuleChange, "gained" | "lost"> {
  const [more, less] = [of(gained), of(lost)];
  return { ...(more && { gained: more }), ...(less && { lost: less }) };
}

/** @returns why something is undecided */
export function reasons(gained: Finding, lost: Finding): string[] {
  return [
    ...new Set([gained, lost].flatMap((finding) => (finding.kind === "undecided" ? [finding.why] : []))),
  ];
}
