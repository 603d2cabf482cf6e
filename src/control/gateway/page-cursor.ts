import type { FeedPosition } from "./cursor.ts";

/** Where a page of the complete state begins. */
export interface PagePlace {
  /** The end of the feed when the first page was read: what changed since is read from there when all pages are there. */
  readonly end: FeedPosition;
  readonly section: number;
  /** The last id of the section that was read; empty at its beginning. */
  readonly after: string;
}

const CURSOR = /^p(?<seq>0|[1-9]\d{0,14})\.(?<tag>[\w-]{1,64})\.(?<section>[0-3])\.(?<after>[\w-]{0,120})$/;

export function pageCursorOf({ end, section, after }: PagePlace): string {
  return `p${end.seq}.${end.tag}.${section}.${Buffer.from(after).toString("base64url")}`;
}

/** @returns `undefined` if the text is no cursor of a page. Only the database knows whether it was ever issued. */
export function parsePageCursor(cursor: string): PagePlace | undefined {
  const { seq, tag, section, after } = CURSOR.exec(cursor)?.groups ?? {};
  if (seq === undefined || tag === undefined || section === undefined || after === undefined)
    return undefined;
  const id = Buffer.from(after, "base64url").toString();
  // what PostgreSQL takes for no text is no id either
  if (id.includes("\0") || !id.isWellFormed()) return undefined;
  return { end: { seq: Number(seq), tag }, section: Number(section), after: id };
}
