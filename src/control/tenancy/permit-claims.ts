import type { DroppedClaim } from "../platform/events.ts";
import { isList } from "../../json/index.ts";
import type { Value } from "../../policy/index.ts";
import { clip } from "../../text/index.ts";
import { isExactAttribute, RESERVED_NAMES, type UserAttributes } from "./attributes.ts";

/** The claims that the operator accepts from a customer's identity provider. A list that is `null` was never set. */
export interface ClaimRules {
  readonly allowed_roles: readonly string[] | null;
  readonly allowed_permissions: readonly string[] | null;
  readonly allowed_groups: readonly string[] | null;
  /** Names of attributes other than those with their own list. */
  readonly allowed_claims: readonly string[] | null;
  /** Maps the provider's groups to roles: set by the operator, so they need not be allowed. */
  readonly role_mapping: Readonly<Record<string, readonly string[]>>;
}

/** The rules for one user's claims, depending on who makes them. */
export interface ClaimPolicy extends ClaimRules {
  /** The claims that are accepted if a list was never set. */
  readonly unset: "nothing" | "anything";
}

/** The only entry of a list that accepts any claim of its kind. */
export const ANYTHING = "*";

/** Claims whose values are compared, each with a list. */
export const LIST_OF = {
  role: "allowed_roles",
  roles: "allowed_roles",
  permissions: "allowed_permissions",
  groups: "allowed_groups",
} as const satisfies Readonly<Record<string, keyof ClaimRules>>;

const SHOWN_VALUES = 20;
const SHOWN_LENGTH = 100;

/**
 * Which claims of a provider are accepted: they are the customer's word, and the operator decides how far it is
 * trusted. Texts are compared exactly. A list of which no entry is accepted counts as missing, which permits nothing.
 */
export function permitClaims(
  claimed: UserAttributes,
  policy: ClaimPolicy,
): { readonly permitted: UserAttributes; readonly dropped: readonly DroppedClaim[] } {
  const dropped: DroppedClaim[] = [];
  const permitted = new Map<string, Value>();
  for (const [name, value] of Object.entries(claimed)) {
    const outcome = permitClaim(name, value, policy);
    if (outcome.kept !== undefined) permitted.set(name, outcome.kept);
    if (outcome.lost.length > 0) dropped.push(droppedClaim(name, outcome.lost, outcome.reason));
  }
  const mapped = [...new Set(textsOf(claimed["groups"]).flatMap((group) => rolesOf(group, policy)))];
  if (mapped.length > 0) {
    permitted.set("roles", [...new Set([...textsOf(permitted.get("roles")), ...mapped])]);
    // if there are several, it is not known which one is meant
    const [only] = mapped;
    if (!permitted.has("role") && only !== undefined && mapped.length === 1) permitted.set("role", only);
  }
  // in a fixed order, however the claims were stored
  dropped.sort((a, b) => (a.claim < b.claim ? -1 : 1));
  return { permitted: Object.fromEntries(permitted), dropped };
}

interface Outcome {
  readonly kept: Value | undefined;
  readonly lost: readonly Value[];
  readonly reason: string;
}

function permitClaim(name: string, value: Value, policy: ClaimPolicy): Outcome {
  if (!isExactAttribute(value))
    return {
      kept: undefined,
      lost: isList(value) ? value : [value],
      reason: "a number in it may be rounded",
    };
  return Object.hasOwn(LIST_OF, name)
    ? permitValues(name as keyof typeof LIST_OF, value, policy)
    : permitName(name, value, policy);
}

function permitValues(name: keyof typeof LIST_OF, value: Value, policy: ClaimPolicy): Outcome {
  const setting = LIST_OF[name];
  const list = policy[setting];
  const reason = reasonOf(setting, list);
  if (isAnything(list, policy)) return { kept: value, lost: [], reason };
  const entries: readonly Value[] = isList(value) ? value : [value];
  const kept = entries.filter((entry) => typeof entry === "string" && list?.includes(entry) === true);
  const lost = entries.filter(
    (entry) => !kept.includes(entry) && !(name === "groups" && rolesOf(entry, policy).length > 0),
  );
  if (isList(value)) {
    const empty = kept.length === 0 && (value.length > 0 || list === null);
    return { kept: empty ? undefined : kept, lost, reason };
  }
  return { kept: kept[0], lost, reason };
}

function permitName(name: string, value: Value, policy: ClaimPolicy): Outcome {
  const values = isList(value) ? value : [value];
  if (RESERVED_NAMES.includes(name))
    return { kept: undefined, lost: values, reason: "not accepted from any identity provider" };
  const list = policy.allowed_claims;
  const reason = reasonOf("allowed_claims", list);
  if (isAnything(list, policy) || list?.includes(name) === true) return { kept: value, lost: [], reason };
  return { kept: undefined, lost: values, reason };
}

function isAnything(list: readonly string[] | null, { unset }: ClaimPolicy): boolean {
  return list === null ? unset === "anything" : list.includes(ANYTHING);
}

function rolesOf(group: Value, { role_mapping: mapping }: ClaimRules): readonly string[] {
  return typeof group === "string" && Object.hasOwn(mapping, group) ? (mapping[group] ?? []) : [];
}

function reasonOf(setting: keyof ClaimRules, list: readonly string[] | null): string {
  return list === null
    ? `\`${setting}\` of the customer is not set`
    : `\`${setting}\` of the customer does not list it`;
}

function droppedClaim(claim: string, lost: readonly Value[], reason: string): DroppedClaim {
  const values = lost.slice(0, SHOWN_VALUES).map(shortened);
  return { claim, values, count: lost.length, reason };
}

/** Without unpaired surrogates, which PostgreSQL cannot store. */
function shortened(value: Value): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return clip(text, SHOWN_LENGTH).toWellFormed();
}

function textsOf(value: Value | undefined): readonly string[] {
  const entries: readonly (Value | undefined)[] = isList(value) ? value : [value];
  return entries.filter((entry) => typeof entry === "string");
}
