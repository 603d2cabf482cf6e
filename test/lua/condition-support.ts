import { UNAVAILABLE, type Attributes, type Verdict } from "../../src/policy/value.ts";
import { startLua } from "../support/lua.ts";

/** An evaluation for Lua. The expression may be any JSON. */
export interface LuaEvaluation {
  readonly expression: unknown;
  readonly attributes: Attributes;
}

/** Envoy's LuaJIT, for verdicts. */
export interface LuaConditions {
  /**
   * Evaluates all in one call, over values made at once and, where JSON can say them, over those that `json.value` finds
   * when they are asked for. Rejects where the two differ or one raises an error.
   */
  verdicts(evaluations: readonly LuaEvaluation[]): Promise<Verdict[]>;
  close(): Promise<void>;
}

export async function startConditions(): Promise<LuaConditions> {
  const lua = await startLua(DRIVER);
  return {
    async verdicts(evaluations) {
      const input = evaluations.map(({ expression, attributes }) => {
        const document = documentOf(attributes);
        return JSON.stringify({ expression, roots: membersOf(attributes), ...(document && { document }) });
      });
      const output = (await lua.call(`[${input.join(",")}]`)).toString();
      if (output.length !== evaluations.length || !/^[tfu]*$/.test(output)) throw new Error(output);
      return Array.from(output, (letter) => (letter === "u" ? undefined : letter === "t"));
    },
    close: () => lua.close(),
  };
}

/** `roots` holds tagged values, which are made at once; `document` is JSON, read as Envoy's filter reads a body. */
const DRIVER = `
local condition = require("gatehouse.condition")
local json = require("gatehouse.json")
local values = require("gatehouse.values")

local TAGGED = { unavailable = values.unavailable, opaque = values.opaque, nan = 0 / 0, inf = 1 / 0, minus = -1 / 0 }

local members_of

local function value_of(plain)
  if type(plain) ~= "table" or plain == values.null then return plain end
  if plain.tag then return TAGGED[plain.tag] end
  if plain.members then return values.object(members_of(plain.members)) end
  local items = {}
  for i = 1, #plain.list do items[i] = value_of(plain.list[i]) end
  return values.list(items, #plain.list)
end

function members_of(plain)
  local members = {}
  for name, member in pairs(plain) do members[name] = value_of(member) end
  return members
end

local function verdict_of(expression, roots)
  local ok, verdict = pcall(condition.evaluate, expression, roots)
  if not ok then return " " .. tostring(verdict) .. " " end
  if verdict == nil then return "u" end
  return verdict == true and "t" or verdict == false and "f" or "?"
end

function run(input)
  local evaluations = assert(json.plain(input))
  local out = {}
  for i = 1, #evaluations do
    local one = evaluations[i]
    local verdict = verdict_of(one.expression, members_of(one.roots))
    if one.document then
      local document = assert(json.scan(one.document))
      local lazy = verdict_of(one.expression, json.value(document).members)
      if lazy ~= verdict then verdict = verdict .. " but from JSON " .. lazy .. " at " .. i end
    end
    out[i] = verdict
  end
  return table.concat(out)
end
`;

function membersOf(object: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([key, member]) => [key, taggedOf(member)]));
}

/** `undefined` is left out: missing. */
function taggedOf(value: unknown): unknown {
  if (value === UNAVAILABLE) return { tag: "unavailable" };
  if (typeof value === "string" && !value.isWellFormed()) return { tag: "opaque" };
  if (Number.isNaN(value)) return { tag: "nan" };
  if (value === Infinity) return { tag: "inf" };
  if (value === -Infinity) return { tag: "minus" };
  if (Array.isArray(value)) return { list: value.map((item) => taggedOf(item)) };
  if (typeof value === "object" && value !== null) return { members: membersOf(value) };
  return value;
}

/** The attributes as a JSON text, or nothing where there is none. */
function documentOf(attributes: Attributes): string | undefined {
  try {
    return textOf(attributes);
  } catch (error) {
    if (error === UNSAYABLE) return undefined;
    throw error;
  }
}

const UNSAYABLE = new Error("no JSON text for this value");

/** A number beyond all doubles stands for one that is not finite; a member twice for one that is unavailable. */
function textOf(value: unknown): string {
  if (typeof value === "symbol") throw UNSAYABLE;
  if (typeof value === "number" && !Number.isFinite(value)) return value < 0 ? "-1e400" : "1e400";
  if (Object.is(value, -0)) return "-0";
  if (Array.isArray(value)) return `[${value.map((item) => textOf(item)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).flatMap(([key, member]: [string, unknown]) => {
    const name = JSON.stringify(key);
    if (member === undefined) return [];
    return member === UNAVAILABLE ? [`${name}:1`, `${name}:2`] : [`${name}:${textOf(member)}`];
  });
  return `{${members.join(",")}}`;
}
