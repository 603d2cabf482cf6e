-- Evaluates conditions over the values of values.lua, with the same results as src/policy/condition/evaluate.ts; the
-- README there says what every evaluator must do. A verdict is true, false, or nil for unknown. An operand that cannot
-- be compared is nil. A malformed expression is unknown to the expression that contains it.
local values = require("gatehouse.values")
local null, unavailable = values.null, values.unavailable
local sub, type = string.sub, type

local condition = {}

-- Anything deeper in an expression is unknown.
local MAX_DEPTH = 512

local EMPTY_LIST = values.list({}, 0)

local verdict_at, operand_at, list_at

-- The length of an IR list; nil if it is not a list. Decoded JSON does not distinguish an empty object from an empty
-- list.
local function length_of(list)
  if type(list) ~= "table" then return nil end
  local n = #list
  if n == 0 and next(list) ~= nil then return nil end
  return n
end

local function is_path(path)
  local n = length_of(path)
  if n == nil then return false end
  for i = 1, n do
    if type(path[i]) ~= "string" then return false end
  end
  return true
end

-- The value at a path. Only objects have members, lists and scalars have none. nil if it is missing, values.unavailable
-- if the value or one above it is unavailable.
local function read(path, roots)
  local n = #path
  if n == 0 then return nil end
  local value = roots[path[1]]
  for i = 2, n do
    if type(value) ~= "table" then return nil end
    if value == unavailable then return value end
    if value.kind ~= "object" then return nil end
    value = value.members[path[i]]
  end
  return value
end

-- Values that can be compared: not missing, unavailable or opaque ones, nor numbers that are not finite.
local function operand_of(value)
  local kind = type(value)
  if kind == "string" or kind == "boolean" then return value end
  if kind == "number" and value - value == 0 then return value end
  if kind == "table" and (value == null or value.kind == "list" or value.kind == "object") then return value end
  return nil
end

-- A query parameter or header, which a request may contain several times: `request.query.x`, `request.headers.x`.
local function is_sent_several_times(path)
  return #path == 3 and path[1] == "request" and (path[2] == "query" or path[2] == "headers")
end

-- Compares scalars of one type. null differs from everything else; equality with a list or an object is unknown.
local function equal(a, b)
  if a == nil or b == nil then return nil end
  if a == null or b == null then return a == b end
  local kind = type(a)
  if kind ~= type(b) or kind == "table" then return nil end
  return a == b
end

local function negated(verdict)
  if verdict == nil then return nil end
  return not verdict
end

-- Kleene's `and` (`decisive` is false) and `or` (it is true). Unknown without arguments.
local function connective(decisive)
  return function(expression, roots, depth)
    local args = expression.args
    local n = length_of(args)
    if n == nil or n == 0 then return nil end
    local verdict = not decisive
    for i = 1, n do
      local one = verdict_at(args[i], roots, depth)
      if one == decisive then return decisive end
      if one == nil then verdict = nil end
    end
    return verdict
  end
end

-- LuaJIT compares strings byte by byte, in any locale; in UTF-8 that is the order of code points.
local function ordering(holds)
  return function(expression, roots, depth)
    local left, right = operand_at(expression.left, roots, depth), operand_at(expression.right, roots, depth)
    local kind = type(left)
    if kind ~= type(right) or kind ~= "number" and kind ~= "string" then return nil end
    return holds(left, right)
  end
end

local function string_test(holds)
  return function(expression, roots, depth)
    local whole, part = operand_at(expression.target, roots, depth), operand_at(expression.arg, roots, depth)
    if type(whole) ~= "string" or type(part) ~= "string" then return nil end
    return holds(whole, part)
  end
end

-- `value == item` for any of `items`; `to_operand` makes an operand of each. No closure is created here, because LuaJIT
-- does not compile code that creates one.
local function any_equal(value, items, n, to_operand, roots, depth)
  local verdict = false
  for i = 1, n do
    local same = equal(value, to_operand(items[i], roots, depth))
    if same then return true end
    if same == nil then verdict = nil end
  end
  return verdict
end

local function membership(expression, roots, depth)
  local value, list = operand_at(expression.value, roots, depth), expression.list
  if type(list) == "table" and list.op == "list" then
    local n = length_of(list.items)
    if n == nil then return nil end
    return any_equal(value, list.items, n, operand_at, roots, depth)
  end
  local items = list_at(list, roots, depth)
  if type(items) ~= "table" or items.kind ~= "list" then return nil end
  return any_equal(value, items, items.n, operand_of)
end

local function equality(expression, roots, depth)
  return equal(operand_at(expression.left, roots, depth), operand_at(expression.right, roots, depth))
end

-- The operators of conditions. `depth` is the depth of the arguments.
local CONDITIONS = {
  ["and"] = connective(false),
  ["or"] = connective(true),
  ["not"] = function(expression, roots, depth) return negated(verdict_at(expression.arg, roots, depth)) end,
  ["=="] = equality,
  ["!="] = function(expression, roots, depth) return negated(equality(expression, roots, depth)) end,
  ["<"] = ordering(function(a, b) return a < b end),
  ["<="] = ordering(function(a, b) return a <= b end),
  [">"] = ordering(function(a, b) return a > b end),
  [">="] = ordering(function(a, b) return a >= b end),
  ["in"] = membership,
  startsWith = string_test(function(whole, part) return sub(whole, 1, #part) == part end),
  endsWith = string_test(function(whole, part) return sub(whole, #whole - #part + 1) == part end),
  exists = function(expression, roots)
    if not is_path(expression.path) then return nil end
    local value = read(expression.path, roots)
    if value == unavailable then return nil end
    return value ~= nil
  end,
}

-- The operators with a value.
local OPERANDS = {
  attribute = function(expression, roots)
    if not is_path(expression.path) then return nil end
    local value = operand_of(read(expression.path, roots))
    if type(value) ~= "table" or value.kind ~= "list" or not is_sent_several_times(expression.path) then return value end
    -- sent once, it is its value; of several values, it is unknown which one counts
    if value.n ~= 1 then return nil end
    return operand_of(value[1])
  end,
  literal = function(expression)
    local value = operand_of(expression.value)
    if type(value) == "table" and value ~= null then return nil end
    return value
  end,
  list = function(expression)
    -- outside `in`, only its type matters
    return length_of(expression.items) and EMPTY_LIST
  end,
}

-- The list that `in` searches: for a query parameter or header, all its values.
function list_at(expression, roots, depth)
  if type(expression) == "table" and expression.op == "attribute" then
    return is_path(expression.path) and operand_of(read(expression.path, roots)) or nil
  end
  return operand_at(expression, roots, depth)
end

function verdict_at(expression, roots, depth)
  if depth > MAX_DEPTH or type(expression) ~= "table" then return nil end
  local decide = CONDITIONS[expression.op]
  if decide ~= nil then return decide(expression, roots, depth + 1) end
  local value = operand_at(expression, roots, depth)
  if type(value) ~= "boolean" then return nil end
  return value
end

function operand_at(expression, roots, depth)
  if type(expression) ~= "table" then return nil end
  local op = expression.op
  if OPERANDS[op] ~= nil then return OPERANDS[op](expression, roots) end
  if CONDITIONS[op] ~= nil then return verdict_at(expression, roots, depth) end
  return nil -- an operator of a later version
end

-- Evaluates a condition.
--   expression  IR as plain tables (`json.plain`)
--   roots       root name -> value
-- Returns true, false, or nil for unknown. Never raises an error, whatever the expression is.
function condition.evaluate(expression, roots)
  if type(roots) ~= "table" then return nil end
  return verdict_at(expression, roots, 0)
end

return condition
