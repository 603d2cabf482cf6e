import type { Identity } from "../../identity/types.ts";
import { customerOf, userOf, type KnownState } from "../decide/check-session.ts";
import { isGraphqlHandshake } from "../decide/evaluate-upgrade.ts";
import type { CanonicalRequest } from "../../request/index.ts";
import type { RuleNeeds } from "../policies/needs.ts";
import type { PolicyRelease } from "../policies/release.ts";
import type { Snapshot } from "../policies/snapshot.ts";
import type { AccessRequest, Permit } from "../types.ts";

/** The inputs of a decision on a handshake. */
export interface DecidedBy {
  readonly policies: PolicyRelease | undefined;
  /** Absent without a control plane. */
  readonly state: KnownState | undefined;
}

/**
 * Whether the decision on an allowed handshake can change only with the policies, the caller's state or the issuer's
 * keys. Changes of these are announced; changes of attribute sources and time are not, nor is the validity of a token
 * that identified nobody.
 */
export function isSteady(
  { raw, ofConnection = { kind: "none" } }: AccessRequest,
  { request, identity, accepted, alsoRead }: Permit,
  { policies, state }: DecidedBy,
): boolean {
  if (request === undefined || policies === undefined) return false;
  // its other readings have rules of their own
  if (accepted.length > 0 || alsoRead !== undefined) return false;
  const hasCredentials = ofConnection.kind !== "none" || raw.headers.some(([name]) => CREDENTIALS.has(name));
  if (identity === undefined && hasCredentials) return false;
  const customer = state && identity && customerOf(identity, state);
  if (customer?.authentication.max_session_duration !== undefined) return false;
  const own = (customer?.policy_sets ?? []).map((name) => policies.customers.get(name));
  const rolledOut = policies.candidate === undefined ? [] : [policies.candidate.set];
  return [policies.main, ...rolledOut, ...own].every(
    (set) => set !== undefined && needsAt(set, request).every((needs) => !changesUnannounced(needs)),
  );
}

/** @returns a predicate for the connections that a change of these customers and users concerns */
export function belongsTo(changed: {
  readonly customers: readonly string[];
  readonly users: readonly string[];
}): (connection: { readonly identity?: Identity | undefined }) => boolean {
  const customers = new Set<unknown>(changed.customers);
  const users = new Set(changed.users);
  return ({ identity }) =>
    identity !== undefined && (customers.has(identity.customer?.["id"]) || users.has(userOf(identity)));
}

const CREDENTIALS: ReadonlySet<string> = new Set(["authorization", "x-user-token", "cookie"]);

function changesUnannounced({ sources, roots }: RuleNeeds): boolean {
  return sources.length > 0 || roots.has("env");
}

/** What the rules that can match the handshake read. */
function needsAt(set: Snapshot, request: CanonicalRequest): readonly RuleNeeds[] {
  const { method, segments } = request;
  const path = set.matcher.match(method, segments);
  const connection = set.connections.match(method, segments);
  const operations = set.endpoints.at(request) !== undefined || isGraphqlHandshake(set, request);
  const ofPath = path.kind === "rule" ? set.needs.get(path.rule) : undefined;
  return [
    ...(ofPath === undefined ? [] : [ofPath]),
    ...(connection.kind === "rule" ? [connection.rule.needs, connection.rule.messageNeeds] : []),
    ...(operations ? [set.graphql.needs] : []),
    ...set.responses.all(method, segments).map(({ needs }) => needs),
  ];
}
