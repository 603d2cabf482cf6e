import { NO_DECISIONS } from "../../../src/decision/rollout/arm-sample.ts";
import type { Seeded } from "./seed.ts";
import { setOf } from "./policy-files.ts";

/** What a body refers to. */
export type References = Pick<Seeded, "customer" | "user" | "policy" | "session" | "policySet">;

const RETURN_URL = "https://acme.example.com/back";

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");

/**
 * A valid body of every route that takes one, by its operation; whatever it can refer to, it does. A route that is new must
 * be added, which a test asks for.
 */
export const BODIES: Readonly<Record<string, (of: References) => Record<string, unknown>>> = {
  startSignIn: ({ customer }) => ({ customer_id: customer, return_url: RETURN_URL }),
  exchangeCode: ({ customer }) => ({
    code: "c0de",
    customer_id: customer,
    state: "st",
    return_url: RETURN_URL,
  }),
  refreshTokens: () => ({ refresh_token: "t0ken" }),
  logout: ({ session }) => ({ session_id: session }),
  createCustomer: () => ({ name: "New", external_id: "ext-1", allowed_return_urls: [RETURN_URL] }),
  updateCustomer: () => ({ name: "Changed" }),
  patchCustomer: () => ({ metadata: { plan: "gold" } }),
  configureCustomerIdp: () => ({
    type: "oidc",
    domain: "idp.example.com",
    client_id: "client",
    client_secret: "a client's secret",
    verify: false,
  }),
  testCustomerIdp: () => ({ token: `${encoded({ alg: "none" })}.${encoded({ sub: "s" })}.` }),
  createUser: () => ({
    subject: "sub",
    email: "new@example.com",
    name: "New",
    attributes: { role: "viewer" },
  }),
  updateUser: () => ({ status: "suspended" }),
  patchUser: () => ({ status: "suspended", attributes: { role: null } }),
  createPolicy: () => ({ name: "New", type: "authentication", conditions: { mfa_required: true } }),
  updatePolicy: () => ({ name: "Changed", description: "of a policy" }),
  patchPolicy: () => ({ conditions: { mfa_required: true } }),
  assignPolicies: ({ policy }) => ({ policy_ids: [policy] }),
  assignPolicyInBulk: ({ customer }) => ({ action: "preview", customers: { ids: [customer] } }),
  publishPolicySet: () => ({ name: "new-set", files: setOf("v1") }),
  validatePolicySet: () => ({ name: "new-set", files: setOf("v1") }),
  activatePolicySet: () => ({ version: "v1" }),
  startRollout: () => ({ version: "v1", mode: "enforce", percentage: 10 }),
  abortRollout: () => ({ detail: "because" }),
  createWebhook: ({ customer }) => ({
    url: "http://127.0.0.1:9/",
    events: ["user.authenticated"],
    secret: "chosen-by-the-caller",
    customer_id: customer,
    description: "new",
  }),
  updateWebhook: () => ({ description: "changed" }),
  patchWebhook: () => ({ description: "changed" }),
  rotateWebhookSecret: () => ({ secret: "chosen-by-the-caller" }),
  createApiKey: ({ customer }) => ({ name: "New", scope: "read_only", customer_id: customer }),
  updateApiKey: () => ({ name: "Changed" }),
  patchApiKey: () => ({ name: "Changed" }),
  rollApiKey: () => ({ overlap: 60 }),
  createClient: ({ customer }) => ({ name: "New", scopes: ["reports:read"], customer_id: customer }),
  updateClient: () => ({ name: "Changed" }),
  patchClient: () => ({ name: "Changed" }),
  rotateClientSecret: () => ({ overlap_seconds: 60 }),
  setUp: () => ({ token: "t0ken", email: "new@example.com", name: "New", password: "a long enough one" }),
  acceptInvitation: () => ({ token: "t0ken", password: "a long enough one" }),
  logIn: () => ({ email: "new@example.com", password: "a long enough one" }),
  changePassword: () => ({ current_password: "a long enough one", new_password: "another long one" }),
  inviteDashboardUser: () => ({ email: "new@example.com", name: "New", role: "viewer" }),
  updateDashboardUser: () => ({ name: "Changed" }),
  patchDashboardUser: () => ({ name: "Changed" }),
  takeRecords: () => ({ records: [] }),
  takeStatistics: () => ({
    instance: "i",
    sequence: 1,
    from: "2026-01-01T00:00:00Z",
    to: "2026-01-01T00:01:00Z",
    caches: [],
    audit: { decided: 1, recorded: 1, dropped: 0 },
  }),
  registerGateway: () => ({
    ...{ id: "gateway-1", kind: "gateway", address: "http://127.0.0.1:8080", version: "1.0.0" },
    policies: { source: "directory", set: "main", version: null, digest: null },
    rollout: null,
    workers: { expected: 1, ready: 1 },
    ...{
      started_at: "2026-01-01T00:00:00Z",
      sent_at: "2026-01-01T00:01:00Z",
      interval_ms: 5_000,
      leaving: false,
    },
  }),
  reportRollout: () => ({
    ...{ gateway: "gateway-1", rollout: "rol_none", revision: 1 },
    ...{ samples: { stable: NO_DECISIONS, candidate: NO_DECISIONS } },
    ...{ totals: { stable: NO_DECISIONS, candidate: NO_DECISIONS } },
    ...{ shadow: null, taken_back: null },
  }),
  createPerson: ({ customer }) => ({ customer_id: customer, email: "mock@example.com", name: "Mock" }),
  signInHeadless: ({ customer }) => ({
    customer_id: customer,
    person: { email: "mock@example.com", name: "Mock" },
  }),
};
