import { LUA_CONTRACT } from "../envoy-contract.ts";

type Table = Readonly<Record<string, string | number | Readonly<Record<string, string>>>>;

/**
 * The module `gatehouse.contract`, in Lua. Reading a name that a table does not have raises an error, where Lua's own tables
 * would return nil and the mistake would go unnoticed.
 */
export function luaContract(contract: Table = LUA_CONTRACT): string {
  return `local function closed(names)
  return setmetatable(names, {
    __index = function(_, name) error("the contract has no " .. tostring(name), 2) end,
  })
end

return ${table(contract)}
`;
}

function table(members: Table): string {
  const lines = Object.entries(members).map(([name, value]) => `${name} = ${literal(value)},`);
  return `closed({\n${lines.join("\n")}\n})`;
}

function literal(value: Table[string]): string {
  if (typeof value === "number") return String(value);
  // JSON's escapes of printable ASCII are Lua's
  return typeof value === "string" ? JSON.stringify(value) : table(value);
}
