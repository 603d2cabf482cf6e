import { renderDenial, type DenialResponse } from "../denial/denial.ts";
import { preflightHeaders, withCors, type CorsGrant } from "../headers/cors-headers.ts";
import { REASONS } from "../../reasons.ts";
import type { RawRequest } from "../../request/types.ts";
import type { AccessRequest, Denial } from "../types.ts";

export interface DenialResponseOptions {
  readonly denialDetails: "none" | "reason";
  /** Where people sign in; 401 pages link to it. */
  readonly signInUrl?: string;
}

/** @returns the response for a denied client; `access` and `cors` are absent if the request could not be read */
export function createDenialResponse({
  denialDetails,
  signInUrl,
}: DenialResponseOptions): (
  denial: Denial,
  access: AccessRequest | undefined,
  cors: CorsGrant | undefined,
) => DenialResponse {
  return ({ reason, request, graphqlErrors, stepUp }, access, cors) => {
    if (reason === "PREFLIGHT_ANSWERED")
      return { status: REASONS[reason].status, headers: preflightHeaders(cors), body: "" };
    const response = renderDenial({
      reason,
      requestId: access?.requestId ?? "",
      method: access?.raw.method ?? "",
      resource: request?.path ?? "",
      headers: request?.headers ?? (access && formHeaders(access.raw.headers)),
      ...(signInUrl !== undefined && { signIn: { url: signInUrl, target: access?.raw.target ?? "" } }),
      details: denialDetails,
      now: Date.now(),
      ...(graphqlErrors && { graphqlErrors }),
      ...(stepUp && { stepUp }),
    });
    return cors === undefined ? response : { ...response, headers: withCors(response.headers, cors) };
  };
}

/** The headers for content negotiation, for a request without a canonical reading. */
function formHeaders(headers: RawRequest["headers"]): Readonly<Record<string, readonly string[]>> {
  const valuesOf = (name: string) =>
    headers.flatMap(([header, value]) => (header === name ? [value.trim()] : []));
  return Object.fromEntries(
    ["accept", "content-type"]
      .map((name) => [name, valuesOf(name)] as const)
      .filter(([, values]) => values.length > 0),
  );
}
