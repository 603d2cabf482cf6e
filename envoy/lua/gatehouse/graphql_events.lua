-- Subscriptions whose rules read delivered results: what the operation must select for them, and the verdict on each
-- result.
local condition = require("gatehouse.condition")
local graphql_result = require("gatehouse.graphql_result")
local json = require("gatehouse.json")
local values = require("gatehouse.values")

local graphql_events = {}

-- The fields in selections, including those of fragments; each fragment is visited once, which is enough to know what
-- is selected.
local function fields_of(selections, fragments)
  local fields, open, followed = {}, { selections }, {}
  while #open > 0 do
    for _, selection in ipairs(table.remove(open)) do
      if selection.kind == "field" then
        fields[#fields + 1] = selection
      elseif selection.kind == "inline" then
        open[#open + 1] = selection.selections
      elseif not followed[selection.name] then
        followed[selection.name] = true
        open[#open + 1] = fragments[selection.name].selections
      end
    end
  end
  return fields
end

local function type_has_field(schema, name, field)
  local known = schema.types[name]
  if not known then return false end
  if known.fields[field] then return true end
  for _, possible in ipairs(known.possible or {}) do
    local one = schema.types[possible]
    if one and one.fields[field] then return true end
  end
  return false
end

local function selects_object(selections, name, fragments)
  for _, field in ipairs(fields_of(selections, fragments)) do
    if field.name == name and field.selections then return true end
  end
  return false
end

-- Whether every name of the path is selected under its own name, and nothing else under that name.
local function is_selected(selections, path, fragments)
  local level = selections
  for _, name in ipairs(path) do
    local below, found = {}, false
    for _, field in ipairs(fields_of(level, fragments)) do
      if field.key == name then
        if field.name ~= name then return false end
        found = true
        for _, selection in ipairs(field.selections or {}) do below[#below + 1] = selection end
      end
    end
    if not found then return false end
    level = below
  end
  return true
end

-- Finds what a condition reads in the results of a root field.
--   field      the root field, as graphql_document has it
--   reads      the paths that the condition reads below its late roots
--   fragments  by name
--   schema     GraphqlSchemaIR or nil; with it `type_name`, the root field's type
-- -> { members = { [root] = whether it is a member of what is delivered, or all of it }, paths = { "order.id" } },
-- or nil and the first path that the operation does not select
function graphql_events.resolve(field, reads, fragments, schema, type_name)
  local resolved = { members = {}, paths = {} }
  local selections, seen = field.selections or {}, {}
  for _, read in ipairs(reads) do
    local root = read[1]
    if resolved.members[root] == nil then
      if schema then
        resolved.members[root] = type_has_field(schema, type_name, root)
      else
        resolved.members[root] = selects_object(selections, root, fragments)
      end
    end
    local path = {}
    for index = resolved.members[root] and 1 or 2, #read do path[#path + 1] = read[index] end
    if not is_selected(selections, path, fragments) then return nil, path end
    local written = table.concat(path, ".")
    if not seen[written] then
      seen[written] = true
      resolved.paths[#resolved.paths + 1] = written
    end
  end
  return resolved
end

-- If a delivered object lacks a member that the operation selects (`@skip`, another type), the member is unknown, not
-- absent.
local function as_known(value)
  if type(value) ~= "table" or value.kind ~= "object" then return value end
  local given = value.members
  return values.object(setmetatable({}, {
    __index = function(_, name)
      local member = given[name]
      if member == nil then return values.unavailable end
      return as_known(member)
    end,
  }))
end

local function permits(event, value, env)
  if type(value) == "table" and value.kind == "list" then
    for index = 1, value.n do
      if not permits(event, value[index], env) then return false end
    end
    return true
  end
  local delivered = as_known(value)
  local roots = { args = event.args, env = env or values.unavailable }
  for root, is_member in pairs(event.members) do
    if not is_member then
      roots[root] = delivered
    elseif type(delivered) == "table" and delivered.kind == "object" then
      roots[root] = delivered.members[root]
    else
      roots[root] = values.unavailable
    end
  end
  return event.when ~= false and condition.evaluate(event.when, roots) == true
end

-- Evaluates one delivered result.
--   events   of the operation: { { rule, when, key, args, members, paths } }
--   payload  the execution result, a value of values.lua
--   env      value of `env`, or nil
-- -> true if it may be delivered; otherwise false, and the rule that withholds it, or nil if it cannot be parsed
function graphql_events.evaluate(events, payload, env)
  if not graphql_result.is_complete(payload) then return false end
  local data = payload.members.data
  if data == nil or data == values.null then return true end
  if type(data) ~= "table" or data.kind ~= "object" then return false end
  for _, event in ipairs(events) do
    local value = data.members[event.key]
    if value ~= nil and value ~= values.null and not permits(event, value, env) then return false, event.rule end
  end
  return true
end

-- Conditions of a plan (PlannedEvent, src/policy/plan.ts) as `evaluate` takes them. A plan lives as long as it is cached.
local prepared = setmetatable({}, { __mode = "k" })

local function prepare(planned)
  local events = {}
  for index, condition_of in ipairs(planned.conditions) do
    local members = {}
    for _, root in ipairs(condition_of.roots) do members[root] = false end
    for _, root in ipairs(condition_of.members) do members[root] = true end
    events[index] = { rule = condition_of.rule, key = condition_of.key, when = condition_of.when, members = members }
  end
  return events
end

-- Evaluates one document of the response to a subscription.
--   planned  PlannedEventsIR, as plain tables
--   text     JSON
--   env      value of `env`
-- -> whether it may be delivered
function graphql_events.permits(planned, text, env)
  local document = json.scan(text)
  if not document or json.has_duplicates(document) then return false end
  local events = prepared[planned]
  if not events then
    events = prepare(planned)
    prepared[planned] = events
  end
  return (graphql_events.evaluate(events, json.value(document), env))
end

return graphql_events
