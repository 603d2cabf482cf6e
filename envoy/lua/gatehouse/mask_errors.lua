-- Adds entries to the `errors` of a GraphQL response (GraphQL specification, section 7.1.2).
local json = require("gatehouse.json")
local json_tape = require("gatehouse.json_tape")
local mask_edits = require("gatehouse.mask_edits")
local mask_fields = require("gatehouse.mask_fields")
local OBJECT, ARRAY = json_tape.KIND.OBJECT, json_tape.KIND.ARRAY

local mask_errors = {}

local function is_sound(entry)
  if type(entry) ~= "table" or type(entry.message) ~= "string" then return false end
  if type(entry.extensions) ~= "table" or type(entry.extensions.code) ~= "string" then return false end
  if entry.path == nil then return true end
  if not mask_fields.is_list(entry.path) then return false end
  for _, step in ipairs(entry.path) do
    if type(step) ~= "string" then return false end
  end
  return true
end

local function entry_text(entry)
  local path = ""
  if entry.path then
    local steps = {}
    for index, step in ipairs(entry.path) do steps[index] = json.quote(step) end
    path = ',"path":[' .. table.concat(steps, ",") .. "]"
  end
  return ('{"message":%s%s,"extensions":{"code":%s}}'):format(
    json.quote(entry.message), path, json.quote(entry.extensions.code))
end

-- The position at which an object or array can be extended: after its last value, or its opening bracket.
local function end_of_content(doc, container)
  local at = doc.nodes[container].stop - 1
  while doc.bytes[at - 1] <= 0x20 do at = at - 1 end
  return at
end

local function append(edits, doc, container, text)
  local at = end_of_content(doc, container)
  local is_empty = doc.nodes[container].next == container + 1
  edits:add(at, at, is_empty and text or "," .. text)
end

-- mask_errors.add(doc, errors) -> the text of the document with `errors` (GraphqlErrorIR as plain tables) appended to
-- its root's `errors`: if the member occurs twice, to each; if it is not an array, in its place; if there is none, in a
-- new last member. nil and `not_object` if the root is not an object, `plan` if the plan is malformed.
function mask_errors.add(doc, errors)
  local entries = {}
  for index, entry in ipairs(errors) do
    if not is_sound(entry) then return nil, "plan" end
    entries[index] = entry_text(entry)
  end
  local text = table.concat(entries, ",")
  local nodes, edits = doc.nodes, mask_edits.new(doc)
  if nodes[0].kind ~= OBJECT then return nil, "not_object" end
  local key = 1
  while key < doc.count do
    local value = nodes[key + 1]
    if json.name(doc, key) == "errors" then
      if value.kind == ARRAY then
        append(edits, doc, key + 1, text)
      else
        edits:add(value.start, value.stop, "[" .. text .. "]")
      end
    end
    key = value.next
  end
  if edits.n == 0 then append(edits, doc, 0, '"errors":[' .. text .. "]") end
  return edits:text()
end

return mask_errors
