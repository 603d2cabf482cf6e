-- Replacements of masked values.
local json = require("gatehouse.json")
local json_tape = require("gatehouse.json_tape")
local json_text = require("gatehouse.json_text")
local KIND = json_tape.KIND

local mask_actions = {}

-- Where several fields hit one member, the strictest that applies wins; of equally strict ones, the first. A plan with any
-- other action is bad.
mask_actions.STRICTNESS = { remove = 5, null = 4, full = 3, replace = 2, partial = 1 }

local HIDDEN = '"***"'
local SHOWN = 4

-- The last characters of a UTF-8 text, if it has more than these.
local function last_characters(text)
  local at, count = #text + 1, 0
  while at > 1 do
    if count == SHOWN then return text:sub(at) end
    repeat at = at - 1 until text:byte(at) < 0x80 or text:byte(at) >= 0xc0
    count = count + 1
  end
  return nil
end

local function partial(doc, value)
  local kind = doc.nodes[value].kind
  local text
  if kind == KIND.STRING or kind == KIND.NUMBER then text = json.source(doc, value) end
  -- an unpaired surrogate cannot be shown, so nothing is shown
  if kind == KIND.STRING_ESCAPED then text = json_text.decode(json.source(doc, value)) end
  local shown = text and last_characters(text)
  return shown and json.quote("***" .. shown) or HIDDEN
end

local ACTIONS = {
  null = function() return "null" end,
  full = function() return HIDDEN end,
  replace = function(action)
    return type(action.replacement) == "string" and json.quote(action.replacement) or HIDDEN
  end,
  partial = function(_, doc, value) return partial(doc, value) end,
}

-- mask_actions.text(action, doc, value) -> JSON text that replaces the node `value`; for every action but `remove`
function mask_actions.text(action, doc, value)
  return ACTIONS[action.kind](action, doc, value)
end

return mask_actions
