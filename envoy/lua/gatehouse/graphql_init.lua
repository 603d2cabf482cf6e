-- How a GraphQL connection begins, where its client may say in `connection_init` who it is: nothing else passes before, and
-- it passes once.
local contract = require("gatehouse.contract")
local json = require("gatehouse.json")
local plan_of = require("gatehouse.plan")
local IDENTIFICATION, IDENTIFIED = contract.IDENTIFICATION, contract.IDENTIFIED

local graphql_init = {}

graphql_init.INIT = "connection_init"
-- Messages that may come earlier (graphql-ws, PROTOCOL.md).
graphql_init.EARLIER = { ping = true, pong = true }

-- graphql_init.kind(message) -> the type of a message, a value of values.lua; nil if it has none
function graphql_init.kind(message)
  if type(message) ~= "table" or message.kind ~= "object" then return nil end
  local kind = message.members.type
  return type(kind) == "string" and kind or nil
end

-- graphql_init.answer(text) -> what the service has said about the client:
--   { refused = { code, reason } }, { plan, set, expires_at } with plain tables, or {} if nothing changes;
--   nil if it has said nothing that can be used
function graphql_init.answer(text)
  local said = type(text) == "string" and text ~= "" and json.plain(text)
  if type(said) ~= "table" then return nil end
  local result = said[IDENTIFIED.result]
  if result == IDENTIFICATION.unchanged then return {} end
  if result == IDENTIFICATION.refused then
    local code, reason = said[IDENTIFIED.code], said[IDENTIFIED.reason]
    if type(code) ~= "number" or type(reason) ~= "string" then return nil end
    return { refused = { code = code, reason = reason } }
  end
  if result ~= IDENTIFICATION.identified then return nil end
  local plan, expires_at = plan_of.read(said[IDENTIFIED.plan]), said[IDENTIFIED.expires_at]
  if type(expires_at) ~= "number" or not plan or type(plan.websocket) ~= "table" then return nil end
  if type(plan.websocket.graphql) ~= "table" then return nil end
  return { plan = plan.websocket, set = plan.set, expires_at = expires_at }
end

return graphql_init
