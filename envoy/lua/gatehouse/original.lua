-- What an answer says about its body as the application wrote it, beside the body itself. None of it may stay where the
-- body is changed: who knows all but one value of a document finds that value by the document's digest.
local original = {}

local NAMES = {}
for _, name in ipairs({
  "last-modified", "accept-ranges", "content-range", "delta-base", "im", "trailer",
  -- caches that these are for would keep one caller's view for all
  "expires", "x-accel-expires",
}) do NAMES[name] = true end

-- Parts of names: digests are called by many.
local PARTS = {
  "etag", "entity-tag", "digest", "checksum", "signature", "hash", "md5", "sha1", "sha-1", "sha2", "sha-2", "sha5", "sha-5",
  "crc32", "crc64", "cdn-cache-control", "surrogate-control",
}

local function is_about_it(name)
  if NAMES[name] then return true end
  for _, part in ipairs(PARTS) do
    if name:find(part, 1, true) then return true end
  end
  return false
end

-- By name, what was found out; applications have few.
local known, count = {}, 0
local MOST, LONGEST = 500, 100

local function looked_up(name)
  local verdict = known[name]
  if verdict ~= nil then return verdict end
  verdict = is_about_it(name)
  if count < MOST and #name <= LONGEST then
    known[name] = verdict
    count = count + 1
  end
  return verdict
end

local function remove_all(headers, wanted)
  local names = {}
  for name in pairs(headers) do
    if wanted(name) then names[#names + 1] = name end
  end
  -- not while they are read
  for _, name in ipairs(names) do headers:remove(name) end
end

-- original.forget(headers): removes the headers that speak of the original body
function original.forget(headers)
  remove_all(headers, looked_up)
end

local function any() return true end

-- original.forget_trailers(handle): removes all trailers, which stand behind the body because they are about it. Yields
-- until they are there, or known not to come.
function original.forget_trailers(handle)
  local trailers = handle:trailers()
  if trailers then remove_all(trailers, any) end
end

return original
