-- The rules of a plan that apply to a field.
local graphql_rules = {}

-- Default names of the root types, without a schema.
local CONVENTIONAL = { query = "Query", mutation = "Mutation", subscription = "Subscription" }

-- The members of an expression with its children, in source order.
local PARTS = { "left", "right", "value", "list", "target", "arg" }

-- Adds the paths that an expression reads below roots that are known neither with the request nor with the operation.
local function add_late_reads(expression, found)
  if type(expression) ~= "table" then return end
  local path = expression.path
  if type(path) == "table" and path[1] and path[1] ~= "args" and path[1] ~= "env" then found[#found + 1] = path end
  for _, part in ipairs(PARTS) do add_late_reads(expression[part], found) end
  for _, part in ipairs(expression.args or expression.items or {}) do add_late_reads(part, found) end
end

local function build(plan)
  local index = {
    schema = plan.schema, roots = plan.schema and plan.schema.roots or CONVENTIONAL,
    kinds = {}, groups = {}, late = {}, position = {}, type = {}, related = {},
  }
  for kind in pairs(CONVENTIONAL) do
    if index.roots[kind] then index.kinds[index.roots[kind]] = kind end
  end
  for position, rule in ipairs(plan.rules) do
    index.position[rule] = position
    index.late[rule] = {}
    add_late_reads(rule.when, index.late[rule])
    -- a bare name is a field of the root type
    local type_name = rule.type or index.roots[rule.operation]
    local kind = index.kinds[type_name]
    index.type[rule] = type_name
    if type_name and (not kind or kind == rule.operation) then
      local by_type = index.groups[rule.field] or {}
      local group = by_type[type_name] or { all = {}, query = {}, mutation = {}, subscription = {} }
      index.groups[rule.field], by_type[type_name] = by_type, group
      table.insert(group.all, rule)
      table.insert(group[rule.operation], rule)
    end
  end
  return index
end

local indexes = setmetatable({}, { __mode = "k" })

-- The rules of a GraphqlPlanIR, made ready once a plan:
-- { roots = { query = type name }, kinds = { [root type] = kind }, late = { [rule] = paths },
--   type = { [rule] = the type whose field it names }, schema, … }
function graphql_rules.index(plan)
  local index = indexes[plan]
  if not index then
    index = build(plan)
    indexes[plan] = index
  end
  return index
end

local function possible_types(index, name)
  local known = index.schema.types[name]
  return known and (known.possible or { name }) or {}
end

-- Whether a value of one type may also be of the other: whether a fragment on one may be spread within the other
-- (GraphQL, section 5.5.2.3).
function graphql_rules.overlap(index, one, other)
  local here = {}
  for _, name in ipairs(possible_types(index, one)) do here[name] = true end
  for _, name in ipairs(possible_types(index, other)) do
    if here[name] then return true end
  end
  return false
end

-- Every type that a value of type `name` may have: the type itself, its possible types, and their interfaces. -> a set
-- of names
function graphql_rules.related(index, name)
  local related = index.related[name]
  if related then return related end
  related = { [name] = true }
  local function add_interfaces(type_name)
    local implementing = index.schema.types[type_name]
    for _, interface in ipairs(implementing and implementing.interfaces or {}) do related[interface] = true end
  end
  add_interfaces(name)
  local known = index.schema.types[name]
  for _, possible in ipairs(known and known.possible or {}) do
    related[possible] = true
    add_interfaces(possible)
  end
  index.related[name] = related
  return related
end

-- The form in which type names are compared (src/graphql/parents.ts). Without a schema, a field's name or the client's
-- text is used as the type: `... on Customer` falls under a rule for `customer.ssn`.
function graphql_rules.key(index, name)
  return index.schema and name or name:lower()
end

-- Adds to a set, which may be nil, the root types that a parent of this name may be where there is no schema.
--   is_field  it is the name of the field around; `query` is the root once more (Relay), but a `subscription` is what
--             somebody has ordered
-- -> the set, or nil where it is empty
function graphql_rules.add_roots(index, found, name, is_field)
  for root in pairs(index.kinds) do
    local like = root:lower() == name:lower()
    if like and (not is_field or root == name or root == index.roots.query) then
      found = found or {}
      found[root] = true
    end
  end
  return found
end

-- The rules that must permit a field, in the plan's order.
--   operation  the kind of the operation that it stands in
--   parents    set of the names of its parent, as `key` has them
function graphql_rules.matching(index, field, operation, parents)
  local found = {}
  for name, group in pairs(index.groups[field] or {}) do
    if parents[graphql_rules.key(index, name)] then
      -- rules for a kind replace those for other kinds
      local rules = #group[operation] > 0 and group[operation] or group.all
      for _, rule in ipairs(rules) do found[#found + 1] = rule end
    end
  end
  table.sort(found, function(a, b) return index.position[a] < index.position[b] end)
  return found
end

return graphql_rules
