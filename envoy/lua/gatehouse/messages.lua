-- Evaluates a WebSocket message: whether it is delivered, what is masked in it, and how its sender is notified.
local contract = require("gatehouse.contract")
local json = require("gatehouse.json")
local json_tape = require("gatehouse.json_tape")
local names = require("gatehouse.names")
local MESSAGE, TEXTS = contract.MESSAGE, contract.MESSAGE_TEXT
local KEY_ESCAPED, OBJECT = json_tape.KIND.KEY_ESCAPED, json_tape.KIND.OBJECT

local messages = {}

-- Messages from servers are limited only in size, like responses.
messages.from_client = { values = json.MOST_VALUES }

local MOST_LABEL_BYTES = 100

-- Whether the name `type` is written with escapes in the outermost object. Parsers that compare raw names would not find it,
-- or find another one.
local function has_disguised_type(document)
  local nodes = document.nodes
  local key, stop = 1, nodes[0].next
  while key < stop do
    if nodes[key].kind == KEY_ESCAPED and json.name(document, key) == "type" then return true end
    key = nodes[key + 1].next
  end
  return false
end

-- -> the message and its type, or nil if it is not a JSON object with exactly one `type`, a string, in its plain spelling
local function read(text, limits)
  local document = json.scan(text, limits)
  if not document or document.nodes[0].kind ~= OBJECT or has_disguised_type(document) then return nil end
  local message = json.value(document)
  local name = message.members.type
  if type(name) ~= "string" then return nil end
  return message, name
end

local function denied(code, name, rule)
  return {
    permit = false, code = code, type = name, rule = rule and rule.rule,
    -- unlisted and unreadable messages are dropped; an unknown value in a rule counts as the stricter one
    on_deny = (not rule or rule.onDeny == "drop") and "drop" or "close",
  }
end

-- The names that rules read of messages, by rule; `type` always.
local names_read = setmetatable({}, { __mode = "k" })

local function names_of(rule)
  local level = names_read[rule]
  if not level then
    local paths = names.read_below(rule.when, "message")
    paths[#paths + 1] = { "type" }
    level = names.level(paths)
    names_read[rule] = level
  end
  return level
end

local function holds(rule, message, context)
  if rule.when == nil then return true end
  if rule.when == false then return false end
  return context.evaluate(rule.when, { message = message, env = context.env() }) == true
end

-- messages.evaluate(rules, text, context, limits) -> { permit, type, rule, on_deny = "drop" or "close", code, fields }
--   rules    PlannedMessage by type (src/policy/plan.ts), as plain tables
--   text     of the message; nil for a binary one
--   context  { evaluate = condition.evaluate, env = function() -> the value of `env` }
--   limits   of json.scan, or nil; `messages.from_client` for what a client sends
-- `code` is one of the contract's MESSAGE. `type` and `rule` are nil if they are unknown. Denied
-- messages have `on_deny`; permitted ones have the `fields` of their rule, if any.
function messages.evaluate(rules, text, context, limits)
  local message, name
  if text then message, name = read(text, limits) end
  if not name then return denied(MESSAGE.UNREADABLE) end
  local rule = rules[name]
  -- anything that is not a rule permits nothing, including JSON's null, which is a table, too
  if type(rule) ~= "table" or type(rule.rule) ~= "string" then return denied(MESSAGE.UNLISTED, name) end
  if names.similar(message, names_of(rule)) then return denied(MESSAGE.AMBIGUOUS, name, rule) end
  if not holds(rule, message, context) then return denied(MESSAGE.CONDITION, name, rule) end
  return { permit = true, code = MESSAGE.PERMITTED, type = name, rule = rule.rule, fields = rule.fields }
end

-- messages.label(name): a type for records and notices. It is untrusted: truncated, and without characters that move a
-- cursor or reorder text.
function messages.label(name)
  local most = MOST_LABEL_BYTES
  if #name > most then
    while most > 0 and name:find("^[\128-\191]", most + 1) do most = most - 1 end
    name = name:sub(1, most)
  end
  name = name:gsub("[%z\1-\31\127]", "?"):gsub("\194[\128-\159]", "?")
  return (name:gsub("\226\128[\142\143\168-\174]", "?"):gsub("\226\129[\166-\169]", "?"))
end

-- messages.notice(verdict): the text that notifies the sender of a denied message
function messages.notice(verdict)
  local text = ('{"type":"error","error":{"code":"%s","message":%s}'):format(
    contract.CLOSE.ACCESS_DENIED, json.quote(TEXTS[verdict.code]))
  if verdict.type then text = text .. ',"message_type":' .. json.quote(messages.label(verdict.type)) end
  return text .. "}"
end

-- Documents' plans by the first of their lists of fields. A rule belongs to one plan, so the pair is always the same;
-- the lists are copied, or no key would ever be forgotten.
local plans = setmetatable({}, { __mode = "k" })

local function plan_of(own, common)
  local key = own or common
  if not plans[key] then
    local fields = {}
    for _, field in ipairs(own or {}) do fields[#fields + 1] = field end
    for _, field in ipairs(common or {}) do fields[#fields + 1] = field end
    plans[key] = { fields = fields }
  end
  return plans[key]
end

local function is_empty(list) return list == nil or next(list) == nil end
local function is_broken(list) return list ~= nil and #list == 0 end

-- messages.apply(text, own, common, context) -> text, or nil if it cannot be masked; and the result of mask.apply
-- if something was changed
--   own, common  fields of the message's rule and of all messages (PlannedField), or nil
--   context      { mask = the module, evaluate = condition.evaluate }
function messages.apply(text, own, common, context)
  if is_empty(own) then own = nil end
  if is_empty(common) then common = nil end
  if not own and not common then return text end
  if is_broken(own) or is_broken(common) then return nil end
  local result = context.mask.apply(text, plan_of(own, common), { response = {}, evaluate = context.evaluate })
  if not result then return nil end
  return result.text, result.changed and result or nil
end

return messages
