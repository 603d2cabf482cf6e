-- Whether a body matches its declared type, as far as its beginning shows: some clients parse without looking at the
-- type, and some servers let the caller choose it. Equivalent to `src/policy/mask/other-types.ts`.
local byte, char = string.byte, string.char

local other_types = {}

local function set(bytes)
  local found = {}
  for at = 1, #bytes do found[byte(bytes, at)] = true end
  return found
end

-- White space, byte order marks, and the zero bytes of wider encodings: skipped before the document's first character.
local LEADING = set(" \t\r\n\0\239\187\191\254\255")
local SPACE = set(" \t\r\n")
local BRACKET = set("{[")
local QUOTES = set("\"'")
-- Characters that may follow the opening bracket of a non-empty object or list.
local MEMBERS = set("\"{[")
local DIGIT = set("0123456789")
-- Characters of function names and of paths to them: `a.b["c"]`.
local NAME = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$.[]\"'\\")
for high = 128, 255 do NAME[high] = true end
local LESS_THAN, OPEN, CLOSE, SLASH, STAR = byte("<"), byte("("), byte(")"), byte("/"), byte("*")
local BRACE, QUOTE, BACKSLASH, AND, EQUALS, COMMA = byte("{"), byte('"'), byte("\\"), byte("&"), byte("="), byte(",")

local GUARDS = { ["for"] = true, ["while"] = true, ["typeof"] = true }
local DECLARATIONS = { ["var"] = true, ["let"] = true, ["const"] = true }
-- Longer than any keyword that matters.
local LONGEST = 7
-- Bytes checked after the bracket, so that a size field in an image header is not taken for one.
local TEXT = 2

local function markup(first)
  if LEADING[first] then return nil end
  return first == LESS_THAN
end

-- -> a detector that tells, byte by byte, whether data are JSON: alone, after a prefix that prevents script execution,
-- or inside a script. It knows `)]}'`, `//OK`, `&&`, `for(;;);`, `while(1);`, `throw 1;`, `typeof f`, an object in a
-- comment, an assignment, and a call with preceding simple arguments, with comments and blanks anywhere.
local function data()
  local state, resumed, previous, comment = "leading", nil, nil, nil
  local quote, escaped = nil, false
  -- in UTF-16, every second byte is zero
  local wide, count = false, 0
  local word, is_word_over, text = "", false, 0

  local function go(next_state)
    state = next_state
    return nil
  end

  local function enter_comment()
    resumed = state
    return go("slash")
  end

  local function enter_name(one)
    word, is_word_over = char(one), false
    return go("name")
  end

  local step = {}

  function step.leading(one, before)
    if LEADING[one] then return nil end
    if BRACKET[one] or one == CLOSE then return false end
    wide, count = before == 0, 1
    if one == SLASH then return enter_comment() end
    if one == AND then return go("mark") end
    if one == OPEN then return go("argument") end
    if NAME[one] then return enter_name(one) end
    return true
  end

  function step.mark(one)
    return one ~= AND
  end

  function step.slash(one)
    if one == SLASH and resumed == "leading" then return false end
    if one ~= STAR then return true end
    state, comment = resumed, "inside"
    is_word_over = state == "name"
    return nil
  end

  function step.name(one)
    if SPACE[one] then
      is_word_over = true
    elseif one == SLASH then
      return enter_comment()
    elseif one == OPEN then
      if GUARDS[word] then return false end
      return go("called")
    elseif one == EQUALS then
      return go("operand")
    elseif one == AND then
      return go("and")
    elseif not NAME[one] then
      return true
    elseif is_word_over then
      if DECLARATIONS[word] then return enter_name(one) end
      return not (word == "typeof" or word == "throw" and DIGIT[one])
    elseif #word < LONGEST then
      word = word .. char(one)
    end
    return nil
  end

  step["and"] = function(one)
    if one == AND then return go("operand") end
    return true
  end

  -- blanks and comments may separate tokens
  local function token(inner)
    return function(one)
      if SPACE[one] then return nil end
      if one == SLASH then return enter_comment() end
      return inner(one)
    end
  end

  step.operand = token(function(one)
    if BRACKET[one] then return go("members") end
    if one == OPEN then return go("argument") end
    if NAME[one] then return enter_name(one) end
    return true
  end)

  step.argument = token(function(one)
    if one == OPEN then return go("argument") end
    if BRACKET[one] then return go("members") end
    if QUOTES[one] then
      quote = one
      return go("quoted")
    end
    if NAME[one] then return go("word") end
    return true
  end)

  step.called = token(function(one)
    if BRACKET[one] then return go("json") end
    return step.argument(one)
  end)

  step.word = token(function(one)
    if one == COMMA then return go("argument") end
    if one == CLOSE then return go("closed") end
    if NAME[one] then return nil end
    return true
  end)

  function step.quoted(one)
    if one < 32 then return true end
    if escaped then
      escaped = false
    elseif one == BACKSLASH then
      escaped = true
    elseif one == quote then
      state = "word"
    end
    return nil
  end

  step.closed = token(function(one)
    if one == OPEN then return go("argument") end
    return true
  end)

  function step.json(one)
    if one < 32 and not SPACE[one] then return true end
    text = text + 1
    if text == TEXT then return false end
    return nil
  end

  step.members = token(function(one) return not MEMBERS[one] end)

  local function commented(one)
    if comment == "star" and one == SLASH then
      comment = nil
    elseif comment == "brace" and one == QUOTE then
      return false
    elseif one ~= 0 and not (comment == "brace" and SPACE[one]) then
      comment = one == STAR and "star" or one == BRACE and "brace" or "inside"
    end
    return nil
  end

  return function(one)
    local before = previous
    previous = one
    if comment then return commented(one) end
    if state == "leading" then return step.leading(one, before) end
    if one == 0 then
      wide = wide or count == 1
      if wide then return nil end
      return true
    end
    count = count + 1
    if wide and before ~= 0 then return true end
    return step[state](one)
  end
end

-- other_types.reader(kind) -> a function that takes a body of `media_type.other` slice by slice and returns whether it
-- may be of that type: markup begins with `<`; other data do not begin with JSON objects and lists, nor with scripts
-- that contain one. nil if that is not known yet; a body that ends then is accepted
function other_types.reader(kind)
  local next_byte = kind == "markup" and markup or data()
  return function(bytes)
    for at = 1, #bytes do
      local verdict = next_byte(byte(bytes, at))
      if verdict ~= nil then return verdict end
    end
    return nil
  end
end

return other_types
