import assert from "node:assert/strict";
import type { WebsocketPlanIR } from "../../../src/policy/plan.ts";
import type { LuaRunner } from "../../support/lua.ts";
import { said, startCases, wire, wsReading, type Reading } from "./support.ts";

const DRIVER = `
local frames = require("gatehouse.frames")
local json = require("gatehouse.json")
local socket = require("gatehouse.socket")
local values = require("gatehouse.values")

local function options_of(setup)
  local seed, secret, waits = 1, "none", false
  local options = {
    plan = setup.plan,
    set = setup.set,
    messages = require("gatehouse.messages"),
    mask = require("gatehouse.mask"),
    condition = require("gatehouse.condition"),
    graphql = require("gatehouse.graphql_socket"),
    env = function() return values.object({ environment = setup.plan.environment, hour = 12 }) end,
    random = function(n)
      local bytes = {}
      for i = 1, n do
        seed = (seed * 16807) % 2147483647
        bytes[i] = string.char(seed % 256)
      end
      local text = table.concat(bytes)
      if n == 16 then
        secret, waits = text:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end), true
      end
      return text
    end,
  }
  local function raise() error("broken on purpose") end
  local broken = {
    random = function() options.random = raise end,
    ["short random"] = function() options.random = function() return "x" end end,
    env = function() options.env = raise end,
    condition = function() options.condition = { evaluate = raise } end,
    mask = function() options.mask = { apply = raise } end,
    messages = function() options.messages = { evaluate = raise } end,
  }
  if setup.broken then broken[setup.broken]() end
  local function answer()
    if not waits then return "" end
    waits = false
    return frames.pong(secret)
  end
  return options, answer, function() return secret end
end

function one(items)
  local setup = json.plain(items[1])
  local options, answer, secret = options_of(setup)
  local connection = socket.new(options)
  local steps = {
    ["client "] = function(bytes) return connection:from_client(bytes) end,
    ["server "] = function(bytes) return connection:from_server(bytes) end,
    -- the server's answer to the last PING of ours, and a client that has guessed its payload
    ["answer "] = function() return connection:from_server(answer()) end,
    ["guessed"] = function(kind) return connection:from_client(frames[kind](secret(), "abcd")) end,
    ["accept "] = function(protocol)
      return tostring(connection:accepted(protocol ~= "" and protocol or nil))
    end,
    ["close  "] = function(text)
      local closing = json.plain(text)
      connection:close(closing.code, closing.reason, closing.by, closing.set)
      return ""
    end,
    ["replan "] = function(text)
      local plan = json.plain(text)
      connection:replan(plan, plan.set)
      return ""
    end,
  }
  local out = {}
  for i = 2, #items do out[#out + 1] = steps[items[i]:sub(1, 7)](items[i]:sub(8)) end
  out[#out + 1] = json.encode(connection:outcome())
  return out
end
`;

/** What happens to a connection, in order. `broken` modules raise errors. */
export interface Script {
  readonly plan: Partial<WebsocketPlanIR>;
  /** The digest of the set that decided on the handshake. */
  readonly set?: string;
  readonly broken?: string;
  readonly steps: readonly Step[];
}

export type Step =
  | { readonly client: Buffer }
  | { readonly server: Buffer }
  /** The server answers the last PING that was not the client's. */
  | { readonly answer: true }
  | { readonly guessed: "ping" | "pong" }
  | { readonly accept: string }
  | {
      readonly close: {
        readonly code: unknown;
        readonly reason: unknown;
        readonly by: string;
        readonly set?: string;
      };
    }
  /** `set`: the digest of the plan's set. */
  | { readonly replan: Partial<WebsocketPlanIR> & { readonly set?: string } };

export interface Outcome {
  readonly sent: { readonly delivered: number; readonly dropped: number };
  readonly received: { readonly delivered: number; readonly dropped: number; readonly masked: number };
  readonly denied: readonly {
    direction: string;
    type?: string;
    rule?: string;
    set?: string;
    count: number;
  }[];
  readonly paths: readonly string[];
  readonly sets?: readonly string[];
  readonly closed?: { readonly code?: number; readonly reason: string; readonly by: string };
}

export interface Played {
  /** What came out of each step; for `accept`, its answer. */
  readonly outputs: readonly Buffer[];
  /** How the two sides read what they got. A PING of ours is `ping secret`. */
  readonly server: Reading;
  readonly client: Reading;
  readonly outcome: Outcome;
}

export const PING_OF_OURS = "ping secret";

export type Play = (scripts: readonly Script[]) => Promise<Played[]>;

/** Starts Envoy with sockets that have the real modules. */
export async function startSockets(): Promise<{ runner: LuaRunner; play: Play }> {
  const { runner, cases } = await startCases(DRIVER);
  return {
    runner,
    async play(scripts) {
      const results = await cases(
        scripts.map(({ plan, set, broken, steps }) => [
          JSON.stringify({
            plan: { environment: "test", plain: false, limit: 100_000, ...plan },
            set,
            broken,
          }),
          ...steps.map(encoded),
        ]),
      );
      return Promise.all(results.map((items, index) => played(scripts[index]!, items)));
    },
  };
}

function encoded(step: Step): Buffer {
  const [name, value] = Object.entries(step)[0] as [string, Buffer | string | true | object];
  const bytes = typeof value === "string" || Buffer.isBuffer(value) ? value : JSON.stringify(value);
  return Buffer.concat([Buffer.from(name.padEnd(7)), Buffer.from(bytes)]);
}

async function played({ steps }: Script, items: readonly Buffer[]): Promise<Played> {
  const outputs = items.slice(0, -1);
  assert.equal(outputs.length, steps.length);
  const sum = (names: readonly string[]) =>
    Buffer.concat(outputs.filter((_, index) => names.some((name) => name in steps[index]!)));
  const server = await wsReading(sum(["client", "guessed"]), { masked: true });
  return {
    outputs,
    server: { ...server, events: server.events.map(nameless) },
    client: await wsReading(sum(["server", "answer"]), { masked: false }),
    outcome: JSON.parse(String(items.at(-1))) as Outcome,
  };
}

/** The payload of our PINGs is 16 bytes in hexadecimal digits, of which the reading has the digits again. */
function nameless(event: string): string {
  return /^ping (?:3[0-9]|6[1-6]){32}$/.test(event) ? PING_OF_OURS : event;
}

const KEY = Buffer.from([0xa5, 0x01, 0xff, 0x7e]);

/** A frame of the client. */
export function fromClient(payload: unknown, more: Partial<Parameters<typeof wire>[0]> = {}): Buffer {
  return wire({ opcode: 1, payload: bytesOf(payload), key: KEY, ...more });
}

/** A frame of the server. */
export function fromServer(payload: unknown, more: Partial<Parameters<typeof wire>[0]> = {}): Buffer {
  return wire({ opcode: 1, payload: bytesOf(payload), ...more });
}

/** Strings and bytes as they are, anything else as JSON. */
function bytesOf(payload: unknown): Buffer | string {
  return typeof payload === "string" || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload);
}

const SMALL = {
  op: "<",
  left: { op: "attribute", path: ["message", "n"] },
  right: { op: "literal", value: 5 },
} as const;

/** One message that is delivered, one that is not, one that ends the connection, and one that depends. */
export const RULES: NonNullable<WebsocketPlanIR["send"]> = {
  chat: { rule: "m[0]", onDeny: "drop" },
  admin: { rule: "m[1]", when: false, onDeny: "drop" },
  kick: { rule: "m[2]", when: false, onDeny: "close" },
  count: { rule: "m[3]", when: SMALL, onDeny: "drop" },
};

export const CHAT = { type: "chat", text: "hi" };
export const ADMIN = { type: "admin" };
export const json = (value: unknown) => JSON.stringify(value);
/** What a side reads of a text: strings as they are, anything else as JSON. */
export const text = (value: unknown) => said("text", typeof value === "string" ? value : json(value));
/** What a side reads when it is told that its message was denied. */
export const notice = (type?: string, message = "the message was denied") =>
  text({
    type: "error",
    error: { code: "ACCESS_DENIED", message },
    ...(type !== undefined && { message_type: type }),
  });
export const UNLISTED = "no rule exists for messages of this type";
export const AMBIGUOUS = "a name in the message could be read as another one";
export const UNREADABLE = "a message must be a JSON object with one `type`";
