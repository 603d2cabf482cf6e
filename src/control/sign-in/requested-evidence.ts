import type { IdpRow } from "../tenancy/idp.ts";
import { mfaAcrValues } from "../tenancy/mfa-acr-values.ts";
import type { AuthenticationRules } from "../../customer-state/index.ts";
import type { AuthorizeBody } from "./schemas.ts";

/** What a provider is asked to prove of a user (OpenID Connect Core 1.0, section 3.1.2.1). */
export interface RequestedEvidence {
  readonly parameters: {
    readonly acr_values?: string;
    /** Seconds. */
    readonly max_age?: string;
    readonly prompt?: string;
  };
  /** Whether the sign-in here counts as the time of authentication, where the provider does not say. */
  readonly asksFresh: boolean;
}

type Asked = Pick<AuthorizeBody, "acr_values" | "max_age" | "prompt">;
type Asking = Pick<AuthenticationRules, "mfa_required" | "max_session_duration">;
type Answering = Pick<IdpRow, "type" | "mfa_acr_values" | "capabilities">;

/** What the policies ask for, which the application can narrow and not widen. */
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
    // any other provider must say `auth_time` where it is asked for an age: one that is silent was not asked, for the browser
    // carries the request, and its user can take `max_age` out; one that does not know the prompt does nothing for it, though
    // the application has asked for it
    asksFresh: promptCounts && prompt?.split(" ").includes("login") === true,
  };
}

/** The application's own prompt never replaces `login`; with `none`, nothing can stand beside it. */
function promptFor(asked: Asked["prompt"], needsLogin: boolean): string | undefined {
  if (!needsLogin || asked === "none" || asked === "login") return asked;
  return asked === undefined ? "login" : `login ${asked}`;
}

/**
 * In order of preference. Where several factors are required, only what counts as such is asked for: another class would
 * end in a refusal. What a provider does not know is left out, for some refuse it.
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
 * A provider that never says when a user proved who they are is asked to have it done now: `max_age` alone would leave
 * open whether it was heeded. Not Google, which refuses this prompt, nor one that announces others alone.
 */
function needsPrompt({ type, capabilities }: Answering): boolean {
  return type !== "google" && capabilities?.auth_time === false && capabilities.prompt_login !== false;
}
