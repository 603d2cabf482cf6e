-- Envoy's side of CORS preflights: of the application's answer to one only what CORS is about reaches the client.
local contract = require("gatehouse.contract")
local original = require("gatehouse.original")
local outcome = require("gatehouse.outcome")
local refusal = require("gatehouse.refusal")
local stream = require("gatehouse.stream")
local NOTE, RESULT, STATE = contract.NOTE, contract.RESULT, contract.STATE

local preflight = {}

local UNFINISHED, HEADERS_ONLY = outcome.response(RESULT.unfinished), outcome.response(RESULT.headers_only)

local LIST = "^[%w!#$%%&'*+.^_`|~, -]*$"

-- Headers that stay (Fetch standard, section 3.2.3; RFC 9110, section 12.5.5), each with what it may hold. What the gateway
-- has set itself is among them, for it is there before the answer comes here.
local KEPT = {
  ["access-control-allow-origin"] = "^[%w*:/.%[%]_+-]*$",
  ["access-control-allow-methods"] = LIST, ["access-control-allow-headers"] = LIST,
  ["access-control-expose-headers"] = LIST, vary = LIST,
  ["access-control-allow-credentials"] = "^true$", ["access-control-allow-private-network"] = "^true$",
  ["access-control-max-age"] = "^%-?%d+$",
  date = refusal.DATE, ["strict-transport-security"] = refusal.HSTS,
}
local MOST_BYTES = 4096

-- Statuses whose answers have no length (RFC 9110, section 8.6).
local NO_LENGTH = { ["204"] = true, ["304"] = true }

-- preflight.response(handle): whatever the status is, and whoever wrote the answer. Yields until it has passed.
function preflight.response(handle)
  local headers = handle:headers()
  refusal.keep(headers, KEPT, MOST_BYTES)
  if not NO_LENGTH[headers:get(":status")] then headers:replace("content-length", "0") end
  stream.note(handle, NOTE.state, STATE.stream)
  stream.note(handle, NOTE.outcome, UNFINISHED)
  local count = 0
  for chunk in handle:bodyChunks() do
    chunk:setBytes("")
    count = count + 1
    stream.note(handle, NOTE.chunks, count)
  end
  stream.note(handle, NOTE.outcome, HEADERS_ONLY)
  original.forget_trailers(handle)
end

return preflight
