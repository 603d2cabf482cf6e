-- Whether an answer is what its type says, as far as the way it begins tells: clients do not look at types before they
-- parse, and some servers let the caller choose the label. The same as `src/policy/mask/other-types.ts`.
local byte, char = string.byte, string.char

local other_types = {}

local function set(bytes)
  local found = {}
  for at = 1, #bytes do found[byte(bytes, at)] = true end
  return found
end

-- White space, byte order marks, and the zeros of wider encodings: no document begins with these.
local LEADING = set(" \t\r\n\0\239\187\191\254\255")
local SPACE = set(" \t\r\n")
local BRACKET = set("{[")
local DIGIT = set("0123456789")
-- What names of functions are made of, and paths to them: `a.b["c"]`.
local NAME = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$.[]\"'\\")
for high = 128, 255 do NAME[high] = true end
local LESS_THAN, OPEN, CLOSE, SLASH, STAR = byte("<"), byte("("), byte(")"), byte("/"), byte("*")

local GUARDS = { ["for"] = true, ["while"] = true, ["typeof"] = true }
-- Longer than any word that matters.
local LONGEST = 7
-- Behind the bracket, so that no size in the head of a picture is taken for one.
local TEXT = 2

local function markup(first)
  if LEADING[first] then return nil end
  return first == LESS_THAN
end

-- -> what says, byte by byte, whether data are JSON, alone or behind what keeps it from being run as a script or runs it as
-- one: `)]}'`, `//OK`, `for(;;);`, `while(1);`, `throw 1;`, `typeof f`, and `f({` with comments around `f`
local function data()
  local state, resumed, previous, comment = "leading", nil, nil, nil
  -- of UTF-16, every second byte is a zero
  local wide, count = false, 0
  local word, is_word_over, text = "", false, 0

  local function enter_comment()
    state, resumed = "slash", state
    return nil
  end

  local step = {}

  function step.leading(one, before)
    if LEADING[one] then return nil end
    if BRACKET[one] or one == CLOSE then return false end
    wide, count = before == 0, 1
    if one == SLASH then return enter_comment() end
    if not NAME[one] then return true end
    state, word = "name", char(one)
    return nil
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
      state = "called"
    elseif not NAME[one] then
      return true
    elseif is_word_over then
      return not (word == "typeof" or word == "throw" and DIGIT[one])
    elseif #word < LONGEST then
      word = word .. char(one)
    end
    return nil
  end

  function step.called(one)
    if SPACE[one] then return nil end
    if one == SLASH then return enter_comment() end
    if not BRACKET[one] then return true end
    state = "json"
    return nil
  end

  function step.json(one)
    if one < 32 and not SPACE[one] then return true end
    text = text + 1
    if text == TEXT then return false end
    return nil
  end

  local function commented(one)
    if comment == "star" and one == SLASH then
      comment = nil
    elseif one ~= 0 then
      comment = one == STAR and "star" or "inside"
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

-- other_types.reader(kind) -> a function that takes a body of `media_type.other` slice by slice, and returns whether it may
-- be one: markup begins with `<`, and other data not with JSON objects and lists, nor as scripts with one. nil where that is
-- still to come; a body that ends so is one
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
