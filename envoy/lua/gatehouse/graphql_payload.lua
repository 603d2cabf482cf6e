-- A GraphQL request, and the checks of its document before its fields are evaluated.
local contract = require("gatehouse.contract")
local graphql_arguments = require("gatehouse.graphql_arguments")
local json = require("gatehouse.json")
local json_tape = require("gatehouse.json_tape")
local json_text = require("gatehouse.json_text")
local values = require("gatehouse.values")
local GRAPHQL, TEXT = contract.GRAPHQL, contract.GRAPHQL_TEXT

local graphql_payload = {}

-- Variables that are documents themselves (rich text) are nested deeply.
local MOST_NESTED = 200

local STRINGS = { [json_tape.KIND.STRING_ESCAPED] = true, [json_tape.KIND.KEY_ESCAPED] = true }

-- Some parsers replace an unpaired surrogate, and U+0000 ends a string for others.
local function has_unclear_string(document)
  for index = 0, document.count - 1 do
    if STRINGS[document.nodes[index].kind] then
      local text = json_text.decode(json.source(document, index))
      if not text or text:find("\0", 1, true) then return true end
    end
  end
  return false
end

local LIMITS = { depth = MOST_NESTED, values = json.MOST_VALUES }

-- Decodes JSON that every parser reads in the same way. -> a value of values.lua, or nil
function graphql_payload.decode(text)
  local document = json.scan(text, LIMITS)
  if not document or json.has_duplicates(document) or has_unclear_string(document) then return nil end
  return json.value(document)
end

local MEMBERS = { query = true, operationName = true, variables = true, extensions = true }

local function object_or_nil(payload, name, malformed)
  local value = payload.members[name]
  if value == nil or value == values.null then return nil end
  if type(value) ~= "table" or value.kind ~= "object" then malformed(('"%s" is no object'):format(name)) end
  return value
end

-- Reads the members of a request. Unknown members are refused, because they could make a server execute another
-- document.
--   payload    a value of values.lua
--   malformed  called with a message, does not return
--   refuse     called with a code and a message, does not return
-- -> { query, operation_name, variables }, the last two or nil
function graphql_payload.read(payload, malformed, refuse)
  if type(payload) ~= "table" or payload.kind ~= "object" then malformed("the request is no object") end
  for _, name in ipairs(json.names(payload)) do
    if not MEMBERS[name] then malformed("the request has a member that is not known") end
  end
  local operation_name, query = payload.members.operationName, payload.members.query
  if operation_name == values.null then operation_name = nil end
  if operation_name ~= nil and type(operation_name) ~= "string" then malformed('"operationName" is no string') end
  local variables = object_or_nil(payload, "variables", malformed)
  local extensions = object_or_nil(payload, "extensions", malformed)
  if query == values.null then query = nil end
  if query ~= nil and (type(query) ~= "string" or query == "") then malformed('"query" is no document') end
  if extensions and extensions.members.persistedQuery ~= nil then
    refuse(GRAPHQL.PERSISTED_QUERY_NOT_SUPPORTED, TEXT.persisted_not_supported)
  end
  if query == nil then malformed("the request has no query") end
  return { query = query, operation_name = operation_name, variables = variables }
end

local function by_name(definitions, malformed)
  local found = {}
  for _, definition in ipairs(definitions) do
    local name = definition.name
    if name and found[name] then malformed("two definitions have the same name") end
    if name then found[name] = definition end
  end
  return found
end

-- Refuses spreads of undefined fragments, and cycles of fragments: those that are left after removing all fragments
-- that spread nothing, then all that spread only these, and so on (Kahn).
local function check_spreads(document, fragments, malformed)
  local waiting, users, ready, taken = {}, {}, {}, 0
  for _, fragment in ipairs(document.fragments) do
    waiting[fragment] = #fragment.spreads
    if #fragment.spreads == 0 then ready[#ready + 1] = fragment end
    for _, name in ipairs(fragment.spreads) do
      users[name] = users[name] or {}
      table.insert(users[name], fragment)
    end
  end
  for _, definitions in ipairs({ document.operations, document.fragments }) do
    for _, definition in ipairs(definitions) do
      for _, name in ipairs(definition.spreads) do
        if not fragments[name] then malformed(TEXT.fragment_missing) end
      end
    end
  end
  while #ready > 0 do
    taken = taken + 1
    for _, user in ipairs(users[table.remove(ready).name] or {}) do
      waiting[user] = waiting[user] - 1
      if waiting[user] == 0 then ready[#ready + 1] = user end
    end
  end
  if taken < #document.fragments then malformed(TEXT.fragment_of_itself) end
end

-- Checks a document (sections 5.2 and 5.5 of the specification, as far as decisions depend on them).
--   operation_name  the name in the request, or nil
--   roots           names of the root types by kind of operation
-- -> its fragments by name
function graphql_payload.check(document, operation_name, roots, malformed)
  local operations = by_name(document.operations, malformed)
  local fragments = by_name(document.fragments, malformed)
  local only = #document.operations == 1
  if #document.operations == 0 then malformed("there is no operation") end
  for _, operation in ipairs(document.operations) do
    if not operation.name and not only then malformed("an operation without a name stands beside others") end
    if not roots[operation.operation] then malformed("operations of that kind are not served") end
    if graphql_arguments.are_ambiguous(operation.variables) then malformed(TEXT.variable_twice) end
  end
  if operation_name and not operations[operation_name] then malformed("there is no operation of that name") end
  if not operation_name and not only then malformed("no operation is named") end
  check_spreads(document, fragments, malformed)
  return fragments
end

return graphql_payload
