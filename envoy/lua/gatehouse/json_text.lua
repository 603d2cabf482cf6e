-- Strings and numbers of JSON: decoding their text, and writing them.
local ffi = require("ffi")
local json_tape = require("gatehouse.json_tape")
local byte, char, find, format, sub = string.byte, string.char, string.find, string.format, string.sub

local json_text = {}

local REPLACEMENT = "\239\191\189" -- U+FFFD

-- A code point as UTF-8 (RFC 3629, section 3).
local function utf8_of(code)
  if code < 0x80 then return char(code) end
  local tail = char(0x80 + code % 64)
  code = math.floor(code / 64)
  if code < 0x20 then return char(0xc0 + code) .. tail end
  tail = char(0x80 + code % 64) .. tail
  code = math.floor(code / 64)
  if code < 0x10 then return char(0xe0 + code) .. tail end
  return char(0xf0 + math.floor(code / 64), 0x80 + code % 64) .. tail
end

json_text.utf8 = utf8_of

local ESCAPED = {
  ['"'] = '"', ["\\"] = "\\", ["/"] = "/", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t",
}

-- `at` is the start of a \u escape. -> its character, with the second half of a surrogate pair (RFC 8259, section 7),
-- and the position after it; nil for an unpaired surrogate
local function unicode_escape(body, at)
  local code = tonumber(sub(body, at + 2, at + 5), 16)
  if code < 0xd800 or code > 0xdfff then return utf8_of(code), at + 6 end
  local low = code < 0xdc00 and sub(body, at + 6, at + 7) == "\\u" and tonumber(sub(body, at + 8, at + 11), 16)
  if low and low >= 0xdc00 and low <= 0xdfff then
    return utf8_of(0x10000 + (code - 0xd800) * 0x400 + (low - 0xdc00)), at + 12
  end
  return nil, at + 6
end

-- json_text.decode(body, instead) -> the decoded content of a JSON string
--   body     the bytes between the quotes, scanned before
--   instead  replaces an unpaired surrogate, which is not text; without it, the result is nil if there is one
function json_text.decode(body, instead)
  local pieces, count, at = {}, 0, 1
  while true do
    local escape = find(body, "\\", at, true)
    if not escape then break end
    local letter, meaning = sub(body, escape + 1, escape + 1), nil
    pieces[count + 1] = sub(body, at, escape - 1)
    if letter == "u" then
      meaning, at = unicode_escape(body, escape)
      meaning = meaning or instead
      if not meaning then return nil end
    else
      meaning, at = ESCAPED[letter], escape + 2
    end
    pieces[count + 2] = meaning
    count = count + 2
  end
  pieces[count + 1] = sub(body, at)
  return table.concat(pieces)
end

local SHORT = {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t",
}

local function escape(character)
  return SHORT[character] or format("\\u%04x", byte(character))
end

-- Replaces each byte that is not UTF-8 with U+FFFD.
local function repaired(text)
  local bytes = ffi.cast("const uint8_t *", text)
  local pieces, at, kept = {}, 0, 0
  while at < #text do
    local after = bytes[at] < 0x80 and at + 1 or json_tape.multibyte(bytes, at)
    if not after then
      pieces[#pieces + 1] = sub(text, kept + 1, at)
      pieces[#pieces + 1] = REPLACEMENT
      after = at + 1
      kept = after
    end
    at = after
  end
  pieces[#pieces + 1] = sub(text, kept + 1)
  return table.concat(pieces)
end

-- json_text.quote(text) -> a JSON string, with the same escapes as JSON.stringify
function json_text.quote(text)
  if find(text, "[\128-\255]") then text = repaired(text) end
  return '"' .. text:gsub('[%z\1-\31"\\]', escape) .. '"'
end

-- The significant digits of a decimal and the power of ten of the last one, as one string; zero has neither.
local function normal_form(literal)
  local whole, fraction, exponent = literal:match("^-?(%d+)%.?(%d*)[eE]?([-+]?%d*)$")
  local digits = (whole .. fraction):gsub("^0+", "")
  local last = #digits
  while last > 0 and byte(digits, last) == 0x30 do last = last - 1 end
  if last == 0 then return "0" end
  local power = (tonumber(exponent) or 0) - #fraction + #digits - last
  return format("%se%.17g", sub(digits, 1, last), power)
end

-- A decimal of 16 or 17 digits, in the form 1.234e-5, changed by `steps` units of its last digit. In halves, because a
-- double cannot hold that many digits.
local function moved(text, steps)
  local first, rest, exponent = text:match("^(.)%.(.*)e(.*)$")
  local high, low = tonumber(first .. sub(rest, 1, -9)), tonumber(sub(rest, -8)) + steps
  if low < 0 then high, low = high - 1, low + 1e8 end
  if low >= 1e8 then high, low = high + 1, low - 1e8 end
  local digits = format("%d%08d", high, low)
  return format("%s.%se%d", sub(digits, 1, 1), sub(digits, 2), tonumber(exponent) + #digits - 1 - #rest)
end

-- The decimal with `places` digits after the point that is nearest to a number; of two equally near ones, the even one.
-- LuaJIT takes the greater of the two.
local function nearest(number, places)
  local text = format("%." .. places .. "e", number)
  local is_odd = find("13579", sub(text, places + 2, places + 2), 1, true)
  if places < 15 or not is_odd or not find(format("%.60e", number), "^50*e", places + 3) then return text end
  return moved(text, -1)
end

local LEAST_NORMAL = 2 ^ -1022

-- The decimal that JavaScript prints for a number: the nearest of those with the fewest digits that are parsed as the
-- number. At powers of two, the one with 16 digits may be farther from the number than one that is parsed as another
-- number.
local function shortest(number)
  number = math.abs(number)
  -- a normal double keeps 15 digits, so fewer are those with trailing zeros
  for places = number < LEAST_NORMAL and 0 or 14, 16 do
    local text = nearest(number, places)
    if tonumber(text) == number then return text end
    if places == 15 then
      for steps = -1, 1, 2 do
        local neighbour = moved(text, steps)
        if tonumber(neighbour) == number then return neighbour end
      end
    end
  end
  return nil
end

-- A normal double keeps this many digits (IEEE 754): no two such decimals are parsed as the same number.
local SURELY_EXACT = 15
-- No double is printed with more digits.
local MOST_DIGITS = 17
-- Every integer below it is exact in a double.
local LEAST_INEXACT = 2 ^ 53

-- Whether a number written as an integer equals the double exactly.
local function is_very_integer(literal, number)
  return find(literal, "[.eE]") ~= nil or math.abs(number) < LEAST_INEXACT or format("%.0f", number) == literal
end

-- json_text.number(literal) -> the number, or nil if parsers disagree about the literal, which is a JSON number
-- (src/json/exact-number.ts)
function json_text.number(literal)
  if #literal <= SURELY_EXACT and not find(literal, "[eE]") then return tonumber(literal) end
  local form = normal_form(literal)
  if form == "0" then return 0 end
  local digits = find(form, "e", 1, true) - 1
  if digits > MOST_DIGITS then return nil end
  -- nil if the exponent is too long for LuaJIT
  local number = tonumber(literal)
  if not number or number - number ~= 0 or number == 0 or not is_very_integer(literal, number) then return nil end
  if digits <= SURELY_EXACT and math.abs(number) >= LEAST_NORMAL then return number end
  return normal_form(shortest(number)) == form and number or nil
end

return json_text
