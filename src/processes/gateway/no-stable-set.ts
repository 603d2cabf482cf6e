import { compilePolicySet } from "../../policy/index.ts";
import { createSnapshot, type Snapshot } from "../../decision/policies/snapshot.ts";

const TEXT = "policy_set: none\nversion: shadow\ndefault: allow\npreflight: allow\n";

/** @returns the set of a gateway that has no policies yet (`rollout.stable: none`): no rules, and everything is allowed */
export function noStableSet(caseSensitive: boolean): Snapshot {
  const { ir } = compilePolicySet([{ name: "none.yaml", text: TEXT }], { name: "none" });
  if (ir === undefined) throw new Error("the set without rules does not compile");
  return createSnapshot(ir, { caseSensitive });
}
