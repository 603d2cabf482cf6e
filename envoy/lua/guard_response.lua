-- The guard nearer to the client.
local guard = require("gatehouse.guard")

function envoy_on_response(handle)
  guard.response(handle)
end
