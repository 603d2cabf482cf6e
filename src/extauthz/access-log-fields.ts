import { lengthField, MessageReader, varintField } from "./wire.ts";

/** Maximum length of a name or a detail text of Envoy, in bytes. */
export const MAX_NAME = 256;

/** Each nested message gets its own reader: its fields are counted separately, and it cannot be read past its end. */
export function eachField(bytes: Buffer, read: (reader: MessageReader, tag: number) => void): void {
  const reader = new MessageReader(bytes);
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) read(reader, tag);
}

// Timestamp and Duration have the same layout
const SECONDS = varintField(1);
const NANOS = varintField(2);
/** The largest time of a JavaScript date. */
const MAX_TIME = 8.64e15;

/** @returns undefined if it is not a time that a date can represent */
export function milliseconds(bytes: Buffer): number | undefined {
  let seconds = 0;
  let nanos = 0;
  eachField(bytes, (reader, tag) => {
    if (tag === SECONDS) seconds = reader.int64();
    else if (tag === NANOS) nanos = reader.uint32();
    else reader.skip(tag);
  });
  const time = seconds * 1000 + nanos / 1e6;
  return seconds >= 0 && nanos < 1e9 && time <= MAX_TIME ? time : undefined;
}

const KEY = lengthField(1);
const VALUE = lengthField(2);
const NOTHING = Buffer.alloc(0);

/** One entry of a map whose values are messages or strings. */
export function readMapEntry(bytes: Buffer): { readonly key: string; readonly value: Buffer } {
  let key = "";
  let value: Buffer = NOTHING;
  eachField(bytes, (reader, tag) => {
    if (tag === KEY) key = reader.bytes().toString("utf8", 0, MAX_NAME);
    else if (tag === VALUE) value = reader.bytes();
    else reader.skip(tag);
  });
  return { key, value };
}
