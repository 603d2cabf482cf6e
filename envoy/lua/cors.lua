-- The filter for Envoy's own responses to pages of other origins. `GATEHOUSE_CORS_FILE` is set above (src/gateway/http-filters.ts).
local cors = require("gatehouse.cors")

function envoy_on_response(handle)
  cors.response(handle, GATEHOUSE_CORS_FILE)
end
