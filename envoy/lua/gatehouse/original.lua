-- Headers and trailers of a response that describe its original body. None of them may stay if the body is changed:
-- anyone who knows all but one value of a document can find that value with the document's digest.
local original = {}

local NAMES = {}
for _, name in ipairs({
  "last-modified", "accept-ranges", "content-range", "delta-base", "im", "trailer",
  -- caches that these are for would keep one caller's view for everybody
  "expires", "x-accel-expires",
}) do NAMES[name] = true end

-- Digests, checksums and signatures have many names, and so do their algorithms: patterns to search for in a name whose
-- words are separated, and its ends marked, by `-`. Most match anywhere, because words are also written together
-- (`bodysha256`); patterns that also occur in ordinary names (`share`, `saddler`) match only at the beginning of a
-- word, or a whole word.
local PARTS = {
  "etag", "entity%-tag", "digest", "checksum", "check%-sum", "cksum", "chksum", "signature", "fingerprint", "hash", "hmac",
  "md5", "%-md%-?[2-6]%f[^%d]", "sha%-?%d", "shake%-?%d", "%-sha%-", "%-sig%-", "crc", "xxh", "blake", "ripemd", "keccak",
  "murmur", "whirlpool", "poly1305",
  "%-adler", "%-fnv", "integrity%-$",
  -- caches that these are for would keep one caller's view for everybody
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

-- Results by name; applications have few names.
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
  -- not while they are being iterated
  for _, name in ipairs(names) do headers:remove(name) end
end

-- original.forget(headers): removes the headers that describe the original body
function original.forget(headers)
  remove_all(headers, looked_up)
end

local function any() return true end

-- original.forget_trailers(handle): removes all trailers, which come after the body because they are about it. Yields
-- until they have arrived, or are known not to.
function original.forget_trailers(handle)
  local trailers = handle:trailers()
  if trailers then remove_all(trailers, any) end
end

return original
