import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The rows of the specification, by its sections: fields, keys, endpoints, values and statuses as it spells them. */
const ROWS: Readonly<Record<string, readonly string[]>> = {
  "2.1": ["success", "data", "error", "meta.timestamp", "meta.request_id", "pagination"],
  "2.2": ["id", "name", "status", "created_at", "customer_id"],
  "2.3": ["type", "domain", "client_id", "client_secret", "scopes"],
  "2.4": ["name", "description", "type", "conditions", "mfa_required", "max_session_duration"],
  "2.5": ["customer_id", "return_url", "scopes", "authorization_url", "state", "expires_in"],
  "2.6": ["url", "events", "secret"],
  "2.7": ["current_page", "total_pages", "total_items", "page_size"],
  "2.8": [
    ...["timestamp", "request_id", "user_id", "resource", "action", "decision", "policy_set"],
    ...["evaluation_time_ms", "client_ip"],
  ],
  "2.9": [
    ...["policies", "web_policies", "response_filters", "response_masks", "graphql_policies"],
    ...["websocket_policies", "connection", "message_types"],
  ],
  "2.10": [
    ...[
      "listen_port",
      "upstream_timeout",
      "provider",
      "issuer",
      "audience",
      "policy_set",
      "refresh_interval",
    ],
    ...["cache_size", "enabled", "destination", "level", "nodes", "coordination", "health_check_interval"],
    ...["policy_cache_ttl", "connection_pool_size", "request_timeout", "tls_min_version", "hsts_header"],
    ...["request_size_limit", "requests_per_second", "burst_size"],
  ],
  "2.11": ["x-backend-url", "x-user-token", "x-real-ip"],
  "3": ["customer status", "active", "decision values", "ALLOW"],
  "4.1": ["POST /auth/authorize", "POST /auth/token", "POST /auth/refresh", "DELETE /auth/logout"],
  "4.2": ["GET /customers", "POST /customers", "PUT /customers/{id}", "POST /customers/{id}/idp"],
  "4.3": ["GET /policies", "POST /policies", "PUT /policies/{id}", "POST /customers/{id}/policies"],
  "4.4": ["GET /analytics/dashboard", "GET /analytics/events", "GET /analytics/users", "GET /audit/logs"],
  "4.5": ["POST /webhooks"],
  "4.6": ["Authorization", "Content-Type", "Accept", "page", "limit", "status", "sort", "order", "N6"],
  "5": [
    "401",
    "403",
    "dashboard user",
    "read_only",
    "configuration",
    "authentication",
    "full_access",
    "sandbox",
  ],
  "6": ["user.authenticated", "policy.violated", "id", "type", "timestamp", "data.user", "data.session"],
  "7": ["200", "201", "400", "401", "403", "404", "422", "429", "500"],
  "8": ["authentication", "management", "analytics", "x-ratelimit-limit", "expires_in"],
  "9": ["/v1", "policy sets"],
};

/** Tests, and the cases that are data. */
const sources = globSync("**/{*.test.ts,*.txtar}", { cwd: import.meta.dirname })
  .filter((name) => name !== "specification.test.ts")
  .map((name) => readFileSync(join(import.meta.dirname, name), "utf8"));

describe("the specification", () => {
  for (const [section, rows] of Object.entries(ROWS))
    it(`${section} has a test that names each row`, () => {
      const number = section.replace(".", String.raw`\.`);
      // at the beginning of a title, or among the sections that a title lists
      const title = new RegExp(
        String.raw`(?:\b(?:describe|it)\(\s*["\`]|specification\b[^"\`\n]*[ (])${number}(?=[ ,):"\`])`,
      );
      const naming = sources.filter((text) => title.test(text));
      const words = (row: string) =>
        new RegExp(String.raw`(?<![\w/])${row.replace(/[.{}]/g, String.raw`\$&`)}(?!\w)`);
      const missing = rows.filter((row) => !naming.some((text) => words(row).test(text)));
      assert.deepEqual(missing, []);
    });
});
