-- Values that conditions compare, as Lua has them:
--   string, number, boolean     themselves; strings are UTF-8
--   values.null                 JSON's null
--   values.unavailable          cannot be known: unknown to every operator, `exists` included
--   values.opaque               is there, but no operator takes it: half a surrogate pair, a number that a double rounds
--   list                        { kind = "list", n = 2, "a", "b" }
--   object                      { kind = "object", members = { name = value } }
--   nil                         missing
-- `members` may have a metatable that finds a member when it is asked for; so a document need not be read as a whole.
local values = {}

values.null = setmetatable({ kind = "null" }, { __tostring = function() return "null" end })
values.unavailable = setmetatable({ kind = "unavailable" }, { __tostring = function() return "unavailable" end })
values.opaque = setmetatable({ kind = "opaque" }, { __tostring = function() return "opaque" end })

function values.list(items, n)
  items.kind = "list"
  items.n = n or #items
  return items
end

function values.object(members)
  return { kind = "object", members = members }
end

return values
