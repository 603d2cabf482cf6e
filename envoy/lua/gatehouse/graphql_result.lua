-- What the result of a GraphQL operation consists of. Other members (`incremental`, `patch`, `payload`) can carry data at places
-- that neither rules for fields nor conditions on events look at.
local json = require("gatehouse.json")

local graphql_result = {}

-- GraphQL specification, section 7.1
local MEMBERS = { data = true, errors = true, extensions = true }

-- graphql_result.is_complete(value): whether a value of values.lua is an object of these members
function graphql_result.is_complete(value)
  if type(value) ~= "table" or value.kind ~= "object" then return false end
  for _, name in ipairs(json.names(value)) do
    if not MEMBERS[name] then return false end
  end
  return true
end

-- graphql_result.is_answer(value): the same, or a list of them, which answers a batch
function graphql_result.is_answer(value)
  if type(value) ~= "table" or value.kind ~= "list" then return graphql_result.is_complete(value) end
  for index = 1, value.n do
    if not graphql_result.is_complete(value[index]) then return false end
  end
  return true
end

return graphql_result
