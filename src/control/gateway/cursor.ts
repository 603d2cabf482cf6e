import type { Knex } from "knex";

/** A position in the feed: after the change with this number; 0 is before the first. */
export interface FeedPosition {
  readonly seq: number;
  /** Of that change, or of the start of the feed: after a restore, a different change may get the same number. */
  readonly tag: string;
}

/** Where the feed ends, and from where on it is complete. */
export interface Extent {
  readonly end: FeedPosition;
  readonly startTag: string;
  /** Changes after this number exist; earlier ones may have been pruned. */
  readonly prunedThrough: number;
}

/** Reads the extent as the transaction sees it. */
export async function readExtent(trx: Knex): Promise<Extent> {
  const { rows } = await trx.raw<{
    rows: { start_tag: string; pruned_through: number; seq: number | null; tag: string | null }[];
  }>(
    `select feed.tag as start_tag, feed.pruned_through, newest.seq, newest.tag
     from gateway_feed as feed
     left join (select seq, tag from gateway_changes order by seq desc limit 1) as newest on true`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the row of gateway_feed is missing");
  const startTag = row.start_tag;
  const end =
    row.seq === null || row.tag === null ? { seq: 0, tag: startTag } : { seq: row.seq, tag: row.tag };
  return { end, startTag, prunedThrough: row.pruned_through };
}

/** @returns the position; `undefined` if it is too old or of another database, so that the changes after it are unknown */
export async function resumeFrom(
  trx: Knex,
  place: FeedPosition,
  extent: Extent,
): Promise<FeedPosition | undefined> {
  if (place.seq < extent.prunedThrough) return undefined;
  if (place.seq === 0) return place.tag === extent.startTag ? place : undefined;
  // the row may still exist although others were pruned: ended sessions are kept for longer
  if (place.seq === extent.prunedThrough) return undefined;
  const found = await trx("gateway_changes")
    .where({ seq: place.seq, tag: place.tag })
    .first<object | undefined>("seq");
  return found === undefined ? undefined : place;
}

/**
 * The cursor at the end of a response, opaque to gateways. If the page is not the last one, the cursor also contains the
 * newest change of the database when the page was read: the page shows its customers as of then, so the next page must not
 * have been read earlier.
 */
export function cursorOf({ seq, tag }: FeedPosition, { end }: Extent): string {
  return seq === end.seq ? `${seq}.${tag}` : `${seq}.${tag}.${end.seq}`;
}

/** A parsed cursor. Only the database knows whether it was ever issued. */
export interface ParsedCursor {
  readonly place: FeedPosition;
  /** The newest change that the gateway's state may already include. */
  readonly seenThrough: number;
}

const CURSOR = /^(?<seq>0|[1-9]\d{0,14})\.(?<tag>[\w-]{1,64})(?:\.(?<seen>[1-9]\d{0,14}))?$/;

/** @returns `undefined` if the text is malformed */
export function parseCursor(cursor: string): ParsedCursor | undefined {
  const { seq, tag, seen } = CURSOR.exec(cursor)?.groups ?? {};
  if (seq === undefined || tag === undefined) return undefined;
  const place = { seq: Number(seq), tag };
  if (seen === undefined) return { place, seenThrough: place.seq };
  return Number(seen) > place.seq ? { place, seenThrough: Number(seen) } : undefined;
}
