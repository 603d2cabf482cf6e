-- The filter behind ext_authz, for WebSocket handshakes and the connections that come of them.
local enforce = require("gatehouse.enforce")

function envoy_on_request(handle)
  enforce.request(handle)
end

function envoy_on_response(handle)
  enforce.response(handle)
end
