import type { Knex } from "knex";
import * as z from "zod";
import { ApiError } from "../platform/errors.ts";
import type { EventType } from "../platform/events.ts";
import { isStorable } from "../platform/frame/json-text.ts";
import type { EventRow } from "./events.ts";
import { keptSince } from "./records/partitions.ts";

/** Events that one call looks at, so that a filter which few of them pass costs no more than none. */
const LOOKED_AT = 5_000;
/** The number of a transaction (`xid8`), and the id of an event. */
const XID = /^\d{1,20}$/;
const MAX_XID = 2n ** 64n - 1n;
/** The end of the year 9999, Unix ms: nothing that was stored is later. */
const LATEST = 253_402_300_799_999;

/** The last event that was looked at. */
export interface FeedPosition {
  /** The transaction that wrote it, in decimal. */
  readonly xid: string;
  readonly id: string;
  /** The event's time, Unix ms: how long it is kept depends on it. */
  readonly timestamp: number;
  /** When it was looked at, Unix ms: everything before it was still there. */
  readonly seenAt: number;
}

/** Before every event. */
const START = { xid: "0", id: "", timestamp: LATEST };

/** What a caller wants of the feed. */
export interface FeedRequest {
  /** Where to continue; absent: with the oldest event. */
  readonly after?: FeedPosition | undefined;
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
  /** There may be more already; otherwise the caller has everything. */
  readonly more: boolean;
}

type FeedRow = EventRow & {
  readonly position: string;
  readonly wanted: boolean;
  readonly looked_at: number;
};

/**
 * Reads events in the order of the numbers of their transactions, up to the oldest one that has not ended yet. What is written
 * later has a higher number, so a caller who continues at a cursor misses no event and gets none twice; and no writer waits
 * for another, as with numbers that are given out under a lock.
 *
 * @param now - Unix ms
 * @param keptMs - how long events are kept
 * @throws ApiError 410 if events after the cursor may be missing: they are no longer kept, or the database is an older one
 */
export async function readFeed(
  db: Knex,
  { after, limit, types, customer }: FeedRequest,
  now: number,
  keptMs: number,
): Promise<FeedPart> {
  const kept = keptSince(now, keptMs);
  if (after !== undefined) await requireKnown(db, after, kept);
  const { xid, id } = after ?? START;
  const { rows } = await db.raw<{ rows: FeedRow[] }>(
    `with next as materialized (
       select *, count(*) over ()::int as looked_at, row_number() over (order by xid, id) as number
       from (
         select * from events
         where xid is not null and (xid, id) > (cast(cast(:xid as text) as xid8), :id)
           and xid < pg_snapshot_xmin(pg_current_snapshot())
         order by xid, id limit :lookedAt
       ) as oldest
     ), judged as (
       select *, xid::text as position, "timestamp" >= :kept and (cast(:customer as text) is null or customer_id = :customer)
         and (cast(:types as text[]) is null or type = any(:types)) as wanted
       from next
     )
     select * from judged where wanted or number = looked_at order by number limit :limit`,
    {
      ...{ xid, id, lookedAt: LOOKED_AT, limit: limit + 1, kept: new Date(kept) },
      ...{ customer: customer ?? null, types: types === undefined ? null : [...types] },
    },
  );
  const events = rows.filter(({ wanted }) => wanted).slice(0, limit);
  // the last one that was looked at, unless there are more than may be sent
  const full = rows.length > limit && rows[limit]?.wanted === true;
  const last = full ? events.at(-1) : rows.at(-1);
  const position = last === undefined ? (after ?? START) : positionOf(last);
  return {
    events,
    cursor: encodeCursor({ ...position, seenAt: now }),
    more: full || (rows[0]?.looked_at ?? 0) === LOOKED_AT,
  };
}

/** The cursor after everything that is there, for a caller who wants only what comes from now on. */
export async function latestCursor(db: Knex, now: number): Promise<string> {
  const { rows } = await db.raw<{ rows: FeedRow[] }>(
    `select *, xid::text as position from events
     where xid is not null and xid < pg_snapshot_xmin(pg_current_snapshot()) order by xid desc, id desc limit 1`,
  );
  const [last] = rows;
  return encodeCursor({ ...(last === undefined ? START : positionOf(last)), seenAt: now });
}

/** The `after` parameter. `latest` is no position: it asks for the cursor after everything. */
export function feedCursorParameter() {
  return z
    .string()
    .max(300)
    .transform((text, context) => {
      const position = text === "latest" ? text : decodeCursor(text);
      if (position !== undefined) return position;
      context.addIssue("is not a cursor of this feed");
      return z.NEVER;
    })
    .meta({
      type: "string",
      maxLength: 300,
      description:
        "The `cursor` of the previous answer; `latest` for events from now on. Without it, the feed begins with the oldest event.",
    });
}

const positionOf = ({ position, id, timestamp }: FeedRow) => ({
  ...{ xid: position, id },
  timestamp: timestamp.getTime(),
});

/** An event goes when its time is over, and otherwise only with the database. */
async function requireKnown(
  db: Knex,
  { xid, id, timestamp, seenAt }: FeedPosition,
  kept: number,
): Promise<void> {
  const { rows } = await db.raw<{ rows: { known: boolean; ahead: boolean }[] }>(
    `select exists (select from events where xid = cast(cast(:xid as text) as xid8) and id = :id) as known,
       cast(cast(:xid as text) as xid8) >= pg_snapshot_xmax(pg_current_snapshot()) as ahead`,
    { xid, id },
  );
  const [{ known, ahead } = { known: false, ahead: true }] = rows;
  const isOver = timestamp < kept || xid === START.xid;
  if (ahead || seenAt < kept || (!known && !isOver)) throw new ApiError("CURSOR_EXPIRED");
}

function encodeCursor({ xid, id, timestamp, seenAt }: FeedPosition): string {
  return Buffer.from(JSON.stringify([xid, id, timestamp, seenAt])).toString("base64url");
}

function decodeCursor(text: string): FeedPosition | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    if (!Array.isArray(parsed) || parsed.length !== 4) return undefined;
    const [xid, id, timestamp, seenAt] = parsed as unknown[];
    if (typeof xid !== "string" || !XID.test(xid) || BigInt(xid) > MAX_XID) return undefined;
    if (typeof id !== "string" || id.length > 64 || !isStorable(id)) return undefined;
    return isTime(timestamp) && isTime(seenAt) ? { xid, id, timestamp, seenAt } : undefined;
  } catch {
    return undefined;
  }
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= LATEST;
}
