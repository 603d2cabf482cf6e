import {
  similarHeader,
  similarParameter,
  type HeaderNames,
  type MemberNames,
  type ParameterNames,
} from "../names/index.ts";
import { quotedAscii } from "../text/index.ts";
import type { CanonicalRequest, ReadOptions, Refusal, RefusalCheck } from "./types.ts";

/** The names that a rule reads from a request. Absent: none. */
export interface NamesRead {
  readonly parameters?: ParameterNames;
  readonly headers?: HeaderNames;
  readonly members?: MemberNames;
}

/** Outcome of `checkNames`. */
export type NamesChecked =
  | {
      readonly ok: true;
      /** Switched-off checks that would have refused the request, in their order. */
      readonly accepted: readonly RefusalCheck[];
    }
  | { readonly ok: false; readonly refusal: Refusal };

const NOTHING: NamesChecked = { ok: true, accepted: [] };

/**
 * Looks for a parameter or header that is not the one a rule reads, but that an application could mistake for it. Names
 * that no rule reads do not matter and are not checked. The body's names are checked by `readBody`.
 */
export function checkNames(
  request: CanonicalRequest,
  { parameters, headers }: NamesRead,
  { switchedOff }: ReadOptions = {},
): NamesChecked {
  const parameter = parameters && similarParameter(request.query, parameters);
  const header = headers && similarHeader(request.headers, headers);
  if (parameter === undefined && header === undefined) return NOTHING;
  const found: Refusal[] = [];
  if (parameter !== undefined) found.push(finding("similar_parameter", "query parameter", parameter));
  if (header !== undefined) found.push(finding("similar_header", "header", header));
  const refusal = found.find(({ check }) => switchedOff?.has(check) !== true);
  return refusal ? { ok: false, refusal } : { ok: true, accepted: found.map(({ check }) => check) };
}

/** The name that was sent is not quoted: names may be secret, too. */
function finding(check: RefusalCheck, kind: string, read: string): Refusal {
  return { check, detail: `the name of a ${kind} could be mistaken for ${quotedAscii(read)}` };
}
