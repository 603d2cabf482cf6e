import { provesMultipleFactors } from "../../customer-state/index.ts";
import type { IdpRow } from "../tenancy/idp.ts";
import { mfaAcrValues, PAPE_MULTI_FACTOR } from "../tenancy/mfa-acr-values.ts";

/**
 * The values of `acr` that the sandbox's provider vouches for several factors with: those of the provider that the customer
 * has configured, for gateways and applications meet these in production.
 */
export function sandboxAcrValues(configured: IdpRow | undefined): readonly string[] {
  const values = configured === undefined ? [] : mfaAcrValues(configured);
  return values.length > 0 ? values : [PAPE_MULTI_FACTOR];
}

/** How somebody has proved who they are. */
export interface Evidence {
  readonly amr: string[];
  readonly acr?: string;
}

/**
 * @param asked - `acr_values` of the request
 * @param counting - {@link sandboxAcrValues} of the customer
 * @param secondFactor - they prove themselves in another way too, whatever they usually do
 */
export function evidenceOf(
  { amr }: { readonly amr: readonly string[] },
  asked: string | undefined,
  counting: readonly string[],
  secondFactor: boolean,
): Evidence {
  const methods = secondFactor && !provesMultipleFactors(amr) ? [...amr, "mfa"] : [...amr];
  if (!provesMultipleFactors(methods)) return { amr: methods };
  const acr = countingOf(asked, counting)[0] ?? counting[0];
  return { amr: methods, ...(acr !== undefined && { acr }) };
}

/** What of `acr_values` says that several factors are asked for. */
export function countingOf(asked: string | undefined, counting: readonly string[]): readonly string[] {
  return asked?.split(" ").filter((value) => counting.includes(value)) ?? [];
}
