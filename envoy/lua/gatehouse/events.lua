-- Streams of JSON documents: lines of JSON (ndjson), and Server-Sent Events (WHATWG HTML, section 9.2). A document is
-- judged when all of it is there; until then nothing of it leaves.
--
-- Both kinds of stream are made with
--   judge(document) -> the text to deliver instead, or nil to drop the document
--   options.limit   most bytes of a line or event (default: any); a longer one ends the stream
-- and have
--   stream:feed(chunk, last) -> output, or nil, "too_large": then and from then on nothing may be delivered
--   stream.dropped           how many documents were dropped
-- What comes out does not depend on how the input is cut into chunks.
local find, sub = string.find, string.sub

local events = {}

local LF, CR = "\n", "\r"
local BYTE_ORDER_MARK = "\239\187\191"

-- JSON's white space: there is nothing to judge in it.
local function is_blank(text)
  return find(text, "^[ \t\r\n]*$") ~= nil
end

-- Pieces of something that is not complete, and how many bytes they are. Joined only once, so that a line that comes
-- byte by byte costs no more than its length.
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
  return nil, "too_large"
end

local Lines = {}
Lines.__index = Lines

-- `line` is without its line feed. A carriage return before that is white space of JSON.
function Lines:judged(line, ending)
  if is_blank(line) then return line .. ending end
  local text = self.judge(line)
  if text then return text .. ending end
  self.dropped = self.dropped + 1
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
    output[#output + 1] = self:judged(self.pending:take(), LF)
    at = stop + 1
  end
  if last then output[#output + 1] = self:judged(self.pending:take(), "") end
  return table.concat(output)
end

-- events.lines(judge, options) -> a stream of lines of JSON. Blank lines pass; a last line without a line feed counts.
function events.lines(judge, options)
  return setmetatable({ judge = judge, limit = limit_of(options), pending = new_pending(), dropped = 0 }, Lines)
end

local Sse = {}
Sse.__index = Sse

-- -> what a `data` line adds to the event, or nil for another line
local function data_of(line)
  if line == "data" then return "" end
  if sub(line, 1, 5) ~= "data:" then return nil end
  return sub(line, 6, 6) == " " and sub(line, 7) or sub(line, 6)
end

-- The lines of an event with other data: line for line, without those that are too many.
local function rewritten(lines, text)
  local output, at = {}, 1
  for _, line in ipairs(lines) do
    if not line.data then
      output[#output + 1] = line.text .. line.ending
    elseif at then
      local stop = find(text, LF, at, true)
      output[#output + 1] = line.mark .. "data: " .. sub(text, at, stop and stop - 1) .. line.ending
      at = stop and stop + 1
    end
  end
  return table.concat(output)
end

-- -> the event as it may be delivered; its last line is the blank one that ends it
function Sse:judged(lines)
  local data, unchanged = {}, {}
  for index, line in ipairs(lines) do
    data[#data + 1] = line.data
    unchanged[index] = line.text .. line.ending
  end
  local document = table.concat(data, LF)
  if is_blank(document) then return table.concat(unchanged) end
  local text = self.judge(document)
  if text == document then return table.concat(unchanged) end
  if text then return rewritten(lines, text) end
  self.dropped = self.dropped + 1
  return nil
end

-- In place of an event that would have been the first: clients leave out a byte order mark where a stream begins, and
-- that in front of a later line must not come to stand there, or what was no data would become some.
local EMPTY_COMMENT = ":\n"

-- Takes a line that is complete. -> what may leave now
function Sse:line(text, ending)
  local mark = ""
  if not self.begun and sub(text, 1, #BYTE_ORDER_MARK) == BYTE_ORDER_MARK then mark = BYTE_ORDER_MARK end
  self.begun = true
  local content = sub(text, #mark + 1)
  local lines = self.lines
  -- between events, comments keep a connection alive: they wait for nothing
  local is_comment = sub(content, 1, 1) == ":"
  if #lines == 0 and (is_comment or content == "") then return text .. ending end
  lines[#lines + 1] = { text = text, ending = ending, mark = mark, data = data_of(content) }
  self.bytes = self.bytes + #text + #ending
  if content ~= "" then return "" end
  self.lines, self.bytes = {}, 0
  return self:judged(lines)
end

-- A line feed behind a carriage return that ended a line already. It goes where that went.
function Sse:late_line_feed()
  local last = self.lines[#self.lines]
  if last then
    last.ending = CR .. LF
    self.bytes = self.bytes + 1
    return ""
  end
  return self.last_passed and LF or ""
end

function Sse:feed(chunk, last)
  if self.refused then return too_large(self) end
  local output, at = {}, 1
  if self.after_return and chunk ~= "" then
    self.after_return = false
    if sub(chunk, 1, 1) == LF then
      output[1] = self:late_line_feed()
      at = 2
    end
  end
  while true do
    local stop = find(chunk, "[\r\n]", at)
    self.pending:add(sub(chunk, at, stop and stop - 1))
    if self.bytes + self.pending.bytes > self.limit then return too_large(self) end
    if not stop then break end
    local ending = sub(chunk, stop, stop)
    if ending == CR then
      if sub(chunk, stop + 1, stop + 1) == LF then ending = CR .. LF end
      -- whether a line feed follows is known only from the next chunk
      self.after_return = stop == #chunk
    end
    local passed = self:line(self.pending:take(), ending)
    self.last_passed = passed ~= nil
    if not passed and not self.has_passed then passed = EMPTY_COMMENT end
    if passed and passed ~= "" then self.has_passed = true end
    output[#output + 1] = passed
    at = stop + #ending
  end
  -- an event that is not ended by a blank line is none
  if last then
    self.pending:take()
    self.lines, self.bytes = {}, 0
  end
  return table.concat(output)
end

-- events.sse(judge, options) -> a stream of Server-Sent Events. Events without data pass; of one whose data is changed,
-- the other lines stay as they are.
function events.sse(judge, options)
  return setmetatable({
    judge = judge, limit = limit_of(options), dropped = 0, pending = new_pending(),
    -- of the event that is not complete: its lines, and how many bytes they are
    lines = {}, bytes = 0,
  }, Sse)
end

return events
