import { closing, OPCODE, wire, type WireFrame } from "../../lua/websocket/support.ts";

/** A frame as it stood on the wire, its payload unmasked. */
export interface ReadFrame {
  readonly fin: boolean;
  readonly reserved: number;
  readonly opcode: number;
  readonly masked: boolean;
  readonly payload: Buffer;
}

/** All whole frames of some bytes (RFC 6455, section 5.2), whatever is wrong with them, and the bytes that are left. */
export function framesOf(bytes: Buffer): { readonly frames: readonly ReadFrame[]; readonly rest: Buffer } {
  const frames: ReadFrame[] = [];
  let at = 0;
  for (;;) {
    const found = frameAt(bytes, at);
    if (found === undefined) return { frames, rest: bytes.subarray(at) };
    frames.push(found.frame);
    at = found.end;
  }
}

function frameAt(bytes: Buffer, start: number): { frame: ReadFrame; end: number } | undefined {
  if (bytes.length < start + 2) return undefined;
  const [first, second] = [bytes.readUInt8(start), bytes.readUInt8(start + 1)];
  const short = second & 0x7f;
  const masked = second >= 0x80;
  const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
  const key = start + 2 + extra;
  const begin = key + (masked ? 4 : 0);
  if (bytes.length < begin) return undefined;
  const length =
    extra === 2
      ? bytes.readUInt16BE(start + 2)
      : extra === 8
        ? Number(bytes.readBigUInt64BE(start + 2))
        : short;
  if (bytes.length < begin + length) return undefined;
  const payload = Buffer.from(bytes.subarray(begin, begin + length));
  if (masked)
    for (let index = 0; index < length; index += 1)
      payload[index] = payload.readUInt8(index) ^ bytes.readUInt8(key + (index % 4));
  return {
    frame: { fin: first >= 0x80, reserved: (first >> 4) & 7, opcode: first & 0x0f, masked, payload },
    end: begin + length,
  };
}

/** A frame in a form that tests compare: `text {"a":1}`, `close 1008 REASON`, `ping x`; what is odd stands before it. */
export function described(frame: ReadFrame): string {
  const { opcode, payload } = frame;
  const odd = [frame.reserved === 0 ? "" : `rsv${String(frame.reserved)} `, frame.fin ? "" : "part of "].join(
    "",
  );
  const name = Object.entries(OPCODE).find(([, value]) => value === opcode)?.[0] ?? `opcode${String(opcode)}`;
  if (opcode !== OPCODE.close) return `${odd}${name} ${payload.toString()}`;
  if (payload.length < 2) return `${odd}${name} ${payload.toString("hex")}`.trimEnd();
  return `${odd}${name} ${String(payload.readUInt16BE(0))} ${payload.toString("utf8", 2)}`.trimEnd();
}

type Change = Partial<WireFrame>;

const MASK_KEY = Buffer.from("a1b2c3d4", "hex");

/** A frame as a client sends it: a whole masked text, unless said otherwise. */
export function fromClient(payload: unknown, change: Change = {}): Buffer {
  return wire({ opcode: OPCODE.text, payload: bytesOf(payload), key: MASK_KEY, ...change });
}

/** A frame as a server sends it: a whole text, unless said otherwise. */
export function fromServer(payload: unknown, change: Change = {}): Buffer {
  return wire({ opcode: OPCODE.text, payload: bytesOf(payload), ...change });
}

/** A CLOSE frame's payload; without a code it is empty. */
export function closePayload(code?: number, reason: Buffer | string = ""): Buffer {
  return code === undefined ? Buffer.alloc(0) : closing(code, reason);
}

function bytesOf(payload: unknown): Buffer | string {
  return typeof payload === "string" || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload);
}
