import protobuf from "protobufjs/minimal.js";

/** A message that is malformed protobuf, or larger than any legitimate one. */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
}

/** Protobuf's wire types; 3 and 4 are the deprecated groups. */
const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const START_GROUP = 3;
const END_GROUP = 4;
const FIXED32 = 5;

/** Maximum number of fields in a message, including nested ones: a check with 3,000 headers has fewer. */
const MAX_FIELDS = 10_000;
const MAX_GROUP_DEPTH = 16;
/** Maximum length of a text that is converted at once, in bytes; and the length from which parts are converted separately. */
const MAX_TEXT = 65_536;
const MAX_PART = 100;

/** What {@link MessageReader.next} returns for a varint field of this number. */
export const varintField = (number: number): number => (number << 3) | VARINT;
/** What {@link MessageReader.next} returns for a string, bytes or message field of this number. */
export const lengthField = (number: number): number => (number << 3) | LENGTH;

/**
 * Reads one message field by field, in place, with the Reader of protobufjs. On its own, that would read past the end of a
 * nested message and shorten a truncated string. Here both are errors, and so are too many fields, so that the time is
 * bounded for any input.
 */
export class MessageReader {
  readonly #bytes: Buffer;
  readonly #reader: protobuf.Reader;
  #fields = 0;
  /** The text of a range of the bytes, see {@link expectText}. */
  #text = "";
  #textStart = 0;
  #textEnd = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#reader = new protobuf.Reader(bytes);
  }

  /** The next field's number and wire type ({@link lengthField}, {@link varintField}), or 0 at the message's end. */
  next(): number {
    const reader = this.#reader;
    if (reader.pos >= reader.len) return 0;
    if (++this.#fields > MAX_FIELDS) throw new DecodeError(`more than ${MAX_FIELDS} fields`);
    const tag = reader.uint32();
    if (tag >>> 3 === 0) throw new DecodeError("field number 0");
    return tag;
  }

  /** Skips the value of a field. */
  skip(tag: number, depth = 0): void {
    const reader = this.#reader;
    switch (tag & 7) {
      case VARINT:
        reader.skip();
        return;
      case FIXED64:
        reader.skip(8);
        return;
      case LENGTH:
        reader.skip(reader.uint32());
        return;
      case FIXED32:
        reader.skip(4);
        return;
      case START_GROUP:
        this.#skipGroup(tag >>> 3, depth);
        return;
      default:
        throw new DecodeError(`wire type ${tag & 7}`);
    }
  }

  #skipGroup(number: number, depth: number): void {
    if (depth >= MAX_GROUP_DEPTH) throw new DecodeError("groups nested too deeply");
    for (;;) {
      const tag = this.next();
      if (tag === ((number << 3) | END_GROUP) >>> 0) return;
      if (tag === 0) throw new DecodeError("unterminated group");
      this.skip(tag, depth + 1);
    }
  }

  /** Enters a nested message: `next` then stops at its end. Returns the argument for {@link leave}. */
  enter(): number {
    const reader = this.#reader;
    const outer = reader.len;
    reader.len = this.#end();
    return outer;
  }

  /** Returns to the enclosing message, once `next` has returned 0. */
  leave(outer: number): void {
    this.#reader.len = outer;
  }

  /** Converts the text of the message just entered at once, which is cheaper than many short conversions. */
  expectText(): void {
    const { pos, len } = this.#reader;
    if (len - pos > MAX_TEXT) return;
    this.#text = this.#bytes.toString("latin1", pos, len);
    this.#textStart = pos;
    this.#textEnd = len;
  }

  /** Latin1 text: one character per byte. */
  latin1(): string {
    const end = this.#end();
    const start = this.#reader.pos;
    this.#reader.pos = end;
    // A substring keeps the whole text in memory; long ones, such as tokens, are kept by caches.
    if (end <= this.#textEnd && end - start < MAX_PART) {
      return this.#text.substring(start - this.#textStart, end - this.#textStart);
    }
    return this.#bytes.toString("latin1", start, end);
  }

  /** Bytes that are not UTF-8 become U+FFFD. */
  utf8(): string {
    const end = this.#end();
    const start = this.#reader.pos;
    this.#reader.pos = end;
    return this.#bytes.toString("utf8", start, end);
  }

  /** A view of the message's own memory. */
  bytes(): Buffer {
    const end = this.#end();
    const start = this.#reader.pos;
    this.#reader.pos = end;
    return this.#bytes.subarray(start, end);
  }

  uint32(): number {
    return this.#reader.uint32();
  }

  /** Exact up to 2^53. */
  int64(): number {
    return Number(this.#reader.int64());
  }

  /** Where the length-delimited value that starts here ends. */
  #end(): number {
    const reader = this.#reader;
    const end = reader.uint32() + reader.pos;
    if (end > reader.len) throw new DecodeError("a field extends beyond its message");
    return end;
  }
}
