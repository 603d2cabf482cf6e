-- Which spellings could be read as a name of JSON: the same as src/names, over the same table of letters.
local case_folds = require("gatehouse.case_folds")
local json = require("gatehouse.json")
local json_text = require("gatehouse.json_text")
local find, gmatch, gsub, lower = string.find, string.gmatch, string.gsub, string.lower

local names = {}

-- What folding makes of each letter beyond ASCII, as UTF-8. White space beyond ASCII is set aside.
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

-- -> a name folded, where it is of the kind that nearly all are, or nil
local function fold_simple(name)
  if find(name, "^[a-z0-9]+$") then return name end
  if not find(name, "^[%w_%-]+$") then return nil end
  return (lower(gsub(name, "[_%-]+", "")))
end

local function fold_part(part)
  part = lower(gsub(part, "[\1-\32\127_%-+]+", ""))
  if find(part, "[\128-\255]") then part = gsub(part, "[\194-\244][\128-\191]+", LETTERS) end
  return part
end

-- -> what a name is compared by: folded, and folded without numbers of items where it has any
local function fold(name)
  local whole, unindexed = "", ""
  for part in gmatch(name, "[^.%[%]%z&=;?]+") do
    local folded = fold_part(part)
    if whole == "" or not find(folded, "^[0-9]+$") then unindexed = unindexed .. folded end
    whole = whole .. folded
  end
  return { whole, unindexed ~= whole and unindexed or nil }
end

-- Names that were folded: messages use the same few. They come from outside: when there are many, all are forgotten.
local MOST_KEPT, LONGEST_KEPT = 2000, 100
local kept, count = {}, 0

local function spellings_of(name)
  local known = kept[name]
  if known then return known end
  known = fold(name)
  if #name <= LONGEST_KEPT then
    if count >= MOST_KEPT then kept, count = {}, 0 end
    kept[name] = known
    count = count + 1
  end
  return known
end

local function empty_level() return { exact = {}, folded = {} } end

-- names.level(paths) -> the names that a condition reads of an object and below it, for names.similar
--   paths  lists of names, from the object down
function names.level(paths)
  local root = empty_level()
  for _, path in ipairs(paths) do
    local level = root
    for index, name in ipairs(path) do
      for stop = index, #path do
        local read = table.concat(path, ".", index, stop)
        level.folded[spellings_of(read)[1]] = read
      end
      level.exact[name] = level.exact[name] or empty_level()
      level = level.exact[name]
    end
  end
  return root
end

local function similar_to(name, level)
  local simple = fold_simple(name)
  if simple then return level.folded[simple] end
  local spellings = spellings_of(name)
  return level.folded[spellings[1]] or spellings[2] and level.folded[spellings[2]] or nil
end

local function in_list(list, level)
  for index = 1, list.n do
    local item, read = list[index], nil
    local kind = type(item) == "table" and item.kind
    if kind == "list" then read = in_list(item, level) end
    if kind == "object" then
      for _, name in ipairs(json.names(item)) do
        read = level.exact[name] and name or similar_to(name, level)
        if read then break end
      end
    end
    if read then return read end
  end
  return nil
end

-- names.similar(value, level, lists) -> what the condition reads that another name in the value could be read as, or nil; where
-- a list stands in place of an object, any name in it that could be read, unless `lists` is "strict": GraphQL takes no
-- list for an object
function names.similar(value, level, lists)
  if type(value) ~= "table" or next(level.folded) == nil then return nil end
  if value.kind == "list" then return lists ~= "strict" and in_list(value, level) or nil end
  if value.kind ~= "object" then return nil end
  for _, name in ipairs(json.names(value)) do
    local below, read = level.exact[name], nil
    if not below then
      read = similar_to(name, level)
    elseif next(below.folded) ~= nil then
      read = names.similar(value.members[name], below, lists)
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
