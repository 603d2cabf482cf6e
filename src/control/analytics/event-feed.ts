import type { Knex } from "knex";
import { ApiError } from "../platform/errors.ts";
import type { EventType } from "../platform/events.ts";
import type { SecretBox } from "../platform/secret-box.ts";
import { decodeCursor, encodeCursor, type FeedPosition } from "./event-feed-cursor.ts";
import { isSameServer } from "./event-feed-generation.ts";
import type { EventRow } from "./events.ts";
import { keptSince } from "./records/partitions.ts";

/** Events that one call looks at, so that a filter which few of them pass costs no more than none. */
const LOOKED_AT = 5_000;
/** Before every event. */
const START = { generation: 0, xid: "0", id: "", timestamp: 0 };

/** What a caller wants of the feed. */
export interface FeedRequest {
  /** The cursor to continue at, or `latest`; absent: the oldest event. */
  readonly after?: string | undefined;
  readonly limit: number;
  readonly types?: readonly EventType[] | undefined;
  readonly customer?: string | undefined;
}

/** A part of the feed. */
export interface FeedPart {
  /** In the order of the feed. */
  readonly events: readonly EventRow[];
  /** Of the next call. */
  readonly cursor: string;
  /** There may be more already. */
  readonly more: boolean;
  /** The time of the oldest event that cannot be shown yet, because an earlier transaction has not ended. */
  readonly waiting_since: Date | null;
}

/** What the feed is read with. */
export interface FeedSource {
  readonly db: Knex;
  readonly box: SecretBox;
  /** Unix ms. */
  readonly now: number;
  /** How long events are kept. */
  readonly keptMs: number;
}

type FeedRow = EventRow & {
  readonly generation: number;
  readonly position: string;
  readonly wanted: boolean;
  readonly looked_at: number;
};

/** An event of this generation is settled if every transaction with a lower number has ended; of an earlier one, always. */
const IS_SETTLED =
  "(feed_generation, xid) < ((select generation from event_feed), pg_snapshot_xmin(pg_current_snapshot()))";

/**
 * Reads events in the order of the numbers of their transactions, up to the oldest one that has not ended yet. What is written
 * later has a higher number, so a caller who continues at a cursor misses no event and gets none twice; and no writer waits
 * for another, as with numbers that are given out under a lock.
 *
 * @throws ApiError 400 for what is no cursor; 410 if events after the cursor may be missing: they are no longer kept, or the database
 *   is an older one
 */
export async function readFeed(source: FeedSource, request: FeedRequest): Promise<FeedPart> {
  const { db, box, now, keptMs } = source;
  const { limit, types, customer } = request;
  await requireSameServer(db);
  if (request.after === "latest") return latest(source, customer);
  const kept = keptSince(now, keptMs);
  const after = request.after === undefined ? undefined : decodeCursor(box, request.after);
  if (after !== undefined) await requireKnown(db, after, kept);
  const { generation, xid, id } = after ?? START;
  const isFiltered = types !== undefined || customer !== undefined;
  const lookedAt = isFiltered ? LOOKED_AT : limit + 1;
  const { rows } = await db.raw<{ rows: FeedRow[] }>(
    `with next as materialized (
       select *, count(*) over ()::int as looked_at,
         row_number() over (order by feed_generation, xid, id) as number
       from (
         select * from events
         where xid is not null and (feed_generation, xid, id) > (:generation, cast(cast(:xid as text) as xid8), :id) and ${IS_SETTLED}
         order by feed_generation, xid, id limit :lookedAt
       ) as oldest
     ), judged as (
       select *, feed_generation as generation, xid::text as position,
         "timestamp" >= :kept and (cast(:customer as text) is null or customer_id = :customer)
         and (cast(:types as text[]) is null or type = any(:types)) as wanted
       from next
     )
     select * from judged where wanted or number = looked_at order by number limit :limit`,
    {
      ...{ generation, xid, id, lookedAt, limit: limit + 1 },
      ...{ kept: new Date(kept), customer: customer ?? null, types: types === undefined ? null : [...types] },
    },
  );
  const events = rows.filter(({ wanted }) => wanted).slice(0, limit);
  // the last one that was looked at, unless there are more than may be sent
  const full = rows.length > limit && rows[limit]?.wanted === true;
  const last = full ? events.at(-1) : rows.at(-1);
  const position = last === undefined ? (after ?? START) : positionOf(last);
  const more = full || (rows[0]?.looked_at ?? 0) === lookedAt;
  if (more) {
    // what comes next is not younger, and may go before it is read
    const seenAt = Math.min(now, position.timestamp);
    return { events, cursor: encodeCursor(box, { ...position, seenAt }), more, waiting_since: null };
  }
  const waiting = await waitingSince(db, customer);
  const seenAt = (waiting.all ?? new Date(now)).getTime();
  return { events, cursor: encodeCursor(box, { ...position, seenAt }), more, waiting_since: waiting.own };
}

/** Nothing, and the cursor after everything that is settled. */
async function latest({ db, box, now }: FeedSource, customer: string | undefined): Promise<FeedPart> {
  const waiting = await waitingSince(db, customer);
  const { rows } = await db.raw<{ rows: FeedRow[] }>(
    `select *, feed_generation as generation, xid::text as position from events
     where xid is not null and ${IS_SETTLED} order by feed_generation desc, xid desc, id desc limit 1`,
  );
  const [last] = rows;
  const at = last === undefined ? START : positionOf(last);
  const cursor = encodeCursor(box, { ...at, seenAt: (waiting.all ?? new Date(now)).getTime() });
  return { events: [], cursor, more: false, waiting_since: waiting.own };
}

/** The times of the oldest events that are not settled: of all, and of the customer among the first that would be looked at. */
async function waitingSince(
  db: Knex,
  customer: string | undefined,
): Promise<{ readonly all: Date | null; readonly own: Date | null }> {
  const { rows } = await db.raw<{ rows: { all: Date | null; own: Date | null }[] }>(
    `with waiting as materialized (
       select "timestamp", customer_id, row_number() over (order by feed_generation, xid, id) as number
       from (
         select * from events
         where xid is not null
           and (feed_generation, xid) >= ((select generation from event_feed), pg_snapshot_xmin(pg_current_snapshot()))
         order by feed_generation, xid, id limit :lookedAt
       ) as oldest
     )
     select (select "timestamp" from waiting where number = 1) as all,
       (select "timestamp" from waiting
        where cast(:customer as text) is null or customer_id = :customer order by number limit 1) as own`,
    { customer: customer ?? null, lookedAt: LOOKED_AT },
  );
  return rows[0] ?? { all: null, own: null };
}

/** Where the database was put on another server meanwhile, the order of the feed is that of the next start. */
async function requireSameServer(db: Knex): Promise<void> {
  if (!(await isSameServer(db)))
    throw new ApiError("SERVICE_UNAVAILABLE", { headers: { "retry-after": "30" } });
}

const positionOf = ({ generation, position, id, timestamp }: FeedRow) => ({
  ...{ generation, xid: position, id },
  timestamp: timestamp.getTime(),
});

/** An event goes when its time is over, and otherwise only with the database. */
async function requireKnown(
  db: Knex,
  { generation, xid, id, timestamp, seenAt }: FeedPosition,
  kept: number,
): Promise<void> {
  if (seenAt < kept) throw new ApiError("CURSOR_EXPIRED");
  if (timestamp < kept || xid === START.xid) return;
  const { rows } = await db.raw<{ rows: object[] }>(
    `select from events where "timestamp" >= :time and "timestamp" < :end and id = :id
       and feed_generation = :generation and xid = cast(cast(:xid as text) as xid8)`,
    { time: new Date(timestamp), end: new Date(timestamp + 1), id, generation, xid },
  );
  if (rows.length === 0) throw new ApiError("CURSOR_EXPIRED");
}
