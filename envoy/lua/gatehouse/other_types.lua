-- Whether an answer is what its type says, as far as the way it begins tells: clients do not look at types before they
-- parse, and some servers let the caller choose the label.
local other_types = {}

-- White space, byte order marks, and the zeros of wider encodings: no document begins with these.
local BLANK = "[ \t\r\n%z\239\187\191\254\255]"
local NOT_BLANK = "[^ \t\r\n%z\239\187\191\254\255]"

-- other_types.fits(kind, bytes) -> whether a body of `media_type.other` that begins so may be one: markup begins with `<`,
-- and other data not with what JSON objects and lists begin with. nil where that is still to come
function other_types.fits(kind, bytes)
  local first = bytes:match("^" .. BLANK .. "*(" .. NOT_BLANK .. ")")
  if not first then return nil end
  if kind == "markup" then return first == "<" end
  return first ~= "{" and first ~= "["
end

return other_types
