-- Envoy's side of response rules: reads the answer that a plan is for, has it changed, and delivers that or a refusal.
local condition = require("gatehouse.condition")
local events = require("gatehouse.events")
local json = require("gatehouse.json")
local mask = require("gatehouse.mask")
local media_type = require("gatehouse.media_type")
local refusal = require("gatehouse.refusal")
local stream = require("gatehouse.stream")
local values = require("gatehouse.values")

local response = {}

local function refused(handle)
  return refusal.undelivered(stream.decision(handle))
end

-- Headers that say something about the original's bytes.
local VALIDATORS = {
  "etag", "digest", "content-digest", "repr-digest", "want-digest", "content-md5", "accept-ranges", "signature",
  "signature-input", "x-amz-checksum-sha256",
}

local function headers_of(headers)
  local members = {}
  for name, value in pairs(headers) do
    local list = members[name]
    if list then
      list.n = list.n + 1
      list[list.n] = value
    else
      members[name] = values.list({ value }, 1)
    end
  end
  return members
end

-- A shared cache must not give one caller's view to another.
local function restrict_caching(headers)
  local value = headers:get("cache-control")
  if not (value and value:lower():find("no-store", 1, true)) then
    headers:replace("cache-control", "private, no-cache")
  end
end

local function amend(headers)
  for _, name in ipairs(VALIDATORS) do headers:remove(name) end
  restrict_caching(headers)
end

-- What stands behind the body speaks of the original, too.
local function amend_trailers(handle)
  local trailers = handle:trailers()
  if not trailers then return end
  for _, name in ipairs(VALIDATORS) do trailers:remove(name) end
end

local function outcome(handle, result)
  stream.note(handle, "outcome", json.encode({ response = result }))
end

-- There is nothing to look into. Should bytes come all the same (HTTP/2 can put them behind a 204), the guard, which waits
-- for them to be counted, lets none pass.
local function untouched(handle)
  amend(handle:headers())
  outcome(handle, { result = "unchanged", count = 0 })
  stream.note(handle, "state", "stream")
end

-- Whether there is a body at all is often known only when it has ended: an answer that has none says nothing, and passes.
local function refuse_unread(handle, reason)
  local length = handle:headers():get("content-length")
  outcome(handle, { result = "refused", reason = reason })
  if length then return stream.refuse(handle, refused(handle)) end
  local body = handle:body(true)
  if body:length() == 0 then return untouched(handle) end
  refusal.body(handle, body, refused(handle))
  stream.note(handle, "state", "done")
end

local function context_of(status, headers)
  return {
    evaluate = condition.evaluate,
    response = { status = status, headers = headers_of(headers) },
  }
end

-- Collects what happened to the documents of a stream.
local function tally()
  local seen, paths, count, dropped = {}, {}, 0, 0
  return {
    add = function(result)
      count = count + result.count
      for _, path in ipairs(result.paths) do
        if not seen[path] and #paths < 50 then
          seen[path] = true
          paths[#paths + 1] = path
        end
      end
    end,
    drop = function() dropped = dropped + 1 end,
    result = function(reason)
      return {
        result = reason and "refused" or (count > 0 and "masked" or "unchanged"), reason = reason,
        count = count, paths = paths, dropped = dropped,
      }
    end,
  }
end

-- What changes a stream of documents, and what happened to them.
local function documents_of(kind, plan, context)
  local total = tally()
  local function judge(document)
    local result = mask.apply(document, plan, context)
    if not result then
      total.drop()
      return nil
    end
    total.add(result)
    return result.text
  end
  local make = kind == "lines" and events.lines or events.sse
  return make(judge, { limit = plan.limit }), total
end

-- -> the text to deliver and what happened, or nil and the reason
local function changed_whole(text, kind, plan, context)
  if #text > plan.limit then return nil, "too_large" end
  if kind ~= "json" then
    local documents, total = documents_of(kind, plan, context)
    local output, reason = documents:feed(text, true)
    return output, output and total.result() or reason
  end
  local result, reason = mask.apply(text, plan, context)
  if not result then return nil, reason end
  return result.text, {
    result = result.changed and "masked" or "unchanged", count = result.count, paths = result.paths,
  }
end

-- The whole body is held back, changed, and delivered with its new length.
local function buffered(handle, plan, status, kind)
  local body = handle:body(true)
  local headers = handle:headers()
  local size = body:length()
  if size == 0 then return untouched(handle) end
  local context = context_of(status, headers)
  local ok, text, result = pcall(changed_whole, body:getBytes(0, size), kind, plan, context)
  if not ok or type(text) ~= "string" then
    outcome(handle, { result = "refused", reason = ok and result or "error" })
    refusal.body(handle, body, refused(handle))
    stream.note(handle, "state", "done")
    return
  end
  body:setBytes(text)
  headers:replace("content-length", tostring(#text))
  amend(headers)
  outcome(handle, result)
  stream.note(handle, "state", "done")
  amend_trailers(handle)
end

-- Document by document; nothing of a document leaves before it is complete. The guard counts the chunks that went
-- through here, and lets no other pass.
local function streamed(handle, plan, status, kind)
  local headers = handle:headers()
  local documents, total = documents_of(kind, plan, context_of(status, headers))
  headers:remove("content-length")
  amend(headers)
  stream.note(handle, "state", "stream")
  outcome(handle, { result = "unfinished" })
  local count, ended, reported = 0, nil, nil
  for chunk in handle:bodyChunks() do
    local bytes = chunk:length() > 0 and chunk:getBytes(0, chunk:length()) or ""
    -- the end of the stream comes as a chunk without bytes
    local ok, output, reason = pcall(documents.feed, documents, bytes, bytes == "")
    if ended then
      output = ""
    elseif not ok or not output then
      ended = ok and reason or "error"
      output = ""
    end
    chunk:setBytes(output)
    count = count + 1
    stream.note(handle, "chunks", count)
    local now = json.encode({ response = total.result(ended) })
    if now ~= reported then
      stream.note(handle, "outcome", now)
      reported = now
    end
  end
  amend_trailers(handle)
end

local NO_BODY = { ["204"] = true, ["304"] = true }

-- response.run(handle, plan, method): plan is a ResponsePlanIR. Yields. Whatever it raises is the caller's to turn into
-- a refusal.
function response.run(handle, plan, method)
  local headers = handle:headers()
  local status = headers:get(":status")
  if method == "HEAD" or NO_BODY[status] then
    -- the length of the original would tell what was hidden
    headers:remove("content-length")
    return untouched(handle)
  end
  if headers:get("content-length") == "0" then return untouched(handle) end
  local encoding = headers:get("content-encoding")
  if encoding and encoding:lower() ~= "identity" then return refuse_unread(handle, "compressed") end
  if status == "206" or headers:get("content-range") then return refuse_unread(handle, "partial") end
  local kind = media_type.of(headers:get("content-type"))
  if not kind then return refuse_unread(handle, "not_json") end
  if plan.errors and kind ~= "json" then return refuse_unread(handle, "not_json") end
  local length = tonumber(headers:get("content-length") or "")
  if length and length > plan.limit then return refuse_unread(handle, "too_large") end
  -- Envoy itself answers in our place where the body outgrows its buffer: then this is what is logged
  outcome(handle, { result = "unfinished" })
  -- a stream of known length is none
  if kind == "json" or length then return buffered(handle, plan, tonumber(status), kind) end
  return streamed(handle, plan, tonumber(status), kind)
end

return response
