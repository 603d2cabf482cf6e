-- Limits how much of unfinished bodies of unknown length Envoy holds in memory, all requests of this thread together.
-- The buffer behind this filter holds a body until it is complete; what exceeds the limit is dropped here, and the
-- request is marked, so that a later filter refuses it: a body with a gap never reaches the application.
local contract = require("gatehouse.contract")
local stream = require("gatehouse.stream")
local NOTE, ROUTE = contract.NOTE, contract.ROUTE

local uploads = {}

-- Bytes by upload. The keys exist only on the stacks of coroutines, so the entries of streams that were reset go when
-- Lua collects garbage.
local held = setmetatable({}, { __mode = "k" })
local total, collected_at = 0, 0

local function recount()
  collectgarbage()
  total = 0
  for _, bytes in pairs(held) do total = total + bytes end
end

-- -> whether so many bytes more may be held. Collecting garbage takes milliseconds: at most once a second
local function has_room(bytes, limit)
  if total + bytes <= limit then return true end
  local now = os.time()
  if now ~= collected_at then
    collected_at = now
    recount()
  end
  return total + bytes <= limit
end

-- uploads.request(handle): yields until the body is complete
function uploads.request(handle)
  local limit = handle:metadata():get(ROUTE.held_bytes)
  local key = {}
  held[key] = 0
  local dropping = false
  for chunk in handle:bodyChunks() do
    local size = chunk:length()
    if not dropping and not has_room(size, limit) then
      dropping = true
      -- before anything is missing. The limit is at least that of a body: one that exceeds it alone will never fit
      local is_too_large = held[key] + size > limit
      stream.note(handle, is_too_large and NOTE.upload_too_large or NOTE.upload_dropped, true)
    end
    if dropping then
      chunk:setBytes("")
    else
      held[key] = held[key] + size
      total = total + size
    end
  end
  total = total - held[key]
  held[key] = nil
end

return uploads
