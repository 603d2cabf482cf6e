import { IR_VERSION } from "../../policy/evaluation.ts";
import type { CanonicalRequest } from "../../request/index.ts";
import { bodyProblem, deny, type EvaluationContext } from "./evaluation-context.ts";
import type { Denial, Draft, Permit } from "../types.ts";

/** A permit to ask whether another request may be sent. The rules for that request do not apply. */
export interface PreflightPermit extends Permit {
  readonly reason: "PREFLIGHT_ALLOWED";
}

/**
 * Decides on a CORS preflight. A preflight carries no identity, so no rule could permit it. One that passes only asks
 * whether another request may be sent: the application does not learn who sent it and gets no body, and only the CORS
 * headers of its response are delivered.
 *
 * Where the set has `cors` and does not forward preflights, the gateway answers them itself. For decisions this is a
 * denial: nothing is forwarded, whatever else the request could be read as.
 *
 * @returns `undefined` if the request is not a preflight
 */
export function evaluatePreflight(evaluation: EvaluationContext): PreflightPermit | Denial | undefined {
  const { snapshot, sets, request, draft } = evaluation;
  const form = preflightForm(request);
  if (form === "other") return undefined;
  if (snapshot.ir.preflight !== "allow") {
    // a customer's own set has no say in what the gateway answers
    const cors = snapshot === sets[0] ? snapshot.cors : undefined;
    if (cors === undefined) return deny(draft, "PREFLIGHT_DENIED");
    if (form === "malformed") return deny(draft, "PREFLIGHT_MALFORMED");
    const isAllowed = cors.grant(request.headers["origin"]) !== undefined;
    return deny(draft, isAllowed ? "PREFLIGHT_ANSWERED" : "PREFLIGHT_ORIGIN_NOT_ALLOWED");
  }
  if (form === "malformed") return deny(draft, "PREFLIGHT_MALFORMED");
  // a body need not be announced: it is certain that there is none only if the proxy sent an empty one
  const problem = request.body === undefined ? (bodyProblem(evaluation) ?? "BODY_UNAVAILABLE") : undefined;
  if (problem !== undefined) return deny(draft, problem);
  const nobody: { -readonly [Key in keyof Draft]: Draft[Key] } = { ...draft };
  delete nobody.identity;
  return { ...nobody, ...PREFLIGHT };
}

const PREFLIGHT = {
  verdict: "ALLOW",
  reason: "PREFLIGHT_ALLOWED",
  plan: { ir: IR_VERSION, preflight: true },
} as const;

/** RFC 6454, section 6.2: of one origin, or `null`. */
const ORIGIN = /^(?:null|[a-z][a-z0-9+.-]{0,31}:\/\/[^\s/?#@,\\]{0,260})$/i;
/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/i;

const NONE: readonly string[] = [];

/** Fetch standard, section 3.2.2: an OPTIONS request with `Origin` and `Access-Control-Request-Method`. */
export function preflightForm({
  method,
  headers,
  body,
}: CanonicalRequest): "other" | "malformed" | "preflight" {
  const origins = headers["origin"];
  const methods = headers["access-control-request-method"];
  if (method !== "OPTIONS" || origins === undefined || methods === undefined) return "other";
  const names = headers["access-control-request-headers"] ?? NONE;
  const wellFormed =
    isOne(origins, ORIGIN) &&
    isOne(methods, TOKEN) &&
    names.length <= 1 &&
    names.every(isList) &&
    Number(headers["content-length"]?.[0] ?? 0) === 0 &&
    headers["transfer-encoding"] === undefined &&
    (body === undefined || (body.complete && body.bytes.length === 0));
  return wellFormed ? "preflight" : "malformed";
}

function isOne(values: readonly string[], form: RegExp): boolean {
  return values.length === 1 && form.test(values[0] ?? "");
}

function isList(value: string): boolean {
  return value.split(",").every((name) => name.trim() === "" || TOKEN.test(name.trim()));
}
