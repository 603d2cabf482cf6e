import { isIP } from "node:net";

/** Types of frames (SPOE.txt, section 3.2). */
export const FRAME = {
  haproxyHello: 1,
  haproxyDisconnect: 2,
  notify: 3,
  agentHello: 101,
  agentDisconnect: 102,
  ack: 103,
};
/** Its payload is whole. */
export const FIN = 1;

const NULL = 0;
const BOOLEAN = 1;
const UINT32 = 3;
const IPV4 = 6;
const IPV6 = 7;
const STRING = 8;
const BINARY = 9;
const TRUE = 0x10;
const SET_VARIABLE = 1;
const TRANSACTION = 2;

/** A value of typed data; binary data and texts alike as bytes, and addresses as texts. */
export type SpopValue = undefined | boolean | number | Buffer | { readonly address: string };

export interface SpopFrame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly frame: number;
  readonly payload: Buffer;
}

/** Reads from the beginning of a buffer. Each method throws if the bytes end too soon. */
export class SpopReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): number {
    const value = this.#bytes[this.#at];
    if (value === undefined) throw new Error("the frame ends too soon");
    this.#at += 1;
    return value;
  }

  bytes(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new Error("the frame ends too soon");
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  rest(): Buffer {
    return this.bytes(this.#bytes.length - this.#at);
  }

  /** An integer of variable length. */
  varint(): number {
    let value = this.byte();
    if (value < 240) return value;
    for (let factor = 16; ; factor *= 128) {
      const byte = this.byte();
      value += byte * factor;
      if (!Number.isSafeInteger(value)) throw new Error("an integer is too large");
      if (byte < 128) return value;
    }
  }

  /** Bytes behind their length. */
  counted(): Buffer {
    return this.bytes(this.varint());
  }

  name(): string {
    return this.counted().toString("latin1");
  }

  typed(): SpopValue {
    const head = this.byte();
    switch (head & 0x0f) {
      case NULL:
        return undefined;
      case BOOLEAN:
        return (head & TRUE) !== 0;
      case 2:
      case UINT32:
      case 4:
      case 5:
        return this.varint();
      case IPV4:
        return { address: [...this.bytes(4)].join(".") };
      case IPV6:
        return { address: ipv6(this.bytes(16)) };
      case STRING:
      case BINARY:
        return this.counted();
      default:
        throw new Error("a value has an unknown type");
    }
  }

  /** Names and values, each name once, up to the end of the frame or `count`. */
  list(count = Number.POSITIVE_INFINITY): ReadonlyMap<string, SpopValue> {
    const found = new Map<string, SpopValue>();
    for (let index = 0; index < count && (count !== Number.POSITIVE_INFINITY || !this.atEnd); index += 1) {
      const name = this.name();
      if (found.has(name)) throw new Error(`\`${name}\` is repeated`);
      found.set(name, this.typed());
    }
    return found;
  }
}

/** @throws Error if it is no frame */
export function readFrame(bytes: Buffer): SpopFrame {
  const reader = new SpopReader(bytes);
  const type = reader.byte();
  const flags = reader.bytes(4).readUInt32BE();
  return { type, flags, stream: reader.varint(), frame: reader.varint(), payload: reader.rest() };
}

/** @returns the frame behind its length */
export function writeFrame(frame: Omit<SpopFrame, "flags">): Buffer {
  const head = Buffer.from([frame.type, 0, 0, 0, FIN]);
  const body = Buffer.concat([head, varint(frame.stream), varint(frame.frame), frame.payload]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, body]);
}

/** The payload of a frame with names and values: numbers are unsigned, texts latin1. */
export function writeList(values: Readonly<Record<string, string | number>>): Buffer {
  return Buffer.concat(
    Object.entries(values).flatMap(([name, value]) => [counted(Buffer.from(name)), typed(value)]),
  );
}

/** The payload of an ACK that sets variables of the transaction. */
export function setVariables(values: Readonly<Record<string, string | number>>): Buffer {
  return Buffer.concat(
    Object.entries(values).flatMap(([name, value]) => [
      Buffer.from([SET_VARIABLE, 3, TRANSACTION]),
      counted(Buffer.from(name)),
      typed(value),
    ]),
  );
}

function typed(value: string | number): Buffer {
  if (typeof value === "number") return Buffer.concat([Buffer.from([UINT32]), varint(value)]);
  return Buffer.concat([Buffer.from([STRING]), counted(Buffer.from(value, "latin1"))]);
}

function counted(bytes: Buffer): Buffer {
  return Buffer.concat([varint(bytes.length), bytes]);
}

/** Exported for its test. */
export function varint(value: number): Buffer {
  if (value < 240) return Buffer.from([value]);
  const bytes = [240 + (value % 16)];
  let rest = Math.floor((value - 240) / 16);
  while (rest >= 128) {
    bytes.push(128 + (rest % 128));
    rest = Math.floor((rest - 128) / 128);
  }
  return Buffer.from([...bytes, rest]);
}

function ipv6(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16));
  const text = groups.join(":");
  if (isIP(text) !== 6) throw new Error("an address is not valid");
  return text;
}
