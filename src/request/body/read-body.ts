import { decodeUtf8, quotedAscii } from "../../text/index.ts";
import type { BodyRead, CanonicalRequest, ReadOptions, Refusal, RefusalCheck } from "../types.ts";
import { JsonError, MAX_VALUES, parseJson, type JsonValue, type ParsedJson } from "../../json/index.ts";
import { similarMember, type MemberNames } from "../../names/index.ts";
import { bodyFormat } from "./media-type.ts";

export interface ReadBodyOptions extends ReadOptions {
  /** How deep arrays and objects may be nested. Default: 64. */
  readonly maxDepth?: number;
  /** The names below `request.body` that the rule reads. */
  readonly names?: MemberNames;
}

const DEFAULT_MAX_DEPTH = 64;

/**
 * Reads the body for a rule that reads `request.body`.
 *
 * Only JSON (`application/json`, `application/*+json`) is read; `json` is `undefined` for a missing body, an empty one,
 * and every other content type. It is also `undefined` if a check is switched off and the body is unreadable:
 * compressed, truncated or malformed. Of duplicate members the last one counts; an inexact number is NaN. Never throws.
 */
export function readBody(
  request: CanonicalRequest,
  { switchedOff, maxDepth = DEFAULT_MAX_DEPTH, names }: ReadBodyOptions = {},
): BodyRead {
  const accepted: RefusalCheck[] = [];
  for (const problem of problemsOf(request, maxDepth, names)) {
    if ("json" in problem) return { ok: true, json: problem.json, accepted };
    if (switchedOff?.has(problem.check) !== true) return { ok: false, refusal: problem };
    accepted.push(problem.check);
  }
  return { ok: true, json: undefined, accepted };
}

type BodyProblem = Refusal | { readonly json: JsonValue | undefined };

/** The failed checks in order, then the value, if there is one to rely on. */
function* problemsOf(
  request: CanonicalRequest,
  maxDepth: number,
  names: MemberNames | undefined,
): Generator<BodyProblem, void> {
  const { body, headers } = request;
  if (body === undefined) return;
  const announced = headers["content-length"]?.[0];
  if (body.bytes.length === 0 && body.complete && Number(announced ?? 0) === 0) return;

  const format = bodyFormat(headers["content-type"] ?? []);
  if (format.kind === "ambiguous") yield { check: "ambiguous_content_type", detail: format.why };
  if (format.kind !== "json") return;

  if (isCompressed(headers)) {
    yield { check: "compressed_body", detail: "the header `content-encoding` is not `identity`" };
    return;
  }
  if (!body.complete || (announced !== undefined && Number(announced) !== body.bytes.length)) {
    yield {
      check: "body_cut_short",
      detail: `the body is incomplete: only ${body.bytes.length} bytes were received`,
    };
    return;
  }

  const parsed = parse(body.bytes, maxDepth);
  if ("check" in parsed) {
    yield parsed;
    return;
  }
  if (parsed.duplicateMember)
    yield { check: "duplicate_json_member", detail: "an object has a duplicate member" };
  if (parsed.similarMembers) {
    yield { check: "similar_json_members", detail: "members of an object differ only in letter case" };
  }
  if (parsed.inexactNumberAt !== undefined)
    yield { check: "inexact_number", detail: "a number that not every parser reads exactly" };
  const similar = names && similarMember(parsed.value, names);
  if (similar !== undefined) {
    yield {
      check: "similar_member",
      detail: `the name of a member could be mistaken for ${quotedAscii(similar)}`,
    };
  }
  yield { json: parsed.value };
}

function isCompressed(headers: CanonicalRequest["headers"]): boolean {
  const codings = (headers["content-encoding"] ?? []).join(",").toLowerCase().split(",");
  return codings.some((coding) => coding.trim() !== "" && coding.trim() !== "identity");
}

/** @returns what is wrong, if it is not JSON or not JSON that is accepted */
function parse(bytes: Uint8Array, maxDepth: number): ParsedJson | Refusal {
  const { text, valid } = decodeUtf8(bytes);
  if (!valid) return { check: "malformed_json", detail: "bytes that are not UTF-8" };
  try {
    return parseJson(text, { depth: maxDepth, values: MAX_VALUES });
  } catch (error) {
    // a stack overflow, if the caller allows that many levels
    if (!(error instanceof JsonError)) return { check: "malformed_json", detail: "the JSON parser failed" };
    return {
      check: error.reason === "values" ? "too_many_json_values" : "malformed_json",
      detail: error.message,
    };
  }
}
