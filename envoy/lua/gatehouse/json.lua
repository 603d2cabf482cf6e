-- Strict JSON (RFC 8259): documents to values that are read on demand, plans to plain tables, and back.
local ffi = require("ffi")
local json_tape = require("gatehouse.json_tape")
local json_text = require("gatehouse.json_text")
local values = require("gatehouse.values")
local null, opaque, unavailable = values.null, values.opaque, values.unavailable
local KIND = json_tape.KIND
local OBJECT, ARRAY, KEY, KEY_ESCAPED = KIND.OBJECT, KIND.ARRAY, KIND.KEY, KIND.KEY_ESCAPED

local json = {}

-- json.scan(text, options) -> document, or nil, reason, position; see json_tape.scan
json.scan = json_tape.scan

-- Maximum number of values in a message from a client: processing time depends far more on the number of values than on
-- bytes (src/json/parse-json.ts).
json.MOST_VALUES = 10000

-- json.release(doc): see json_tape.release
json.release = json_tape.release

-- json.quote(text) -> a JSON string
json.quote = json_text.quote

-- json.source(doc, index) -> the text of a node; of a string, without its quotes
function json.source(doc, index)
  local node = doc.nodes[index]
  local kind = node.kind
  if kind >= KIND.STRING and kind <= KEY_ESCAPED then
    return ffi.string(doc.bytes + node.start + 1, node.stop - node.start - 2)
  end
  return ffi.string(doc.bytes + node.start, node.stop - node.start)
end

-- json.name(doc, key, instead) -> the name of a member, or nil if it contains an unpaired surrogate (see
-- json_text.decode)
local function name_of(doc, key, instead)
  local body = json.source(doc, key)
  if doc.nodes[key].kind == KEY then return body end
  return json_text.decode(body, instead)
end
json.name = name_of

-- Names are compared with plain text, which an unpaired surrogate never equals.
local function is_named(doc, key, name)
  local node = doc.nodes[key]
  if node.kind == KEY and node.stop - node.start - 2 ~= #name then return false end
  return name_of(doc, key) == name
end

-- Members are searched for in the text a few times; if more are read, an index is cheaper.
local MOST_SEARCHES = 8

-- The key under which `members` caches its results. Names are strings, so it is not a name.
local STATE = {}
-- In an index: a duplicate name.
local TWICE = -1

local function index_of(doc, object)
  local index, nodes = {}, doc.nodes
  local key, stop = object + 1, nodes[object].next
  while key < stop do
    local name = name_of(doc, key)
    if name then index[name] = index[name] and TWICE or key end
    key = nodes[key + 1].next
  end
  return index
end

-- -> the key of a member, TWICE, or nil
local function search(doc, object, name)
  local nodes, found = doc.nodes, nil
  local key, stop = object + 1, nodes[object].next
  while key < stop do
    if is_named(doc, key, name) then
      if found then return TWICE end
      found = key
    end
    key = nodes[key + 1].next
  end
  return found
end

local MEMBERS = {
  __index = function(members, name)
    if type(name) ~= "string" then return nil end
    local state = members[STATE]
    local key
    if state.searches < MOST_SEARCHES then
      state.searches = state.searches + 1
      key = search(state.doc, state.object, name)
    else
      state.index = state.index or index_of(state.doc, state.object)
      key = state.index[name]
    end
    if not key then return nil end
    local value = key == TWICE and unavailable or json.value(state.doc, key + 1)
    members[name] = value
    return value
  end,
}

local function object_of(doc, index)
  return values.object(setmetatable({ [STATE] = { doc = doc, object = index, searches = 0 } }, MEMBERS))
end

local function list_of(doc, index)
  local items, n, nodes = {}, 0, doc.nodes
  local item, stop = index + 1, nodes[index].next
  while item < stop do
    n = n + 1
    items[n] = json.value(doc, item)
    item = nodes[item].next
  end
  return values.list(items, n)
end

local SCALARS = {
  [KIND.TRUE] = function() return true end,
  [KIND.FALSE] = function() return false end,
  [KIND.NULL] = function() return null end,
  [KIND.STRING] = json.source,
  [KIND.STRING_ESCAPED] = function(doc, index) return json_text.decode(json.source(doc, index)) or opaque end,
  [KIND.NUMBER] = function(doc, index) return json_text.number(json.source(doc, index)) or opaque end,
}

-- json.value(doc, index) -> the value at a node (default: the root) in the form of values.lua. Members of objects are
-- looked up on demand; a duplicate one is unavailable. A string with an unpaired surrogate, and an inexact number, are
-- opaque.
function json.value(doc, index)
  index = index or 0
  local kind = doc.nodes[index].kind
  local scalar = SCALARS[kind]
  if scalar then return scalar(doc, index) end
  -- each object and list is created once, however often and by whichever path it is reached
  local made = doc.made
  if not made then
    made = {}
    doc.made = made
  end
  local value = made[index]
  if not value then
    value = (kind == OBJECT and object_of or list_of)(doc, index)
    made[index] = value
  end
  return value
end

-- json.names(value) -> list of the names of an object's members; those of a document are in source order, including
-- duplicates, with U+FFFD for an unpaired surrogate
function json.names(value)
  local names = {}
  local state = rawget(value.members, STATE)
  if not state then
    for name in pairs(value.members) do names[#names + 1] = name end
    return names
  end
  local doc = state.doc
  local key, stop = state.object + 1, doc.nodes[state.object].next
  while key < stop do
    names[#names + 1] = name_of(doc, key, "\239\191\189")
    key = doc.nodes[key + 1].next
  end
  return names
end

-- json.has_duplicates(doc) -> whether any object in it can be read in two ways: a name is duplicate, or contains an
-- unpaired surrogate, which some parsers replace
function json.has_duplicates(doc)
  local nodes = doc.nodes
  -- the names of each object, by its index
  local seen = {}
  for key = 0, doc.count - 1 do
    local node = nodes[key]
    if node.kind == KEY or node.kind == KEY_ESCAPED then
      local names = seen[node.parent]
      if not names then
        names = {}
        seen[node.parent] = names
      end
      local name = name_of(doc, key)
      if not name or names[name] then return true end
      names[name] = true
    end
  end
  return false
end

-- json.number(text) -> the number; values.opaque if a double cannot represent it; nil if it is not a JSON number
function json.number(text)
  if json_tape.after_number(ffi.cast("const uint8_t *", text), 0) ~= #text then return nil end
  return json_text.number(text) or opaque
end

-- Distinguishes an empty list from an empty object; otherwise both are plain tables.
local LIST = {}

local plain_at

local function plain_list(doc, index)
  local list, n, nodes = setmetatable({}, LIST), 0, doc.nodes
  local item, stop = index + 1, nodes[index].next
  while item < stop do
    n = n + 1
    list[n] = plain_at(doc, item)
    item = nodes[item].next
  end
  return list
end

local function plain_object(doc, index)
  local object, nodes = {}, doc.nodes
  local key, stop = index + 1, nodes[index].next
  while key < stop do
    object[name_of(doc, key)] = plain_at(doc, key + 1)
    key = nodes[key + 1].next
  end
  return object
end

function plain_at(doc, index)
  local kind = doc.nodes[index].kind
  if kind == OBJECT then return plain_object(doc, index) end
  if kind == ARRAY then return plain_list(doc, index) end
  -- nil if the exponent is too long for LuaJIT
  if kind == KIND.NUMBER then return tonumber(json.source(doc, index)) or opaque end
  return SCALARS[kind](doc, index)
end

-- A condition has up to 512 levels (src/policy/condition/evaluate.ts), each of them two levels of JSON, and is part of
-- a plan.
local PLAIN_DEPTH = 1100

-- json.plain(text) -> plain tables, strings, numbers, booleans, values.null, for data from the service; or nil, reason.
-- Lists are 1..#. A string with an unpaired surrogate is opaque. Reasons: those of json.scan, and `duplicate`.
function json.plain(text)
  local doc, reason = json.scan(text, { depth = PLAIN_DEPTH })
  if not doc then return nil, reason end
  if json.has_duplicates(doc) then return nil, "duplicate" end
  return plain_at(doc, 0)
end

local function is_list(plain)
  return #plain > 0 or getmetatable(plain) == LIST
end

-- json.from_plain(plain) -> the result of json.plain as a value of values.lua
function json.from_plain(plain)
  if type(plain) ~= "table" or plain == null or plain == opaque then return plain end
  local made = {}
  if is_list(plain) then
    for index, item in ipairs(plain) do made[index] = json.from_plain(item) end
    return values.list(made, #plain)
  end
  for name, member in pairs(plain) do made[name] = json.from_plain(member) end
  return values.object(made)
end

local MOST_ENCODED_DEPTH = 64

local function encoded_number(number)
  if number - number ~= 0 then return "null" end
  for digits = 15, 17 do
    local text = string.format("%." .. digits .. "g", number)
    if tonumber(text) == number then return text end
  end
end

local encoded

local function encoded_table(plain, depth)
  local pieces = {}
  -- an empty table is a list: records have lists that may be empty, but no such objects
  if #plain > 0 or next(plain) == nil then
    for index, item in ipairs(plain) do pieces[index] = encoded(item, depth) end
    return "[" .. table.concat(pieces, ",") .. "]"
  end
  local names = {}
  for name in pairs(plain) do
    if type(name) == "string" then names[#names + 1] = name end
  end
  table.sort(names)
  for index, name in ipairs(names) do pieces[index] = json.quote(name) .. ":" .. encoded(plain[name], depth) end
  return "{" .. table.concat(pieces, ",") .. "}"
end

function encoded(plain, depth)
  local kind = type(plain)
  if kind == "string" then return json.quote(plain) end
  if kind == "number" then return encoded_number(plain) end
  if kind == "boolean" then return tostring(plain) end
  if kind == "table" and plain ~= null and depth < MOST_ENCODED_DEPTH then return encoded_table(plain, depth + 1) end
  return "null"
end

-- json.encode(plain) -> JSON text: names in order, an empty table as a list, null for values that JSON cannot represent
-- or that are nested more than 64 levels deep, U+FFFD for bytes that are not UTF-8
function json.encode(plain)
  return encoded(plain, 0)
end

return json
