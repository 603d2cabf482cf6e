import type { Knex } from "knex";

/** A place between changes: behind the one with this number; 0 is before the first. */
export interface Place {
  readonly seq: number;
  /** Of that change, or of the beginning: after a restore a number may be given again, and then to another change. */
  readonly tag: string;
}

/** Where the feed ends, and from where on it is whole. */
export interface Extent {
  readonly end: Place;
  readonly startTag: string;
  /** What follows this number is there, what stands before it may be gone. */
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
  if (row === undefined) throw new Error("gateway_feed has lost its row");
  const startTag = row.start_tag;
  const end =
    row.seq === null || row.tag === null ? { seq: 0, tag: startTag } : { seq: row.seq, tag: row.tag };
  return { end, startTag, prunedThrough: row.pruned_through };
}

/**
 * @returns the place that a follower has reached; `undefined` where what came after it cannot be told, because the
 *   cursor is too old, is of another database, or is none.
 */
export async function resumeFrom(trx: Knex, cursor: string, extent: Extent): Promise<Place | undefined> {
  const place = parseCursor(cursor);
  if (place === undefined || place.seq < extent.prunedThrough || place.seq > extent.end.seq) return undefined;
  if (place.seq === 0) return place.tag === extent.startTag ? place : undefined;
  // one that was pruned may stand there still: a session that gateways must know of for longer
  if (place.seq === extent.prunedThrough) return undefined;
  const found = await trx("gateway_changes")
    .where({ seq: place.seq, tag: place.tag })
    .first<object | undefined>("seq");
  return found === undefined ? undefined : place;
}

/** Opaque to followers. */
export function cursorOf({ seq, tag }: Place): string {
  return `${seq}.${tag}`;
}

function parseCursor(cursor: string): Place | undefined {
  const { seq, tag } = /^(?<seq>0|[1-9]\d{0,14})\.(?<tag>[\w-]{1,64})$/.exec(cursor)?.groups ?? {};
  return seq === undefined || tag === undefined ? undefined : { seq: Number(seq), tag };
}
