-- Edits of a text at spans. Every other byte is unchanged.
local ffi = require("ffi")
local out_type = ffi.typeof("uint8_t[?]")

local mask_edits = {}

local Edits = {}
Edits.__index = Edits

-- mask_edits.new(doc) -> edits of the text of a document from json.scan
function mask_edits.new(doc)
  return setmetatable({ doc = doc, n = 0, starts = {}, stops = {}, texts = {}, grown = 0 }, Edits)
end

-- Replaces the bytes from `start` (from 0) to `stop` (exclusive) with `text`. Spans are added in order, and do not
-- overlap.
function Edits:add(start, stop, text)
  local n = self.n + 1
  self.n = n
  self.starts[n], self.stops[n], self.texts[n] = start, stop, text
  self.grown = self.grown + #text - (stop - start)
end

-- -> the changed text
function Edits:text()
  local text, bytes = self.doc.text, self.doc.bytes
  if self.n == 0 then return text end
  local starts, stops, texts = self.starts, self.stops, self.texts
  local size = #text + self.grown
  local out, to, from = out_type(size), 0, 0
  for index = 1, self.n do
    local start, put = starts[index], texts[index]
    ffi.copy(out + to, bytes + from, start - from)
    to = to + (start - from)
    ffi.copy(out + to, put, #put)
    to, from = to + #put, stops[index]
  end
  ffi.copy(out + to, bytes + from, #text - from)
  return ffi.string(out, size)
end

return mask_edits
