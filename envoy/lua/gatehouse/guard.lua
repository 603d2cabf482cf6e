-- The guards let nothing pass that a filter should have processed but did not finish. They run after it in each direction
-- (nearer to the client for responses, nearer to the application for messages) and know nothing about policies.
local contract = require("gatehouse.contract")
local original = require("gatehouse.original")
local refusal = require("gatehouse.refusal")
local stream = require("gatehouse.stream")
local DECISION, NOTE, STATE = contract.DECISION, contract.NOTE, contract.STATE

local guard = {}

-- Passes a chunk only if the filter has increased its count since the last one.
local function pass_counted(handle, counter)
  local last = 0
  for chunk in handle:bodyChunks() do
    local notes = stream.notes(handle)
    local now = notes and notes[counter]
    if type(now) == "number" and now > last then last = now else chunk:setBytes("") end
  end
end

-- guard.request(handle): what a client sends after a handshake
function guard.request(handle)
  -- What follows a handshake is not a body but arbitrary bytes. Envoy keeps `upgrade` only on handshakes, regardless of how
  -- the service classified them
  if handle:headers():get("upgrade") then pass_counted(handle, NOTE.client_chunks) end
end

-- guard.response(handle): responses that have a plan, and every change of protocol
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
