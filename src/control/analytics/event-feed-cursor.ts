import * as z from "zod";
import { ApiError } from "../platform/errors.ts";
import type { SecretBox } from "../platform/secret-box.ts";
import { notValid } from "./records/trail.ts";

/** Encrypted, because the last event that was looked at may be another customer's. */
const PURPOSE = "event-feed";

/** The last event that was looked at. */
const position = z.tuple([
  /** Of the server's numbers, see `event_feed`. */
  z.int(),
  /** The transaction that wrote it, in decimal. */
  z.string(),
  z.string(),
  /** The event's time, Unix ms: how long it is kept depends on it. */
  z.int(),
  /** When nothing that comes after it could be gone yet, Unix ms. */
  z.int(),
]);

/** Where a caller continues. */
export interface FeedPosition {
  readonly generation: number;
  readonly xid: string;
  readonly id: string;
  readonly timestamp: number;
  readonly seenAt: number;
}

export function encodeCursor(box: SecretBox, at: FeedPosition): string {
  return box.seal(JSON.stringify([at.generation, at.xid, at.id, at.timestamp, at.seenAt]), PURPOSE);
}

/** @throws ApiError 400 for another text; 410 for one that no key opens any more */
export function decodeCursor(box: SecretBox, text: string): FeedPosition {
  if (!/^v1\.[\w-]+\.[\w-]+$/.test(text)) throw notValid("after", "is not a cursor of this feed");
  const [generation, xid, id, timestamp, seenAt] = position.parse(JSON.parse(opened(box, text)));
  return { generation, xid, id, timestamp, seenAt };
}

function opened(box: SecretBox, text: string): string {
  try {
    return box.open(text, PURPOSE);
  } catch (cause) {
    throw new ApiError("CURSOR_EXPIRED", { cause });
  }
}
