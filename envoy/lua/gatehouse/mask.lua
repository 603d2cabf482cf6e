-- Masks the fields of a JSON document that a plan names, at their spans in the text; every other byte is unchanged.
local graphql_result = require("gatehouse.graphql_result")
local json = require("gatehouse.json")
local json_tape = require("gatehouse.json_tape")
local mask_actions = require("gatehouse.mask_actions")
local mask_edits = require("gatehouse.mask_edits")
local mask_errors = require("gatehouse.mask_errors")
local mask_fields = require("gatehouse.mask_fields")
local mask_paths = require("gatehouse.mask_paths")
local values = require("gatehouse.values")
local KEY, KEY_ESCAPED = json_tape.KIND.KEY, json_tape.KIND.KEY_ESCAPED
local LONGEST = mask_fields.LONGEST

local mask = {}

local REUSE = { reuse = true }

-- The key of the member whose value is an object or array, ignoring arrays around it; nil at the root.
local function owner(nodes, container)
  while container > 0 do
    local before = nodes[container - 1].kind
    if before == KEY or before == KEY_ESCAPED then return container - 1 end
    container = nodes[container].parent
  end
  return nil
end

-- Whether the path of a field, without its last key, leads to `object`.
local function leads_to(field, doc, object)
  local nodes = doc.nodes
  for index = #field.keys - 1, 1, -1 do
    local key = owner(nodes, object)
    if not key or json.name(doc, key) ~= field.keys[index] then return false end
    object = nodes[key].parent
  end
  return not field.anchored or owner(nodes, object) == nil
end

-- The root `response` of conditions. The document is not read as a whole for it.
local function response_of(doc, response)
  return values.object({
    status = response and response.status,
    headers = values.object(response and response.headers or {}),
    body = json.value(doc),
  })
end

-- A rule is skipped only on false: unknown masks, and so does an error.
local function is_wanted(field, run, object)
  if field.when == nil then return true end
  run.response = run.response or response_of(run.doc, run.context.response)
  local roots = { item = json.value(run.doc, object), response = run.response }
  local ok, verdict = pcall(run.context.evaluate, field.when, roots)
  return not (ok and verdict == false)
end

-- Whether a field applies in an object that has a member with its last key. Cached, because such members may repeat.
local function applies(field, run, object)
  if field.everywhere then return true end
  local known = run.known[field]
  if not known then
    known = {}
    run.known[field] = known
  end
  if known[object] == nil then
    known[object] = leads_to(field, run.doc, object) and is_wanted(field, run, object)
  end
  return known[object]
end

-- -> the field that changes a member of that name in an object, or nil
local function field_of(run, object, name)
  local fields = run.fields.by_name[name]
  if not fields then return nil end
  for index = 1, #fields do
    if applies(fields[index], run, object) then return fields[index] end
  end
  return nil
end

-- The end of the value before a key.
local function end_of_previous(bytes, at)
  repeat at = at - 1 until bytes[at] == 0x2c
  while bytes[at - 1] <= 0x20 do at = at - 1 end
  return at
end

-- A member is removed with the comma before it. If every member before it was removed, it is removed with the comma after
-- it, up to the next key.
local function remove(run, key)
  local nodes = run.doc.nodes
  local node, value = nodes[key], nodes[key + 1]
  local object = node.parent
  if key ~= object + 1 and run.first_left[object] ~= key then
    run.edits:add(end_of_previous(run.doc.bytes, node.start), value.stop, "")
    return
  end
  run.first_left[object] = value.next
  local is_last = value.next == nodes[object].next
  run.edits:add(node.start, is_last and value.stop or nodes[value.next].start, "")
end

local function change(run, key, field)
  if field.action.kind == "remove" then
    remove(run, key)
  else
    local value = run.doc.nodes[key + 1]
    run.edits:add(value.start, value.stop, mask_actions.text(field.action, run.doc, key + 1))
  end
end

-- Checks every key, but not inside masked values. Nearly all keys are ruled out by their length and first byte.
local function change_fields(run)
  local nodes, bytes, count = run.doc.nodes, run.doc.bytes, run.doc.count
  local lengths, first_bytes = run.fields.lengths, run.fields.first_bytes
  local index, changed = 0, 0
  while index < count do
    local node = nodes[index]
    local kind, length = node.kind, node.stop - node.start - 2
    local after = index + 1
    if kind == KEY_ESCAPED or kind == KEY and lengths[length < LONGEST and length or LONGEST] == 1
      and first_bytes[bytes[node.start + 1]] == 1 then
      local name = json.name(run.doc, index)
      local field = field_of(run, node.parent, name)
      if field then
        change(run, index, field)
        run.paths:add(node.parent, name)
        changed = changed + 1
        after = nodes[index + 1].next
      end
    end
    index = after
  end
  return changed
end

-- mask.apply(text, plan, context) -> { text, changed, paths, count }, or nil, reason: then nothing may be delivered
--   plan              ResponsePlanIR as plain tables: `fields`, `errors`, `graphql`
--   context.response  { status, headers = { name = list of values.lua } }, each may be missing
--   context.evaluate  condition.evaluate
-- `count` is of members that were changed; `paths` says where, in at most 50 paths of at most 200 bytes. Reasons: those
-- of json.scan, `plan` for a bad plan, `not_object` where errors are to be added and there is no place, `not_result`
-- where the result of a GraphQL operation has other members than such results have.
function mask.apply(text, plan, context)
  local fields = type(plan) == "table" and mask_fields.of(plan.fields)
  if not fields then return nil, "plan" end
  local doc, reason = json.scan(text, REUSE)
  if not doc then return nil, reason end
  if plan.graphql ~= nil and not graphql_result.is_answer(json.value(doc)) then return nil, "not_result" end
  local run = {
    doc = doc, fields = fields, context = context or {},
    edits = mask_edits.new(doc), paths = mask_paths.new(doc),
    -- verdicts by field and object; by object, the first member that is left, as far as all before it were removed
    known = {}, first_left = {},
  }
  local count = change_fields(run)
  local result = run.edits:text()
  local errors = plan.errors
  if errors ~= nil then
    if not mask_fields.is_list(errors) then return nil, "plan" end
    if #errors > 0 then
      result, reason = mask_errors.add(count > 0 and json.scan(result) or doc, errors)
      if not result then return nil, reason end
    end
  end
  json.release(doc)
  return { text = result, changed = result ~= text, paths = run.paths.list, count = count }
end

return mask
