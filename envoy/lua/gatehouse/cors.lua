-- CORS headers of Envoy's own responses, which the service does not see (src/gateway/local-replies.ts).
local contract = require("gatehouse.contract")
local state_file = require("gatehouse.state_file")
local ORIGIN = contract.HEADER.origin

local cors = {}

-- cors.response(handle, path): path of the file with the headers by origin, of the policy set in force. An origin that
-- is not in it gets none.
function cors.response(handle, path)
  local headers = handle:headers()
  local origin = headers:get(ORIGIN)
  if not origin then return end
  headers:remove(ORIGIN)
  local grants = state_file.read(path, os.time())
  local grant = grants and (grants[origin] or grants["*"])
  if type(grant) ~= "table" then return end
  for name, value in pairs(grant) do headers:replace(name, value) end
end

return cors
