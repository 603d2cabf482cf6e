import type { Knex } from "knex";
import type { Registration } from "../../../protocol/index.ts";
import { databaseNow, lockRowsUntilEnd } from "../../../storage/index.ts";
import { ApiError } from "../../platform/errors.ts";
import { lagsLong, statusesOf, type GatewayState, type GatewayStatus, type PublishedSet } from "./status.ts";

/** A gateway, as it last reported. */
export interface GatewayRow extends GatewayState {
  readonly sender: string;
  readonly id: string;
  readonly name: string;
  readonly kind: "gateway" | "authz";
  readonly address: string;
  readonly version: string;
  readonly policy_set_version: string | null;
  readonly rollout: Registration["rollout"];
  readonly workers_expected: number;
  readonly workers_ready: number;
  /** A bigint, which the driver may return as text. */
  readonly clock_offset_ms: number | string;
  readonly started_at: Date;
  readonly registered_at: Date;
  /** The status that was last announced. */
  readonly status: GatewayStatus;
  /** Null until it is announced for the first time. */
  readonly announced_at: Date | null;
}

/** A gateway and its status now. */
export interface KnownGateway {
  readonly row: GatewayRow;
  readonly status: GatewayStatus;
  /** For `lagging`: it has lagged for so long that it is announced. */
  readonly lagsLong: boolean;
  /** Whether it was announced so recently that it is not announced again yet. */
  readonly isQuiet: boolean;
  /** What the control plane has published for its set; null for folders. */
  readonly expected: string | null;
}

/** Gateways of one key; more would be a mistake, such as an id that is made at each start. */
export const MOST_OF_SENDER = 1_000;
/** Between two announcements of one gateway: who holds its key may report anything, in any order. */
const QUIET_MS = 60_000;
/** How long a lost gateway is remembered. */
const REMEMBERED = "24 hours";

/**
 * Stores what a gateway says about itself.
 *
 * @returns milliseconds by which its clock is ahead of the database's
 * @throws ApiError CONFLICT if the key has too many gateways
 */
export async function register(
  trx: Knex.Transaction,
  { sender, name }: { readonly sender: string; readonly name: string },
  report: Registration,
): Promise<number> {
  const { id, kind, address, version, policies, rollout, workers } = report;
  const now = await databaseNow(trx);
  const offset = Date.parse(report.sent_at) - now.getTime();
  const known = await trx("gateways").where({ sender, id }).first<object | undefined>("id");
  if (known === undefined) {
    // new ones at the same time would all count those before
    await lockRowsUntilEnd(trx, "gateways", [sender]);
    const { total } = await trx("gateways")
      .where({ sender })
      .count({ total: "*" })
      .first<{ total: number | string }>();
    if (Number(total) >= MOST_OF_SENDER)
      throw new ApiError("CONFLICT", { message: `an API key may have at most ${MOST_OF_SENDER} gateways` });
  }
  const row = {
    ...{ sender, id, name, kind, address, version },
    ...{ policy_source: policies.source, policy_set: policies.set },
    ...{ policy_set_version: policies.version, digest: policies.digest },
    rollout: rollout === null ? null : JSON.stringify(rollout),
    ...{ workers_expected: workers.expected, workers_ready: workers.ready },
    ...{ interval_ms: report.interval_ms, clock_offset_ms: offset },
    // PostgreSQL does not take every offset that ISO 8601 has
    ...{ started_at: new Date(report.started_at), seen_at: now },
  };
  await trx("gateways")
    .insert({ ...row, digest_since: now, registered_at: now, status: "alive" })
    .onConflict(["sender", "id"])
    .merge({
      ...row,
      digest_since: trx.raw(
        "case when gateways.digest is distinct from excluded.digest then excluded.digest_since else gateways.digest_since end",
      ),
    });
  return offset;
}

/** Forgets a gateway that is shutting down. */
export async function leave(trx: Knex.Transaction, sender: string, id: string): Promise<void> {
  await trx("gateways").where({ sender, id }).delete();
}

/** @returns all gateways with their status, by sender and id */
export async function knownGateways(db: Knex): Promise<readonly KnownGateway[]> {
  const rows = (await db("gateways")
    .select("*", { now: db.raw("clock_timestamp()") })
    .orderBy(["sender", "id"])) as (GatewayRow & {
    readonly now: Date;
  })[];
  const [first] = rows;
  if (first === undefined) return [];
  const sets = rows.filter((row) => row.policy_source === "control_plane").map((row) => row.policy_set);
  const published = await publishedSets(db, [...new Set(sets)]);
  const facts = { now: first.now, published };
  const statuses = statusesOf(rows, facts);
  return rows.map((row, index) => ({
    row,
    status: statuses[index] ?? "alive",
    lagsLong: lagsLong(row, facts),
    isQuiet: isQuiet(row, statuses[index] ?? "alive", facts.now),
    expected: row.policy_source === "control_plane" ? (published.get(row.policy_set)?.digest ?? null) : null,
  }));
}

/** One that is new waits as well, lest it leave and come back to be announced again; but not if it is lost. */
function isQuiet(
  { announced_at: announcedAt, registered_at: registeredAt }: GatewayRow,
  status: GatewayStatus,
  now: Date,
): boolean {
  const since = announcedAt ?? (status === "lost" ? undefined : registeredAt);
  return since !== undefined && now.getTime() - since.getTime() < QUIET_MS;
}

async function publishedSets(db: Knex, names: readonly string[]): Promise<ReadonlyMap<string, PublishedSet>> {
  if (names.length === 0) return new Map();
  const { rows } = await db.raw<{
    rows: { name: string; digest: string | null; activated_at: Date | null; digests: string[] | null }[];
  }>(
    `select sets.name, sets.activated_at, active.digest,
       (select array_agg(v.digest) from policy_set_versions v where v.name = sets.name) as digests
     from policy_sets sets
     left join policy_set_versions active
       on active.name = sets.name and active.version = sets.activated[cardinality(sets.activated)]
     where sets.name = any(?)`,
    [[...names]],
  );
  return new Map(
    rows.map(({ name, digest, activated_at: activatedAt, digests }) => [
      name,
      { digest, activatedAt, digests: new Set(digests ?? []) },
    ]),
  );
}

/**
 * Notes a status as announced, of gateways of one key that all have it.
 *
 * @returns those that another instance has not noted
 */
export async function noteStatus(
  trx: Knex.Transaction,
  sender: string,
  status: GatewayStatus,
  gateways: readonly KnownGateway[],
): Promise<readonly KnownGateway[]> {
  const { rows } = await trx.raw<{ rows: { id: string }[] }>(
    `update gateways set status = :status, announced_at = clock_timestamp()
     from unnest(:ids::text[], :before::text[]) as noted (id, before)
     where gateways.sender = :sender and gateways.id = noted.id and gateways.status = noted.before
       -- another instance may have announced two changes meanwhile, the second one back to this status
       and (announced_at is null or announced_at <= clock_timestamp() - :quiet * interval '1 ms')
     returning gateways.id`,
    {
      ...{ sender, status, quiet: QUIET_MS },
      ids: gateways.map(({ row }) => row.id),
      before: gateways.map(({ row }) => row.status),
    },
  );
  const noted = new Set(rows.map(({ id }) => id));
  return gateways.filter(({ row }) => noted.has(row.id));
}

/** Forgets gateways that have been lost for a day. */
export async function forgetLost(db: Knex): Promise<void> {
  await db("gateways").whereRaw(`seen_at < now() - interval '${REMEMBERED}'`).delete();
  await db("gateway_announcements").whereRaw(`opened_at < now() - interval '${REMEMBERED}'`).delete();
}
