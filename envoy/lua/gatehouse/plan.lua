-- Plans: the JSON text from the service to tables, made once a text and kept.
local json = require("gatehouse.json")

local plan = {}

-- The version of the IR that this runtime reads (src/policy/ir.ts). A plan of another one is bad.
plan.IR_VERSION = 1

-- Texts that are kept. Plans differ by what their conditions were decided to, so there are few in use at a time; when
-- there are many, all are forgotten at once, which costs less than keeping count of each.
local MOST = 1000
local kept, count = {}, 0

-- plan.read(text) -> plan, or nil where it cannot be used
function plan.read(text)
  if type(text) ~= "string" then return nil end
  local known = kept[text]
  if known then return known end
  local made = json.plain(text)
  if type(made) ~= "table" or made.ir ~= plan.IR_VERSION then return nil end
  if count >= MOST then kept, count = {}, 0 end
  kept[text] = made
  count = count + 1
  return made
end

return plan
