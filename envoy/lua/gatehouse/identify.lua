-- Has the service verify the token in the first message of a GraphQL client. This runs in a filter of its own, in front of
-- the one that evaluates messages: while it waits for the service, Envoy holds this message and all that follow. The
-- filter only asks. The one that evaluates requires the answer, so if this one fails, nothing passes.
local bit = require("bit")
local contract = require("gatehouse.contract")
local frames = require("gatehouse.frames")
local graphql_init = require("gatehouse.graphql_init")
local graphql_payload = require("gatehouse.graphql_payload")
local stream = require("gatehouse.stream")
local DECISION, NOTE = contract.DECISION, contract.NOTE

local identify = {}

-- A message of gRPC behind its head: whether it is compressed, and its length.
local HEAD_BYTES = 5

local function enclose(message)
  local n = #message
  local length = string.char(bit.rshift(n, 24), bit.band(bit.rshift(n, 16), 255), bit.band(bit.rshift(n, 8), 255), bit.band(n, 255))
  return "\0" .. length .. message
end

-- -> the only message of a complete answer, or nil
local function disclose(body)
  if type(body) ~= "string" or #body <= HEAD_BYTES or body:byte(1) ~= 0 then return nil end
  local a, b, c, d = body:byte(2, HEAD_BYTES)
  if ((a * 256 + b) * 256 + c) * 256 + d ~= #body - HEAD_BYTES then return nil end
  return body:sub(HEAD_BYTES + 1)
end

-- Yields until there is an answer. -> its text, or nil
local function ask(handle, decision, text, within)
  local headers, body = handle:httpCall(decision[DECISION.identify], {
    [":method"] = "POST", [":path"] = contract.IDENTIFY.path, [":authority"] = decision[DECISION.identify],
    ["content-type"] = "application/grpc", te = "trailers",
  }, enclose(decision[DECISION.decision_id] .. "\n" .. text), within)
  if type(headers) ~= "table" or headers[":status"] ~= "200" then return nil end
  return disclose(body)
end

-- -> the message that begins the connection; `over` if there will be none, nil if it has not come yet
local function first_of(events)
  for _, event in ipairs(events) do
    if event.kind == "close" then return nil, true end
    if event.kind == "message" then
      if event.binary then return nil, true end
      local kind = graphql_init.kind(graphql_payload.decode(event.payload))
      if kind == graphql_init.INIT then return event.payload, true end
      if not graphql_init.EARLIER[kind] then return nil, true end
    end
  end
  return nil, false
end

local function run(handle, decision, within)
  local reader = frames.reader({ masked = true, limit = contract.INIT_BYTES, collect = true })
  for chunk in handle:bodyChunks() do
    local size = chunk:length()
    local events, code = reader:feed(size > 0 and chunk:getBytes(0, size) or "")
    local text, over = first_of(events)
    if text then
      stream.note(handle, NOTE.asked_at, os.time())
      local answer = ask(handle, decision, text, within)
      if answer then stream.note(handle, NOTE.identified, answer) end
    end
    if over or code then return end
  end
end

-- identify.request(handle, within): the client's messages up to the first one that counts. within: milliseconds for the
-- call. Yields.
function identify.request(handle, within)
  local decision = stream.decision(handle)
  if not decision or not decision[DECISION.identify] then return end
  local ok, message = pcall(run, handle, decision, within)
  if not ok then handle:logErr("gatehouse: " .. tostring(message)) end
end

return identify
