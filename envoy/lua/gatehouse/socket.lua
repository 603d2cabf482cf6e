-- One WebSocket connection, both directions: bytes in, bytes out. What comes out is always whole frames, so a CLOSE can
-- follow at any time. Nothing can be sent of our own accord, only in place of what passes:
--   * A denied message from the client becomes a PING with a secret. The server must answer it (RFC 6455, section 5.5.2),
--     and in place of that PONG, or before it with anything else from the server, the client gets its notice.
--   * To close, a CLOSE goes each way in place of the next bytes, and nothing after it.
local contract = require("gatehouse.contract")
local frames = require("gatehouse.frames")
local CLOSE, CLOSED_BY, DIRECTION = contract.CLOSE, contract.CLOSED_BY, contract.DIRECTION

local socket = {}

local MOST_NOTICES = 100
-- Denied messages are counted by type, rule and set, in each direction apart, so that one side cannot keep what the other's rules
-- deny out of the record. Types without a rule are the sender's words, and have few entries of their own.
local MOST_DENIED = 10
local MOST_UNLISTED = 5
local MOST_PATHS = 50
local MOST_SETS = 10

local Socket = {}
Socket.__index = Socket

-- A value that is not a list counts as one: then messages.apply lets nothing through.
local function is_listed(fields) return fields ~= nil and next(fields) ~= nil end

-- Whether messages must be collected: the client's, the server's.
local function collected(plan)
  local client = plan.graphql ~= nil or plan.send ~= nil
  local server = plan.graphql ~= nil or plan.receive ~= nil or is_listed(plan.fields)
  return client, server
end

-- socket.new(options)
--   plan       WebsocketPlanIR (src/policy/plan.ts), as plain tables
--   random     function(n) -> n bytes that nobody can guess
--   env        function() -> the value of `env` for conditions
--   messages, mask, condition, graphql    the modules of these names; graphql is graphql_socket
--   identify   see graphql_socket.new
--   set        the digest of the set that decided on the handshake, or nil
function socket.new(options)
  local plan = options.plan
  local client, server = collected(plan)
  return setmetatable({
    plan = plan,
    random = options.random,
    env = options.env,
    messages = options.messages,
    protocols = options.graphql,
    identify = options.identify,
    -- from the client's identification on: unix seconds
    expires_at = nil,
    context = { evaluate = options.condition.evaluate, mask = options.mask, env = options.env },
    client = frames.reader({ masked = true, limit = plan.limit, collect = client }),
    server = frames.reader({ masked = false, limit = plan.limit, collect = server }),
    -- the state of the GraphQL protocol, once it is known
    graphql = nil,
    -- texts for the client, and the payload of the PING whose PONG triggers them at the latest
    notices = {}, token = nil,
    -- a part of a message has been passed to the client, but not the rest
    client_waits = false,
    -- { code, reason }: no message passes any more; and which sides got a CLOSE, ours or the peer's
    closing = nil, server_ended = false, client_ended = false,
    sent = { delivered = 0, dropped = 0 },
    received = { delivered = 0, dropped = 0, masked = 0 },
    -- by rules, and without one; what has no entry of its own is counted by direction
    denied = {}, unlisted = {}, denied_by_key = {}, unlisted_of = {}, rest = {},
    -- the digest of the set that decided on the handshake, of the one in force, and those of all after the first
    first = options.set, set = options.set, sets = {}, more_sets = false,
    paths = {}, path_seen = {},
    closed = nil,
  }, Socket)
end

-- socket:accepted(protocol): the server accepts the connection, with the subprotocol that it names, or nil. -> false if
-- the connection must not be opened
function Socket:accepted(protocol)
  if not self.plan.graphql then return true end
  if type(protocol) ~= "string" or not self.protocols.protocols[protocol] then return false end
  self.graphql = self.protocols.new(self.plan.graphql, protocol, self.identify)
  return true
end

-- Whether the client still has to say who it is.
function Socket:is_waiting() return self.graphql ~= nil and self.graphql:is_waiting() end

-- "Forbidden" of GraphQL clients (graphql-ws): they connect again after it, with another token. After 1008 they never do.
local FORBIDDEN = 4403

-- From now on, this set evaluates the connection: its digest, or nil if it is not known.
function Socket:by_set(set)
  if type(set) ~= "string" or set == self.set then return end
  self.set = set
  if #self.sets == MOST_SETS then
    table.remove(self.sets, 1)
    self.more_sets = true
  end
  self.sets[#self.sets + 1] = set
end

-- socket:close(code, reason, by, set): from now on no message passes, and each side gets a CLOSE in place of its next bytes.
-- The first call counts. set: the digest of the set that does not permit the connection, or nil
function Socket:close(code, reason, by, set)
  if self.closing then return end
  self:by_set(set)
  if not frames.is_close_code(code) then code = 1008 end
  if code == 1008 and self.plan.graphql then code = FORBIDDEN end
  self.closing = { code = code, reason = tostring(reason or "") }
  self.closed = self.closed or { code = code, reason = self.closing.reason, by = by }
end

-- socket:replan(plan, set): a new plan for the same connection, from the next message on, and the digest of its set. Running GraphQL operations, and
-- messages of which a part has passed, cannot be evaluated again: the client must reconnect (1012, IANA's registry).
function Socket:replan(plan, set)
  self:by_set(set)
  local client, server = collected(plan)
  local client_fits = self.client:set(plan.limit, client)
  local server_fits = self.server:set(plan.limit, server)
  if self.plan.graphql or plan.graphql or not client_fits or not server_fits then
    return self:close(1012, CLOSE.POLICY_CHANGED, CLOSED_BY.policy)
  end
  self.plan = plan
end

-- A new mask key (section 5.3).
function Socket:key()
  local key = self.random(4)
  if type(key) ~= "string" or #key ~= 4 then error("no random bytes") end
  return key
end

local function put(out, bytes) out[#out + 1] = bytes end

-- Counts messages that have no entry of their own.
function Socket:add_to_rest(direction, count)
  local rest = self.rest[direction]
  if not rest then
    rest = { direction = direction, type = contract.MORE, count = 0 }
    self.rest[direction] = rest
  end
  rest.count = rest.count + count
end

-- Room for an entry by a rule: in place of the oldest one of another set, since the one in force is what is being looked at.
function Socket:has_room_for_rule(direction)
  local count = 0
  for _, entry in ipairs(self.denied) do
    if entry.direction == direction then count = count + 1 end
  end
  if count < MOST_DENIED then return true end
  for i, entry in ipairs(self.denied) do
    if entry.direction == direction and entry.by ~= self.set then
      table.remove(self.denied, i)
      self.denied_by_key[entry.key] = nil
      self:add_to_rest(entry.direction, entry.count)
      return true
    end
  end
  return false
end

function Socket:has_room_for_unlisted(direction)
  local count = self.unlisted_of[direction] or 0
  if count == MOST_UNLISTED then return false end
  self.unlisted_of[direction] = count + 1
  return true
end

function Socket:note_denied(direction, name, rule)
  local label = name and self.messages.label(name)
  -- which stands for others in the record
  if label == contract.MORE then label = "?" end
  local key = table.concat({ direction, label or "", rule or "", self.set or "" }, "\0")
  local entry = self.denied_by_key[key]
  if not entry then
    local has_room
    if rule then has_room = self:has_room_for_rule(direction) else has_room = self:has_room_for_unlisted(direction) end
    if not has_room then return self:add_to_rest(direction, 1) end
    entry = { direction = direction, type = label, rule = rule, by = self.set, key = key, count = 0 }
    self.denied_by_key[key] = entry
    local list = rule and self.denied or self.unlisted
    list[#list + 1] = entry
  end
  entry.count = entry.count + 1
end

-- What was denied, for the record: by rules first, since the record is cut at its end.
function Socket:denied_messages()
  local out = {}
  local function add(entry)
    local set = entry.by ~= self.first and entry.by or nil
    out[#out + 1] = { direction = entry.direction, type = entry.type, rule = entry.rule, set = set, count = entry.count }
  end
  for _, entry in ipairs(self.denied) do add(entry) end
  for _, entry in ipairs(self.unlisted) do add(entry) end
  for _, direction in ipairs({ DIRECTION.send, DIRECTION.receive }) do
    if self.rest[direction] then out[#out + 1] = self.rest[direction] end
  end
  return out
end

-- The sets that took effect after the first one, for the record.
function Socket:sets_since()
  if #self.sets == 0 then return nil end
  if not self.more_sets then return self.sets end
  local out = { contract.MORE }
  for _, set in ipairs(self.sets) do out[#out + 1] = set end
  return out
end

function Socket:note_masked(result)
  self.received.masked = self.received.masked + 1
  for _, path in ipairs(result.paths) do
    if not self.path_seen[path] and #self.paths < MOST_PATHS then
      self.path_seen[path] = true
      self.paths[#self.paths + 1] = path
    end
  end
end

-- Notifies the client, through a PING to the server unless one is already in progress.
function Socket:notify(text, out)
  if #self.notices == MOST_NOTICES then return self:close(1008, CLOSE.TOO_MANY_DENIED, CLOSED_BY.policy) end
  self.notices[#self.notices + 1] = text
  if self.token then return end
  local secret = self.random(16)
  if type(secret) ~= "string" or #secret ~= 16 then error("no random bytes") end
  self.token = secret:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end)
  put(out, frames.ping(self.token, self:key()))
end

-- A data frame in the middle of a fragmented message would break it (section 5.4).
function Socket:put_notices(out)
  if self.client_waits or #self.notices == 0 then return end
  for _, text in ipairs(self.notices) do put(out, frames.text(text)) end
  self.notices = {}
end

function Socket:deny(direction, counts, verdict)
  counts.dropped = counts.dropped + 1
  self:note_denied(direction, verdict.type, verdict.rule)
  if verdict.on_deny == "close" then self:close(1008, CLOSE.ACCESS_DENIED, CLOSED_BY.policy) end
end

function Socket:deliver_to_server(payload, binary, out)
  put(out, (binary and frames.binary or frames.text)(payload, self:key()))
  self.sent.delivered = self.sent.delivered + 1
end

-- The client has said who it is. No operation can have begun under the first plan.
function Socket:identified(answer)
  local plan = answer.plan
  if not plan then return end
  local client, server = collected(plan)
  if not self.client:set(plan.limit, client) or not self.server:set(plan.limit, server) then error("a message has passed") end
  self.plan, self.expires_at = plan, answer.expires_at
  self:by_set(answer.set)
end

-- An operation, or another message of a GraphQL client: none before the server has accepted (section 4.1).
function Socket:operation(event, out)
  if not self.graphql then return self:close(1002, "data before the handshake was over", CLOSED_BY.protocol) end
  if event.binary then return self:close(4400, "invalid message", CLOSED_BY.protocol) end
  local action = self.graphql:from_client(event.payload, self.env())
  if action.identified then self:identified(action.identified) end
  if action.deliver then return self:deliver_to_server(action.deliver, false, out) end
  self:deny(DIRECTION.send, self.sent, { rule = action.rule })
  if action.close then
    -- goes to the client in front of the CLOSE
    if action.reply then self.notices[#self.notices + 1] = action.reply end
    return self:close(action.close, action.reason, action.policy and CLOSED_BY.policy or CLOSED_BY.protocol)
  end
  if action.reply then self:notify(action.reply, out) end
end

function Socket:message_from_client(event, out)
  if self.plan.graphql then return self:operation(event, out) end
  if self.plan.send then
    local text = not event.binary and event.payload or nil
    local verdict = self.messages.evaluate(self.plan.send, text, self.context, self.messages.from_client)
    if not verdict.permit then
      self:deny(DIRECTION.send, self.sent, verdict)
      if not self.closing then self:notify(self.messages.notice(verdict), out) end
      return
    end
  end
  self:deliver_to_server(event.payload, event.binary, out)
end

-- The verdict of the rules on a text from the server, in the form of messages.evaluate.
function Socket:evaluate_from_server(text)
  if self.plan.graphql then
    local action = self.graphql:from_server(text, self.env())
    return { permit = action.deliver ~= nil, rule = action.rule }
  end
  if self.plan.receive then return self.messages.evaluate(self.plan.receive, text, self.context) end
  return { permit = true }
end

function Socket:message_from_server(event, out)
  local plan, payload, result = self.plan, event.payload, nil
  if event.binary then
    -- a text that cannot be parsed can be neither evaluated nor masked
    if plan.graphql or plan.receive or is_listed(plan.fields) then return self:deny(DIRECTION.receive, self.received, {}) end
  else
    local verdict = self:evaluate_from_server(payload)
    if not verdict.permit then return self:deny(DIRECTION.receive, self.received, verdict) end
    payload, result = self.messages.apply(payload, verdict.fields, plan.fields, self.context)
    if not payload then
      return self:deny(DIRECTION.receive, self.received, { type = verdict.type, rule = verdict.rule })
    end
    if result then self:note_masked(result) end
  end
  put(out, (event.binary and frames.binary or frames.text)(payload))
  self.received.delivered = self.received.delivered + 1
end

local function pass_piece(counts, event, out)
  put(out, event.bytes)
  if event.last then counts.delivered = counts.delivered + 1 end
end

function Socket:pass_close(event, key, out)
  put(out, frames.close(event.code, event.reason, key))
  self.closed = self.closed or { code = event.code, reason = event.reason, by = CLOSED_BY.peer }
end

function Socket:event_from_client(event, out)
  if event.kind == "message" then return self:message_from_client(event, out) end
  if event.kind == "piece" then return pass_piece(self.sent, event, out) end
  if event.kind == "close" then
    self.server_ended = true
    return self:pass_close(event, self:key(), out)
  end
  if self.token and event.payload == self.token then return self:close(1002, "unexpected payload", CLOSED_BY.protocol) end
  put(out, frames[event.kind](event.payload, self:key()))
end

function Socket:event_from_server(event, out)
  self:put_notices(out)
  if event.kind == "message" then return self:message_from_server(event, out) end
  if event.kind == "piece" then
    self.client_waits = not event.last
    return pass_piece(self.received, event, out)
  end
  if event.kind == "close" then
    self.client_ended = true
    return self:pass_close(event, nil, out)
  end
  if event.kind == "pong" and self.token and event.payload == self.token then
    self.token = nil
    return
  end
  put(out, frames[event.kind](event.payload))
end

function Socket:read(reader, handle, bytes, out)
  local events, code, reason = reader:feed(bytes)
  for _, event in ipairs(events) do
    if self.closing then return end
    handle(self, event, out)
  end
  if code then self:close(code, reason, CLOSED_BY.protocol) end
end

-- The last resort for one direction: any error closes the connection. Everything sent before that was evaluated.
function Socket:guarded(reader, handle, bytes, out)
  if self.closing then return end
  local ok = pcall(self.read, self, reader, handle, bytes, out)
  if not ok then self:close(1011, CLOSE.INTERNAL_ERROR, CLOSED_BY.error) end
end

-- socket:from_client(bytes) -> bytes for the server
function Socket:from_client(bytes)
  if self.server_ended then return "" end
  local out = {}
  self:guarded(self.client, self.event_from_client, bytes, out)
  if self.closing and not self.server_ended then
    self.server_ended = true
    local ok, key = pcall(self.key, self)
    -- without random bytes, no frame can be sent to the server; the client's side is closed nevertheless
    if ok then put(out, frames.close(self.closing.code, self.closing.reason, key)) end
  end
  return table.concat(out)
end

-- socket:from_server(bytes) -> bytes for the client
function Socket:from_server(bytes)
  if self.client_ended then return "" end
  local out = {}
  self:guarded(self.server, self.event_from_server, bytes, out)
  if not self.client_ended then
    self:put_notices(out)
    if self.closing then
      self.client_ended = true
      put(out, frames.close(self.closing.code, self.closing.reason))
    end
  end
  return table.concat(out)
end

-- socket:events() -> how often something was withheld, masked or ended so far
function Socket:events()
  return self.sent.dropped + self.received.dropped + self.received.masked + (self.closed and 1 or 0)
end

-- socket:outcome() -> what happened so far, for outcome.connection:
--   { sent = { delivered, dropped }, received = { delivered, dropped, masked }, denied = up to 32 of { direction, type,
--   rule, set, count }, paths = up to 50, sets = nil or the last 10, closed = nil or { code, reason, by } }
-- The numbers count messages: those of `denied` add up to what was dropped. A type or set MORE stands for all that are not
-- listed. set: nil for that of the handshake. `by` is one of the contract's CLOSED_BY. Some of it is no copy.
function Socket:outcome()
  return {
    sent = self.sent, received = self.received, denied = self:denied_messages(), paths = self.paths, closed = self.closed,
    sets = self:sets_since(),
  }
end

return socket
