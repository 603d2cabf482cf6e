-- What the two filters and the service know of one stream, in Envoy's dynamic metadata.
local refusal = require("gatehouse.refusal")

local stream = {}

local EXT_AUTHZ = "envoy.filters.http.ext_authz"
local OURS = "gatehouse"

-- stream.decision(handle) -> what the service sent along with its permission, or nil: { plan = text, decision_id = ... }
function stream.decision(handle)
  return handle:streamInfo():dynamicMetadata():get(EXT_AUTHZ)
end

-- stream.forget_plan(handle): the plan was read; whatever logs metadata need not carry it
function stream.forget_plan(handle)
  handle:streamInfo():dynamicMetadata():set(EXT_AUTHZ, "plan", "")
end

-- stream.note(handle, key, value): for the guard, and for the access log
function stream.note(handle, key, value)
  handle:streamInfo():dynamicMetadata():set(OURS, key, value)
end

-- stream.notes(handle) -> what was noted, or nil
function stream.notes(handle)
  return handle:streamInfo():dynamicMetadata():get(OURS)
end

-- stream.refuse(handle, options): refusal.stream, chunk by chunk under the eyes of the guard
function stream.refuse(handle, options)
  local decision = stream.decision(handle)
  options.request_id = decision and decision.request_id
  stream.note(handle, "state", "stream")
  options.passed = function(count) stream.note(handle, "chunks", count) end
  refusal.stream(handle, options)
end

return stream
