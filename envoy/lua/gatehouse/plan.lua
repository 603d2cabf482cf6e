-- Plans: the JSON text from the service to tables, made once a text and kept.
local contract = require("gatehouse.contract")
local json = require("gatehouse.json")

local plan = {}

-- Most bytes of the plans of one generation. Plans differ by what their conditions were decided to, so anybody who varies
-- what a condition reads can make many, and a GraphQL schema can make each of them large.
local MOST_BYTES = 4 * 1024 * 1024
-- A plan that would take the place of many others is made each time.
local LARGEST = MOST_BYTES / 4

-- What LuaJIT takes for a string, a table, a member, at most; what others make ready of a plan (mask_fields,
-- graphql_rules) is about as much again.
local STRING, TABLE, MEMBER, TIMES = 24, 64, 48, 2
-- And for the entry itself.
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

-- Two generations: when the younger is full, the older is forgotten and the younger takes its place. What is in use is
-- taken over, so that many plans which are asked for once do not drive out those that everybody has.
local younger, older, bytes = {}, {}, 0

local function keep(text, entry)
  if bytes + entry.bytes > MOST_BYTES then younger, older, bytes = {}, younger, 0 end
  younger[text] = entry
  bytes = bytes + entry.bytes
end

-- plan.read(text) -> plan, or nil where it cannot be used: it is none, or of another version of the IR (src/policy/ir.ts)
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
