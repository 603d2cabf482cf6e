-- Which answers can be looked into, by their Content-Type (RFC 9110, section 8.3).
local media_type = {}

local JSON = { ["application/json"] = true, ["text/json"] = true }
local LINES = {
  ["application/x-ndjson"] = true, ["application/ndjson"] = true, ["application/jsonl"] = true,
  ["application/x-jsonlines"] = true, ["application/json-lines"] = true,
}

local UTF8 = { ["utf-8"] = true, ["utf8"] = true, ["us-ascii"] = true }

local TOKEN = "[!#$%%&'*+.^_`|~0-9a-z-]+"
local PLAIN = "^[ \t]*;[ \t]*(" .. TOKEN .. ")=(" .. TOKEN .. ")()"
-- without escapes, which no charset needs
local QUOTED = '^[ \t]*;[ \t]*(' .. TOKEN .. ')="([^"\\]*)"()'

-- -> whether parameters are well formed, none stands twice, and the charset is UTF-8 where there is one
local function are_sound(parameters)
  local seen, at = {}, 1
  while not parameters:find("^[ \t]*;?[ \t]*$", at) do
    local name, value, after = parameters:match(PLAIN, at)
    if not name then name, value, after = parameters:match(QUOTED, at) end
    if not name or seen[name] or name:sub(1, 7) == "charset" and not (name == "charset" and UTF8[value]) then
      return false
    end
    seen[name] = true
    at = after
  end
  return true
end

-- Far more than any; what follows takes time that grows with the length.
local LONGEST = 256

-- media_type.of(value) -> "json", "lines", "events", or nil for everything else, and for whatever could be read in two
-- ways: two types, a charset other than UTF-8, broken parameters. value may be nil
function media_type.of(value)
  if not value or #value > LONGEST then return nil end
  local kind, parameters = value:lower():match("^[ \t]*(" .. TOKEN .. "/" .. TOKEN .. ")(.*)$")
  if not kind or not are_sound(parameters) then return nil end
  if JSON[kind] or kind:match("^application/[^/]+%+json$") then return "json" end
  if LINES[kind] then return "lines" end
  if kind == "text/event-stream" then return "events" end
  return nil
end

return media_type
