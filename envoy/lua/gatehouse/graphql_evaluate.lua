-- Evaluates a GraphQL request by a GraphqlPlanIR (src/policy/plan.ts), like src/graphql for HTTP.
local condition = require("gatehouse.condition")
local contract = require("gatehouse.contract")
local graphql_arguments = require("gatehouse.graphql_arguments")
local graphql_document = require("gatehouse.graphql_document")
local graphql_events = require("gatehouse.graphql_events")
local graphql_payload = require("gatehouse.graphql_payload")
local graphql_rules = require("gatehouse.graphql_rules")
local names = require("gatehouse.names")
local values = require("gatehouse.values")
local GRAPHQL, TEXT = contract.GRAPHQL, contract.GRAPHQL_TEXT

local graphql_evaluate = {}

-- Maximum number of visited selections, counting fragments each time they are spread; and their maximum nesting depth.
local MOST_SELECTIONS = 10000
local MOST_NESTED = 200

-- Maximum number of argument and variable names that are compared with those that rules read (`MAX_NAMES` of
-- src/graphql/conditions.ts).
local MOST_NAMES = 50000

local MOST_DENIALS = 20

-- Ends the walk; caught in `evaluate`.
local function refuse(code, message)
  error({ kind = "refused", code = code, message = message }, 0)
end

local function malformed(message)
  refuse(GRAPHQL.GRAPHQL_MALFORMED, message)
end

local function over_limit(what)
  refuse(GRAPHQL.GRAPHQL_LIMIT_EXCEEDED, "the operation has " .. what)
end

-- A walk visits an operation's selections. Each selection set has a place:
--   root           it is the operation's own selection set
--   root_names     at the root, and on a root type anywhere: set of that type's names. A field gets the plan's
--                  `default` if no rule for one of these types names it
--   depth          nesting depth of its fields, themselves included
--   unwrapped      below introspection: how many of the fields around are `ofType`, which the limit does not count
--   type           with a schema: the parent type
--   names          without a schema: set of possible names of the parent type, in the form of graphql_rules.key
--   introspection  it is below `__schema` or `__type`; there is neither a type nor names then

-- Response keys from the root to the field at `depth`.
local function path_at(walk, depth)
  local path = {}
  for index = 1, depth do path[index] = walk.keys[index] end
  return path
end

-- Denies the field at `depth`.
--   denial  { rule, onDeny, message, code }, each of which may be missing
local function deny(walk, depth, denial)
  local path = path_at(walk, depth)
  local name = table.concat(path, ".")
  local id = (denial.rule or "") .. "\0" .. name
  if walk.denied[id] or #walk.denials == MOST_DENIALS then return end
  walk.denied[id] = true
  walk.denials[#walk.denials + 1] = {
    rule = denial.rule, onDeny = denial.onDeny or "reject", path = path,
    code = denial.code or GRAPHQL.ACCESS_DENIED, message = denial.message or TEXT.denied:format(name),
  }
end

-- Leaves a rule for the root field of a subscription that reads the payload to be evaluated at each event.
local function evaluate_by_event(walk, rule, field, definition, args)
  local reads = walk.index.late[rule]
  local resolved, missing =
    graphql_events.resolve(field, reads, walk.fragments, walk.index.schema, definition and definition.type)
  if not resolved then
    local message = TEXT.not_selected:format(table.concat(missing, "."))
    deny(walk, 1, { rule = rule.rule, onDeny = rule.onDeny, message = message })
  else
    walk.events[#walk.events + 1] = {
      rule = rule.rule, when = rule.when, key = field.key, args = args,
      members = resolved.members, paths = resolved.paths,
    }
  end
end

-- -> true, false, or nil if it depends on something that is not known yet
local function verdict_of(walk, rule, args)
  if rule.when == nil then return true end
  if rule.when == false then return false end
  local similar = graphql_arguments.has_similar(args, walk.scope, rule.when)
  if walk.looked_at.count > MOST_NAMES then over_limit("arguments of too many names") end
  if similar then malformed(TEXT.similar_name) end
  local roots = { args = args, env = walk.env }
  for _, path in ipairs(walk.index.late[rule]) do roots[path[1]] = values.unavailable end
  return condition.evaluate(rule.when, roots)
end

-- The arguments of a field, and the verdicts of rules on them. They are the same wherever fragments lead to the field,
-- which may be often, so they are computed once.
-- -> { args, verdicts = { [rule] = { verdict } } }
local function known_field(walk, field, definition)
  local by_definition = walk.evaluated[field] or {}
  walk.evaluated[field] = by_definition
  local evaluated = by_definition[definition or false]
  if not evaluated then
    local args = graphql_arguments.read(field.arguments, walk.scope, definition and definition.defaults)
    evaluated = { args = args, verdicts = {} }
    by_definition[definition or false] = evaluated
  end
  return evaluated
end

local function is_named(walk, root_names, rules)
  for _, rule in ipairs(rules) do
    if root_names[walk.index.type[rule]] then return true end
  end
  return false
end

-- Evaluates one field by the rules.
--   place       of the selection set that contains it
--   definition  GraphqlFieldIR, or nil
local function evaluate_field(walk, field, place, definition)
  local parents = place.names or graphql_rules.related(walk.index, place.type)
  local rules = graphql_rules.matching(walk.index, field.name, walk.kind, parents)
  if place.root_names and walk.plan.default ~= "allow" and not is_named(walk, place.root_names, rules) then
    deny(walk, place.depth, {})
  end
  if #rules == 0 then return end
  local evaluated = known_field(walk, field, definition)
  for _, rule in ipairs(rules) do
    local known = evaluated.verdicts[rule] or { verdict_of(walk, rule, evaluated.args) }
    evaluated.verdicts[rule] = known
    local verdict = known[1]
    if verdict == nil and place.root and walk.kind == "subscription" and #walk.index.late[rule] > 0 then
      evaluate_by_event(walk, rule, field, definition, evaluated.args)
    elseif verdict ~= true then
      deny(walk, place.depth, { rule = rule.rule, onDeny = rule.onDeny })
    end
  end
end

local INTROSPECTION = { __schema = true, __type = true }

local function deny_renaming(walk, field, depth)
  local guarded = walk.guarded
  if field.key == field.name or not (guarded[field.name] or guarded[field.key]) then return end
  deny(walk, depth, { message = TEXT.renamed:format(field.name) })
end

-- The introspection query unwraps types with nine nested `ofType`, each of which is a single object.
local function unwraps(field, place) return place.introspection and field.name == "ofType" end

local function count_field(walk, field, place)
  local uncounted = (place.unwrapped or 0) + (unwraps(field, place) and 1 or 0)
  if place.depth - uncounted > walk.limits.depth then over_limit("fields nested too deep") end
  if field.key ~= field.name then
    walk.aliases = walk.aliases + 1
    if walk.aliases > walk.limits.aliases then over_limit("too many aliases") end
  end
  if place.root and field.name ~= "__typename" then
    walk.root_fields = walk.root_fields + 1
    if walk.root_fields > walk.limits.rootFields then over_limit("too many root fields") end
    if walk.root_fields > 1 and walk.kind == "subscription" then malformed("a subscription has one root field") end
  end
end

-- The schema's definition of a field: GraphqlFieldIR, or nil without a schema.
local function definition_of(walk, field, place)
  if not place.type then return nil end
  local known = walk.index.schema.types[place.type]
  local definition = known and known.fields[field.name]
  if not definition then malformed("a field is not in the schema") end
  return definition
end

-- The type of `__typename`, which has no fields, like every leaf.
local LEAF = "String"

-- Sets the parent of a place: a type of the schema, or without a schema its possible names.
local function with_type(walk, place, type_name)
  place.type = type_name
  if walk.index.kinds[type_name] then place.root_names = graphql_rules.related(walk.index, type_name) end
  return place
end

-- around  the place that a type condition with this name narrows; otherwise the name is a field's
local function with_name(walk, place, name, around)
  place.names = { [graphql_rules.key(walk.index, name)] = true }
  for outer in pairs(around and around.names or {}) do place.names[outer] = true end
  local roots
  for root in pairs(around and around.root_names or {}) do
    roots = roots or {}
    roots[root] = true
  end
  place.root_names = graphql_rules.add_roots(walk.index, roots, name, not around)
  return place
end

-- The place of a field's selections.
local function place_below(walk, field, place, definition)
  local below = { depth = place.depth + 1, introspection = place.introspection }
  if below.introspection then
    below.unwrapped = (place.unwrapped or 0) + (unwraps(field, place) and 1 or 0)
    return below
  end
  if not walk.index.schema then return with_name(walk, below, field.name) end
  return with_type(walk, below, definition and definition.type or LEAF)
end

local visit

local function visit_field(walk, field, place, level)
  count_field(walk, field, place)
  walk.keys[place.depth] = field.key
  if not walk.visited[field] and graphql_arguments.are_ambiguous(field.arguments) then
    malformed("an argument is given twice")
  end
  walk.visited[field] = true
  deny_renaming(walk, field, place.depth)
  local definition
  if not place.introspection and field.name ~= "__typename" then
    local schema = walk.index.schema
    if INTROSPECTION[field.name] and (not schema or place.type == walk.index.roots.query) then
      place = { depth = place.depth, introspection = true }
      if walk.plan.introspection ~= "allow" then
        deny(walk, place.depth, { code = GRAPHQL.INTROSPECTION_DENIED, message = TEXT.introspection })
      end
    else
      definition = definition_of(walk, field, place)
      evaluate_field(walk, field, place, definition)
    end
  end
  if field.selections then visit(walk, field.selections, place_below(walk, field, place, definition), level + 1) end
end

-- Whether a fragment on one type can be spread in selections on another; computed once per pair of types.
local function may_stand(walk, around, type_name)
  local pair = around .. "\0" .. type_name
  local known = walk.overlaps[pair]
  if known == nil then
    known = graphql_rules.overlap(walk.index, around, type_name)
    walk.overlaps[pair] = known
  end
  return known
end

-- A type condition narrows the place. Without a schema it is one more name of the parent.
local function narrowed(walk, place, type_name)
  if not type_name or place.introspection then return place end
  local schema = walk.index.schema
  if schema and not schema.types[type_name] then malformed("a type is not in the schema") end
  if not schema and place.root then return place end
  local inner = { root = place.root, depth = place.depth }
  if schema then
    if not may_stand(walk, place.type, type_name) then malformed("a fragment is on a type that cannot be there") end
    with_type(walk, inner, type_name)
    inner.root_names = place.root_names or inner.root_names -- a field of a root type stays one
    return inner
  end
  return with_name(walk, inner, type_name, place)
end

function visit(walk, selections, place, level)
  for _, selection in ipairs(selections) do
    walk.selections = walk.selections + 1
    if walk.selections > MOST_SELECTIONS then over_limit("too many fields") end
    if level > MOST_NESTED then over_limit("selections nested too deep") end
    if selection.kind == "field" then
      visit_field(walk, selection, place, level)
    else
      local inner = selection.kind == "spread" and walk.fragments[selection.name] or selection
      visit(walk, inner.selections, narrowed(walk, place, inner.type), level + 1)
    end
  end
end

local function visit_operation(walk, operation, variables)
  local root = walk.index.roots[operation.operation]
  walk.kind, walk.root_fields, walk.evaluated = operation.operation, 0, {}
  walk.scope = graphql_arguments.scope(operation, variables, walk.looked_at)
  local place = { root = true, depth = 1 }
  if walk.index.schema then with_type(walk, place, root) else with_name(walk, place, root) end
  visit(walk, operation.selections, place, 1)
  if walk.kind == "subscription" and walk.root_fields == 0 then malformed("a subscription has one root field") end
end

local function evaluate(plan, payload, env)
  local index = graphql_rules.index(plan)
  local request = graphql_payload.read(payload, malformed, refuse)
  local document, code, message = graphql_document.parse(request.query, { tokens = plan.limits.tokens })
  if not document then refuse(code, message) end
  local walk = {
    plan = plan, limits = plan.limits, index = index, env = env or values.unavailable, guarded = {},
    fragments = graphql_payload.check(document, request.operation_name, index.roots, malformed),
    keys = {}, visited = {}, overlaps = {}, selections = 0, aliases = 0, denied = {}, denials = {}, events = {},
    looked_at = names.looked_at(),
  }
  for _, name in ipairs(plan.guardedNames or {}) do walk.guarded[name] = true end
  if document.deferred and next(walk.guarded) then malformed(TEXT.deferred) end
  for _, operation in ipairs(document.operations) do visit_operation(walk, operation, request.variables) end
  if #walk.denials > 0 then return { kind = "denied", denials = walk.denials } end
  return { kind = "allowed", events = walk.events }
end

-- Evaluates one request: every operation of its document.
--   plan     GraphqlPlanIR as plain tables
--   payload  the request, a value of values.lua
--   env      value of `env`, or nil
-- -> { kind = "refused", code, message }
--    { kind = "denied", denials = { { rule, code, message, path, onDeny } } }
--    { kind = "allowed", events } with the input of `graphql_events.evaluate`
function graphql_evaluate.evaluate(plan, payload, env)
  local ok, verdict = pcall(evaluate, plan, payload, env)
  if ok then return verdict end
  if type(verdict) == "table" and verdict.kind == "refused" then return verdict end
  return { kind = "refused", code = GRAPHQL.GRAPHQL_MALFORMED, message = "the operation cannot be evaluated" }
end

return graphql_evaluate
