import type { Task } from "../../../../src/decision/point/door.ts";
import { snapshotOf } from "../../support.ts";

export const POLICIES = snapshotOf(`
preflight: allow
policies:
  - { resource: "GET /public", condition: "true" }
  - { resource: "GET /me", condition: exists(user.id) }
  - { resource: "GET /kept", condition: "true", audit: required }
  - { resource: "* /masked", condition: exists(user.id) }
  - { resource: "GET /socket", condition: "true" }
  - { resource: "GET /body", condition: 'request.body.a == 1' }
response_filters:
  - endpoint: /masked
    filter_rules: [{ field: ssn, condition: user.role != "admin", action: remove }]
`);
export const SOCKETS = snapshotOf(`
websocket_policies:
  - connection: { path: /feed, condition: "true" }
    message_types: [{ type: ping, condition: "true" }]
`);

export const HANDSHAKE = [
  ["upgrade", "websocket"],
  ["connection", "Upgrade"],
] as const;
export const PREFLIGHT = [
  ["origin", "https://app.test"],
  ["access-control-request-method", "PUT"],
  ["cookie", "a=b"],
] as const;
export const EVERYTHING: ReadonlySet<Task> = new Set([
  "request_headers",
  "response",
  "preflight",
  "messages",
  "connection",
]);
