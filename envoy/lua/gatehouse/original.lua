-- What an answer says about its body as the application wrote it, beside the body itself. None of it may stay where the
-- body is changed: who knows all but one value of a document finds that value by the document's digest.
local original = {}

local NAMES = {}
for _, name in ipairs({
  "last-modified", "accept-ranges", "content-range", "delta-base", "im", "trailer",
  -- caches that these are for would keep one caller's view for all
  "expires", "x-accel-expires",
}) do NAMES[name] = true end

-- Digests, checksums and signatures have many names, and their algorithms, too: patterns that are looked for in a name whose
-- words are told apart, and its ends marked, by `-`. Wherever they stand, since words are written together, too
-- (`bodysha256`); only at the beginning of a word, or as a whole one, what is also in ordinary names (`share`, `saddler`).
local PARTS = {
  "etag", "entity%-tag", "digest", "checksum", "check%-sum", "cksum", "chksum", "signature", "fingerprint", "hash", "hmac",
  "md5", "%-md%-?[2-6]%f[^%d]", "sha%-?%d", "shake%-?%d", "%-sha%-", "%-sig%-", "crc", "xxh", "blake", "ripemd", "keccak",
  "murmur", "whirlpool", "poly1305",
  "%-adler", "%-fnv", "integrity%-$",
  -- caches that these are for would keep one caller's view for all
  "cdn%-cache%-control", "surrogate%-control",
}

local function is_about_it(name)
  if NAMES[name] then return true end
  local words = "-" .. name:gsub("[^%w]+", "-") .. "-"
  for _, part in ipairs(PARTS) do
    if words:find(part) then return true end
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
