-- Where something was changed, for the records: `$.customers[*].ssn`. Names, never values; each path once.
local json = require("gatehouse.json")
local json_tape = require("gatehouse.json_tape")
local KEY, KEY_ESCAPED = json_tape.KIND.KEY, json_tape.KIND.KEY_ESCAPED

local mask_paths = {}

local MOST_PATHS = 50
local MOST_BYTES = 200
-- Ends a path that was cut.
local CUT = "\226\128\166" -- U+2026

-- A path that was cut stays as it is. Cutting leaves away at most three bytes of a character.
local function is_cut(path)
  return #path >= MOST_BYTES - 3 and path:sub(-#CUT) == CUT
end

local function extended(path, step)
  if is_cut(path) then return path end
  local whole = path .. step
  if #whole <= MOST_BYTES then return whole end
  local last = MOST_BYTES - #CUT
  -- not within a character of UTF-8
  while whole:byte(last + 1) >= 0x80 and whole:byte(last + 1) < 0xc0 do last = last - 1 end
  return whole:sub(1, last) .. CUT
end

local function step_of(doc, key)
  local name = json.name(doc, key, "\239\191\189")
  if name:find("^[%a_$][%w_$-]*$") then return "." .. name end
  return "[" .. json.quote(name) .. "]"
end

local Paths = {}
Paths.__index = Paths

-- mask_paths.new(doc) -> collects paths in a document of json.scan
function mask_paths.new(doc)
  return setmetatable({ doc = doc, of_container = { [0] = "$" }, keys = {}, seen = {}, list = {} }, Paths)
end

-- The path of an object or array; of all elements of an array it is the same.
function Paths:container(index)
  local known = self.of_container[index]
  if known then return known end
  local nodes = self.doc.nodes
  local parent, before = nodes[index].parent, nodes[index - 1].kind
  local path = self:container(parent)
  if before == KEY or before == KEY_ESCAPED then
    path = extended(path, step_of(self.doc, index - 1))
  else
    path = extended(path, "[*]")
  end
  self.of_container[index] = path
  return path
end

-- Notes a member, by its key.
function Paths:add(key)
  if #self.list == MOST_PATHS then return end
  local container = self:container(self.doc.nodes[key].parent)
  -- most often this is a member of the next element, spelled as in the last
  local keys = self.keys[container]
  if not keys then
    keys = {}
    self.keys[container] = keys
  end
  local spelling = json.source(self.doc, key)
  if keys[spelling] then return end
  keys[spelling] = true
  local path = extended(container, step_of(self.doc, key))
  if self.seen[path] then return end
  self.seen[path] = true
  self.list[#self.list + 1] = path
end

return mask_paths
