import * as z from "zod";
import { timestamp } from "../../platform/frame/schemas.ts";
import { RESERVED_CLAIMS } from "../../tenancy/reserved-claims.ts";
import { IDP_TYPES } from "../../tenancy/idp.ts";

/** RFC 6749, section 3.3. */
const scope = z.string().regex(/^[!#-[\]-~]{1,100}$/, "must be a scope: 1 to 100 visible ASCII characters");

/** The name of a class (OpenID Connect Core 1.0, section 2), as allowed in a list of them and in a header. */
const acrValue = z
  .string()
  .regex(/^[!#-[\]-~]{1,200}$/, 'must be 1 to 200 visible ASCII characters other than `"` and `\\`')
  .refine((value) => value !== "0", "means that nothing was verified (OpenID Connect Core 1.0, section 2)");

const ourClaim = z
  .string()
  .regex(/^[A-Za-z_]\w{0,63}$/, "must be a name such as `department`")
  .refine((name) => !["id", "sub", "customer_id"].includes(name), {
    error: "always comes from the provider's `sub`",
    abort: true,
  })
  .refine(
    (name) => !RESERVED_CLAIMS.has(name),
    "is reserved in access tokens and cannot be an attribute name",
  );

/** RFC 6749, appendix A: visible ASCII and spaces. */
const credential = (name: string) =>
  z.string().regex(/^[ -~]{1,1000}$/, `\`${name}\` must be 1 to 1000 visible ASCII characters`);

/** The body of POST /customers/{id}/idp (specification 2.3). */
export const idpConfiguration = z
  .strictObject({
    type: z.enum(IDP_TYPES),
    domain: z.string().min(1).max(260).meta({
      description: "The provider's host, such as `acme.okta.com`, with the port if it is not 443.",
    }),
    client_id: credential("client_id"),
    client_secret: credential("client_secret").meta({ description: "Stored encrypted and never returned." }),
    scopes: z
      .array(scope)
      .max(30)
      .refine((scopes) => new Set(scopes).size === scopes.length, "must not repeat an entry")
      .default(["openid", "profile", "email"])
      .meta({
        description:
          "Scopes to request from the provider; `openid` is always included. Users' tokens contain at most `openid`, `profile`, `email` and `groups` of them.",
      }),
    issuer: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .meta({
        description:
          "For a provider at `domain` whose issuer differs from the usual one of its type: " +
          "`https://acme.okta.com/oauth2/default`.",
      }),
    tenant: z.guid("must be the tenant's id, a GUID").toLowerCase().optional().meta({
      description: "For type `entra`: the directory's id. If omitted, it is discovered from `domain`.",
    }),
    realm: z
      .string()
      .regex(/^[\w.~-]{1,100}$/, "must be 1 to 100 letters, digits, `.`, `_`, `~` or `-`")
      .optional()
      .meta({ description: "For type `keycloak`, unless `issuer` is given." }),
    claims: z
      .record(ourClaim, z.string().min(1).max(200))
      .refine((claims) => Object.keys(claims).length <= 50, "must have at most 50 members")
      .default({})
      .meta({
        description:
          "Maps our attribute names to the provider's claims, such as `role` to `app.role`. Names of claims that access tokens " +
          "set themselves, such as `scope` and `sid`, are refused. The provider's values for the others " +
          "count only as far as the customer's `allowed_roles`, `allowed_claims` and other lists permit.",
      }),
    mfa_acr_values: z
      .array(acrValue)
      .max(20)
      .refine((values) => new Set(values).size === values.length, "must not repeat an entry")
      .optional()
      .meta({
        description:
          "Values of the claim `acr` with which this provider confirms several factors. In addition to `amr`, they satisfy " +
          "`mfa_required`, and they are requested. Default: the documented values for Okta and Auth0; none for other types.",
      }),
    verify: z.boolean().default(true).meta({
      description:
        "Whether to verify the configuration against the provider's discovery document before it is stored. Ignored in the sandbox.",
    }),
  })
  .meta({ id: "NewIdentityProvider" });
export type IdpConfiguration = z.output<typeof idpConfiguration>;

/** The configuration as returned by the API: without the secret. */
export const idp = z
  .object({
    customer_id: z.string(),
    type: z.enum(IDP_TYPES),
    domain: z.string(),
    issuer: z.string(),
    tenant: z.string().nullable(),
    realm: z.string().nullable(),
    client_id: z.string(),
    client_secret_set: z.literal(true),
    scopes: z.array(z.string()),
    claims: z.record(z.string(), z.string()),
    mfa_acr_values: z.array(z.string()).meta({ description: "The values in effect." }),
    verified_at: timestamp().nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: "IdentityProvider" });

export const deletedIdp = z
  .object({ customer_id: z.string(), deleted: z.literal(true) })
  .meta({ id: "DeletedIdentityProvider" });
