-- The guards let nothing pass that a filter should have looked at and did not finish. They stand on both sides of it -
-- nearer to the client for answers, nearer to the application for messages - and know nothing of policies.
local contract = require("gatehouse.contract")
local original = require("gatehouse.original")
local refusal = require("gatehouse.refusal")
local stream = require("gatehouse.stream")
local DECISION, NOTE, STATE = contract.DECISION, contract.NOTE, contract.STATE

local guard = {}

-- Passes only chunks for which the filter has counted one more since the last.
local function pass_counted(handle, counter)
  local last = 0
  for chunk in handle:bodyChunks() do
    local notes = stream.notes(handle)
    local now = notes and notes[counter]
    if type(now) == "number" and now > last then last = now else chunk:setBytes("") end
  end
end

-- guard.request(handle): what a client sends behind a handshake
function guard.request(handle)
  -- What follows a handshake is no body but anything. Envoy leaves `upgrade` on requests that are one, whatever the
  -- service took them for, and on no others
  if handle:headers():get("upgrade") then pass_counted(handle, NOTE.client_chunks) end
end

-- guard.response(handle): what the service has asked to look into, and every change of protocol
function guard.response(handle)
  local decision = stream.decision(handle)
  local switched = handle:headers():get(":status") == "101"
  if not switched and not (decision and decision[DECISION.decision_id]) then return end
  local notes = stream.notes(handle)
  local state = notes and notes[NOTE.state]
  if state == STATE.stream then
    pass_counted(handle, NOTE.chunks)
    if not switched then original.forget_trailers(handle) end
    return
  end
  if state == STATE.done and not switched then return end
  refusal.stream(handle, refusal.undelivered(decision))
end

return guard
