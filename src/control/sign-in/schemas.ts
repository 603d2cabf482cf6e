import * as z from "zod";
import { STEPS } from "./test-provider.ts";
import { pathId, timestamp } from "../platform/frame/schemas.ts";
import { droppedClaim } from "../resources/users/schemas.ts";

const line = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((value) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value), "must not contain control characters");

/** OpenID Connect Core 1.0, section 3.1.2.1: in the form used in a challenge (RFC 9470, section 3). */
const acrValues = z
  .string()
  .max(1000)
  .regex(/^[!#-[\]-~]+(?: [!#-[\]-~]+){0,19}$/, "must be up to 20 class names, separated by single spaces")
  .meta({
    description:
      "Classes of authentication, in order of preference, as in the `acr_values` of a challenge. Where a policy requires " +
      "several factors, only classes that satisfy it are requested.",
  });

/** Specification 2.5, and the members of a challenge (RFC 9470, section 4). */
export const authorizeBody = z
  .strictObject({
    customer_id: pathId(),
    return_url: z.string().min(1).max(2000),
    scopes: z.array(line(100)).max(50).optional(),
    login_hint: line(320).optional(),
    acr_values: acrValues.optional(),
    prompt: z.enum(["none", "login", "consent", "select_account"]).optional(),
    max_age: z.int().min(0).max(31_536_000).optional().meta({
      description:
        "maximum time since the user authenticated, in seconds; a stricter policy takes precedence",
    }),
  })
  .meta({ id: "SignInRequest" });
export type AuthorizeBody = z.output<typeof authorizeBody>;

export const authorizeAnswer = z
  .object({
    authorization_url: z.string().meta({ format: "uri" }),
    state: z.string(),
    expires_in: z.int(),
  })
  .meta({ id: "StartedSignIn" });

/** Parameters that providers send; unknown ones are ignored. */
export const callbackQuery = z.looseObject({
  state: z.string().optional(),
  code: z.string().optional(),
  iss: z.string().optional(),
  error: z.string().optional(),
  error_description: z.string().optional(),
});
export type CallbackQuery = z.output<typeof callbackQuery>;

export const tokenBody = z
  .strictObject({
    grant_type: z.literal("authorization_code").optional(),
    code: z.string().min(1).max(200),
    customer_id: pathId().optional(),
    state: z.string().min(1).max(200).optional(),
    return_url: z.string().min(1).max(2000).optional(),
  })
  .meta({ id: "CodeExchange" });
export type TokenBody = z.output<typeof tokenBody>;

export const refreshBody = z
  .strictObject({
    grant_type: z.literal("refresh_token").optional(),
    refresh_token: z.string().min(1).max(200),
  })
  .meta({ id: "TokenRefresh" });
export type RefreshBody = z.output<typeof refreshBody>;

const tokenUser = z
  .looseObject({
    id: z.string(),
    email: z.string().nullable(),
    name: z.string().nullable(),
    customer_id: z.string(),
    role: z.unknown(),
    department: z.unknown(),
    permissions: z.unknown(),
  })
  .meta({ description: "the user with all attributes; `null` if there is none" })
  .meta({ id: "SignedInUser" });

const tokenSession = z
  .object({
    id: z.string(),
    customer_id: z.string(),
    user_id: z.string(),
    created_at: timestamp(),
    expires_at: timestamp(),
    auth_time: timestamp().nullable(),
    amr: z.array(z.string()),
    acr: z.string().nullable(),
    ip_address: z.string(),
    user_agent: z.string(),
  })
  .meta({ id: "TokenSession" });

/** RFC 6749, section 5.1, and the user. */
export const tokenAnswer = z
  .object({
    access_token: z.string(),
    token_type: z.literal("Bearer"),
    expires_in: z.int(),
    refresh_token: z.string(),
    refresh_expires_in: z.int(),
    scope: z.string(),
    id_token: z
      .string()
      .optional()
      .meta({ description: "for scope `openid`: the ID token, also the hint for `/oauth2/logout`" }),
    user: tokenUser,
    session: tokenSession,
  })
  .meta({ id: "Tokens" });

/** Parameters that are also allowed in the query; not a refresh token, because URLs are logged. */
export const logoutQuery = z.strictObject({
  session_id: pathId().optional(),
  user_id: pathId().optional(),
  customer_id: pathId().optional(),
  post_logout_return_url: z.string().min(1).max(2000).optional(),
  state: z.string().min(1).max(512).optional(),
});

export type LogoutQuery = z.output<typeof logoutQuery>;

export const logoutBody = logoutQuery
  .extend({ refresh_token: z.string().min(1).max(200).optional() })
  .meta({ id: "LogoutRequest" })
  .optional()
  .meta({ description: "whose sessions end: one of `session_id`, `refresh_token` and `user_id`" });

export type LogoutBody = z.output<typeof logoutBody>;

export const logoutAnswer = z
  .object({
    ended: z.int().meta({ description: "the number of sessions that this request ended" }),
    end_session_url: z
      .string()
      .optional()
      .meta({ description: "where to send the browser to also end its session at the identity provider" }),
  })
  .meta({ id: "Logout" });

export const providerTestBody = z
  .strictObject({
    token: z.string().min(1).max(100_000).optional().meta({
      description: "An ID token of the provider, to try the claim mapping on. Its signature is not checked.",
    }),
  })
  .meta({ id: "IdpTestRequest" });

export const providerTest = z
  .object({
    steps: z.array(
      z.object({
        step: z.enum(STEPS),
        status: z.enum(["passed", "failed", "skipped"]),
        reason: z.string().nullable().meta({ description: "A code, of a failed step." }),
      }),
    ),
    identity: z
      .object({
        subject: z.string(),
        email: z.string().nullable(),
        name: z.string().nullable(),
        amr: z.array(z.string()),
        acr: z.string().nullable(),
        attributes: z
          .record(z.string(), z.unknown())
          .meta({ description: "What access tokens would contain." }),
        not_permitted: z
          .array(droppedClaim)
          .meta({ description: "What the customer's lists, such as `allowed_roles`, do not permit." }),
        unusable: z
          .array(z.string())
          .meta({ description: "Mapped claims of a form or size that is not accepted." }),
      })
      .nullable(),
  })
  .meta({ id: "IdpTest" });
