-- Plans: parses the JSON text from the service into tables, once per text, and caches them.
local contract = require("gatehouse.contract")
local json = require("gatehouse.json")

local plan = {}

-- Maximum size of the plans of one generation, in bytes. Plans differ by the results of their conditions, so a client that
-- varies what a condition reads can cause many, and a GraphQL schema can make each of them large.
local MOST_BYTES = 4 * 1024 * 1024
-- A plan that would evict many others is not cached.
local LARGEST = MOST_BYTES / 4

-- Upper limits of LuaJIT's memory per string, table and member; what other modules prepare from a plan (mask_fields,
-- graphql_rules) takes about the same again.
local STRING, TABLE, MEMBER, TIMES = 24, 64, 48, 2
-- Overhead of the entry itself.
local ENTRY = 200

local function weight_of(value)
  if type(value) == "string" then return STRING + #value end
  if type(value) ~= "table" then return 0 end
  local weight = TABLE
  for key, member in pairs(value) do
    weight = weight + MEMBER + weight_of(member)
    if type(key) == "string" then weight = weight + STRING + #key end
  end
  return weight
end

-- Two generations: when the younger is full, the older is dropped and the younger takes its place. Plans in use move to the
-- younger one, so that many plans that are used once do not evict common ones.
local younger, older, bytes = {}, {}, 0

local function keep(text, entry)
  if bytes + entry.bytes > MOST_BYTES then younger, older, bytes = {}, younger, 0 end
  younger[text] = entry
  bytes = bytes + entry.bytes
end

-- plan.read(text) -> plan, or nil if it is not a plan, or has another version of the IR (src/policy/ir.ts)
function plan.read(text)
  if type(text) ~= "string" then return nil end
  local known = younger[text]
  if known then return known.plan end
  known = older[text]
  if known then
    keep(text, known)
    return known.plan
  end
  local made = json.plain(text)
  if type(made) ~= "table" or made.ir ~= contract.PLAN_VERSION then return nil end
  local weight = ENTRY + #text + TIMES * weight_of(made)
  if weight <= LARGEST then keep(text, { plan = made, bytes = weight }) end
  return made
end

return plan
