-- Which answers can be looked into, by their Content-Type (RFC 9110, section 8.3).
local media_type = {}

local JSON = { ["application/json"] = true, ["text/json"] = true }
local LINES = {
  ["application/x-ndjson"] = true, ["application/ndjson"] = true, ["application/jsonl"] = true,
  ["application/x-jsonlines"] = true, ["application/json-lines"] = true,
}

local UTF8 = { ["utf-8"] = true, ["utf8"] = true, ["us-ascii"] = true }

-- media_type.of(value) -> "json", "lines", "events", or nil for everything else; value may be nil
function media_type.of(value)
  if not value then return nil end
  local kind, parameters = value:lower():match("^%s*([^%s;,]+)%s*(.*)$")
  -- two types in one header: one of them is a lie
  if not kind or parameters:find(",", 1, true) then return nil end
  local charset = parameters:match(";%s*charset%s*=%s*\"?([^\";%s]*)")
  if charset and not UTF8[charset] then return nil end
  if JSON[kind] or kind:match("^application/[^/]+%+json$") then return "json" end
  if LINES[kind] then return "lines" end
  if kind == "text/event-stream" then return "events" end
  return nil
end

return media_type
