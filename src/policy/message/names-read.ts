import { memberNames, type MemberNames } from "../../names/index.ts";
import { readsBelow } from "../condition/evaluation.ts";
import type { PlannedMessage } from "../plan.ts";

const known = new WeakMap<PlannedMessage, MemberNames>();

/** The names that a rule reads of a message: what its condition reads, and `type` always. */
export function namesRead(planned: PlannedMessage): MemberNames {
  let names = known.get(planned);
  if (names === undefined) {
    const { when } = planned;
    names = memberNames([["type"], ...(typeof when === "object" ? readsBelow(when, "message") : [])]);
    known.set(planned, names);
  }
  return names;
}
