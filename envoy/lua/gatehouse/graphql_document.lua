-- Executable GraphQL documents (September 2025, sections 2.2 to 2.12): parses text to a tree, like `parse` of
-- graphql-js 16. Directives are parsed and ignored: fields that they switch are evaluated as if they were selected.
--
--   document   { operations = {…}, fragments = {…}, tokens = n, deferred = whether `@defer` or `@stream` is anywhere in
--              it }, both lists in source order
--   operation  { operation = "query", name, variables = {{ name, value }}, selections, spreads }; the value is
--              the variable's default, or nil
--   fragment   { name, type, selections, spreads }; `spreads` names the fragments that are spread anywhere in it
--   selection  { kind = "field", name, key, arguments = {{ name, value }}, selections }; `key` is the response key
--              { kind = "spread", name }
--              { kind = "inline", type, selections }
--   value      { kind = "variable", name }, { kind = "number", text }, { kind = "string" | "boolean" | "enum", value },
--              { kind = "null" }, { kind = "list", items }, { kind = "object", members = {{ name, value }} }
local contract = require("gatehouse.contract")
local tokens = require("gatehouse.graphql_tokens")
local GRAPHQL = contract.GRAPHQL

local graphql_document = {}

local OPERATIONS = { query = true, mutation = true, subscription = true }

-- Ends the parsing of a malformed document; caught in `parse`.
local MALFORMED = {}

local function refuse()
  error(MALFORMED, 0)
end

local function take(state, kind)
  if state.kinds[state.at] ~= kind then refuse() end
  local value = state.values[state.at]
  state.at = state.at + 1
  return value
end

local function take_if(state, kind)
  if state.kinds[state.at] ~= kind then return false end
  state.at = state.at + 1
  return true
end

local function at_keyword(state, word)
  return state.kinds[state.at] == "name" and state.values[state.at] == word
end

local function many(state, open, item, close, ...)
  take(state, open)
  local items = {}
  repeat items[#items + 1] = item(state, ...) until take_if(state, close)
  return items
end

local function optional_many(state, open, ...)
  if state.kinds[state.at] ~= open then return {} end
  return many(state, open, ...)
end

local read_value, read_selections

local function named_value(state, constant)
  local name = take(state, "name")
  take(state, ":")
  return { name = name, value = read_value(state, constant) }
end

local NAMED_VALUES = {
  ["true"] = { kind = "boolean", value = true },
  ["false"] = { kind = "boolean", value = false },
  null = { kind = "null" },
}

-- Value[Const]
function read_value(state, constant)
  local kind = state.kinds[state.at]
  if kind == "$" and not constant then
    state.at = state.at + 1
    return { kind = "variable", name = take(state, "name") }
  elseif kind == "number" then
    return { kind = "number", text = take(state, "number") }
  elseif kind == "string" then
    return { kind = "string", value = take(state, "string") }
  elseif kind == "name" then
    local name = take(state, "name")
    return NAMED_VALUES[name] or { kind = "enum", value = name }
  elseif kind == "[" then
    state.at = state.at + 1
    local items = {}
    while not take_if(state, "]") do items[#items + 1] = read_value(state, constant) end
    return { kind = "list", items = items }
  end
  take(state, "{")
  local members = {}
  while not take_if(state, "}") do members[#members + 1] = named_value(state, constant) end
  return { kind = "object", members = members }
end

-- Directives[Const]
local function skip_directives(state, constant)
  while take_if(state, "@") do
    local name = take(state, "name")
    if name == "defer" or name == "stream" then state.deferred = true end
    optional_many(state, "(", named_value, ")", constant)
  end
end

-- Field : Alias? Name Arguments? Directives? SelectionSet?
local function field(state)
  local key = take(state, "name")
  local name = take_if(state, ":") and take(state, "name") or key
  local arguments = optional_many(state, "(", named_value, ")", false)
  skip_directives(state, false)
  return { kind = "field", name = name, key = key, arguments = arguments, selections = read_selections(state, true) }
end

-- FragmentSpread and InlineFragment
local function selection(state)
  if not take_if(state, "...") then return field(state) end
  local typed = at_keyword(state, "on")
  if state.kinds[state.at] == "name" and not typed then
    local name = take(state, "name")
    state.spreads[#state.spreads + 1] = name
    skip_directives(state, false)
    return { kind = "spread", name = name }
  end
  if typed then state.at = state.at + 1 end
  local condition = typed and take(state, "name") or nil
  skip_directives(state, false)
  return { kind = "inline", type = condition, selections = read_selections(state) }
end

function read_selections(state, optional)
  if optional and state.kinds[state.at] ~= "{" then return nil end
  return many(state, "{", selection, "}")
end

-- Type : NamedType, ListType, NonNullType
local function skip_type(state)
  if take_if(state, "[") then
    skip_type(state)
    take(state, "]")
  else
    take(state, "name")
  end
  take_if(state, "!")
end

-- VariableDefinition : Description? Variable : Type DefaultValue? Directives[Const]?
local function variable_definition(state)
  take_if(state, "string")
  take(state, "$")
  local name = take(state, "name")
  take(state, ":")
  skip_type(state)
  local default = take_if(state, "=") and read_value(state, true) or nil
  skip_directives(state, true)
  return { name = name, value = default }
end

-- OperationDefinition
local function operation(state)
  local read = { operation = take(state, "name"), spreads = state.spreads }
  if state.kinds[state.at] == "name" then read.name = take(state, "name") end
  read.variables = optional_many(state, "(", variable_definition, ")")
  skip_directives(state, false)
  read.selections = read_selections(state)
  return read
end

-- FragmentDefinition : Description? fragment FragmentName TypeCondition Directives? SelectionSet
local function fragment(state)
  take(state, "name")
  if at_keyword(state, "on") then refuse() end
  local read = { name = take(state, "name"), spreads = state.spreads }
  if not at_keyword(state, "on") then refuse() end
  state.at = state.at + 1
  read.type = take(state, "name")
  skip_directives(state, false)
  read.selections = read_selections(state)
  return read
end

-- Definition; definitions of a type system are refused.
local function definition(state, document)
  state.spreads = {}
  if state.kinds[state.at] == "{" then
    local read = { operation = "query", variables = {}, spreads = state.spreads, selections = read_selections(state) }
    document.operations[#document.operations + 1] = read
    return
  end
  take_if(state, "string") -- a description, which the shorthand form cannot have
  if state.kinds[state.at] ~= "name" then refuse() end
  local keyword = state.values[state.at]
  if OPERATIONS[keyword] then
    document.operations[#document.operations + 1] = operation(state)
  elseif keyword == "fragment" then
    document.fragments[#document.fragments + 1] = fragment(state)
  else
    refuse()
  end
end

local function read_document(state)
  local document = { operations = {}, fragments = {}, tokens = state.n }
  repeat definition(state, document) until state.kinds[state.at] == "end"
  document.deferred = state.deferred or false
  return document
end

-- Parses a document.
--   text     well-formed UTF-8
--   options  { tokens = maximum number }
-- -> the document, or nil, a code (GRAPHQL_MALFORMED, GRAPHQL_LIMIT_EXCEEDED) and a message.
function graphql_document.parse(text, options)
  local state, code = tokens.read(text, options.tokens)
  if not state then
    if code == GRAPHQL.GRAPHQL_LIMIT_EXCEEDED then return nil, code, "the operation is too large" end
    return nil, code, "the document cannot be read"
  end
  state.at = 1
  local ok, document = pcall(read_document, state)
  if not ok then return nil, GRAPHQL.GRAPHQL_MALFORMED, "the document cannot be read" end
  return document
end

return graphql_document
