-- Replaces a response that must not be delivered. Lua cannot send a local reply on the response path (respond() is an
-- error there, and errors let the original pass), so status, headers and body are replaced one by one.
local contract = require("gatehouse.contract")
local json = require("gatehouse.json")
local original = require("gatehouse.original")
local DECISION, REFUSAL, REFUSAL_TEXT = contract.DECISION, contract.REFUSAL, contract.REFUSAL_TEXT

local refusal = {}

local STATUS = 502

-- The allowed values of headers that are kept besides those of a refusal.
refusal.DATE = "^[%a, %d:]+$"
refusal.HSTS = "^[%w=; -]+$"

-- A longer value cannot be a legitimate one.
local MOST_KEPT_BYTES = 100

-- Headers of a response that describe its body, or allow it to be cached.
local ABOUT_BODY = {
  "content-length", "content-encoding", "content-disposition", "content-language", "content-location", "age",
  "grpc-status", "grpc-message",
}

-- Headers that belong to a status: if that is replaced, they would be taken for the refusal's.
local ABOUT_STATUS = { "set-cookie", "location", "refresh", "link" }

-- Headers by which a response accepts a handshake; with them, Envoy takes the following bytes for something other than
-- a body.
local ABOUT_UPGRADE = {
  "connection", "upgrade", "sec-websocket-accept", "sec-websocket-extensions", "sec-websocket-protocol",
}

-- refusal.undelivered(decision) -> options for refusing a response; decision: what the service sent with its
-- permission, or nil
function refusal.undelivered(decision)
  return {
    code = REFUSAL.RESPONSE_NOT_DELIVERED, message = REFUSAL_TEXT.RESPONSE_NOT_DELIVERED,
    request_id = decision and decision[DECISION.request_id],
  }
end

-- refusal.withheld(decision, status) -> options for a refusal that keeps the status of the response, and the headers
-- that belong to it
function refusal.withheld(decision, status)
  return {
    code = REFUSAL.RESPONSE_NOT_DELIVERED, status = status, keeps_status = true,
    message = REFUSAL_TEXT.status_kept:format(status),
    request_id = decision and decision[DECISION.request_id],
  }
end

-- refusal.envelope(options) -> JSON text, in the envelope of the REST API
function refusal.envelope(options)
  return string.format(
    '{"success":false,"error":{"code":%s,"message":%s,"details":{}},"meta":{"timestamp":"%s","request_id":%s}}',
    json.quote(options.code), json.quote(options.message), os.date("!%Y-%m-%dT%H:%M:%S.000Z"),
    json.quote(options.request_id or ""))
end

-- refusal.keep(headers, kept): removes every header except those named in `kept` whose values match the pattern there.
-- If a header is repeated, each value must match. most: maximum bytes of a value, 100
function refusal.keep(headers, kept, most)
  local others = {}
  for name, value in pairs(headers) do
    local pattern = kept[name]
    if name:sub(1, 1) ~= ":" and not (pattern and #value <= (most or MOST_KEPT_BYTES) and value:find(pattern)) then
      others[name] = true
    end
  end
  for name in pairs(others) do headers:remove(name) end
end

local function remove_all(headers, names)
  for _, name in ipairs(names) do headers:remove(name) end
end

-- refusal.headers(headers, options): makes the headers those of a refusal
--   kept          for `refusal.keep`; without it only headers about the body and the status are removed
--   keeps_status  the status is the answer's own
function refusal.headers(headers, options)
  if options.kept then refusal.keep(headers, options.kept) end
  remove_all(headers, ABOUT_BODY)
  if not options.keeps_status then remove_all(headers, ABOUT_STATUS) end
  remove_all(headers, ABOUT_UPGRADE)
  headers:replace(":status", tostring(options.status or STATUS))
  headers:replace("content-type", "application/json")
  headers:replace("cache-control", "no-store")
  headers:replace("x-content-type-options", "nosniff")
  -- the body matters more than these headers: it is replaced whatever happens to them
  pcall(original.forget, headers)
end

-- refusal.stream(handle, options): replaces a response whose body has not been read; yields until the body has passed.
-- options: { status, code, message, request_id, kept, keeps_status, passed }; passed(n) is called when n chunks were
-- replaced
function refusal.stream(handle, options)
  local headers = handle:headers()
  local text = refusal.envelope(options)
  refusal.headers(headers, options)
  local count = 0
  for chunk in handle:bodyChunks() do
    chunk:setBytes(count == 0 and text or "")
    count = count + 1
    if options.passed then options.passed(count) end
  end
  pcall(original.forget_trailers, handle)
end

-- refusal.body(handle, body, options): replaces a response whose body is buffered
function refusal.body(handle, body, options)
  local headers = handle:headers()
  local text = refusal.envelope(options)
  refusal.headers(headers, options)
  body:setBytes(text)
  headers:replace("content-length", tostring(#text))
  pcall(original.forget_trailers, handle)
end

return refusal
