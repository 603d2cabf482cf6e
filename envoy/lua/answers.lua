-- The filter behind ext_authz, for everything but handshakes. A function that is not defined costs a request nothing.
local enforce = require("gatehouse.enforce")

function envoy_on_response(handle)
  enforce.response(handle)
end
