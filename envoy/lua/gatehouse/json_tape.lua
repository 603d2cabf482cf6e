-- Reads a JSON text strictly (RFC 8259) into a tape: one node per token, in source order. Nothing is decoded.
--
-- A node has
--   start, stop  bytes of the text, from 0, `stop` excluded; strings with their quotes
--   kind         one of json_tape.KIND
--   next         index of the node after the whole value (not of keys)
--   parent       index of the object or array around it, -1 for the root
-- A member is its key and then its value, so a value belongs to a key exactly if the node before it is a key.
local ffi = require("ffi")

local json_tape = {}

local node_type = ffi.typeof("struct { int32_t start, stop, next, parent, kind; }")
local new_nodes = ffi.typeof("$[?]", node_type)
local bytes_type = ffi.typeof("const uint8_t *")
local NODE_SIZE = ffi.sizeof(node_type)

-- The kinds marked ESCAPED contain a backslash.
local KIND = {
  OBJECT = 1, ARRAY = 2, STRING = 3, STRING_ESCAPED = 4, KEY = 5, KEY_ESCAPED = 6, NUMBER = 7, TRUE = 8, FALSE = 9,
  NULL = 10,
}
json_tape.KIND = KIND
local OBJECT, ARRAY, STRING, KEY, NUMBER = KIND.OBJECT, KIND.ARRAY, KIND.STRING, KIND.KEY, KIND.NUMBER
local TRUE, FALSE, NULL = KIND.TRUE, KIND.FALSE, KIND.NULL

local DEPTH = 256
-- Positions are int32.
local MOST_BYTES = 2 ^ 31 - 2

local QUOTE, COMMA, COLON, MINUS, ZERO, POINT = 0x22, 0x2c, 0x3a, 0x2d, 0x30, 0x2e
local OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET = 0x7b, 0x7d, 0x5b, 0x5d
local SPACE, TAB, LINE_FEED, RETURN = 0x20, 0x09, 0x0a, 0x0d
local A, E, F, L, N, R, S, T, U = 0x61, 0x65, 0x66, 0x6c, 0x6e, 0x72, 0x73, 0x74, 0x75
local CAPITAL_E, PLUS = 0x45, 0x2b

-- How a string continues at a byte.
local PLAIN, ENDS, ESCAPE, MULTIBYTE, CONTROL = 0, 1, 2, 3, 4
local in_string = ffi.new("uint8_t[256]")
for byte = 0, 0x1f do in_string[byte] = CONTROL end
for byte = 0x80, 0xff do in_string[byte] = MULTIBYTE end
in_string[QUOTE], in_string[0x5c] = ENDS, ESCAPE

-- The bytes that may follow a backslash (section 7).
local escapable = ffi.new("uint8_t[256]")
for byte in ('"\\/bfnrtu'):gmatch(".") do escapable[byte:byte()] = 1 end

local is_hex = ffi.new("uint8_t[256]")
for byte in ("0123456789abcdefABCDEF"):gmatch(".") do is_hex[byte:byte()] = 1 end

-- UTF-8 (RFC 3629, section 4): the number of bytes that follow a first byte (0: the byte is invalid), and the range of
-- the second byte, which excludes overlong forms, surrogates, and everything above U+10FFFF.
local following = ffi.new("uint8_t[256]")
local second_least, second_most = ffi.new("uint8_t[256]"), ffi.new("uint8_t[256]")
for byte = 0xc2, 0xf4 do
  following[byte] = byte < 0xe0 and 1 or byte < 0xf0 and 2 or 3
  second_least[byte] = byte == 0xe0 and 0xa0 or byte == 0xf0 and 0x90 or 0x80
  second_most[byte] = byte == 0xed and 0x9f or byte == 0xf4 and 0x8f or 0xbf
end

local function goes_on(byte)
  return byte >= 0x80 and byte <= 0xbf
end

-- In all of these, `bytes` end with the zero byte that stands behind every Lua string. It is part of no token, so it
-- stops each loop, and positions need no comparing with the length.
--
-- There are as few loops in them as may be: LuaJIT compiles a loop when it turns often enough, but gives it up for good
-- if it is left again and again after few turns, as loops over four digits are. See also the end of this file.

-- json_tape.multibyte(bytes, at) -> the position after the multibyte character at `at`, or nil if it is not UTF-8
local function multibyte(bytes, at)
  local first, second = bytes[at], bytes[at + 1]
  local more = following[first]
  if more == 0 or second < second_least[first] or second > second_most[first] then return nil end
  if more >= 2 and not goes_on(bytes[at + 2]) or more == 3 and not goes_on(bytes[at + 3]) then return nil end
  return at + more + 1
end
json_tape.multibyte = multibyte

local function is_space(byte)
  return byte == SPACE or byte == LINE_FEED or byte == RETURN or byte == TAB
end

local function after_space(bytes, at)
  -- usually there is none, or one
  local byte = bytes[at]
  if byte > SPACE or not is_space(byte) then return at end
  byte = bytes[at + 1]
  if byte > SPACE or not is_space(byte) then return at + 1 end
  at = at + 2
  while is_space(bytes[at]) do at = at + 1 end
  return at
end

-- -> the position after the escape at `at`, or nil
local function after_escape(bytes, at)
  local byte = bytes[at + 1]
  if escapable[byte] == 0 then return nil end
  if byte ~= U then return at + 2 end
  if is_hex[bytes[at + 2]] == 0 or is_hex[bytes[at + 3]] == 0 or is_hex[bytes[at + 4]] == 0
    or is_hex[bytes[at + 5]] == 0 then return nil end
  return at + 6
end

-- -> the position after the string that starts at `at`, and 1 if it has escapes, otherwise 0; or nil, reason, position
local function after_string(bytes, at)
  local escaped = 0
  at = at + 1
  while true do
    local class = in_string[bytes[at]]
    if class == PLAIN then
      at = at + 1
    elseif class == ENDS then
      return at + 1, escaped
    elseif class == ESCAPE then
      escaped = 1
      local after = after_escape(bytes, at)
      if not after then return nil, "syntax", at end
      at = after
    elseif class == MULTIBYTE then
      local after = multibyte(bytes, at)
      if not after then return nil, "utf8", at end
      at = after
    else
      return nil, "syntax", at
    end
  end
end

local function is_digit(byte)
  return byte >= 0x30 and byte <= 0x39
end

-- The position after the digits at `at`, if there are any.
local function after_digits(bytes, at)
  if not is_digit(bytes[at]) then return at end
  if not is_digit(bytes[at + 1]) then return at + 1 end
  if not is_digit(bytes[at + 2]) then return at + 2 end
  at = at + 3
  while is_digit(bytes[at]) do at = at + 1 end
  return at
end

-- json_tape.after_number(bytes, at) -> the position after the number at `at` (section 6), or nil, position
local function after_number(bytes, at)
  if bytes[at] == MINUS then at = at + 1 end
  local after = bytes[at] == ZERO and at + 1 or after_digits(bytes, at)
  if after == at then return nil, at end
  at = after
  if bytes[at] == POINT then
    after = after_digits(bytes, at + 1)
    if after == at + 1 then return nil, after end
    at = after
  end
  local byte = bytes[at]
  if byte == E or byte == CAPITAL_E then
    byte = bytes[at + 1]
    local digits = (byte == PLUS or byte == MINUS) and at + 2 or at + 1
    after = after_digits(bytes, digits)
    if after == digits then return nil, after end
    at = after
  end
  return at
end
json_tape.after_number = after_number

-- -> the position after the literal at `at`, and its kind; or nil, reason, position
local function after_literal(bytes, at)
  local first = bytes[at]
  if first == T and bytes[at + 1] == R and bytes[at + 2] == U and bytes[at + 3] == E then return at + 4, TRUE end
  if first == F and bytes[at + 1] == A and bytes[at + 2] == L and bytes[at + 3] == S and bytes[at + 4] == E then
    return at + 5, FALSE
  end
  if first == N and bytes[at + 1] == U and bytes[at + 2] == L and bytes[at + 3] == L then return at + 4, NULL end
  return nil, "syntax", at
end

-- -> the position after a string, number or literal, and its kind; or nil, reason, position
local function after_scalar(bytes, at)
  local byte = bytes[at]
  if byte == QUOTE then
    local after, escaped, where = after_string(bytes, at)
    if not after then return nil, escaped, where end
    return after, STRING + escaped
  end
  if byte == MINUS or is_digit(byte) then
    local after, where = after_number(bytes, at)
    if not after then return nil, "syntax", where end
    return after, NUMBER
  end
  return after_literal(bytes, at)
end

local function new_room(capacity)
  return { nodes = new_nodes(capacity), capacity = capacity }
end

local function enlarge(room)
  local larger = new_nodes(room.capacity * 2)
  ffi.copy(larger, room.nodes, room.capacity * NODE_SIZE)
  room.nodes, room.capacity = larger, room.capacity * 2
end

-- Room for nodes that no document uses at the moment, or nil. Clearing new room takes as long as filling it.
local spare
local MOST_SPARE_BYTES = 8 * 1024 * 1024

-- json_tape.release(doc): the document is no longer used; the next one that is scanned with `options.reuse` takes over
-- the room of its nodes
function json_tape.release(doc)
  if doc.room.capacity * NODE_SIZE <= MOST_SPARE_BYTES then spare = doc.room end
  doc.room, doc.nodes = nil, nil
end

local function room_for(text, reuse)
  local room = reuse and spare
  -- typical documents have one token per 8 bytes; for others it grows
  if not room then return new_room(math.floor(#text / 8) + 16) end
  spare = nil
  return room
end

-- json_tape.scan(text, options) -> { text, bytes, nodes, count, room }, or nil, reason, position
--   options.depth   maximum nesting depth of objects and arrays (default 256)
--   options.values  maximum number of values (default: the number of bytes)
--   options.reuse   see json_tape.release
-- Reasons: `syntax`, `utf8`, `depth`, `values`, `too_large` (positions would not fit).
function json_tape.scan(text, options)
  if type(text) ~= "string" then return nil, "syntax", 0 end
  if #text > MOST_BYTES then return nil, "too_large", 0 end
  local bytes = ffi.cast(bytes_type, text)
  local most_depth = options and options.depth or DEPTH
  local values_left = options and options.values or MOST_BYTES
  local room = room_for(text, options and options.reuse)
  local nodes, capacity = room.nodes, room.capacity
  local count, depth = 0, 0
  -- the innermost open object or array, and its kind
  local container, container_kind = -1, 0
  local at = after_space(bytes, 0)

  while true do
    -- a key and its value, or a value, starts here
    if count + 2 > capacity then
      enlarge(room)
      nodes, capacity = room.nodes, room.capacity
    end
    if container_kind == OBJECT then
      if bytes[at] ~= QUOTE then return nil, "syntax", at end
      local after, escaped, where = after_string(bytes, at)
      if not after then return nil, escaped, where end
      local key = nodes[count]
      key.start, key.stop, key.parent, key.kind = at, after, container, KEY + escaped
      count = count + 1
      at = after_space(bytes, after)
      if bytes[at] ~= COLON then return nil, "syntax", at end
      at = after_space(bytes, at + 1)
    end

    if values_left == 0 then return nil, "values", at end
    values_left = values_left - 1
    local byte = bytes[at]
    local is_open = false
    if byte == OPEN_BRACE or byte == OPEN_BRACKET then
      if depth == most_depth then return nil, "depth", at end
      depth = depth + 1
      local node = nodes[count]
      container_kind = byte == OPEN_BRACE and OBJECT or ARRAY
      node.start, node.parent, node.kind = at, container, container_kind
      container = count
      count = count + 1
      at = after_space(bytes, at + 1)
      byte = bytes[at]
      is_open = byte ~= CLOSE_BRACE and byte ~= CLOSE_BRACKET
    else
      local after, kind, where = after_scalar(bytes, at)
      if not after then return nil, kind, where end
      local node = nodes[count]
      count = count + 1
      node.start, node.stop, node.next, node.parent, node.kind = at, after, count, container, kind
      at = after_space(bytes, after)
    end

    -- a value has ended, unless a non-empty object or array was opened
    while not is_open do
      if container < 0 then
        if at ~= #text then return nil, "syntax", at end
        return { text = text, bytes = bytes, nodes = nodes, count = count, room = room }
      end
      byte = bytes[at]
      if byte == COMMA then
        at = after_space(bytes, at + 1)
        break
      end
      if byte ~= (container_kind == OBJECT and CLOSE_BRACE or CLOSE_BRACKET) then return nil, "syntax", at end
      local node = nodes[container]
      node.stop, node.next = at + 1, count
      depth = depth - 1
      container = node.parent
      container_kind = container < 0 and 0 or nodes[container].kind
      at = after_space(bytes, at + 1)
    end
  end
end

-- Each loop is compiled here, at the start, over long runs: later, it might be compiled by chance where it runs only a
-- few times.
for _, text in ipairs({ '"' .. ("x"):rep(1000) .. '"', ("1"):rep(1000), (" "):rep(1000) .. "1" }) do
  json_tape.scan(text)
end

return json_tape
