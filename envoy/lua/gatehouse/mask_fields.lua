-- The fields of a plan, ordered by strictness, and found by the last key of their paths.
local ffi = require("ffi")
local mask_actions = require("gatehouse.mask_actions")
local values = require("gatehouse.values")
local STRICTNESS = mask_actions.STRICTNESS

local mask_fields = {}

-- Longer names count as having this length.
local LONGEST = 63
mask_fields.LONGEST = LONGEST

-- By list of fields, as long as its plan is cached.
local prepared = setmetatable({}, { __mode = "k" })

-- mask_fields.is_list(plain) -> whether it can be a list of the plan; json.plain returns the same for an empty list and
-- an empty object.
function mask_fields.is_list(plain)
  return type(plain) == "table" and (#plain > 0 or next(plain) == nil)
end

local function is_sound(field)
  if type(field) ~= "table" or not mask_fields.is_list(field.keys) or #field.keys == 0 then return false end
  for _, key in ipairs(field.keys) do
    if type(key) ~= "string" and key ~= values.opaque then return false end
  end
  local action = field.action
  return type(action) == "table" and action ~= values.null and STRICTNESS[action.kind] ~= nil
end

local function by_strictness(a, b)
  if a.strictness ~= b.strictness then return a.strictness > b.strictness end
  return a.order < b.order
end

local function prepare(fields)
  local found = { by_name = {}, lengths = ffi.new("uint8_t[?]", LONGEST + 1), first_bytes = ffi.new("uint8_t[256]") }
  for order, field in ipairs(fields) do
    if not is_sound(field) then return nil end
    local name = field.keys[#field.keys]
    -- an unpaired surrogate (opaque) is not a name
    if name ~= values.opaque then
      found.by_name[name] = found.by_name[name] or {}
      table.insert(found.by_name[name], {
        keys = field.keys, anchored = field.anchored == true, action = field.action, when = field.when,
        strictness = STRICTNESS[field.action.kind], order = order,
        everywhere = #field.keys == 1 and field.anchored ~= true and field.when == nil,
      })
      found.lengths[math.min(#name, LONGEST)] = 1
      -- for the empty name, the first byte is the closing quote
      found.first_bytes[name == "" and 0x22 or name:byte()] = 1
    end
  end
  for _, list in pairs(found.by_name) do table.sort(list, by_strictness) end
  return found
end

-- mask_fields.of(fields) -> { by_name, lengths, first_bytes }, or nil if the plan is malformed
--   by_name      last key -> fields, strictest first
--   lengths      1 at the lengths in bytes of last keys; those over LONGEST count as LONGEST
--   first_bytes  1 at their first bytes
-- `everywhere` is set if the last key alone decides.
function mask_fields.of(fields)
  if not mask_fields.is_list(fields) then return nil end
  local known = prepared[fields]
  if not known then
    known = prepare(fields)
    prepared[fields] = known
  end
  return known
end

return mask_fields
