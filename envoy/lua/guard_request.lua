-- The guard nearer to the application.
local guard = require("gatehouse.guard")

function envoy_on_request(handle)
  guard.request(handle)
end
