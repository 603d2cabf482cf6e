import { domainToASCII } from "node:url";
import * as z from "zod";
import { ipRange } from "../../platform/frame/ip-range.ts";
import { someOf } from "../../platform/frame/schemas.ts";

/** A year: a longer limit would be no limit. */
const MAX_DURATION = 31_536_000;

/** A domain; subdomains are separate domains. */
const emailDomain = z
  .string()
  .max(253)
  .transform((text, context) => {
    // percent-encoding would be decoded
    const domain = text.includes("%") ? "" : domainToASCII(text.toLowerCase());
    if (/^(?=.{1,253}$)(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[\d-]*[a-z][a-z\d-]*$/.test(domain))
      return domain;
    context.addIssue({
      code: "custom",
      message: "must be a domain such as `example.com`, without `@` or wildcards; list each subdomain",
    });
    return z.NEVER;
  })
  .meta({ type: "string", maxLength: 253, examples: ["example.com"] });

/** What an `authentication` policy requires of a sign-in. */
export const authenticationConditions = someOf({
  mfa_required: z.boolean(),
  max_session_duration: z
    .int()
    .min(60)
    .max(MAX_DURATION)
    .meta({ description: "Maximum time since the user authenticated, in seconds." }),
  allowed_email_domains: z.array(emailDomain).min(1).max(100),
  allowed_ip_ranges: z
    .array(ipRange)
    .min(1)
    .max(100)
    .meta({ description: "Addresses, or networks in CIDR notation, that the user's browser must have." }),
}).meta({ id: "AuthenticationConditions" });

/** What an `authorization` policy requires of each request. */
export const authorizationConditions = z
  .strictObject({
    policy_set: z
      .string()
      .min(1)
      .max(200)
      .meta({ description: "The name of a published policy set that must also permit the request." }),
  })
  .meta({ id: "AuthorizationConditions" });
