import * as ws from "ws";
import { startLua, type LuaRunner } from "../../support/lua.ts";

/** Lua for drivers: lists of byte strings in one, each after its length and a line break. */
const PACKING = `
local function unpacked(input)
  local items, at = {}, 1
  while at <= #input do
    local length, start = input:match("^(%d+)\\n()", at)
    at = start + tonumber(length)
    items[#items + 1] = input:sub(start, at - 1)
  end
  return items
end
local function packed(items)
  for i, item in ipairs(items) do items[i] = #item .. "\\n" .. item end
  return table.concat(items)
end
`;

/** Calls Lua with many cases at once; a case is a list of byte strings, and so is what becomes of it. */
export type LuaCases = (cases: readonly (readonly (Buffer | string)[])[]) => Promise<Buffer[][]>;

/** Starts Envoy with `driver`, Lua source that defines `one(items) -> items`, lists of strings. */
export async function startCases(driver: string): Promise<{ runner: LuaRunner; cases: LuaCases }> {
  const runner = await startLua(`${PACKING}
${driver}
function run(input)
  local results = {}
  for i, items in ipairs(unpacked(input)) do results[i] = packed(one(unpacked(items))) end
  return packed(results)
end
`);
  return {
    runner,
    cases: async (all) => unpack(await runner.call(pack(all.map(pack)))).map(unpack),
  };
}

function pack(items: readonly (Buffer | string)[]): Buffer {
  return Buffer.concat(
    items.flatMap((item) => [Buffer.from(`${Buffer.byteLength(item)}\n`), Buffer.from(item)]),
  );
}

function unpack(bytes: Buffer): Buffer[] {
  const items: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const start = bytes.indexOf("\n", at) + 1;
    at = start + Number(bytes.toString("latin1", at, start - 1));
    items.push(bytes.subarray(start, at));
  }
  return items;
}

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface WireFrame {
  readonly fin?: boolean;
  /** RSV1 to RSV3 as a number, 0 to 7. */
  readonly reserved?: number;
  readonly opcode: number;
  readonly payload: Buffer | string;
  /** Four bytes. */
  readonly key?: Buffer;
  /** Bytes that the length takes beyond the first, where it is not the shortest form. */
  readonly lengthBytes?: 0 | 2 | 8;
  /** What the head says, where that is not so. */
  readonly declared?: bigint;
}

/** The bytes of a frame (RFC 6455, section 5.2), right or wrong. */
export function wire(frame: WireFrame): Buffer {
  const payload = Buffer.from(frame.payload);
  const declared = frame.declared ?? BigInt(payload.length);
  const lengthBytes = frame.lengthBytes ?? (declared < 126n ? 0 : declared < 65_536n ? 2 : 8);
  const head = Buffer.alloc(2 + lengthBytes);
  head[0] = (frame.fin === false ? 0 : 0x80) | ((frame.reserved ?? 0) << 4) | frame.opcode;
  head[1] = (frame.key ? 0x80 : 0) | (lengthBytes === 0 ? Number(declared) : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) head.writeUInt16BE(Number(declared), 2);
  if (lengthBytes === 8) head.writeBigUInt64BE(declared, 2);
  const { key } = frame;
  return key
    ? Buffer.concat([head, key, payload.map((byte, index) => byte ^ key[index % 4]!)])
    : Buffer.concat([head, payload]);
}

/** A CLOSE frame's payload. */
export function closing(code: number, reason: Buffer | string = ""): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(code);
  return Buffer.concat([bytes, Buffer.from(reason)]);
}

/** What a reader made of bytes: messages and control frames in order, payloads as hexadecimal digits. */
export interface Reading {
  readonly events: readonly string[];
  /** The close code for a peer that broke the protocol. */
  readonly broken?: number;
}

export function said(kind: "text" | "binary" | "ping" | "pong", payload: Buffer | string): string {
  return `${kind} ${Buffer.from(payload).toString("hex")}`;
}

export function saidClose(code?: number, reason: Buffer | string = ""): string {
  return `close ${code ?? ""} ${Buffer.from(reason).toString("hex")}`;
}

interface WsReceiver {
  on(event: "message", listener: (data: Buffer, binary: boolean) => void): void;
  on(event: "ping" | "pong", listener: (data: Buffer) => void): void;
  on(event: "conclude", listener: (code: number, reason: Buffer) => void): void;
  on(event: "error", listener: (error: object) => void): void;
  write(bytes: Buffer, written: () => void): boolean;
}

/** Left out of `@types/ws`. */
const { Receiver } = ws as unknown as {
  Receiver: new (options: { isServer: boolean; maxPayload: number }) => WsReceiver;
};

/** How the library `ws` reads bytes. */
export async function wsReading(
  bytes: Buffer,
  options: { masked: boolean; limit?: number },
): Promise<Reading> {
  const receiver = new Receiver({ isServer: options.masked, maxPayload: options.limit ?? 0 });
  const events: string[] = [];
  let broken: number | undefined;
  receiver.on("message", (data, binary) => events.push(said(binary ? "binary" : "text", data)));
  receiver.on("ping", (data) => events.push(said("ping", data)));
  receiver.on("pong", (data) => events.push(said("pong", data)));
  receiver.on("conclude", (code, reason) => events.push(saidClose(code === 1005 ? undefined : code, reason)));
  receiver.on("error", (error) => {
    const status = Object.getOwnPropertySymbols(error).find(
      ({ description }) => description === "status-code",
    );
    broken = (error as Record<symbol, number>)[status!];
  });
  // a copy: it unmasks in place
  await new Promise<void>((resolve) => {
    receiver.write(Buffer.from(bytes), resolve);
  });
  return { events, ...(broken !== undefined && { broken }) };
}
