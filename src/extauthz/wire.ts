import protobuf from "protobufjs/minimal.js";

/** A message that is not well-formed protobuf, or longer than any honest one. */
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

/** Fields of one message, nested ones included: a check of a request with 3,000 headers has fewer. */
const MAX_FIELDS = 10_000;
const MAX_GROUP_DEPTH = 16;
/** Text converted at once, in bytes; and the parts of it that are converted for themselves. */
const MAX_TEXT = 65_536;
const MAX_PART = 100;

/** What {@link MessageReader.next} returns for a varint field of this number. */
export const varintField = (number: number): number => (number << 3) | VARINT;
/** What {@link MessageReader.next} returns for a string, bytes or message field of this number. */
export const lengthField = (number: number): number => (number << 3) | LENGTH;

/**
 * Reads one message field by field, in place, with protobufjs' Reader - which by itself would read across the end of a
 * nested message and shorten a string that ends too early. Here both are errors, and so are more fields than anybody
 * needs, so that the time is bounded whatever the bytes are.
 */
export class MessageReader {
  readonly #bytes: Buffer;
  readonly #reader: protobuf.Reader;
  #fields = 0;
  /** The text of one stretch of the bytes, see {@link expectText}. */
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

  /** Passes over the value of a field that nobody needs. */
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
      if (tag === 0) throw new DecodeError("a group without end");
      this.skip(tag, depth + 1);
    }
  }

  /** Goes into a nested message: `next` then ends where that ends. Returns what {@link leave} wants back. */
  enter(): number {
    const reader = this.#reader;
    const outer = reader.len;
    reader.len = this.#end();
    return outer;
  }

  /** Goes back to the message around, once `next` has returned 0. */
  leave(outer: number): void {
    this.#reader.len = outer;
  }

  /** Converts the message just entered at once, which for many short strings is cheaper than one by one. */
  expectText(): void {
    const { pos, len } = this.#reader;
    if (len - pos > MAX_TEXT) return;
    this.#text = this.#bytes.toString("latin1", pos, len);
    this.#textStart = pos;
    this.#textEnd = len;
  }

  /** One character a byte. */
  latin1(): string {
    const end = this.#end();
    const start = this.#reader.pos;
    this.#reader.pos = end;
    // A part keeps the whole text in memory; the long ones, like tokens, are what caches hold on to.
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
    if (end > reader.len) throw new DecodeError("a field ends beyond its message");
    return end;
  }
}
