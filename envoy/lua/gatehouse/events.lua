-- Streams of JSON documents: lines of JSON (ndjson), and Server-Sent Events (WHATWG HTML, section 9.2). A document is
-- evaluated when it is complete; until then nothing of it is sent.
--
-- Both kinds of stream are made with
--   edit(document) -> the text to deliver instead, or nil to drop the document
--   options.limit   maximum bytes of a line or event (default: no limit); a longer one ends the stream
-- and have
--   stream:feed(chunk, last) -> output, or nil, "too_large": then and from then on nothing may be delivered
--   stream.dropped           number of dropped documents
--   stream:lose()            the last input could not be delivered: counts one more
-- The output does not depend on how the input is split into chunks; with `last`, chunk may be "".
local contract = require("gatehouse.contract")
local find, sub = string.find, string.sub
local TOO_LARGE = contract.UNREAD.too_large

local events = {}

local LF, CR = "\n", "\r"
local BYTE_ORDER_MARK = "\239\187\191"

-- JSON's white space, in which there is nothing to evaluate.
local function is_blank(text)
  return find(text, "^[ \t\r\n]*$") ~= nil
end

-- The pieces of an incomplete item, and their total bytes. Joined only once, so that a line that arrives byte by byte
-- costs no more than its length.
local Pending = {}
Pending.__index = Pending

local function new_pending()
  return setmetatable({ n = 0, bytes = 0 }, Pending)
end

function Pending:add(piece)
  if piece == "" then return end
  self.n = self.n + 1
  self[self.n] = piece
  self.bytes = self.bytes + #piece
end

function Pending:take()
  local text = table.concat(self, "", 1, self.n)
  for index = 1, self.n do self[index] = nil end
  self.n, self.bytes = 0, 0
  return text
end

local function limit_of(options)
  return options and options.limit or math.huge
end

local function too_large(stream)
  stream.refused = true
  return nil, TOO_LARGE
end

local function lose(stream)
  stream.dropped = stream.dropped + 1
end

local Lines = { lose = lose }
Lines.__index = Lines

-- `line` has no line feed. A carriage return at its end is white space in JSON.
function Lines:edited(line, ending)
  if is_blank(line) then return line .. ending end
  local text = self.edit(line)
  if text then return text .. ending end
  self:lose()
  return ""
end

function Lines:feed(chunk, last)
  if self.refused then return too_large(self) end
  local output, at = {}, 1
  while true do
    local stop = find(chunk, LF, at, true)
    self.pending:add(sub(chunk, at, stop and stop - 1))
    if self.pending.bytes > self.limit then return too_large(self) end
    if not stop then break end
    output[#output + 1] = self:edited(self.pending:take(), LF)
    at = stop + 1
  end
  if last then output[#output + 1] = self:edited(self.pending:take(), "") end
  return table.concat(output)
end

-- events.lines(edit, options) -> a stream of lines of JSON. Blank lines pass; a last line counts even without a line
-- feed.
function events.lines(edit, options)
  return setmetatable({ edit = edit, limit = limit_of(options), pending = new_pending(), dropped = 0 }, Lines)
end

local Sse = { lose = lose }
Sse.__index = Sse

-- Ids and names of events are made by programs, for programs: no spaces, no addresses, no text.
local LONGEST_LABEL = 64

local function is_label(value)
  return #value <= LONGEST_LABEL and find(value, "^[A-Za-z0-9._:/+=-]*$") ~= nil
end

local function is_delay(value)
  return #value <= 9 and find(value, "^[0-9]+$") ~= nil
end

-- Whether a value has the strict form of its field; `data` is evaluated instead. Clients disagree about other fields,
-- and about names in capitals.
local STRICT = { event = is_label, id = is_label, retry = is_delay }

-- -> name and value of a line that is neither blank nor a comment
local function field_of(line)
  local colon = find(line, ":", 1, true)
  if not colon then return line, "" end
  local start = colon + 1
  if sub(line, start, start) == " " then start = start + 1 end
  return sub(line, 1, colon - 1), sub(line, start)
end

-- An incomplete event: the lines of its data, its other fields, and whether all of them had the strict form so far.
local function new_event()
  return { data = {}, fields = {}, values = {}, is_strict = true, bytes = 0 }
end

local function add_field(event, line)
  local name, value = field_of(line)
  if name == "data" then
    event.data[#event.data + 1] = value
    return
  end
  local is_strict = STRICT[name]
  if event.values[name] or not is_strict or not is_strict(value) then
    event.is_strict = false
    return
  end
  event.values[name] = value
  event.fields[#event.fields + 1] = name .. ": " .. value .. LF
end

-- -> an event in its delivered form, whatever the lines looked like: fields, data, blank line
local function printed(event, text)
  local output = { table.concat(event.fields) }
  if text then output[2] = "data: " .. text:gsub(LF, "\ndata: ") .. LF end
  output[#output + 1] = LF
  return table.concat(output)
end

-- -> the complete event in its delivered form, or ""
function Sse:edited(event)
  local text = #event.data > 0 and table.concat(event.data, LF) or nil
  if event.is_strict and text and not is_blank(text) then
    text = self.edit(text)
    event.is_strict = text ~= nil
  end
  if event.is_strict then return printed(event, text) end
  self:lose()
  return ""
end

-- Processes a complete line. -> what may be sent now
function Sse:line(line)
  if not self.begun and sub(line, 1, #BYTE_ORDER_MARK) == BYTE_ORDER_MARK then line = sub(line, #BYTE_ORDER_MARK + 1) end
  self.begun = true
  local event = self.event
  if line == "" then
    self.event = nil
    -- blank lines between events keep a connection alive
    return event and self:edited(event) or LF
  end
  if sub(line, 1, 1) == ":" then
    -- and so do comments, of which nothing else is delivered
    if not event then return LF end
  else
    if not event then
      event = new_event()
      self.event = event
    end
    add_field(event, line)
  end
  event.bytes = event.bytes + #line + 1
  return ""
end

-- Anything that does not end with a blank line is not an event.
function Sse:finish()
  local rest = self.pending:take()
  if self.event or rest ~= "" and sub(rest, 1, 1) ~= ":" then self:lose() end
  self.event = nil
end

function Sse:feed(chunk, last)
  if self.refused then return too_large(self) end
  local output, at = {}, 1
  if self.after_return and chunk ~= "" then
    self.after_return = false
    -- it belongs to a carriage return that already ended the line
    if sub(chunk, 1, 1) == LF then at = 2 end
  end
  while true do
    local stop = find(chunk, "[\r\n]", at)
    self.pending:add(sub(chunk, at, stop and stop - 1))
    local held = self.event and self.event.bytes or 0
    if held + self.pending.bytes > self.limit then return too_large(self) end
    if not stop then break end
    output[#output + 1] = self:line(self.pending:take())
    at = stop + 1
    if sub(chunk, stop, stop) == CR then
      if sub(chunk, at, at) == LF then at = at + 1 end
      -- only the next chunk tells whether a line feed follows
      self.after_return = stop == #chunk
    end
  end
  if last then self:finish() end
  return table.concat(output)
end

-- events.sse(edit, options) -> a stream of Server-Sent Events. Events are written again: `event`, `id` and `retry` in a
-- strict form, and `data` as evaluated. An event with anything else is dropped; comments are only omitted.
function events.sse(edit, options)
  return setmetatable({ edit = edit, limit = limit_of(options), dropped = 0, pending = new_pending() }, Sse)
end

return events
