-- What became of open WebSocket connections: the service writes one small file, and each Envoy worker looks at it at most
-- once a second. A file that is missing, stale or of another life of the service means that nobody looks after the
-- connection any more.
local json = require("gatehouse.json")

local connections = {}

local LOOK_SECONDS = 1
-- The service writes every two seconds.
local STALE_SECONDS = 15

-- By path of the file: { looked = unix seconds, state = table or nil }. There is one a worker of the service; where there
-- are more, those of workers that are gone are forgotten with the others.
local seen, files = {}, 0
local MOST_FILES = 64

local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read("*a")
  file:close()
  local state = text and json.plain(text)
  return type(state) == "table" and state or nil
end

local function current(path, now)
  local known = seen[path]
  if known and now - known.looked < LOOK_SECONDS and now >= known.looked then return known.state end
  local state = read(path)
  if not known then
    if files >= MOST_FILES then seen, files = {}, 0 end
    files = files + 1
  end
  seen[path] = { looked = now, state = state }
  return state
end

local LOST = { code = 1013, reason = "SERVICE_UNAVAILABLE", by = "policy" }

-- What is closed is closed, whatever is wrong with how.
local function closing_of(entry)
  if type(entry) ~= "table" then entry = {} end
  local reason = type(entry.reason) == "string" and entry.reason or "POLICY_CHANGED"
  return { code = tonumber(entry.code) or 1008, reason = reason, by = "policy" }
end

-- Of each slot's generation (src/decision/connection-slots.ts).
local WIDTH = 8

-- Whether the service still knows the connection. One that is newer than the file cannot be in it yet. What the service
-- has forgotten, nobody would evaluate again.
local function is_known(state, decision)
  local slot, generation = decision.slot, decision.generation
  if slot == nil then return true end
  local newest, slots = state.newest, state.slots
  if type(slot) ~= "number" or type(generation) ~= "string" then return false end
  if type(newest) ~= "string" or type(slots) ~= "string" then return false end
  return generation > newest or slots:sub(slot * WIDTH + 1, (slot + 1) * WIDTH) == generation
end

-- connections.check(decision, now) -> nil, or { code, reason, by } where the connection has to close; and, where the
-- policies have changed what may pass, the new plan's text
-- decision: what the service sent along: { decision_id, state_file, state_epoch, expires_at, slot, generation }
function connections.check(decision, now)
  if decision.expires_at and now >= decision.expires_at then
    return { code = 1008, reason = "TOKEN_EXPIRED", by = "expiry" }
  end
  local state = current(decision.state_file, now)
  if not state or state.epoch ~= decision.state_epoch then return LOST end
  -- a time to come is no better than one long ago: a clock was set, and nobody has written since
  if type(state.at) ~= "number" or math.abs(now - state.at) > STALE_SECONDS then return LOST end
  local closed, plans = state.closed, state.plans
  if type(closed) ~= "table" or type(plans) ~= "table" then return LOST end
  local closing = closed[decision.decision_id]
  if closing then return closing_of(closing) end
  if not is_known(state, decision) then return LOST end
  return nil, plans[decision.decision_id]
end

return connections
