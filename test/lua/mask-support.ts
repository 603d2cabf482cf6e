import type { ResponsePlanIR } from "../../src/policy/plan.ts";
import type { MaskedResponse } from "../../src/policy/mask/index.ts";
import type { LuaRunner } from "../support/lua.ts";
import { startCases } from "./websocket/support.ts";

export interface MaskRequest {
  readonly document: string | Buffer;
  readonly plan: unknown;
  readonly response?: MaskedResponse;
}

export type LuaMasked = { text: string; count: number; paths: string[] } | { reason: string };

/** As Envoy's filter calls it: with the plan from its JSON, and each kept as long as its text is the same. */
const DRIVER = `
local condition = require("gatehouse.condition")
local json = require("gatehouse.json")
local mask = require("gatehouse.mask")
local values = require("gatehouse.values")
function one(items)
  local response = assert(json.plain(items[3]))
  for _, list in pairs(response.headers or {}) do values.list(list) end
  local context = { evaluate = condition.evaluate, response = response }
  local result, reason = mask.apply(items[1], assert(json.plain(items[2])), context)
  if not result then return { "refused", reason } end
  assert(result.changed == (result.text ~= items[1]) or result.count > 0)
  return { "ok", result.text, tostring(result.count), unpack(result.paths) }
end
`;

/** Envoy's LuaJIT, masking many documents in one call. */
export async function startMasking(): Promise<{
  runner: LuaRunner;
  mask: (requests: readonly MaskRequest[]) => Promise<LuaMasked[]>;
}> {
  const { runner, cases } = await startCases(DRIVER);
  return {
    runner,
    mask: async (requests) => {
      const inputs = requests.map(({ document, plan, response = {} }) => [
        document,
        JSON.stringify(plan),
        JSON.stringify(response),
      ]);
      return (await cases(inputs)).map(([verdict, text, ...rest]) => {
        if (String(verdict) === "refused") return { reason: String(text) };
        const [count, ...paths] = rest.map(String);
        return { text: String(text), count: Number(count), paths };
      });
    },
  };
}

/** A plan is plain JSON. */
export type MaskPlan = Pick<ResponsePlanIR, "fields" | "errors">;
