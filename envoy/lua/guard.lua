-- The guard: lets nothing pass that the filter should have looked at and did not finish. It stands on both sides of
-- it - nearer to the client for answers, nearer to the application for WebSocket messages - and knows nothing of policies.
local refusal = require("gatehouse.refusal")
local stream = require("gatehouse.stream")

-- Passes only chunks for which the filter has counted one more since the last.
local function pass_counted(handle, counter)
  local last = 0
  for chunk in handle:bodyChunks() do
    local notes = stream.notes(handle)
    local now = notes and notes[counter]
    if type(now) == "number" and now > last then last = now else chunk:setBytes("") end
  end
end

function envoy_on_request(handle)
  if GUARD ~= "request" then return end
  -- What follows a handshake is no body but anything. Envoy leaves `upgrade` on requests that are one, whatever the
  -- service took them for, and on no others
  if handle:headers():get("upgrade") then pass_counted(handle, "client_chunks") end
end

function envoy_on_response(handle)
  if GUARD ~= "response" then return end
  local switched = handle:headers():get(":status") == "101"
  local decision = stream.decision(handle)
  if not switched and not (decision and decision.decision_id) then return end
  local notes = stream.notes(handle)
  local state = notes and notes.state
  if state == "stream" then return pass_counted(handle, "chunks") end
  if state == "done" and not switched then return end
  refusal.stream(handle, {
    code = "RESPONSE_NOT_DELIVERED", message = "the answer could not be checked against the policies",
    request_id = notes and notes.request_id,
  })
end
