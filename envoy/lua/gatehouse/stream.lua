-- The shared state of one stream between the filters and the service, in Envoy's dynamic metadata.
local contract = require("gatehouse.contract")
local refusal = require("gatehouse.refusal")
local DECISION, NOTE, STATE = contract.DECISION, contract.NOTE, contract.STATE
local SENT_ALONG, NOTES = contract.NAMESPACE.decision, contract.NAMESPACE.notes

local stream = {}

-- stream.decision(handle) -> what the service sent with its permission, by the names of DECISION; or nil
function stream.decision(handle)
  return handle:streamInfo():dynamicMetadata():get(SENT_ALONG)
end

-- stream.forget_plan(handle): removes the plan after it was read, so that it is not logged with the metadata
function stream.forget_plan(handle)
  handle:streamInfo():dynamicMetadata():set(SENT_ALONG, DECISION.plan, "")
end

-- stream.note(handle, key, value): for the guard, and for the access log; key is a name of NOTE
function stream.note(handle, key, value)
  handle:streamInfo():dynamicMetadata():set(NOTES, key, value)
end

-- stream.notes(handle) -> what was noted, or nil
function stream.notes(handle)
  return handle:streamInfo():dynamicMetadata():get(NOTES)
end

-- stream.refuse(handle, options): refusal.stream, with each chunk counted for the guard
function stream.refuse(handle, options)
  local decision = stream.decision(handle)
  options.request_id = decision and decision[DECISION.request_id]
  stream.note(handle, NOTE.state, STATE.stream)
  options.passed = function(count) stream.note(handle, NOTE.chunks, count) end
  refusal.stream(handle, options)
end

return stream
