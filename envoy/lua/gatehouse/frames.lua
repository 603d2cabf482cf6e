-- WebSocket frames (RFC 6455, section 5): parses the bytes of one direction into messages or pieces of messages, and
-- writes frames.
local bit = require("bit")
local ffi = require("ffi")
local buffer = require("string.buffer")

local band, bxor, rshift, char = bit.band, bit.bxor, bit.rshift, string.char

local frames = {}

local CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
local CONTROL_NAMES = { [CLOSE] = "close", [PING] = "ping", [PONG] = "pong" }

-- Section 5.5: maximum payload of a control frame.
local MOST_CONTROL_BYTES = 125

-- Maximum number of bytes to wait for before passing them on. A multiple of four, so that the mask key has the same
-- alignment in every piece of a frame (section 5.3).
local PIECE_BYTES = 65536

local bytes_of = ffi.typeof("const uint8_t *")
local words_of = ffi.typeof("int32_t *")
local one_word = ffi.typeof("union { uint8_t bytes[4]; int32_t word; }")

-- XORs n bytes with a key of four bytes, in place (section 5.3).
local function apply_mask(pointer, n, key)
  local whole = rshift(n, 2)
  local words, word = ffi.cast(words_of, pointer), key.word
  for i = 0, whole - 1 do words[i] = bxor(words[i], word) end
  for i = whole * 4, n - 1 do pointer[i] = bxor(pointer[i], key.bytes[band(i, 3)]) end
end

local function key_of(text)
  local key = one_word()
  ffi.copy(key.bytes, text, 4)
  return key
end

-- frames.is_utf8(text): as in RFC 3629, so no overlong forms, no surrogates and nothing above U+10FFFF. Lua ends
-- strings with a NUL, which never continues a character, so looking one byte ahead stays inside the string.
function frames.is_utf8(text)
  local p, n, i = ffi.cast(bytes_of, text), #text, 0
  while i < n do
    local lead = p[i]
    if lead < 0x80 then
      i = i + 1
    else
      local low, high, more = 0x80, 0xBF, 1
      if lead < 0xC2 or lead > 0xF4 then return false end
      if lead >= 0xF0 then
        more = 3
        if lead == 0xF0 then low = 0x90 elseif lead == 0xF4 then high = 0x8F end
      elseif lead >= 0xE0 then
        more = 2
        if lead == 0xE0 then low = 0xA0 elseif lead == 0xED then high = 0x9F end
      end
      if p[i + 1] < low or p[i + 1] > high then return false end
      for k = i + 2, i + more do
        if p[k] < 0x80 or p[k] > 0xBF then return false end
      end
      i = i + more + 1
    end
  end
  return true
end

-- frames.is_close_code(code): whether it is allowed in a CLOSE frame (section 7.4, and IANA's registry for 1012 to
-- 1014)
function frames.is_close_code(code)
  if type(code) ~= "number" or code % 1 ~= 0 then return false end
  return code >= 1000 and code <= 1003 or code >= 1007 and code <= 1014 or code >= 3000 and code <= 4999
end

-- The header of a frame. `key` is nil, or the four bytes with which the payload is masked.
local function head(fin, opcode, length, key)
  local first = (fin and 0x80 or 0) + opcode
  local mask = key and 0x80 or 0
  if length < 126 then return char(first, mask + length) .. (key or "") end
  if length < 65536 then
    return char(first, mask + 126, rshift(length, 8), band(length, 0xFF)) .. (key or "")
  end
  local size = {}
  for i = 8, 1, -1 do
    size[i] = char(length % 256)
    length = math.floor(length / 256)
  end
  return char(first, mask + 127) .. table.concat(size) .. (key or "")
end

local function frame(opcode, payload, key)
  if not key then return head(true, opcode, #payload) .. payload end
  local out = buffer.new()
  out:put(head(true, opcode, #payload, key), payload)
  local pointer, size = out:ref()
  apply_mask(pointer + size - #payload, #payload, key_of(key))
  return out:tostring()
end

-- The writers return the bytes of one frame. `key`: four random bytes for frames to the server, which must be masked;
-- nil for frames to the client, which must not be (section 5.1).
function frames.text(payload, key) return frame(TEXT, payload, key) end
function frames.binary(payload, key) return frame(BINARY, payload, key) end
-- Control frames have at most 125 bytes.
function frames.ping(payload, key) return frame(PING, payload, key) end
function frames.pong(payload, key) return frame(PONG, payload, key) end

-- The longest prefix of a text that fits and does not split a character.
local function cut(text, most)
  if #text <= most then return text end
  while most > 0 and band(text:byte(most + 1), 0xC0) == 0x80 do most = most - 1 end
  return text:sub(1, most)
end

-- frames.close(code, reason, key): without a `code`, a CLOSE without a status. A reason that is too long is truncated,
-- and one that is not UTF-8 is omitted.
function frames.close(code, reason, key)
  if not code then return frame(CLOSE, "", key) end
  if not reason or not frames.is_utf8(reason) then reason = "" end
  return frame(CLOSE, char(rshift(code, 8), band(code, 0xFF)) .. cut(reason, MOST_CONTROL_BYTES - 2), key)
end

local Reader = {}
Reader.__index = Reader

-- A parser of one direction.
--   options { masked, limit, collect }: whether frames must be masked or must not be; the maximum bytes of a message;
--   whether messages are collected or passed on in pieces
function frames.reader(options)
  local reader = setmetatable({
    masked = options.masked,
    input = buffer.new(),
    -- the frame whose payload follows: { opcode, fin, key, left = missing bytes }
    frame = nil,
    -- the incomplete message: { binary, passed, size, parts = buffer or nil }
    message = nil,
    done = false,
  }, Reader)
  reader:set(options.limit, options.collect)
  return reader
end

-- Changes limit and collect from the next frame on. -> false if a part of a message that would now be collected has
-- already been passed on
function Reader:set(limit, collect)
  -- without a limit, only empty messages
  self.limit = type(limit) == "number" and limit >= 0 and limit or 0
  self.collect = collect
  return not (collect and self.message and self.message.passed)
end

-- Section 5.2: the length, and the number of bytes that encode it; nil if it is not in the shortest form, or over 2^63.
local function read_length(p, short)
  if short < 126 then return short, 0 end
  if short == 126 then
    local length = p[2] * 256 + p[3]
    if length < 126 then return nil end
    return length, 2
  end
  local length = 0
  for i = 2, 9 do length = length * 256 + p[i] end
  if length < 65536 or p[2] >= 0x80 then return nil end
  return length, 8
end

-- The problem with the first two bytes of a frame (sections 5.1 to 5.5), or nil.
function Reader:fault(first, second)
  local fin, opcode = first >= 0x80, band(first, 0x0F)
  if band(first, 0x70) ~= 0 then return "reserved bits are set" end
  if (second >= 0x80) ~= self.masked then
    return self.masked and "a frame is not masked" or "a frame is masked"
  end
  if CONTROL_NAMES[opcode] then
    if not fin then return "a control frame is fragmented" end
    if band(second, 0x7F) > MOST_CONTROL_BYTES then return "a control frame is too long" end
    if opcode == CLOSE and band(second, 0x7F) == 1 then return "half a close code" end
  elseif opcode > BINARY then
    return "the opcode is reserved"
  elseif opcode == CONTINUATION and not self.message then
    return "a continuation without a start"
  elseif opcode ~= CONTINUATION and self.message then
    return "a message starts within another"
  end
  return nil
end

-- Each step consumes input and returns true; false if bytes are missing; or nil, code, reason.
function Reader:take_head()
  local p, size = self.input:ref()
  if size < 2 then return false end
  local fault = self:fault(p[0], p[1])
  if fault then return nil, 1002, fault end
  local short = band(p[1], 0x7F)
  local needed = 2 + (short == 126 and 2 or short == 127 and 8 or 0)
  if size < needed then return false end
  local length, extra = read_length(p, short)
  if not length then return nil, 1002, "a length is not in its shortest form" end
  local opcode = band(p[0], 0x0F)
  local before = self.message and self.message.size or 0
  if opcode <= BINARY and before + length > self.limit then return nil, 1009, "the message is too big" end
  needed = 2 + extra + (self.masked and 4 or 0)
  if size < needed then return false end
  local key = self.masked and ffi.string(p + 2 + extra, 4) or nil
  self.frame = { opcode = opcode, fin = p[0] >= 0x80, key = key, left = length, fresh = true }
  self.input:skip(needed)
  if opcode <= BINARY then
    self.message = self.message or { binary = opcode == BINARY, passed = not self.collect, size = 0 }
    self.message.size = self.message.size + length
  end
  return true
end

-- n bytes of the payload, unmasked.
function Reader:take_bytes(n)
  if n == 0 then return "" end
  if self.frame.key then
    local p = self.input:ref()
    apply_mask(p, n, key_of(self.frame.key))
  end
  return self.input:get(n)
end

-- Section 5.5.1: -> the event, or nil, code, reason
local function close_event(payload)
  if payload == "" then return { kind = "close", reason = "" } end
  local high, low = payload:byte(1, 2)
  local code, reason = high * 256 + low, payload:sub(3)
  if not frames.is_close_code(code) then return nil, 1002, "the close code is not allowed" end
  if not frames.is_utf8(reason) then return nil, 1007, "the close reason is not UTF-8" end
  return { kind = "close", code = code, reason = reason }
end

function Reader:take_control(events)
  local opcode, payload = self.frame.opcode, self:take_bytes(self.frame.left)
  self.frame = nil
  local event, code, reason = { kind = CONTROL_NAMES[opcode], payload = payload }, nil, nil
  if opcode == CLOSE then
    event, code, reason = close_event(payload)
    if not event then return nil, code, reason end
    self.done = true
  end
  events[#events + 1] = event
  return true
end

-- A piece of a message that is not evaluated: unchanged, but large frames become fragments of 64 KB, so that the
-- message can be aborted at any time.
function Reader:pass_piece(events, n)
  local current = self.frame
  local last = current.fin and current.left == n
  local opcode = current.fresh and current.opcode or CONTINUATION
  local payload = self.input:get(n)
  events[#events + 1] = { kind = "piece", bytes = head(last, opcode, n, current.key) .. payload, last = last }
  if last then self.message = nil end
end

-- -> nil, code, reason if a complete text is not UTF-8
function Reader:collect_piece(events, n)
  local current, message = self.frame, self.message
  local payload = self:take_bytes(n)
  local last = current.fin and current.left == n
  if message.parts or not last then
    message.parts = message.parts or buffer.new()
    message.parts:put(payload)
  end
  if not last then return true end
  if message.parts then payload = message.parts:tostring() end
  self.message = nil
  if not message.binary and not frames.is_utf8(payload) then return nil, 1007, "a text is not UTF-8" end
  events[#events + 1] = { kind = "message", binary = message.binary, payload = payload }
  return true
end

function Reader:take_payload(events)
  local current = self.frame
  local n = math.min(current.left, PIECE_BYTES)
  if #self.input < n then return false end
  if current.opcode > BINARY then return self:take_control(events) end
  if self.message.passed then
    self:pass_piece(events, n)
  else
    local ok, code, reason = self:collect_piece(events, n)
    if not ok then return nil, code, reason end
  end
  current.left, current.fresh = current.left - n, false
  if current.left == 0 then self.frame = nil end
  return true
end

-- reader:feed(bytes) -> events, in order; and if the peer violated the protocol, after the events before that: a close
-- code and a reason
--   { kind = "message", binary, payload }      a whole message, if messages are collected
--   { kind = "piece", bytes, last }            a frame to pass on unchanged, if they are not; `last` ends a message
--   { kind = "ping" or "pong", payload }
--   { kind = "close", code or nil, reason }
-- After a close frame, or a violation of the protocol, nothing is read any more. It makes no difference how the bytes
-- are split.
function Reader:feed(bytes)
  local events = {}
  if self.done then return events end
  self.input:put(bytes)
  local moved = true
  while moved and not self.done do
    local code, reason
    if self.frame then moved, code, reason = self:take_payload(events) else moved, code, reason = self:take_head() end
    if code then
      self.done = true
      self.input:free()
      self.message = nil
      return events, code, reason
    end
  end
  -- an idle connection keeps no memory for earlier messages
  if self.done or #self.input == 0 then self.input:free() end
  return events
end

return frames
