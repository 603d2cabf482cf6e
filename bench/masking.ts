import { startLua } from "../test/support/lua.ts";

/** One row of the table; milliseconds per document, the median of several rounds. */
interface Row {
  readonly document: string;
  readonly bytes: number;
  readonly masked_members: number;
  readonly lua_in_envoy_ms: number;
  readonly lua_with_condition_ms: number;
  readonly node_parse_mask_print_ms: number;
  readonly lua_to_node: number;
}

const SIZES = [1_000, 100_000, 1_000_000];
const FIELDS = ["ssn", "email", "customer.phone"];
const ROUNDS = 9;
/** Bytes that a round goes through. */
const ROUND_BYTES = 8_000_000;

/**
 * Times the masking of three fields of ten: in Envoy's LuaJIT by spans (and once more with a condition on each object),
 * and in Node by parsing, masking and printing.
 */
export async function benchmarkMasking(): Promise<Row[]> {
  const lua = await startLua(DRIVER);
  try {
    const rows: Row[] = [];
    for (const size of SIZES) {
      const text = documentOf(size);
      const calls = Math.ceil(ROUND_BYTES / text.length);
      const plain: number[] = [];
      const conditional: number[] = [];
      const node: number[] = [];
      let members = "";
      // in turn, so that what else the machine does meets all of them; the first round warms up
      for (let round = 0; round <= ROUNDS; round++) {
        const [seconds, count = ""] = (await lua.call(`plain ${calls}\n${text}`)).toString().split(" ");
        plain.push((Number(seconds) * 1000) / calls);
        members = count;
        const [more] = (await lua.call(`conditional ${calls}\n${text}`)).toString().split(" ");
        conditional.push((Number(more) * 1000) / calls);
        const started = performance.now();
        for (let call = 0; call < calls; call++) maskByParsing(text);
        node.push((performance.now() - started) / calls);
      }
      const [inLua, inNode] = [median(plain), median(node)];
      rows.push({
        document: size < 1_000_000 ? `${size / 1000} KB` : `${size / 1_000_000} MB`,
        bytes: text.length,
        masked_members: Number(members),
        lua_in_envoy_ms: rounded(inLua),
        lua_with_condition_ms: rounded(median(conditional)),
        node_parse_mask_print_ms: rounded(inNode),
        lua_to_node: rounded(inLua / inNode),
      });
    }
    return rows;
  } finally {
    await lua.close();
  }
}

/** `plain N` or `conditional N`, a line break, the document -> seconds and how many members were masked in one. */
const DRIVER = `
local condition = require("gatehouse.condition")
local json = require("gatehouse.json")
local mask = require("gatehouse.mask")
local fields = ${JSON.stringify(JSON.stringify(plannedFields()))}
local when = '{"op":"not","arg":{"op":"==","left":{"op":"attribute","path":["item","tier"]},"right":{"op":"literal","value":"none"}}}'
local plans = { plain = json.plain('{"fields":' .. fields .. "}") }
plans.conditional = json.plain('{"fields":' .. fields:gsub('"action"', '"when":' .. when .. ',"action"') .. "}")
local context = { response = { status = 200, headers = {} }, evaluate = condition.evaluate }
function run(input)
  local name, calls, start = input:match("^(%a+) (%d+)\\n()")
  local text, plan = input:sub(start), plans[name]
  local result
  local started = os.clock()
  for _ = 1, tonumber(calls) do result = assert(mask.apply(text, plan, context)) end
  return os.clock() - started .. " " .. result.count
end
`;

function plannedFields() {
  return FIELDS.map((field) => ({
    rule: "r",
    anchored: false,
    keys: field.split("."),
    action: { kind: "full" },
  }));
}

/** What would be done without spans. */
function maskByParsing(text: string): string {
  const visit = (value: unknown, parent: string): void => {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) {
      for (const item of value) visit(item, parent);
      return;
    }
    const members = value as Record<string, unknown>;
    for (const name in members) {
      if (name === "ssn" || name === "email" || (name === "phone" && parent === "customer"))
        members[name] = "***";
      else visit(members[name], name);
    }
  };
  const value: unknown = JSON.parse(text);
  visit(value, "");
  return JSON.stringify(value);
}

/** What an API lists: objects of ten members, with one of them an object of three. */
function documentOf(size: number): string {
  const items: string[] = [];
  let length = 0;
  for (let index = 0; length < size; index++) {
    const item = JSON.stringify({
      id: index,
      ssn: `000-00-${String(index).padStart(4, "0")}`,
      name: `Customer Number ${index}`,
      email: `customer.${index}@example.com`,
      active: index % 2 === 0,
      balance: index * 1.25,
      tier: ["gold", "silver", "bronze"][index % 3],
      created_at: "2026-01-02T03:04:05.678Z",
      tags: ["alpha", "beta"],
      customer: {
        phone: `+1-555-${index}`,
        city: "Springfield",
        notes: 'called "twice" \n about the invoice',
      },
    });
    items.push(item);
    length += item.length + 1;
  }
  return `{"total":${items.length},"items":[${items.join(",")}]}`;
}

/** Without the first, which warmed up. */
function median(rounds: readonly number[]): number {
  return rounds.slice(1).sort((a, b) => a - b)[Math.floor((rounds.length - 1) / 2)] ?? 0;
}

function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
