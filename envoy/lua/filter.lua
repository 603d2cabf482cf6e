-- The filter that does what the service left to do: it stands behind ext_authz, whose metadata carry the plan.
-- Whatever is raised in here would let the original pass, so nothing leaves these functions but by the ways below; what
-- escapes all the same is caught by guard.lua.
local plan_of = require("gatehouse.plan")
local response = require("gatehouse.response")
local stream = require("gatehouse.stream")
local upgrade = require("gatehouse.upgrade")

local function run_request(handle, decision)
  local plan = plan_of.read(decision.plan)
  stream.note(handle, "decision_id", decision.decision_id)
  local headers = handle:headers()
  stream.note(handle, "method", headers:get(":method"))
  stream.note(handle, "request_id", headers:get("x-request-id") or "")
  if plan and plan.websocket then upgrade.request(handle, plan, decision) end
end

local function run_response(handle, decision)
  local plan = plan_of.read(decision.plan)
  if not plan then error("a bad plan") end
  stream.forget_plan(handle)
  stream.note(handle, "decision_id", decision.decision_id)
  local status = handle:headers():get(":status")
  if plan.websocket then
    if status == "101" then return upgrade.response(handle, plan, decision) end
    -- an ordinary answer: what the connection's rule permits is a connection
    if not plan.websocket.plain then
      return upgrade.refuse(handle, "not_upgraded", tonumber(status) >= 400 and status or nil)
    end
  elseif status == "101" then
    error("an upgrade without a plan")
  end
  if plan.response then
    local notes = stream.notes(handle)
    return response.run(handle, plan.response, notes and notes.method)
  end
  stream.note(handle, "state", "done")
end

function envoy_on_request(handle)
  local decision = stream.decision(handle)
  if not decision or not decision.plan then return end
  local ok, message = pcall(run_request, handle, decision)
  if not ok then handle:logErr("gatehouse: " .. tostring(message)) end
end

function envoy_on_response(handle)
  local decision = stream.decision(handle)
  if not decision or not decision.plan then return end
  local ok, message = pcall(run_response, handle, decision)
  if ok then return end
  handle:logErr("gatehouse: " .. tostring(message))
  stream.note(handle, "outcome", '{"response":{"result":"refused","reason":"error"}}')
  stream.refuse(handle, {
    code = "RESPONSE_NOT_DELIVERED", message = "the answer could not be checked against the policies",
  })
end
