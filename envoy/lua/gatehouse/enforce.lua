-- Carries out the plan of the service for one stream. An error that leaves these functions would let the original pass,
-- so they handle every error themselves; the guards catch whatever escapes nevertheless.
local contract = require("gatehouse.contract")
local outcome = require("gatehouse.outcome")
local plan_of = require("gatehouse.plan")
local preflight = require("gatehouse.preflight")
local refusal = require("gatehouse.refusal")
local response = require("gatehouse.response")
local stream = require("gatehouse.stream")
local upgrade = require("gatehouse.upgrade")
local DECISION, NOTE, STATE, UNREAD = contract.DECISION, contract.NOTE, contract.STATE, contract.UNREAD

local enforce = {}

local FAILED = outcome.response(contract.RESULT.refused, { reason = UNREAD.error })

local function run_request(handle, decision)
  stream.note(handle, NOTE.decision_id, decision[DECISION.decision_id])
  local plan = plan_of.read(decision[DECISION.plan])
  if plan and plan.websocket then upgrade.request(handle, plan, decision) end
end

local function run_response(handle, decision)
  local plan = plan_of.read(decision[DECISION.plan])
  if not plan then error("a bad plan") end
  stream.forget_plan(handle)
  stream.note(handle, NOTE.decision_id, decision[DECISION.decision_id])
  local status = handle:headers():get(":status")
  -- the delivered body may have another one
  stream.note(handle, NOTE.status, status)
  if plan.websocket then
    if status == "101" then return upgrade.response(handle, plan, decision) end
    -- an ordinary response: the connection's rule permits only a connection, and neither response rules nor operations
    -- were evaluated for this response
    if not plan.websocket.plain or plan.response or plan.websocket.graphql then
      return upgrade.refuse(handle, UNREAD.not_upgraded, tonumber(status) >= 400 and status or nil)
    end
  elseif status == "101" then
    error("an upgrade without a plan")
  end
  if plan.preflight then return preflight.response(handle) end
  if plan.response then return response.run(handle, plan.response, decision[DECISION.method]) end
  stream.note(handle, NOTE.state, STATE.done)
end

-- enforce.request(handle): a handshake, and then the client's messages. Yields until the stream ends.
function enforce.request(handle)
  local decision = stream.decision(handle)
  if not decision or not decision[DECISION.plan] then return end
  local ok, message = pcall(run_request, handle, decision)
  if not ok then handle:logErr("gatehouse: " .. tostring(message)) end
end

-- enforce.response(handle): a response, or the server's messages. Yields until it has passed.
function enforce.response(handle)
  local decision = stream.decision(handle)
  if not decision or not decision[DECISION.plan] then return end
  local ok, message = pcall(run_response, handle, decision)
  if ok then return end
  handle:logErr("gatehouse: " .. tostring(message))
  stream.note(handle, NOTE.outcome, FAILED)
  stream.refuse(handle, refusal.undelivered(decision))
end

return enforce
