-- Paths of masked values, for the records: `$.customers[*].ssn`. Names, never values; each path once.
local json = require("gatehouse.json")
local json_tape = require("gatehouse.json_tape")
local KEY, KEY_ESCAPED = json_tape.KIND.KEY, json_tape.KIND.KEY_ESCAPED

local mask_paths = {}

local MOST_PATHS = 50
local MOST_BYTES = 200
-- Ends a truncated path. U+2026
local CUT = "\226\128\166" -- U+2026

-- A truncated path is not extended. Truncation drops at most three bytes of a character.
local function is_cut(path)
  return #path >= MOST_BYTES - 3 and path:sub(-#CUT) == CUT
end

local function extended(path, step)
  if is_cut(path) then return path end
  local whole = path .. step
  if #whole <= MOST_BYTES then return whole end
  local last = MOST_BYTES - #CUT
  -- not within a UTF-8 character
  while whole:byte(last + 1) >= 0x80 and whole:byte(last + 1) < 0xc0 do last = last - 1 end
  return whole:sub(1, last) .. CUT
end

local function step_of(name)
  if name:find("^[%a_$][%w_$-]*$") then return "." .. name end
  return "[" .. json.quote(name) .. "]"
end

-- A place represents all values with the same path. It knows the places below it, so that a path is built only once.
local function new_place(path)
  return { path = path, members = {}, elements = nil, is_noted = false }
end

local function member_place(place, name)
  local below = place.members[name]
  if not below then
    below = new_place(extended(place.path, step_of(name)))
    place.members[name] = below
  end
  return below
end

local function elements_place(place)
  local below = place.elements
  if not below then
    below = new_place(extended(place.path, "[*]"))
    place.elements = below
  end
  return below
end

local Paths = {}
Paths.__index = Paths

-- mask_paths.new(doc) -> collects paths in a document of json.scan
function mask_paths.new(doc)
  return setmetatable({ doc = doc, places = { [0] = new_place("$") }, seen = {}, list = {} }, Paths)
end

-- The place of an object or array.
function Paths:place_of(container)
  local known = self.places[container]
  if known then return known end
  local doc = self.doc
  local around, before = self:place_of(doc.nodes[container].parent), doc.nodes[container - 1].kind
  local place
  if before == KEY or before == KEY_ESCAPED then
    place = member_place(around, json.name(doc, container - 1, "\239\191\189"))
  else
    place = elements_place(around)
  end
  self.places[container] = place
  return place
end

-- Records a member of the object `container`.
function Paths:add(container, name)
  if #self.list == MOST_PATHS then return end
  local place = member_place(self:place_of(container), name)
  if place.is_noted then return end
  place.is_noted = true
  -- truncated paths may be equal
  if self.seen[place.path] then return end
  self.seen[place.path] = true
  self.list[#self.list + 1] = place.path
end

return mask_paths
