-- `env` for conditions, of this moment (src/decision/attributes/attributes.ts).
local values = require("gatehouse.values")

local env = {}

local WEEKDAYS = { "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday" }

-- env.of(environment) -> a value of values.lua
function env.of(environment)
  local now = os.time()
  local date = os.date("!*t", now)
  return values.object({
    time = os.date("!%Y-%m-%dT%H:%M:%SZ", now),
    date = os.date("!%Y-%m-%d", now),
    hour = date.hour,
    weekday = WEEKDAYS[date.wday],
    environment = environment,
  })
end

return env
