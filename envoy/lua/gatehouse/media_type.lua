-- Which responses can be read, by their Content-Type (RFC 9110, section 8.3).
local media_type = {}

local JSON = { ["application/json"] = true, ["text/json"] = true }
local LINES = {
  ["application/x-ndjson"] = true, ["application/ndjson"] = true, ["application/jsonl"] = true,
  ["application/x-jsonlines"] = true, ["application/json-lines"] = true,
  -- Spring's name for it
  ["application/stream+json"] = true,
}

-- Other types that a rule may let pass: types under which JSON is never served, except to mislead. A type that is not
-- listed does not pass: `text/plain`, `application/octet-stream`, scripts, YAML and forms may all contain JSON, or be
-- parsed as JSON.
local MARKUP = {
  ["text/html"] = true, ["text/xml"] = true, ["application/xml"] = true, ["image/svg+xml"] = true,
}
local DATA = {
  ["text/csv"] = true, ["text/tab-separated-values"] = true, ["text/css"] = true, ["text/calendar"] = true,
  ["text/vcard"] = true,
  ["application/pdf"] = true, ["application/zip"] = true, ["application/epub+zip"] = true, ["application/rtf"] = true,
  ["application/msword"] = true, ["application/vnd.ms-excel"] = true, ["application/vnd.ms-powerpoint"] = true,
  ["application/wasm"] = true,
}
local DATA_FAMILIES = {
  "^image/[%w.-]+$", "^audio/[%w.-]+$", "^video/[%w.-]+$", "^font/[%w.-]+$",
  "^application/vnd%.openxmlformats%-officedocument%.[%w.-]+$", "^application/vnd%.oasis%.opendocument%.[%w.-]+$",
}

local UTF8 = { ["utf-8"] = true, ["utf8"] = true, ["us-ascii"] = true }
-- Of other types: data that begin with `{` begin with that byte, apart from zeros beside it.
local LIKE_ASCII = {
  ["utf-8"] = true, ["utf8"] = true, ["us-ascii"] = true, ["utf-16"] = true, ["utf-16le"] = true, ["utf-16be"] = true,
  ["shift_jis"] = true, ["euc-jp"] = true, ["euc-kr"] = true, ["gb2312"] = true, ["gbk"] = true, ["gb18030"] = true,
  ["big5"] = true, ["koi8-r"] = true,
}

local function is_like_ascii(charset)
  return LIKE_ASCII[charset] or charset:match("^iso%-8859%-%d%d?$") or charset:match("^windows%-125%d$")
end

local TOKEN = "[!#$%%&'*+.^_`|~0-9a-z-]+"
local PLAIN = "^[ \t]*;[ \t]*(" .. TOKEN .. ")=(" .. TOKEN .. ")()"
-- without escapes, which no charset needs
local QUOTED = '^[ \t]*;[ \t]*(' .. TOKEN .. ')="([^"\\]*)"()'

-- -> whether parameters are well-formed and unique, and the charset, if given, is accepted
local function are_sound(parameters, is_good)
  local seen, at = {}, 1
  while not parameters:find("^[ \t]*;?[ \t]*$", at) do
    local name, value, after = parameters:match(PLAIN, at)
    if not name then name, value, after = parameters:match(QUOTED, at) end
    if not name or seen[name] or name:sub(1, 7) == "charset" and not (name == "charset" and is_good(value)) then
      return false
    end
    seen[name] = true
    at = after
  end
  return true
end

-- Far longer than any real type; the time of the following checks grows with the length.
local LONGEST = 256

-- -> the type, in lower case; nil if it is ambiguous: two types, another charset, malformed parameters
local function single(value, is_good)
  if not value or #value > LONGEST then return nil end
  local kind, parameters = value:lower():match("^[ \t]*(" .. TOKEN .. "/" .. TOKEN .. ")(.*)$")
  return kind and are_sound(parameters, is_good) and kind or nil
end

local function is_utf8(charset) return UTF8[charset] end

-- media_type.of(value) -> "json", "lines", "events", or nil for everything else, and for ambiguous types. value may be
-- nil
function media_type.of(value)
  local kind = single(value, is_utf8)
  if not kind then return nil end
  if LINES[kind] then return "lines" end
  if JSON[kind] or kind:match("^application/[^/]+%+json$") then return "json" end
  if kind == "text/event-stream" then return "events" end
  return nil
end

-- media_type.other(value) -> "markup" or "data" for a type that may pass if a rule allows it, or nil
function media_type.other(value)
  local kind = single(value, is_like_ascii)
  if not kind or kind:find("json", 1, true) then return nil end
  if MARKUP[kind] or kind:match("^application/[%w_.-]+%+xml$") then return "markup" end
  if DATA[kind] then return "data" end
  for _, family in ipairs(DATA_FAMILIES) do
    if kind:match(family) then return "data" end
  end
  return nil
end

return media_type
