-- Envoy's side of response rules: reads the response that a plan is for, masks it, and delivers the result or a refusal.
local condition = require("gatehouse.condition")
local contract = require("gatehouse.contract")
local env = require("gatehouse.env")
local events = require("gatehouse.events")
local graphql_events = require("gatehouse.graphql_events")
local mask = require("gatehouse.mask")
local media_type = require("gatehouse.media_type")
local original = require("gatehouse.original")
local other_types = require("gatehouse.other_types")
local outcome = require("gatehouse.outcome")
local refusal = require("gatehouse.refusal")
local stream = require("gatehouse.stream")
local values = require("gatehouse.values")
local NOTE, RESULT, STATE, UNREAD = contract.NOTE, contract.RESULT, contract.STATE, contract.UNREAD
local REFUSE = contract.REFUSE

local response = {}

local function refused(handle)
  return refusal.undelivered(stream.decision(handle))
end

-- The replacement of a response that cannot be parsed. Errors and redirects keep their status: the status of a 404, or the
-- Location of a redirect, is what the caller needs to know.
local function withheld(handle, status)
  if status < 300 or status > 599 then return refused(handle) end
  return refusal.withheld(stream.decision(handle), status)
end

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

local function says_no_store(value)
  for directive in (value or ""):lower():gmatch("[^,]+") do
    if directive:match("^%s*(.-)%s*$") == "no-store" then return true end
  end
  return false
end

-- A shared cache must not serve one caller's view to another.
local function amend(headers)
  original.forget(headers)
  local rest = says_no_store(headers:get("cache-control")) and "no-store" or "private, no-cache"
  headers:replace("cache-control", rest)
end

local function note(handle, result, details)
  stream.note(handle, NOTE.outcome, outcome.response(result, details))
end

-- There is no body to process. If bytes arrive all the same (HTTP/2 can send them after a 204), the guard lets none pass,
-- because they are not counted.
local function untouched(handle)
  amend(handle:headers())
  note(handle, RESULT.unchanged, { count = 0 })
  stream.note(handle, NOTE.state, STATE.stream)
  original.forget_trailers(handle)
end

-- -> the whole body and its length; no body if there are only trailers
local function body_of(handle)
  local body = handle:body(true)
  return body, body and body:length() or 0
end

local function is_coded(headers)
  local encoding = headers:get("content-encoding")
  return encoding and encoding:lower() ~= "identity"
end

-- Whether the body may be waited for: it is an error page, a redirect or a page, which all end, or it has no type, which
-- it usually lacks because it is empty. Other types may be streams that never end.
local function surely_ends(headers, status)
  if status > 299 then return true end
  local kind = headers:get("content-type")
  return not is_coded(headers) and (not kind or media_type.other(kind) == "markup")
end

-- Envoy replaces the response and ends the stream to the application; if it does not, the guard replaces it.
local function refuse_at_headers(handle)
  stream.note(handle, NOTE.state, STATE.refused)
  handle:headers():replace(REFUSE.header, REFUSE.value)
end

-- Whether there is a body at all is often known only at its end: a response without one reveals nothing, and passes.
local function refuse_unread(handle, status, reason)
  local headers = handle:headers()
  local length = headers:get("content-length")
  -- a gRPC call that failed has the status in its only headers; were there a body, the guard would let nothing of it pass
  if headers:get("grpc-status") and not length then return untouched(handle) end
  note(handle, RESULT.refused, { reason = reason })
  if status < 300 and (length or not surely_ends(headers, status)) then return refuse_at_headers(handle) end
  if length then return stream.refuse(handle, withheld(handle, status)) end
  local body, size = body_of(handle)
  if size == 0 then return untouched(handle) end
  refusal.body(handle, body, withheld(handle, status))
  stream.note(handle, NOTE.state, STATE.done)
end

local SLICE = 4096

-- -> whether a complete body matches its type, as far as `other_types` can tell
local function fits(kind, body, size)
  local read = other_types.reader(kind)
  for at = 0, size - 1, SLICE do
    local verdict = read(body:getBytes(at, math.min(SLICE, size - at)))
    if verdict ~= nil then return verdict end
  end
  return true
end

-- A response of another type that may pass unchanged.
local function passed_whole(handle, status, kind)
  note(handle, RESULT.unfinished)
  local body, size = body_of(handle)
  if size == 0 or fits(kind, body, size) then
    note(handle, RESULT.passed, { count = 0 })
  else
    note(handle, RESULT.refused, { reason = UNREAD.looks_like_json })
    refusal.body(handle, body, withheld(handle, status))
  end
  stream.note(handle, NOTE.state, STATE.done)
end

-- The same without buffering, because it is long or of unknown length. Its headers have been sent when the body starts, so
-- a refusal keeps the status; the length would be that of the original.
local function passed_in_parts(handle, kind)
  handle:headers():remove("content-length")
  local text = refusal.envelope(refused(handle))
  note(handle, RESULT.passed, { count = 0 })
  stream.note(handle, NOTE.state, STATE.stream)
  local read, count, verdict = other_types.reader(kind), 0, nil
  for chunk in handle:bodyChunks() do
    local instead
    if verdict == nil and chunk:length() > 0 then
      verdict = read(chunk:getBytes(0, chunk:length()))
      if verdict == false then
        note(handle, RESULT.refused, { reason = UNREAD.looks_like_json })
        instead = text
      end
    elseif verdict == false then
      instead = ""
    end
    if instead then chunk:setBytes(instead) end
    count = count + 1
    stream.note(handle, NOTE.chunks, count)
  end
  if verdict == false then original.forget_trailers(handle) end
end

-- graphql-sse says so, to keep proxies from compressing its streams. It is not a coding, which nobody decodes.
local function says_none(headers)
  return headers:get("content-encoding"):lower() == "none"
end

-- -> how a response of another type may pass, or nil: the rules must allow it, and it must be successful, complete and
-- without a content coding, so that its beginning can be checked
local function passing_kind(plan, headers, status)
  if plan.otherTypes ~= "pass" or plan.errors or status > 299 or status == 206 then return nil end
  if headers:get("content-range") or is_coded(headers) then return nil end
  return media_type.other(headers:get("content-type"))
end

local function context_of(status, headers)
  return {
    evaluate = condition.evaluate,
    response = { status = status, headers = headers_of(headers) },
  }
end

-- Collects the results of the documents of a stream.
local function tally()
  local seen, paths, count = {}, {}, 0
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
    result = function(dropped, reason)
      return {
        result = reason and RESULT.refused or (count > 0 and RESULT.masked or RESULT.unchanged), reason = reason,
        count = count, paths = paths, dropped = dropped,
      }
    end,
  }
end

-- -> the result of mask.apply, or nil and the reason
local function masked(document, plan, context)
  local planned = plan.events
  if planned and not graphql_events.permits(planned, document, env.of(planned.environment)) then
    return nil, UNREAD.not_permitted
  end
  return mask.apply(document, plan, context)
end

-- -> the masking function of a stream of documents, and a function that returns the results so far
local function documents_of(kind, plan, context)
  local total = tally()
  local function edit(document)
    local result = masked(document, plan, context)
    if not result then return nil end
    total.add(result)
    return result.text
  end
  local make = kind == "lines" and events.lines or events.sse
  local documents = make(edit, { limit = plan.limit })
  return documents, function(reason) return total.result(documents.dropped, reason) end
end

-- -> the text to deliver and the result, or nil and the reason
local function changed_whole(text, kind, plan, context)
  if #text > plan.limit then return nil, UNREAD.too_large end
  if kind ~= "json" then
    local documents, result_of = documents_of(kind, plan, context)
    local output, reason = documents:feed(text, true)
    return output, output and result_of() or reason
  end
  local result, reason = masked(text, plan, context)
  if not result then return nil, reason end
  return result.text, {
    result = result.changed and RESULT.masked or RESULT.unchanged, count = result.count, paths = result.paths,
  }
end

-- The whole body is buffered, masked, and delivered with its new length.
local function buffered(handle, plan, status, kind)
  local body, size = body_of(handle)
  local headers = handle:headers()
  if size == 0 then return untouched(handle) end
  local context = context_of(status, headers)
  local ok, text, result = pcall(changed_whole, body:getBytes(0, size), kind, plan, context)
  if not ok or type(text) ~= "string" then
    note(handle, RESULT.refused, { reason = ok and result or UNREAD.error })
    refusal.body(handle, body, ok and withheld(handle, status) or refused(handle))
    stream.note(handle, NOTE.state, STATE.done)
    return
  end
  body:setBytes(text)
  headers:replace("content-length", tostring(#text))
  amend(headers)
  original.forget_trailers(handle)
  note(handle, result.result, result)
  stream.note(handle, NOTE.state, STATE.done)
end

-- Document by document; nothing of a document is sent before it is complete. The guard counts the chunks that passed
-- through here, and lets no others pass.
local function streamed(handle, plan, status, kind)
  local headers = handle:headers()
  local documents, result_of = documents_of(kind, plan, context_of(status, headers))
  headers:remove("content-length")
  amend(headers)
  stream.note(handle, NOTE.state, STATE.stream)
  note(handle, RESULT.unfinished)
  local count, ended, reported = 0, nil, nil
  local function feed(bytes, last)
    if ended then return "" end
    local ok, output, reason = pcall(documents.feed, documents, bytes, last)
    if ok and output then return output end
    ended = ok and reason or UNREAD.error
    return ""
  end
  local function report()
    local result = result_of(ended)
    local now = outcome.response(result.result, result)
    if now ~= reported then stream.note(handle, NOTE.outcome, now) end
    reported = now
  end
  local last_chunk, last_output = nil, ""
  for chunk in handle:bodyChunks() do
    last_chunk, last_output = chunk, feed(chunk:length() > 0 and chunk:getBytes(0, chunk:length()) or "", false)
    chunk:setBytes(last_output)
    count = count + 1
    stream.note(handle, NOTE.chunks, count)
    report()
  end
  -- That a chunk was the last is known only now. It can still be added to, unless trailers came since
  local rest = feed("", true)
  if rest ~= "" and not pcall(last_chunk.setBytes, last_chunk, last_output .. rest) then documents:lose() end
  report()
  original.forget_trailers(handle)
end

local NO_BODY = { ["204"] = true, ["304"] = true }

-- response.run(handle, plan, method): plan is a ResponsePlanIR. Yields. Whatever it raises is the caller's to turn into
-- a refusal.
function response.run(handle, plan, method)
  local headers = handle:headers()
  local status = headers:get(":status")
  if method == "HEAD" or NO_BODY[status] then
    -- the length of the original would reveal what was hidden
    headers:remove("content-length")
    return untouched(handle)
  end
  if headers:get("content-length") == "0" then return untouched(handle) end
  status = tonumber(status)
  local length = tonumber(headers:get("content-length") or "")
  local other = passing_kind(plan, headers, status)
  if other then
    -- a page, or a body of known length, is buffered: a refusal can then have its own status
    if other == "markup" and not length or length and length <= plan.limit then
      return passed_whole(handle, status, other)
    end
    return passed_in_parts(handle, other)
  end
  local kind = media_type.of(headers:get("content-type"))
  if is_coded(headers) and not (kind == "events" and says_none(headers)) then
    return refuse_unread(handle, status, UNREAD.compressed)
  end
  if status == 206 or headers:get("content-range") then return refuse_unread(handle, status, UNREAD.partial) end
  if not kind then return refuse_unread(handle, status, UNREAD.not_json) end
  -- the result of an operation is one document, or the event of a stream
  if plan.errors and kind == "lines" then return refuse_unread(handle, status, UNREAD.not_json) end
  if length and length > plan.limit then return refuse_unread(handle, status, UNREAD.too_large) end
  -- Envoy itself responds if the body exceeds its buffer: then this is what is logged
  note(handle, RESULT.unfinished)
  -- a body of known length is not a stream
  if kind == "json" or length then return buffered(handle, plan, status, kind) end
  return streamed(handle, plan, status, kind)
end

return response
