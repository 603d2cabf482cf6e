import { startLua, type LuaRunner } from "../../support/lua.ts";

/** Lua for drivers: texts in one body, each after its length in bytes and a line break. */
const FRAMES = `
local function each_text(input)
  local at = 1
  return function()
    local length, start = input:match("^(%d+)\\n()", at)
    if not length then return nil end
    at = start + tonumber(length)
    return input:sub(start, at - 1)
  end
end
local function framed(text) return #text .. "\\n" .. text end
`;

/** Calls Lua with many texts at once. */
export type LuaBatch = (texts: readonly string[]) => Promise<string[]>;

/**
 * Starts Envoy with `driver`, Lua source that defines `one(text) -> text`.
 *
 * @returns the runner, and a function that calls `one` for each of many texts
 */
export async function startBatches(driver: string): Promise<{ runner: LuaRunner; batch: LuaBatch }> {
  const runner = await startLua(`${FRAMES}
${driver}
function run(input)
  local results = {}
  for text in each_text(input) do results[#results + 1] = framed(one(text)) end
  return table.concat(results)
end
`);
  return {
    runner,
    async batch(texts) {
      return unframe(await runner.call(Buffer.concat(texts.map(frame))));
    },
  };
}

function frame(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from(`${bytes.length}\n`), bytes]);
}

function unframe(output: Buffer): string[] {
  const texts: string[] = [];
  for (let at = 0; at < output.length;) {
    const start = output.indexOf("\n", at) + 1;
    at = start + Number(output.toString("latin1", at, start - 1));
    texts.push(output.toString("utf8", start, at));
  }
  return texts;
}
