-- GraphQL over WebSocket: which messages of a connection pass. There are two protocols, distinguished by the
-- subprotocol that the server chose: `graphql-transport-ws` (library graphql-ws, PROTOCOL.md) and the older
-- `graphql-ws` (library subscriptions-transport-ws, PROTOCOL.md).
local contract = require("gatehouse.contract")
local graphql_events = require("gatehouse.graphql_events")
local graphql_evaluate = require("gatehouse.graphql_evaluate")
local graphql_init = require("gatehouse.graphql_init")
local graphql_payload = require("gatehouse.graphql_payload")
local graphql_result = require("gatehouse.graphql_result")
local json = require("gatehouse.json")
local CLOSE, GRAPHQL, SUBPROTOCOL = contract.CLOSE, contract.GRAPHQL, contract.SUBPROTOCOL

local graphql_socket = {}

local MOST_OPERATIONS = 1000
local MOST_RETIRED = 10000
local MOST_ID_BYTES = 255
-- Maximum size of the messages that are kept because the arguments of their operations are read at each event.
local MOST_KEPT_BYTES = 1024 * 1024

local TOO_MANY = "too many operations run on this connection"

-- The effect of a message by its type: `pass`, or what it does to an operation.
graphql_socket.protocols = {
  [SUBPROTOCOL.current] = {
    client = { connection_init = "pass", ping = "pass", pong = "pass", subscribe = "start", complete = "stop" },
    server = {
      connection_ack = "pass", ping = "pass", pong = "pass", next = "result", error = "finish", complete = "finish",
    },
    error_payload = function(errors) return errors end,
    -- the code of the CLOSE says it
    refused = function() return nil end,
  },
  [SUBPROTOCOL.older] = {
    client = { connection_init = "pass", connection_terminate = "pass", start = "start", stop = "stop" },
    server = {
      connection_ack = "pass", connection_error = "pass", ka = "pass",
      data = "result", error = "finish", complete = "finish",
    },
    -- clients use `errors` if it is present, otherwise `message` (their formatErrors)
    error_payload = function(errors)
      local first = errors[1]
      local all = #errors > 1 and errors or nil
      return { message = first.message, path = first.path, extensions = first.extensions, errors = all }
    end,
    refused = function(reason) return json.encode({ type = "connection_error", payload = { message = reason } }) end,
  },
}

local Socket = {}
Socket.__index = Socket

-- A connection whose client and server have agreed on `protocol`, a name in `graphql_socket.protocols`.
--   plan      GraphqlPlanIR as plain tables
--   identify  function() -> graphql_init.answer about the client, asked for with its `connection_init`; nil if nobody
--             needs to know
function graphql_socket.new(plan, protocol, identify)
  return setmetatable({
    plan = plan,
    identify = identify, initiated = false,
    protocol = graphql_socket.protocols[protocol],
    -- running operations, by id: { events = … or nil, bytes = size of what is kept }
    running = {}, n_running = 0, kept_bytes = 0,
    -- ids that the client ended while results may still arrive, which nothing evaluates any more
    retired = {}, n_retired = 0,
  }, Socket)
end

local function close(code, reason)
  return { close = code, reason = reason }
end

local MEMBERS = { id = true, type = true, payload = true }

-- -> the message, its id if that is a string, and its type; or nil if it is not a message
local function parts_of(message)
  if type(message) ~= "table" or message.kind ~= "object" then return nil end
  local id, kind = message.members.id, message.members.type
  if type(kind) ~= "string" then return nil end
  return message, type(id) == "string" and id or nil, kind
end

local function is_fit(id)
  return id and id ~= "" and #id <= MOST_ID_BYTES and not id:find("[%z\1-\31\127]")
end

function Socket:refusal(id, errors, rule)
  local payload = self.protocol.error_payload(errors)
  local reply = json.encode({ id = id, type = "error", payload = payload })
  return { drop = true, reply = reply, rule = rule, code = errors[1].extensions.code }
end

function Socket:refusal_of(id, code, message)
  return self:refusal(id, { { message = message, extensions = { code = code } } })
end

local function errors_of(denials)
  local errors = {}
  for index, denial in ipairs(denials) do
    errors[index] = { message = denial.message, path = denial.path, extensions = { code = denial.code } }
  end
  return errors
end

function Socket:start(text, message, id, env)
  if not is_fit(id) then return close(4400, "invalid id") end
  if self.running[id] then return close(4409, "the id is in use") end
  if self.retired[id] then
    return self:refusal_of(id, GRAPHQL.GRAPHQL_MALFORMED, "the id of a subscription cannot be used again")
  end
  if self.n_running == MOST_OPERATIONS then return self:refusal_of(id, GRAPHQL.GRAPHQL_LIMIT_EXCEEDED, TOO_MANY) end
  local verdict = graphql_evaluate.evaluate(self.plan, message.members.payload, env)
  if verdict.kind == "refused" then return self:refusal_of(id, verdict.code, verdict.message) end
  if verdict.kind ~= "allowed" then return self:refusal(id, errors_of(verdict.denials), verdict.denials[1].rule) end
  local has_events = #verdict.events > 0
  local bytes = has_events and #text or 0
  if self.kept_bytes + bytes > MOST_KEPT_BYTES then return self:refusal_of(id, GRAPHQL.GRAPHQL_LIMIT_EXCEEDED, TOO_MANY) end
  self.running[id] = { events = has_events and verdict.events or nil, bytes = bytes }
  self.n_running, self.kept_bytes = self.n_running + 1, self.kept_bytes + bytes
  return { deliver = text }
end

function Socket:finish(id)
  local operation = id and self.running[id]
  if operation then
    self.running[id] = nil
    self.n_running, self.kept_bytes = self.n_running - 1, self.kept_bytes - operation.bytes
  end
  if id and self.retired[id] then
    self.retired[id] = nil
    self.n_retired = self.n_retired - 1
  end
end

-- The client ends an operation. The server may already have sent results, which would be evaluated by the rules of a
-- new operation with the same id.
function Socket:stop(text, id)
  local operation = id and self.running[id]
  if operation then
    self:finish(id)
    if operation.events then
      if self.n_retired == MOST_RETIRED then return close(1013, "reconnect to go on") end
      self.retired[id] = true
      self.n_retired = self.n_retired + 1
    end
  end
  return { deliver = text }
end

-- Whether messages of operations are still held back, because the client has not said who it is.
function Socket:is_waiting() return self.identify ~= nil and not self.initiated end

-- Nothing but `connection_init` passes first. -> what becomes of the message, or nil if it is evaluated like any other
function Socket:initiate(text, kind)
  local is_init = kind == graphql_init.INIT
  if self.initiated then
    return is_init and close(4429, "too many initialisation requests") or nil
  end
  if not is_init and not graphql_init.EARLIER[kind] then return close(4401, "connection_init must come first") end
  -- the filter in front reads no more than this, so it has not seen what comes behind
  if #text > contract.INIT_BYTES then
    return close(1009, is_init and "connection_init is too large" or "too large before connection_init")
  end
  if not is_init then return nil end
  self.initiated = true
  local answer = self.identify()
  if not answer then return { close = 1013, reason = CLOSE.SERVICE_UNAVAILABLE, policy = true } end
  local refused = answer.refused
  if refused then
    local reply = self.protocol.refused(refused.reason)
    return { close = refused.code, reason = refused.reason, reply = reply, policy = true }
  end
  if answer.plan then self.plan = answer.plan.graphql end
  return { deliver = text, identified = answer }
end

-- A text message from the client.
--   env  value of `env` for conditions, or nil
-- -> { deliver = text, identified = graphql_init.answer or nil }
--    { drop = true, reply = text for the client, rule, code }
--    { close = code, reason = text, policy = true if that is no violation of the protocol, reply = text or nil }
function Socket:from_client(text, env)
  local message, id, kind = parts_of(graphql_payload.decode(text))
  if not message then return close(4400, "invalid message") end
  for _, name in ipairs(json.names(message)) do
    if not MEMBERS[name] then return close(4400, "invalid message") end
  end
  local effect = self.protocol.client[kind]
  if not effect then return close(4400, "invalid message type") end
  local beginning = self.identify and self:initiate(text, kind)
  if beginning then return beginning end
  if effect == "start" then return self:start(text, message, id, env) end
  if effect == "stop" then return self:stop(text, id) end
  return { deliver = text }
end

function Socket:result(text, message, id, env)
  local operation = id and self.running[id]
  if not operation then return { drop = true } end
  -- response rules, which are applied to the message later, would not find their fields in other members
  local guarded = self.plan.guardedNames or {}
  if #guarded > 0 and not graphql_result.is_complete(message.members.payload) then
    return { drop = true, code = GRAPHQL.ACCESS_DENIED }
  end
  if not operation.events then return { deliver = text } end
  local permitted, rule = graphql_events.evaluate(operation.events, message.members.payload, env)
  if permitted then return { deliver = text } end
  return { drop = true, rule = rule, code = GRAPHQL.ACCESS_DENIED }
end

-- A text message from the server. A message that is not delivered is dropped without a notice.
--   env  value of `env` for conditions, or nil
-- -> { deliver = text } or { drop = true, rule, code }
function Socket:from_server(text, env)
  local document = json.scan(text)
  if not document or json.has_duplicates(document) then return { drop = true } end
  local message, id, kind = parts_of(json.value(document))
  if not message then return { drop = true } end
  local effect = self.protocol.server[kind]
  if effect == "result" then return self:result(text, message, id, env) end
  if effect == "finish" then self:finish(id) end
  return effect and { deliver = text } or { drop = true }
end

return graphql_socket
