-- The state of open WebSocket connections, in one small file per worker of the service. If the file is missing, out of date, or written by another run of the service, nobody manages the
-- connection any more.
local contract = require("gatehouse.contract")
local state_file = require("gatehouse.state_file")
local CLOSE, CLOSED_BY, CLOSING = contract.CLOSE, contract.CLOSED_BY, contract.CLOSING
local DECISION, STATE_FILE = contract.DECISION, contract.STATE_FILE

local connections = {}

-- The service writes every two seconds.
local STALE_SECONDS = 15

local LOST = { code = 1013, reason = CLOSE.SERVICE_UNAVAILABLE, by = CLOSED_BY.policy }

-- A closed connection is closed, even if the reason is malformed.
local function closing_of(entry)
  if type(entry) ~= "table" then entry = {} end
  local code, reason = entry[CLOSING.code], entry[CLOSING.reason]
  if type(reason) ~= "string" then reason = CLOSE.POLICY_CHANGED end
  return { code = tonumber(code) or 1008, reason = reason, by = CLOSED_BY.policy, set = entry[CLOSING.set] }
end

-- The length of each slot's generation (src/decision/connections/connection-slots.ts).
local WIDTH = contract.SLOT_WIDTH

-- Whether the service still knows the connection. One that is newer than the file cannot be in it yet. A connection
-- that the service has forgotten would not be evaluated again.
local function is_known(state, decision)
  local slot, generation = decision[DECISION.slot], decision[DECISION.generation]
  if slot == nil then return true end
  local newest, slots = state[STATE_FILE.newest], state[STATE_FILE.slots]
  if type(slot) ~= "number" or type(generation) ~= "string" then return false end
  if type(newest) ~= "string" or type(slots) ~= "string" then return false end
  return generation > newest or slots:sub(slot * WIDTH + 1, (slot + 1) * WIDTH) == generation
end

-- connections.check(decision, now, expires_at) -> nil, or { code, reason, by, set } if the connection must be closed; and, if the
-- policies have changed its plan, the text of the new plan
-- decision: what the service sent with its permission (stream.decision); expires_at: replaces the decision's, or nil
function connections.check(decision, now, expires_at)
  expires_at = expires_at or decision[DECISION.expires_at]
  if expires_at and now >= expires_at then
    return { code = 1008, reason = CLOSE.TOKEN_EXPIRED, by = CLOSED_BY.expiry }
  end
  local state = state_file.read(decision[DECISION.state_file], now)
  if not state or state[STATE_FILE.epoch] ~= decision[DECISION.state_epoch] then return LOST end
  -- a time in the future is as bad as an old one: the clock was set back, and nothing has been written since
  local at = state[STATE_FILE.at]
  if type(at) ~= "number" or math.abs(now - at) > STALE_SECONDS then return LOST end
  local closed, plans = state[STATE_FILE.closed], state[STATE_FILE.plans]
  if type(closed) ~= "table" or type(plans) ~= "table" then return LOST end
  local id = decision[DECISION.decision_id]
  local closing = closed[id]
  if closing then return closing_of(closing) end
  if not is_known(state, decision) then return LOST end
  return nil, plans[id]
end

return connections
