import type { LuaRunner } from "../../support/lua.ts";
import { startCases } from "./support.ts";

/** What became of a stream. */
export interface Streamed {
  /** After each chunk. */
  readonly outputs: readonly string[];
  readonly dropped: number;
  readonly refused?: string;
}

export interface StreamRequest {
  readonly kind: "lines" | "sse";
  readonly chunks: readonly (string | Buffer)[];
  readonly limit?: number;
  /** The last chunk is not said to be the last. */
  readonly open?: boolean;
}

/** Fields that `evaluate` of these tests masks and removes. */
export const FIELDS = [
  { rule: "r", anchored: false, keys: ["secret"], action: { kind: "full" } },
  { rule: "r", anchored: false, keys: ["gone"], action: { kind: "remove" } },
] as const;

const DRIVER = `
local events = require("gatehouse.events")
local json = require("gatehouse.json")
local mask = require("gatehouse.mask")
local plan = { fields = json.plain(${JSON.stringify(JSON.stringify(FIELDS))}) }
local function evaluate(document)
  local result = mask.apply(document, plan, {})
  return result and result.text
end
function one(items)
  local kind, limit, is_open = items[1], tonumber(items[2]), items[3] == "open"
  local stream = events[kind](evaluate, limit and { limit = limit })
  local outputs, refused = {}, ""
  for index = 4, #items do
    local output, reason = stream:feed(items[index], index == #items and not is_open)
    outputs[#outputs + 1] = output or ""
    if not output then refused = reason end
  end
  return { refused, tostring(stream.dropped), unpack(outputs) }
end
`;

/** Envoy's LuaJIT with the streams, evaluating by {@link FIELDS}. */
export async function startStreams(): Promise<{
  runner: LuaRunner;
  stream: (requests: readonly StreamRequest[]) => Promise<Streamed[]>;
}> {
  const { runner, cases } = await startCases(DRIVER);
  return {
    runner,
    stream: async (requests) => {
      const inputs = requests.map(({ kind, chunks, limit, open = false }) => [
        kind,
        String(limit ?? ""),
        open ? "open" : "",
        ...chunks,
      ]);
      return (await cases(inputs)).map(([refused, dropped, ...outputs]) => ({
        outputs: outputs.map(String),
        dropped: Number(dropped),
        ...(refused?.length && { refused: String(refused) }),
      }));
    },
  };
}

export interface ClientEvent {
  readonly type: string;
  readonly data: string;
  readonly lastEventId: string;
}

/** Values of other fields than `data` that are delivered. */
const STRICT: Readonly<Record<string, RegExp>> = {
  event: /^[\w.:/+=-]{0,64}$/,
  id: /^[\w.:/+=-]{0,64}$/,
  retry: /^\d{1,9}$/,
};

/**
 * What a browser makes of a stream (WHATWG HTML, section 9.2.6).
 *
 * @param evaluate - returns the data to see instead, or `undefined` if the event is to be treated as not sent; events
 *   without the strict form are then also treated as not sent
 */
export function clientEvents(stream: string, evaluate?: (data: string) => string | undefined): ClientEvent[] {
  const lines = stream.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  lines.pop(); // not ended
  const events: ClientEvent[] = [];
  let idBefore = "";
  let [type, data, id] = ["", "", ""];
  let seen: string[] = [];
  for (const line of lines) {
    if (line === "") {
      const isStrict = evaluate === undefined || new Set(seen).size === seen.length;
      const evaluated =
        data === "" || evaluate === undefined ? data.slice(0, -1) : evaluate(data.slice(0, -1));
      if (!isStrict || evaluated === undefined) id = idBefore;
      else if (data !== "") events.push({ type, data: evaluated, lastEventId: id });
      [type, data, idBefore, seen] = ["", "", id, []];
      continue;
    }
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") data += `${value}\n`;
    // twice the same marks an event that is not strict
    else seen.push(...(STRICT[name]?.test(value) === true ? [name] : ["other", "other"]));
    if (name === "event") type = value;
    if (name === "id") id = value;
  }
  return events;
}

/** Whether a stream has nothing in it but what {@link STRICT} says, and data. */
export function isStrictStream(stream: string): boolean {
  if (!/^(?:[^\r]*\n)?$/.test(stream)) return false;
  return stream.split("\n").every((line) => {
    const [, name = "", value = ""] = /^([a-z]+): (.*)$/.exec(line) ?? [];
    return line === "" || name === "data" || STRICT[name]?.test(value) === true;
  });
}
