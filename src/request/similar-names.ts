import {
  similarHeader,
  similarParameter,
  type HeaderNames,
  type MemberNames,
  type ParameterNames,
} from "../names/index.ts";
import { quotedAscii } from "../text/index.ts";
import type { CanonicalRequest, ReadOptions, Refusal, RefusalCheck } from "./types.ts";

/** What a rule reads of a request by name. Absent: nothing. */
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
 * Looks for a parameter or a header that is not what a rule reads, but that an application could read as that. Names that
 * no rule reads mean nothing to anybody, and are not looked at. The body's names are checked by `readBody`.
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

/** What was sent is not quoted: names may be secrets, too. */
function finding(check: RefusalCheck, kind: string, read: string): Refusal {
  return { check, detail: `the name of a ${kind} could be read as ${quotedAscii(read)}` };
}
