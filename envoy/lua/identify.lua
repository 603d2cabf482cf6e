-- The filter in front of `sockets`, for connections whose clients say in their first message who they are.
-- `GATEHOUSE_IDENTIFY_MS` is set above (src/gateway/http-filters.ts).
local identify = require("gatehouse.identify")

function envoy_on_request(handle)
  identify.request(handle, GATEHOUSE_IDENTIFY_MS)
end
