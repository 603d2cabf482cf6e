-- Envoy's side of WebSocket connections: one socket for both directions, fed by two coroutines.
local condition = require("gatehouse.condition")
local connections = require("gatehouse.connections")
local contract = require("gatehouse.contract")
local env = require("gatehouse.env")
local graphql_init = require("gatehouse.graphql_init")
local graphql_socket = require("gatehouse.graphql_socket")
local mask = require("gatehouse.mask")
local messages = require("gatehouse.messages")
local outcome = require("gatehouse.outcome")
local plan_of = require("gatehouse.plan")
local refusal = require("gatehouse.refusal")
local socket = require("gatehouse.socket")
local stream = require("gatehouse.stream")
local DECISION, NOTE, STATE = contract.DECISION, contract.NOTE, contract.STATE
local CLOSE, CLOSED_BY, UNREAD = contract.CLOSE, contract.CLOSED_BY, contract.UNREAD
local ROUTE = contract.ROUTE
local REFUSAL, REFUSAL_TEXT = contract.REFUSAL, contract.REFUSAL_TEXT

local upgrade = {}

-- Sockets by decision id, for the direction that starts second. Weak: a socket lives as long as the coroutines that use it,
-- because Envoy does not notify Lua when a stream has ended.
local open = setmetatable({}, { __mode = "v" })

local urandom

-- Unpredictable bytes, from the system.
local function random(n)
  urandom = urandom or io.open("/dev/urandom", "rb")
  return urandom:read(n)
end

-- What the filter in front has noted about the client, without leaving it in the metadata, which is logged. The token may have
-- expired since the service looked at it.
local function identify(handle)
  local notes = stream.notes(handle)
  local text = notes and notes[NOTE.identified]
  stream.note(handle, NOTE.identified, "")
  local answer = graphql_init.answer(text)
  if answer and answer.plan and os.time() >= answer.expires_at then
    return { refused = { code = 1008, reason = CLOSE.TOKEN_EXPIRED } }
  end
  return answer
end

local function make(handle, plan, decision)
  return socket.new({
    plan = plan.websocket,
    identify = decision[DECISION.identify] and function() return identify(handle) end or nil,
    set = decision[DECISION.set],
    random = random,
    env = function() return env.of(plan.websocket.environment) end,
    messages = messages,
    mask = mask,
    condition = condition,
    graphql = graphql_socket,
  })
end

-- Whether the client has not said in time who it is. What the service takes for its answer does not count.
local function is_late(handle, connection, now)
  if not connection:is_waiting() then return false end
  local notes = stream.notes(handle)
  local asked_at = notes and notes[NOTE.asked_at]
  return (asked_at or now) - connection.answered > contract.INIT_SECONDS
end

-- One chunk of one direction: whether the connection is still allowed, and which of these bytes may pass.
local function pass(handle, direction, connection, decision, bytes)
  if direction == "from_client" and not connection.answered then
    connection.hasty = connection.hasty or bytes ~= ""
    return ""
  end
  local now = os.time()
  local closing, text = connections.check(decision, now, connection.expires_at)
  if is_late(handle, connection, now) then
    connection:close(4408, "connection_init did not come in time", CLOSED_BY.protocol)
  elseif closing then
    connection:close(closing.code, closing.reason, closing.by, closing.set)
  elseif text and text ~= connection.plan_text then
    local fresh = plan_of.read(text)
    if fresh and fresh.websocket then
      connection:replan(fresh.websocket, fresh.set)
    else
      connection:close(1011, CLOSE.PLAN_UNUSABLE, CLOSED_BY.policy)
    end
    connection.plan_text = text
  end
  return connection[direction](connection, bytes)
end

-- Records what happened so far, for the access log: immediately what was withheld, masked or ended, and once per second how
-- much passed, which changes with every message. Lua is not notified when a stream is aborted.
-- -> what was recorded last
local function report(handle, connection, before, is_end)
  local events, now = connection:events(), os.time()
  if before and not is_end and before.at == now and before.events == events then return before end
  stream.note(handle, NOTE.outcome, outcome.connection(connection:outcome()))
  return { at = now, events = events }
end

-- Feeds every chunk of one direction through the socket. An error closes this direction permanently.
local function pump(handle, direction, connection, decision, counter)
  local count, dead, reported = 0, false, nil
  for chunk in handle:bodyChunks() do
    local size, output = chunk:length(), ""
    if not dead then
      local bytes = size > 0 and chunk:getBytes(0, size) or ""
      local ok, result = pcall(pass, handle, direction, connection, decision, bytes)
      if ok and type(result) == "string" then output = result else dead = true end
    end
    -- setBytes sets a length in the request's headers if they have not been sent yet, so it is only called if needed
    if size > 0 or output ~= "" then chunk:setBytes(output) end
    count = count + 1
    stream.note(handle, counter, count)
    if not dead then reported = report(handle, connection, reported, size == 0) end
  end
end

-- upgrade.request(handle, plan, decision): client to server. Yields until the stream ends.
function upgrade.request(handle, plan, decision)
  local connection = make(handle, plan, decision)
  open[decision[DECISION.decision_id]] = connection
  -- what follows a handshake is not a body
  handle:headers():remove("content-length")
  pump(handle, "from_client", connection, decision, NOTE.client_chunks)
end

-- Why a response with status 101 must not open the connection, or nil.
local function fault(headers, connection)
  -- RFC 6455, section 4.1: the client must wait for the response. The server's HTTP parser might treat earlier bytes as a
  -- body
  if connection.hasty then return UNREAD.early_data end
  if (headers:get("upgrade") or ""):lower() ~= "websocket" then return UNREAD.upgrade end
  -- the request did not offer an extension: with one, the frames could not be parsed
  if headers:get("sec-websocket-extensions") then return UNREAD.extensions end
  if not connection:accepted(headers:get("sec-websocket-protocol")) then return UNREAD.protocol end
  return nil
end

-- The proof that the server has read the handshake (RFC 6455, section 4.1), where one side speaks HTTP/2, which needs none:
-- the gateway answers a client's key for an application over HTTP/2, and checks what an application answers to the key that
-- the gateway made (src/decision/headers/handshake-key.ts). Between two sides that speak HTTP/1.1 the client checks.
-- -> whether the connection may open
local function proven(handle, decision)
  local headers, expected = handle:headers(), decision[DECISION.handshake_accept]
  local answer = headers:get("sec-websocket-accept")
  local upstream = handle:metadata():get(ROUTE.upstream)
  if handle:streamInfo():protocol() == "HTTP/1.1" then
    if upstream == "HTTP/2" and expected and not answer then headers:add("sec-websocket-accept", expected) end
    return true
  end
  headers:remove("sec-websocket-accept")
  return answer == expected or (answer == nil and upstream ~= "HTTP/1.1")
end

-- upgrade.response(handle, plan, decision): server to client, when the server has answered 101. Yields.
function upgrade.response(handle, plan, decision)
  local connection = open[decision[DECISION.decision_id]]
  if not connection then error("a response without its request") end
  connection.answered = os.time()
  local reason = fault(handle:headers(), connection) or (not proven(handle, decision) and UNREAD.accept) or nil
  if reason then
    -- the server considers the connection open: close its side, too
    connection:close(1002, CLOSE.UPGRADE_NOT_DELIVERED, CLOSED_BY.protocol)
    return upgrade.refuse(handle, reason)
  end
  stream.note(handle, NOTE.state, STATE.stream)
  pump(handle, "from_server", connection, decision, NOTE.chunks)
end

-- Headers that are kept on a replaced response to a handshake, each with its allowed values, without any text of the
-- application. They include the gateway's own headers, which are set before the response arrives here.
local KEPT = {
  date = refusal.DATE, ["retry-after"] = refusal.DATE, ["sec-websocket-version"] = "^[%d, ]+$",
  ["strict-transport-security"] = refusal.HSTS,
}

-- upgrade.refuse(handle, reason, status): replaces a response to a handshake that must not be delivered
function upgrade.refuse(handle, reason, status)
  stream.note(handle, NOTE.outcome, outcome.response(contract.RESULT.refused, { reason = reason }))
  stream.refuse(handle, {
    status = status, code = REFUSAL.UPGRADE_NOT_DELIVERED, message = REFUSAL_TEXT.UPGRADE_NOT_DELIVERED, kept = KEPT,
  })
end

return upgrade
