-- The outcome of a stream for the access log (src/extauthz/access-log-outcome.ts): JSON, under the names of the
-- contract.
local contract = require("gatehouse.contract")
local json = require("gatehouse.json")
local OUTCOME, RESPONSE, CONNECTION = contract.OUTCOME, contract.RESPONSE, contract.CONNECTION
local COUNTS, DENIED, CLOSED = contract.COUNTS, contract.DENIED_MESSAGES, contract.CLOSED

local outcome = {}

local NOTHING = {}

-- outcome.response(result, details) -> text
--   result   one of the contract's RESULT
--   details  { reason, count, paths, dropped }, each of which may be missing, or nil
function outcome.response(result, details)
  details = details or NOTHING
  return json.encode({ [OUTCOME.response] = {
    [RESPONSE.result] = result, [RESPONSE.reason] = details.reason, [RESPONSE.count] = details.count,
    [RESPONSE.paths] = details.paths, [RESPONSE.dropped] = details.dropped,
  } })
end

local function counts_of(counts)
  return { [COUNTS.delivered] = counts.delivered, [COUNTS.dropped] = counts.dropped, [COUNTS.masked] = counts.masked }
end

-- outcome.connection(happened) -> text; happened: the result of socket:outcome()
function outcome.connection(happened)
  local denied, closed = {}, happened.closed
  for index, entry in ipairs(happened.denied) do
    denied[index] = {
      [DENIED.direction] = entry.direction, [DENIED.type] = entry.type, [DENIED.rule] = entry.rule,
      [DENIED.set] = entry.set, [DENIED.count] = entry.count,
    }
  end
  return json.encode({ [OUTCOME.websocket] = {
    [CONNECTION.sent] = counts_of(happened.sent), [CONNECTION.received] = counts_of(happened.received),
    [CONNECTION.denied] = denied, [CONNECTION.paths] = happened.paths, [CONNECTION.sets] = happened.sets,
    [CONNECTION.closed] = closed and
      { [CLOSED.code] = closed.code, [CLOSED.reason] = closed.reason, [CLOSED.by] = closed.by },
  } })
end

return outcome
