import { checkNumber } from "./check.ts";
import { ConfigurationError } from "./errors.ts";
import { AnalyticsReports } from "./resources/analytics.ts";
import { ApiKeys } from "./resources/api-keys.ts";
import { Audit } from "./resources/audit.ts";
import { Auth } from "./resources/auth.ts";
import { BulkAssignments } from "./resources/bulk-assignments.ts";
import { Clients } from "./resources/clients.ts";
import { Customers } from "./resources/customers.ts";
import { Erasures } from "./resources/erasures.ts";
import { Events } from "./resources/events.ts";
import { GatewaySync } from "./resources/gateway.ts";
import { Gateways } from "./resources/gateways.ts";
import { IdentityProviders } from "./resources/identity-providers.ts";
import { Policies } from "./resources/policies.ts";
import { PolicySets } from "./resources/policy-sets.ts";
import { Rollouts } from "./resources/rollouts.ts";
import { Sandbox } from "./resources/sandbox.ts";
import { Sessions } from "./resources/sessions.ts";
import { Users } from "./resources/users.ts";
import { Webhooks } from "./resources/webhooks.ts";
import type { ApiResponse } from "./response.ts";
import { Transport } from "./transport.ts";
import { VERSION } from "./version.ts";

export type Environment = "production" | "sandbox";

/** A person who is signed in to the dashboard. */
export interface DashboardSession {
  /** `name=value`, as `POST /dashboard/login` sets it. */
  readonly cookie: string;
  /** `csrf_token` of the same response. */
  readonly csrfToken: string;
}

export interface GatehouseOptions {
  /** `gh_live_...` in production, `gh_test_...` in the sandbox. */
  readonly apiKey?: string | undefined;
  /** In place of a key, for what only people may do: API keys and machine clients. */
  readonly dashboardSession?: DashboardSession;
  readonly environment: Environment;
  /** Where each environment is served, without `/v1`. Default: ports 8080 and 8081 of 127.0.0.1. */
  readonly baseUrls?: Partial<Readonly<Record<Environment, string>>>;
  /** The longest that a call may take, all attempts and pauses included. Default: 60,000. */
  readonly timeoutMs?: number;
  /** The longest that one attempt may take. Default: 20,000. */
  readonly attemptTimeoutMs?: number;
  /** How often a call is tried again. Default: 2. */
  readonly maxRetries?: number;
  /** Sends requests in place of the global `fetch`: a proxy, a test double. */
  readonly fetch?: typeof fetch;
}

const BASE_URLS: Readonly<Record<Environment, string>> = {
  production: "http://127.0.0.1:8080",
  sandbox: "http://127.0.0.1:8081",
};
const KEY_PREFIXES: Readonly<Record<Environment, string>> = { production: "gh_live_", sandbox: "gh_test_" };

/**
 * The API of a Gatehouse control plane.
 *
 * @example
 * const gatehouse = new Gatehouse({ apiKey: process.env.GATEHOUSE_API_KEY, environment: "sandbox" });
 * const customer = await gatehouse.customers.create({ name: "Acme" });
 */
export class Gatehouse {
  readonly environment: Environment;
  /** Where the environment is served; the issuer of its tokens, unless the control plane has another `public_url`. */
  readonly baseUrl: string;
  readonly analytics: AnalyticsReports;
  readonly apiKeys: ApiKeys;
  readonly audit: Audit;
  readonly auth: Auth;
  readonly bulkAssignments: BulkAssignments;
  readonly clients: Clients;
  readonly customers: Customers;
  readonly erasures: Erasures;
  readonly events: Events;
  readonly gateway: GatewaySync;
  readonly gateways: Gateways;
  readonly identityProviders: IdentityProviders;
  readonly policies: Policies;
  readonly policySets: PolicySets;
  readonly rollouts: Rollouts;
  readonly sandbox: Sandbox;
  readonly sessions: Sessions;
  readonly users: Users;
  readonly webhooks: Webhooks;
  readonly #transport: Transport;

  /** @throws ConfigurationError for options that cannot work, such as a key of the other environment */
  constructor(options: GatehouseOptions) {
    const { environment } = options;
    if (!Object.hasOwn(BASE_URLS, environment))
      throw new ConfigurationError("`environment` must be `production` or `sandbox`");
    this.environment = environment;
    this.baseUrl = baseUrlOf(options.baseUrls?.[environment] ?? BASE_URLS[environment]);
    const transport = new Transport({
      baseUrl: this.baseUrl,
      headers: { ...credentialsOf(options), "user-agent": `gatehouse-access-node/${VERSION}` },
      timeoutMs: checkNumber("timeoutMs", options.timeoutMs ?? 60_000),
      attemptTimeoutMs: checkNumber("attemptTimeoutMs", options.attemptTimeoutMs ?? 20_000),
      maxRetries: checkNumber("maxRetries", options.maxRetries ?? 2),
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    });
    this.#transport = transport;
    this.analytics = new AnalyticsReports(transport);
    this.apiKeys = new ApiKeys(transport);
    this.audit = new Audit(transport);
    this.auth = new Auth(transport);
    this.bulkAssignments = new BulkAssignments(transport);
    this.clients = new Clients(transport);
    this.customers = new Customers(transport);
    this.erasures = new Erasures(transport);
    this.events = new Events(transport);
    this.gateway = new GatewaySync(transport);
    this.gateways = new Gateways(transport);
    this.identityProviders = new IdentityProviders(transport);
    this.policies = new Policies(transport);
    this.policySets = new PolicySets(transport);
    this.rollouts = new Rollouts(transport);
    this.sandbox = new Sandbox(transport);
    this.sessions = new Sessions(transport);
    this.users = new Users(transport);
    this.webhooks = new Webhooks(transport);
  }

  /** The last response that arrived, with the state of its rate limit. With calls at the same time, use `onResponse`. */
  get lastResponse(): ApiResponse | undefined {
    return this.#transport.lastResponse;
  }
}

function credentialsOf({ apiKey, dashboardSession, environment }: GatehouseOptions): Record<string, string> {
  if (apiKey !== undefined && dashboardSession === undefined) {
    if (!apiKey.startsWith(KEY_PREFIXES[environment]) || !/^[\x21-\x7e]+$/.test(apiKey))
      throw new ConfigurationError(
        `\`apiKey\` is not a key of the ${environment}: they begin with ${KEY_PREFIXES[environment]}`,
      );
    return { authorization: `Bearer ${apiKey}` };
  }
  if (apiKey === undefined && dashboardSession !== undefined)
    return { cookie: dashboardSession.cookie, "x-csrf-token": dashboardSession.csrfToken };
  throw new ConfigurationError("give either `apiKey` or `dashboardSession`");
}

function baseUrlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== "" ||
    url.search + url.hash !== ""
  )
    throw new ConfigurationError(`\`${text}\` is not a base URL`);
  return url.href.replace(/\/+$/, "");
}
