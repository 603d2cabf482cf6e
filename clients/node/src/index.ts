export type * from "./api.ts";
export { ERROR_CODES } from "./api.ts";
export * from "./errors.ts";
export type { EventBatch, FollowOptions } from "./follow-events.ts";
export { Gatehouse, type DashboardSession, type Environment, type GatehouseOptions } from "./gatehouse.ts";
export { List, Page } from "./page.ts";
export type { ApiResponse, RateLimit } from "./response.ts";
export {
  SignIn,
  SignInError,
  UnverifiedTokensError,
  type FinishOptions,
  type SignedIn,
  type SignInProblem,
  type StartedSignInStep,
} from "./sign-in.ts";
export type { CallOptions } from "./transport.ts";
export {
  TokenError,
  TokenVerifier,
  type AccessTokenClaims,
  type TokenProblem,
  type TokenVerifierOptions,
} from "./verify-token.ts";
export {
  verifyWebhook,
  WebhookVerificationError,
  type HeaderSource,
  type WebhookDeliveryToVerify,
  type WebhookEvent,
  type WebhookProblem,
} from "./verify-webhook.ts";
