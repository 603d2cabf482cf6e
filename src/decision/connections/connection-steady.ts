import type { Identity } from "../../identity/types.ts";
import { customerOf, userOf, type KnownState } from "../decide/check-session.ts";
import { isGraphqlHandshake } from "../decide/evaluate-upgrade.ts";
import type { CanonicalRequest } from "../../request/index.ts";
import type { RuleNeeds } from "../policies/needs.ts";
import type { PolicyRelease } from "../policies/release.ts";
import type { Snapshot } from "../policies/snapshot.ts";
import type { AccessRequest, Permit } from "../types.ts";

/** What a decision about a handshake was made with. */
export interface DecidedBy {
  readonly policies: PolicyRelease | undefined;
  /** Absent where no control plane is followed. */
  readonly state: KnownState | undefined;
}

/**
 * Whether an allowed handshake is decided in the same way until the policies, the caller's state or the issuer's keys
 * change, all of which announce it. Attribute sources and time do not; nor does a token by which nobody was identified.
 */
export function isSteady(
  { raw }: AccessRequest,
  { request, identity, accepted, alsoRead }: Permit,
  { policies, state }: DecidedBy,
): boolean {
  if (request === undefined || policies === undefined) return false;
  // what else it may be taken for has rules of its own
  if (accepted.length > 0 || alsoRead !== undefined) return false;
  if (identity === undefined && raw.headers.some(([name]) => CREDENTIALS.has(name))) return false;
  const customer = state && identity && customerOf(identity, state);
  if (customer?.authentication.max_session_duration !== undefined) return false;
  const own = (customer?.policy_sets ?? []).map((name) => policies.customers.get(name));
  return [policies.main, ...own].every(
    (set) => set !== undefined && needsAt(set, request).every((needs) => !changesUnannounced(needs)),
  );
}

/** @returns which connections the control plane speaks of when it says that these customers and users have changed */
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

/** What the rules of a set read that a handshake may meet. */
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
