import type { IdpRow } from "../tenancy/idp.ts";
import { mfaAcrValues } from "../tenancy/mfa-acr-values.ts";
import type { AuthenticationRules } from "../../customer-state/index.ts";
import type { AuthorizeBody } from "./schemas.ts";

/** The evidence that a provider is asked for (OpenID Connect Core 1.0, section 3.1.2.1). */
export interface RequestedEvidence {
  readonly parameters: {
    readonly acr_values?: string;
    /** Seconds. */
    readonly max_age?: string;
    readonly prompt?: string;
  };
  /** Whether the sign-in here counts as the time of authentication if the provider does not report it. */
  readonly asksFresh: boolean;
}

type Asked = Pick<AuthorizeBody, "acr_values" | "max_age" | "prompt">;
type Asking = Pick<AuthenticationRules, "mfa_required" | "max_session_duration">;
type Answering = Pick<IdpRow, "type" | "mfa_acr_values" | "capabilities">;

/** The requirements of the policies, which the application can narrow but not widen. */
export function requestedEvidence(rules: Asking, asked: Asked, idp: Answering): RequestedEvidence {
  const acrValues = acrValuesFor(rules, asked, idp);
  const maxAge = Math.min(asked.max_age ?? Infinity, rules.max_session_duration ?? Infinity);
  const asksAge = maxAge !== Infinity;
  const promptCounts = needsPrompt(idp);
  const prompt = promptFor(asked.prompt, asksAge && promptCounts);
  return {
    parameters: {
      ...(acrValues.length > 0 && { acr_values: acrValues.join(" ") }),
      ...(asksAge && { max_age: String(maxAge) }),
      ...(prompt !== undefined && { prompt }),
    },
    // any other provider must report `auth_time` if an age is required: if it does not, it was not asked. The browser
    // carries the request, so its user can remove `max_age`; and a provider that does not know the prompt ignores it,
    // even if the application has asked for it
    asksFresh: promptCounts && prompt?.split(" ").includes("login") === true,
  };
}

/** The application's own prompt never replaces `login`; `none` cannot be combined with another value. */
function promptFor(asked: Asked["prompt"], needsLogin: boolean): string | undefined {
  if (!needsLogin || asked === "none" || asked === "login") return asked;
  return asked === undefined ? "login" : `login ${asked}`;
}

/**
 * In order of preference. If multi-factor authentication is required, only classes that satisfy it are requested: any
 * other class would end in a refusal. Classes that the provider does not know are left out, because some providers
 * refuse them.
 */
function acrValuesFor({ mfa_required }: Asking, asked: Asked, idp: Answering): readonly string[] {
  const wanted = asked.acr_values?.split(" ") ?? [];
  if (!mfa_required) return wanted;
  const known = idp.capabilities?.acr_values;
  const counting = mfaAcrValues(idp);
  const usable = known ? counting.filter((value) => known.includes(value)) : counting;
  const narrowed = wanted.filter((value) => counting.includes(value));
  if (narrowed.length > 0) return narrowed;
  return counting.length > 0 ? usable : wanted;
}

/**
 * A provider that never reports when a user authenticated is asked to authenticate the user now: with `max_age` alone
 * it would be unknown whether it was honoured. Not Google, which refuses this prompt, and not a provider that announces
 * only others.
 */
function needsPrompt({ type, capabilities }: Answering): boolean {
  return type !== "google" && capabilities?.auth_time === false && capabilities.prompt_login !== false;
}
