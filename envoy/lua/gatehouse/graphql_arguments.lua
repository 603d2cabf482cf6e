-- Arguments of fields in the form that conditions read.
local json = require("gatehouse.json")
local names = require("gatehouse.names")
local values = require("gatehouse.values")

local graphql_arguments = {}

local function has_twice(named)
  local seen = {}
  for _, one in ipairs(named) do
    if seen[one.name] then return true end
    seen[one.name] = true
  end
  return false
end

-- Whether an argument (or variable), or a member of an input object, is given twice: servers differ in which one they
-- use.
function graphql_arguments.are_ambiguous(arguments)
  if has_twice(arguments) then return true end
  local open = {}
  for _, argument in ipairs(arguments) do open[#open + 1] = argument.value end
  while #open > 0 do
    local node = table.remove(open)
    if node.members and has_twice(node.members) then return true end
    for _, member in ipairs(node.members or {}) do open[#open + 1] = member.value end
    for _, item in ipairs(node.items or {}) do open[#open + 1] = item end
  end
  return false
end

-- The variables of an operation.
--   operation  as graphql_document has it
--   given      the request's `variables`: an object, or nil
--   looked_at  names.looked_at(), of all operations of the request
-- -> a scope for `read`
function graphql_arguments.scope(operation, given, looked_at)
  local declared = {}
  for _, variable in ipairs(operation.variables) do declared[variable.name] = variable end
  return {
    declared = declared, variables = given, given = given and given.members or {}, undeclared = false,
    look = { lists = "strict", looked_at = looked_at },
  }
end

-- The argument names that a condition reads, by condition.
local names_read = setmetatable({}, { __mode = "k" })

local function names_of(when)
  local level = names_read[when]
  if not level then
    level = names.level(names.read_below(when, "args"))
    names_read[when] = level
  end
  return level
end

local function has_similar_variable(scope)
  if scope.similar == nil then
    local paths = {}
    for name in pairs(scope.declared) do paths[#paths + 1] = { name } end
    scope.similar = names.similar(scope.variables, names.level(paths), scope.look) ~= nil
  end
  return scope.similar
end

-- Whether a name in a field's arguments, or of a variable, could be read as one that a condition reads: some servers take
-- `Id` for `id`.
--   args   an object of values.lua
--   scope  of the operation
--   when   the condition, as plain tables
function graphql_arguments.has_similar(args, scope, when)
  local level = names_of(when)
  if next(level.exact) == nil then return false end
  return has_similar_variable(scope) or names.similar(args, level, scope.look) ~= nil
end

local read_value

local function read_variable(name, scope)
  local variable = scope.declared[name]
  if not variable then
    scope.undeclared = true
    return values.unavailable
  end
  local given = scope.given[name]
  if given ~= nil then return given end
  return variable.value and read_value(variable.value, scope)
end

-- -> nil for a variable without a value
function read_value(node, scope)
  if node.kind == "variable" then return read_variable(node.name, scope) end
  if node.kind == "number" then return json.number(node.text) end -- literals are those of JSON
  if node.kind == "null" then return values.null end
  if node.kind == "list" then
    local items = {}
    for index, item in ipairs(node.items) do
      local value = read_value(item, scope)
      if value == nil then value = values.null end
      items[index] = value
    end
    return values.list(items, #node.items)
  end
  if node.kind == "object" then
    local members = {}
    for _, member in ipairs(node.members) do members[member.name] = read_value(member.value, scope) end
    return values.object(members)
  end
  return node.value
end

-- The arguments of a field.
--   arguments  as graphql_document has them
--   scope      of its operation
--   defaults   what the schema gives to arguments that are not given: JSON's plain tables by name, or nil
-- -> an object of values.lua
function graphql_arguments.read(arguments, scope, defaults)
  local members = {}
  for name, default in pairs(defaults or {}) do members[name] = json.from_plain(default) end
  for _, argument in ipairs(arguments) do
    scope.undeclared = false
    local value = read_value(argument.value, scope)
    if scope.undeclared then value = values.unavailable end
    if value ~= nil then members[argument.name] = value end
  end
  return values.object(members)
end

return graphql_arguments
