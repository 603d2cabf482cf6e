import { renderDenial, type DenialResponse } from "../denial/denial.ts";
import type { RawRequest } from "../../request/types.ts";
import type { AccessRequest, Denial } from "../types.ts";

export interface DenialResponseOptions {
  readonly denialDetails: "none" | "reason";
  /** Where people sign in: pages of 401 lead there. */
  readonly signInUrl?: string;
}

/** @returns what a denied client is answered; without a request, where nothing of it could be read */
export function createDenialResponse({
  denialDetails,
  signInUrl,
}: DenialResponseOptions): (denial: Denial, access: AccessRequest | undefined) => DenialResponse {
  return ({ reason, request, graphqlErrors, stepUp }, access) =>
    renderDenial({
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
}

/** What says in which form a client reads answers, of a request that has no canonical reading. */
function formHeaders(headers: RawRequest["headers"]): Readonly<Record<string, readonly string[]>> {
  const valuesOf = (name: string) =>
    headers.flatMap(([header, value]) => (header === name ? [value.trim()] : []));
  return Object.fromEntries(
    ["accept", "content-type"]
      .map((name) => [name, valuesOf(name)] as const)
      .filter(([, values]) => values.length > 0),
  );
}
