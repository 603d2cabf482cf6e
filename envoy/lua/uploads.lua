-- The filter in front of the buffer, for bodies of unknown length.
local uploads = require("gatehouse.uploads")

function envoy_on_request(handle)
  uploads.request(handle)
end
