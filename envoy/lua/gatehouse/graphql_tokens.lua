-- The lexical grammar of GraphQL (September 2025, section 2.1): text to tokens, like graphql-js 16.
local contract = require("gatehouse.contract")
local GRAPHQL = contract.GRAPHQL

local tokens = {}

local byte, find, sub = string.byte, string.find, string.sub

-- Maximum number of open brackets. Limits the recursion of everything that reads a document.
local MOST_NESTED = 200

local PUNCTUATORS = {}
for mark in ("!$&():=@[]{|}"):gmatch(".") do PUNCTUATORS[byte(mark)] = mark end

local NESTING = { ["("] = 1, ["["] = 1, ["{"] = 1, [")"] = -1, ["]"] = -1, ["}"] = -1 }

local ESCAPES = {
  ['"'] = '"', ["\\"] = "\\", ["/"] = "/", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t",
}

local function utf8(point)
  local char = string.char
  if point < 0x80 then return char(point) end
  local last = 0x80 + point % 64
  if point < 0x800 then return char(0xC0 + (point - point % 64) / 64, last) end
  local rest = (point - point % 64) / 64
  local middle = 0x80 + rest % 64
  if point < 0x10000 then return char(0xE0 + (rest - rest % 64) / 64, middle, last) end
  local top = (rest - rest % 64) / 64
  return char(0xF0 + (top - top % 64) / 64, 0x80 + top % 64, middle, last)
end

local function is_scalar(point)
  return point < 0xD800 or (point > 0xDFFF and point <= 0x10FFFF)
end

-- EscapedUnicode, from the backslash. -> the character and the position after it, or nil.
local function unicode_escape(text, position)
  local digits = find(text, "^{%x+}", position + 2) and text:match("^%x+", position + 3)
  if digits then
    local point = #digits <= 8 and tonumber(digits, 16)
    if point and is_scalar(point) then return utf8(point), position + 4 + #digits end
    return nil
  end
  local high = tonumber(text:match("^%x%x%x%x", position + 2) or "110000", 16)
  if is_scalar(high) then return utf8(high), position + 6 end
  -- a pair of surrogates, as in JSON
  local low = tonumber(text:match("^\\u(%x%x%x%x)", position + 6) or "0", 16)
  if high > 0xDBFF or low < 0xDC00 or low > 0xDFFF then return nil end
  return utf8(0x10000 + (high - 0xD800) * 0x400 + (low - 0xDC00)), position + 12
end

-- StringValue in single quotes, from its opening quote. -> the value and the position after it, or nil.
local function quoted_string(text, start)
  local parts = {}
  local position = start + 1
  while true do
    local stop = find(text, '["\\\n\r]', position)
    if not stop then return nil end
    parts[#parts + 1] = sub(text, position, stop - 1)
    local mark = sub(text, stop, stop)
    if mark == '"' then return table.concat(parts), stop + 1 end
    if mark ~= "\\" then return nil end -- the line ends
    local character
    if sub(text, stop + 1, stop + 1) == "u" then
      character, position = unicode_escape(text, stop)
    else
      character, position = ESCAPES[sub(text, stop + 1, stop + 1)], stop + 2
    end
    if not character then return nil end
    parts[#parts + 1] = character
  end
end

-- BlockStringValue() of section 2.9.4: without the common indentation of the lines, and without blank lines at both
-- ends.
local function dedented(lines)
  local indentation, first, last
  for index, line in ipairs(lines) do
    local content = find(line, "[^ \t]")
    if content then
      first, last = first or index, index
      if index > 1 and (not indentation or content - 1 < indentation) then indentation = content - 1 end
    end
  end
  if not first then return "" end
  for index = 2, #lines do lines[index] = sub(lines[index], (indentation or #lines[index]) + 1) end
  return table.concat(lines, "\n", first, last)
end

-- StringValue in triple quotes, from the first of them. -> the value and the position after it, or nil.
local function block_string(text, start)
  local lines, line = {}, {}
  local position = start + 3
  local function end_line()
    lines[#lines + 1] = table.concat(line)
    line = {}
  end
  while true do
    local stop = find(text, '["\\\n\r]', position)
    if not stop then return nil end
    line[#line + 1] = sub(text, position, stop - 1)
    if sub(text, stop, stop + 2) == '"""' then
      end_line()
      return dedented(lines), stop + 3
    elseif sub(text, stop, stop + 3) == '\\"""' then
      line[#line + 1] = '"""'
      position = stop + 4
    elseif sub(text, stop, stop + 1) == "\r\n" then
      end_line()
      position = stop + 2
    elseif find(text, "^[\n\r]", stop) then
      end_line()
      position = stop + 1
    else
      line[#line + 1] = sub(text, stop, stop)
      position = stop + 1
    end
  end
end

-- IntValue or FloatValue. -> its text and the position after it, or nil.
local function number(text, start)
  local _, last = find(text, "^%-?%d+", start)
  if not last or find(text, "^%-?0%d", start) then return nil end
  local _, fraction = find(text, "^%.%d+", last + 1)
  last = fraction or last
  local _, exponent = find(text, "^[eE][+-]?%d+", last + 1)
  last = exponent or last
  -- lookahead: neither a name nor another dot may follow
  if find(text, "^[%a_.]", last + 1) then return nil end
  return sub(text, start, last), last + 1
end

-- Ignored tokens: blanks, line ends, commas, byte order marks, comments. -> the position after them.
local function skip_ignored(text, position)
  while true do
    local _, last = find(text, "^[ \t\n\r,]+", position)
    if not last then _, last = find(text, "^\239\187\191", position) end
    if not last then _, last = find(text, "^#[^\n\r]*", position) end
    if not last then return position end
    position = last + 1
  end
end

-- One token. -> its kind, its value (or nil), the position after it; nil if it is not well-formed.
-- Kinds: the punctuators themselves, `name`, `number`, `string`.
local function next_token(text, position)
  local code = byte(text, position)
  local punctuator = PUNCTUATORS[code]
  if punctuator then return punctuator, nil, position + 1 end
  local _, last = find(text, "^[%a_][%w_]*", position)
  if last then return "name", sub(text, position, last), last + 1 end
  local value, after
  if sub(text, position, position + 2) == '"""' then
    value, after = block_string(text, position)
    return value and "string", value, after
  elseif code == 0x22 then
    value, after = quoted_string(text, position)
    return value and "string", value, after
  elseif sub(text, position, position + 2) == "..." then
    return "...", nil, position + 3
  end
  value, after = number(text, position)
  return value and "number", value, after
end

-- Tokenizes a whole document.
--   text   well-formed UTF-8
--   most   maximum number of tokens
-- -> { kinds = {…}, values = {…}, n = number }, or nil and a code of the refusal.
function tokens.read(text, most)
  local kinds, values, n, open = {}, {}, 0, 0
  local position = skip_ignored(text, 1)
  while position <= #text do
    local kind, value, after = next_token(text, position)
    if not kind then return nil, GRAPHQL.GRAPHQL_MALFORMED end
    n = n + 1
    open = math.max(0, open + (NESTING[kind] or 0))
    if n > most or open > MOST_NESTED then return nil, GRAPHQL.GRAPHQL_LIMIT_EXCEEDED end
    kinds[n], values[n] = kind, value or false
    position = skip_ignored(text, after)
  end
  kinds[n + 1] = "end"
  return { kinds = kinds, values = values, n = n }
end

return tokens
