import { closing, startCases, wire, type LuaCases, type Reading, type WireFrame } from "./support.ts";
import fc from "fast-check";
import type { LuaRunner } from "../../support/lua.ts";

const DRIVER = `
local frames = require("gatehouse.frames")
local function hex(bytes)
  return (bytes:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end))
end
local describe = {
  message = function(event) return (event.binary and "binary " or "text ") .. hex(event.payload) end,
  piece = function(event) return (event.last and "last " or "part ") .. hex(event.bytes) end,
  close = function(event) return ("close %s %s"):format(event.code or "", hex(event.reason)) end,
  ping = function(event) return "ping " .. hex(event.payload) end,
  pong = function(event) return "pong " .. hex(event.payload) end,
}
function one(items)
  local masked, limit, collect = items[1]:match("^(%S+) (%S+) (%S+)$")
  local reader = frames.reader({ masked = masked == "true", limit = tonumber(limit), collect = collect == "true" })
  local said, broken = {}, false
  for i = 2, #items do
    local events, code, reason = reader:feed(items[i])
    for _, event in ipairs(events) do
      assert(not broken, "events after a break")
      said[#said + 1] = describe[event.kind](event)
    end
    if code then
      assert(not broken and type(reason) == "string")
      broken = true
      said[#said + 1] = "broken " .. code
    end
  end
  return said
end
`;

export interface ReaderCase {
  readonly masked: boolean;
  readonly limit?: number;
  readonly collect?: boolean;
  readonly chunks: readonly Buffer[];
}

/** Reads each case with a reader of its own. */
export type LuaReaders = (cases: readonly ReaderCase[]) => Promise<Reading[]>;

/** Starts Envoy with `frames.lua`. */
export async function startReaders(): Promise<{ runner: LuaRunner; cases: LuaCases; read: LuaReaders }> {
  const { runner, cases } = await startCases(DRIVER);
  return {
    runner,
    cases,
    async read(all) {
      const results = await cases(
        all.map(({ masked, limit = 1_000_000, collect = true, chunks }) => [
          `${masked} ${limit} ${collect}`,
          ...chunks,
        ]),
      );
      return results.map((lines) => readingOf(lines.map(String)));
    },
  };
}

function readingOf(lines: readonly string[]): Reading {
  const last = lines.at(-1);
  if (last?.startsWith("broken ") !== true) return { events: lines };
  return { events: lines.slice(0, -1), broken: Number(last.slice("broken ".length)) };
}

/** Every byte is a chunk. */
export function bytewise(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (byte) => Buffer.of(byte));
}

/** Cuts bytes at the given places, taken modulo the length. */
export function split(bytes: Buffer, places: readonly number[]): Buffer[] {
  const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...cuts].map((cut, index) => bytes.subarray(cut, cuts[index] ?? bytes.length));
}

const bytes = (maxLength: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));

/** Texts; some of them long enough for each form of the length, and some with characters of several bytes. */
const text: fc.Arbitrary<Buffer> = fc
  .tuple(fc.string({ unit: "binary", maxLength: 12 }), fc.constantFrom(0, 0, 0, 0, 120, 300, 66_000))
  .map(([some, more]) => Buffer.from(some + "é".repeat(more / 2)));

/** A message as its sender cuts it, with control frames between. */
function fragments(
  opcode: number,
  payload: Buffer,
  cuts: readonly number[],
  control: readonly WireFrame[],
): WireFrame[] {
  const parts = split(payload, cuts);
  return parts.flatMap((part, index) => [
    { opcode: index === 0 ? opcode : 0, fin: index === parts.length - 1, payload: part },
    ...(index < parts.length - 1 ? control : []),
  ]);
}

const control: fc.Arbitrary<WireFrame> = fc.record({ opcode: fc.constantFrom(9, 10), payload: bytes(20) });

const message: fc.Arbitrary<WireFrame[]> = fc
  .tuple(
    fc.oneof(
      text.map((payload) => [1, payload] as const),
      bytes(40).map((payload) => [2, payload] as const),
    ),
    fc.array(fc.nat(70_000), { maxLength: 3 }),
    fc.array(control, { maxLength: 2 }),
  )
  .map(([[opcode, payload], cuts, between]) => fragments(opcode, payload, cuts, between));

const close: fc.Arbitrary<WireFrame[]> = fc
  .tuple(fc.constantFrom(1000, 1001, 1011, 3000, 4999), fc.string({ unit: "binary", maxLength: 20 }))
  .map(([code, reason]) => [{ opcode: 8, payload: closing(code, reason) }]);

/** What a peer that keeps the protocol says. */
export const conversation: fc.Arbitrary<readonly WireFrame[]> = fc
  .tuple(
    fc.array(
      fc.oneof({ weight: 4, arbitrary: message }, { weight: 1, arbitrary: control.map((one) => [one]) }),
      {
        maxLength: 6,
      },
    ),
    fc.option(close, { nil: [], freq: 4 }),
  )
  .map(([parts, last]) => [...parts.flat(), ...last]);

/** Frames as bytes; keys are random, and some are zero. */
export function wireOf(frames: readonly WireFrame[], masked: boolean, seed: number): Buffer {
  return Buffer.concat(
    frames.map((frame, index) => {
      if (!masked) return wire(frame);
      const key = Buffer.alloc(4);
      key.writeUInt32BE((Math.imul(seed, 2_654_435_761) + index * 7_919 * (seed % 5)) >>> 0);
      return wire({ ...frame, key });
    }),
  );
}

/** Bytes to change: where, and by what they are XORed. */
export const mutations = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), {
  minLength: 1,
  maxLength: 3,
});

export function mutate(original: Buffer, changes: readonly (readonly [number, number])[]): Buffer {
  const changed = Buffer.from(original);
  if (changed.length > 0) for (const [at, by] of changes) changed[at % changed.length]! ^= by;
  return changed;
}

/** Whether a head among `bytes` has a length that is not in its shortest form: `ws` reads those, RFC 6455 forbids them. */
export function hasLongLength(bytes: Buffer): boolean {
  for (let at = 0; at + 2 <= bytes.length;) {
    const short = bytes[at + 1]! & 0x7f;
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    if (at + 2 + lengthBytes > bytes.length) return false;
    const length =
      lengthBytes === 0 ? short : Number(BigInt(`0x${bytes.toString("hex", at + 2, at + 2 + lengthBytes)}`));
    if (length < (lengthBytes === 2 ? 126 : lengthBytes === 8 ? 65_536 : 0) || length >= 2 ** 53) return true;
    at += 2 + lengthBytes + (bytes[at + 1]! >= 0x80 ? 4 : 0) + length;
  }
  return false;
}
