-- Envoy's side of CORS preflights: only the CORS headers of the application's response reach the client.
local contract = require("gatehouse.contract")
local original = require("gatehouse.original")
local outcome = require("gatehouse.outcome")
local refusal = require("gatehouse.refusal")
local stream = require("gatehouse.stream")
local NOTE, RESULT, STATE = contract.NOTE, contract.RESULT, contract.STATE

local preflight = {}

local UNFINISHED, HEADERS_ONLY = outcome.response(RESULT.unfinished), outcome.response(RESULT.headers_only)

local LIST = "^[%w!#$%%&'*+.^_`|~, -]*$"

-- Headers that are kept (Fetch standard, section 3.2.3; RFC 9110, section 12.5.5), each with its allowed values. They include
-- the gateway's own headers, which are set before the response arrives here.
local KEPT = {
  ["access-control-allow-origin"] = "^[%w*:/.%[%]_+-]*$",
  ["access-control-allow-methods"] = LIST, ["access-control-allow-headers"] = LIST,
  ["access-control-expose-headers"] = LIST, vary = LIST,
  ["access-control-allow-credentials"] = "^true$", ["access-control-allow-private-network"] = "^true$",
  ["access-control-max-age"] = "^%-?%d+$",
  date = refusal.DATE, ["strict-transport-security"] = refusal.HSTS,
}
local MOST_BYTES = 4096

-- Statuses whose responses have no Content-Length (RFC 9110, section 8.6).
local NO_LENGTH = { ["204"] = true, ["304"] = true }

-- preflight.response(handle): for any status and any sender of the response. Yields until it has passed.
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
