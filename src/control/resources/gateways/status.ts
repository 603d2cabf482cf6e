/** What is known of one gateway. */
export interface GatewayState {
  readonly policy_source: "directory" | "control_plane";
  readonly policy_set: string;
  readonly digest: string | null;
  readonly digest_since: Date;
  readonly interval_ms: number;
  readonly seen_at: Date;
}

export const GATEWAY_STATUSES = ["alive", "lagging", "diverged", "lost"] as const;
export type GatewayStatus = (typeof GATEWAY_STATUSES)[number];

/** What gateways of a set should enforce. */
export interface PublishedSet {
  /** Of the active version. */
  readonly digest: string | null;
  readonly activatedAt: Date | null;
  /** Of all versions. */
  readonly digests: ReadonlySet<string>;
}

export interface FleetFacts {
  /** By the database's clock, which also wrote the times of the gateways. */
  readonly now: Date;
  readonly published: ReadonlyMap<string, PublishedSet>;
}

/** Reports that may be missing before a gateway is lost, and the least time. */
const MISSED = 3;
const LEAST_LOST_MS = 15_000;
/** What a gateway may take to enforce a version. */
const GRACE_MS = 10_000;
/** A gateway that lags for longer is announced: it will probably not catch up by itself. */
const LAGS_LONG_MS = 60_000;
/** What may pass between the changes of files at several gateways. */
const FOLDERS_MS = 60_000;

/**
 * The status of each gateway, in their order:
 * - `lost`: it has not reported for three intervals, and at least 15 s
 * - `diverged`: it enforces what the others of its set do not, or what was never published
 * - `lagging`: it does not enforce the active version yet, or any
 * - `alive`: none of these
 */
export function statusesOf(gateways: readonly GatewayState[], facts: FleetFacts): readonly GatewayStatus[] {
  const lost = gateways.map((gateway) => isLost(gateway, facts.now));
  const present = gateways.filter((_, index) => lost[index] !== true);
  const common = commonDigests(present, facts.now);
  return gateways.map((gateway, index) => {
    if (lost[index] === true) return "lost";
    return gateway.policy_source === "control_plane"
      ? againstPublished(gateway, facts)
      : againstOthers(gateway, common);
  });
}

/** @returns whether a gateway that lags has enforced the same, or nothing, for so long after the activation */
export function lagsLong(
  { policy_set: set, digest_since: since }: GatewayState,
  { published, now }: FleetFacts,
): boolean {
  const activatedAt = published.get(set)?.activatedAt ?? since;
  return now.getTime() - Math.max(since.getTime(), activatedAt.getTime()) > LAGS_LONG_MS;
}

function isLost({ seen_at: seenAt, interval_ms: interval }: GatewayState, now: Date): boolean {
  return now.getTime() - seenAt.getTime() > Math.max(MISSED * interval, LEAST_LOST_MS);
}

function againstPublished(
  { policy_set: set, digest }: GatewayState,
  { published, now }: FleetFacts,
): GatewayStatus {
  const { digest: active = null, activatedAt = null, digests = new Set<string>() } = published.get(set) ?? {};
  if (digest === active && digest !== null) return "alive";
  if (digest !== null && !digests.has(digest)) return "diverged";
  const isNew = activatedAt !== null && now.getTime() - activatedAt.getTime() < GRACE_MS;
  return isNew && digest !== null ? "alive" : "lagging";
}

/** Of folders nobody knows the right content: what differs from most has diverged, once all have had time to change. */
function againstOthers(
  { policy_set: set, digest }: GatewayState,
  common: ReadonlyMap<string, string>,
): GatewayStatus {
  if (digest === null) return "lagging";
  const most = common.get(set);
  return most === undefined || most === digest ? "alive" : "diverged";
}

/** By set, the digest that more gateways have than any other; absent where none has, or one has changed recently. */
function commonDigests(gateways: readonly GatewayState[], now: Date): ReadonlyMap<string, string> {
  const common = new Map<string, string>();
  const ofFolders = gateways.filter(
    (gateway) => gateway.policy_source === "directory" && gateway.digest !== null,
  );
  for (const [set, theirs] of Map.groupBy(ofFolders, (gateway) => gateway.policy_set)) {
    if (theirs.some(({ digest_since: since }) => now.getTime() - since.getTime() < FOLDERS_MS)) continue;
    const counts = new Map<string, number>();
    for (const { digest } of theirs) if (digest !== null) counts.set(digest, (counts.get(digest) ?? 0) + 1);
    const [first, second] = [...counts].sort((a, b) => b[1] - a[1]);
    if (first !== undefined && first[1] > (second?.[1] ?? 0)) common.set(set, first[0]);
  }
  return common;
}
