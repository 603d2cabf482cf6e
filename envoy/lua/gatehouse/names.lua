-- Which spellings could be read as a name in JSON: the same as src/names, over the same table of letters.
local case_folds = require("gatehouse.case_folds")
local json = require("gatehouse.json")
local json_text = require("gatehouse.json_text")
local byte, char, gmatch, gsub, sub = string.byte, string.char, string.gmatch, string.gsub, string.sub

local names = {}

-- The folded form of each letter beyond ASCII, as UTF-8. White space beyond ASCII is ignored.
local LETTERS = {}

for _, line in ipairs(case_folds.runs) do
  for first, last, step, to in gmatch(line, "(%x+),(%x+),(%x+),(%x+)") do
    first, to = tonumber(first, 16), tonumber(to, 16)
    for code = first, tonumber(last, 16), tonumber(step, 16) do
      LETTERS[json_text.utf8(code)] = json_text.utf8(code - first + to)
    end
  end
end
for _, line in ipairs(case_folds.texts) do
  for letter, text in gmatch(line, "(%x+),([%x,]+)") do
    LETTERS[json_text.utf8(tonumber(letter, 16))] =
      gsub(gsub(text, "%x+", function(code) return json_text.utf8(tonumber(code, 16)) end), ",", "")
  end
end
local function set_aside(first, last)
  for code = first, last do LETTERS[json_text.utf8(code)] = "" end
end
for _, code in ipairs({ 0x85, 0xa0, 0x1680, 0x202f, 0x205f, 0x3000, 0xfeff }) do set_aside(code, code) end
set_aside(0x2000, 0x200a)
set_aside(0x2028, 0x2029)

-- The folded form of ASCII, by byte: a byte, or false if it is ignored. Separators of the parts of a name are absent.
local ASCII = {}
for code = 0x01, 0x7f do ASCII[code] = code > 0x20 and code < 0x7f and code end
for code = 0x41, 0x5a do ASCII[code] = code + 0x20 end
for letter in gmatch("_-+", ".") do ASCII[byte(letter)] = false end
for letter in gmatch(".[]&=;?", ".") do ASCII[byte(letter)] = nil end

local ZERO, NINE = 0x30, 0x39

-- The letter that begins at a byte beyond ASCII, in its UTF-8 form.
local function letter_at(name, at, first)
  return sub(name, at, at + (first >= 0xf0 and 3 or first >= 0xe0 and 2 or 1))
end

-- -> the whole name folded, with all of its parts
local function fold(name)
  local pieces, at = {}, 1
  while at <= #name do
    local code = byte(name, at)
    if code >= 0x80 then
      local letter = letter_at(name, at, code)
      pieces[#pieces + 1] = LETTERS[letter] or letter
      at = at + #letter
    else
      if ASCII[code] then pieces[#pieces + 1] = char(ASCII[code]) end
      at = at + 1
    end
  end
  return table.concat(pieces)
end

-- Spellings are a trie of the folded names that a condition reads: { [byte] = spellings, read = the name if one ends
-- here }. A name of a message is matched as far as it could still become one of them, which is rarely more than a
-- letter or two. So the time for a name is bounded by its length, and nothing needs to be cached.
local NOWHERE = {}

local function add_spelling(spellings, read)
  local folded = fold(read)
  for at = 1, #folded do
    local code = byte(folded, at)
    spellings[code] = spellings[code] or {}
    spellings = spellings[code]
  end
  spellings.read = read
end

-- The node after a text in a trie.
local function follow(spellings, text)
  for at = 1, #text do spellings = spellings[byte(text, at)] or NOWHERE end
  return spellings
end

-- -> the name that a name could be read as, with all of its parts or without list indexes; or nil
local function read_as(name, spellings)
  local whole, unindexed = spellings, spellings
  -- the node of `unindexed` before a part that so far is only a number; the first part is never a list index
  local before = NOWHERE
  local is_first, is_empty = true, true
  local at, stop = 1, #name
  while at <= stop do
    local code = byte(name, at)
    if code >= 0x80 then
      local letter = letter_at(name, at, code)
      at = at + #letter
      local folded = LETTERS[letter] or letter
      if folded ~= "" then
        -- no letter beyond ASCII is folded to digits
        is_empty, before = false, NOWHERE
        whole, unindexed = follow(whole, folded), follow(unindexed, folded)
      end
    else
      at = at + 1
      local folded = ASCII[code]
      if folded == nil then
        if before ~= NOWHERE then unindexed = before end
        is_first, is_empty, before = is_first and is_empty, true, NOWHERE
      elseif folded then
        if folded < ZERO or folded > NINE then
          before = NOWHERE
        elseif is_empty and not is_first then
          before = unindexed
        end
        is_empty = false
        whole, unindexed = whole[folded] or NOWHERE, unindexed[folded] or NOWHERE
      end
    end
    if whole == NOWHERE and unindexed == NOWHERE and before == NOWHERE then return nil end
  end
  if before ~= NOWHERE then unindexed = before end
  return whole.read or unindexed.read
end

-- The loop is compiled here, at the start, over a long run: see json_tape.lua.
read_as(("_"):rep(1000), {})

local function empty_level() return { exact = {}, spellings = {} } end

-- names.level(paths) -> the names that a condition reads in an object and below it, for names.similar
--   paths  lists of names, from the object down
function names.level(paths)
  local root = empty_level()
  for _, path in ipairs(paths) do
    local level = root
    for index, name in ipairs(path) do
      for stop = index, #path do add_spelling(level.spellings, table.concat(path, ".", index, stop)) end
      level.exact[name] = level.exact[name] or empty_level()
      level = level.exact[name]
    end
  end
  return root
end

-- names.looked_at() -> the objects of one request that have been checked, for names.similar: { count } is the number of
-- names. The same variables are arguments of many fields, and rules read the same names in them, so an object is
-- checked once for the same names.
function names.looked_at() return { count = 0, levels = {} } end

-- -> false if an object was checked for these names and has none that could be read as one of them
local function is_new(looked_at, object, level)
  local levels = looked_at.levels[object]
  if not levels then
    levels = {}
    looked_at.levels[object] = levels
  end
  if levels[level] then return false end
  levels[level] = true
  return true
end

local function in_list(list, level)
  for index = 1, list.n do
    local item, read = list[index], nil
    local kind = type(item) == "table" and item.kind
    if kind == "list" then read = in_list(item, level) end
    if kind == "object" then
      for _, name in ipairs(json.names(item)) do
        read = level.exact[name] and name or read_as(name, level.spellings)
        if read then break end
      end
    end
    if read then return read end
  end
  return nil
end

-- names.similar(value, level, options) -> what the condition reads that another name in the value could be read as, or nil
--   options.lists      where a list stands in place of an object, any name in it that could be read is similar, unless this
--                      is "strict": GraphQL takes no list for an object
--   options.looked_at  see names.looked_at, or nil
function names.similar(value, level, options)
  if type(value) ~= "table" or next(level.exact) == nil then return nil end
  if value.kind == "list" then return not (options and options.lists == "strict") and in_list(value, level) or nil end
  if value.kind ~= "object" then return nil end
  local looked_at = options and options.looked_at
  if looked_at and not is_new(looked_at, value, level) then return nil end
  local all = json.names(value)
  if looked_at then looked_at.count = looked_at.count + #all end
  for _, name in ipairs(all) do
    local below, read = level.exact[name], nil
    if not below then
      read = read_as(name, level.spellings)
    elseif next(below.exact) ~= nil then
      read = names.similar(value.members[name], below, options)
    end
    if read then return read end
  end
  return nil
end

local function collect(expression, root, paths)
  if type(expression) ~= "table" then return end
  local path = expression.path
  if type(path) == "table" and path[1] == root and #path > 1 then
    local below = {}
    for index = 2, #path do below[index - 1] = tostring(path[index]) end
    paths[#paths + 1] = below
  end
  for key, part in pairs(expression) do
    if key ~= "path" then collect(part, root, paths) end
  end
end

-- names.read_below(expression, root) -> the paths below a root that a condition reads
--   expression  IR as plain tables (`json.plain`), which bounds its depth
function names.read_below(expression, root)
  local paths = {}
  collect(expression, root, paths)
  return paths
end

return names
