-- Small JSON files that the service writes for Lua. Each Envoy worker reads a file at most once per second.
local json = require("gatehouse.json")

local state_file = {}

local LOOK_SECONDS = 1

-- By path: { looked = unix seconds, state = table or nil }. There is one file per worker of the service, and a few more;
-- those of former workers are removed with the others.
local seen, files = {}, 0
local MOST_FILES = 64

local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read("*a")
  file:close()
  local state = text and json.plain(text)
  return type(state) == "table" and state or nil
end

-- state_file.read(path, now) -> the object in the file; nil if it is missing or malformed. now: unix seconds
function state_file.read(path, now)
  local known = seen[path]
  if known and now - known.looked < LOOK_SECONDS and now >= known.looked then return known.state end
  local state = read(path)
  if not known then
    if files >= MOST_FILES then seen, files = {}, 0 end
    files = files + 1
  end
  seen[path] = { looked = now, state = state }
  return state
end

return state_file
