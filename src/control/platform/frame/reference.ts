import { inBackticks } from "../../../text/index.ts";
import {
  namesWith,
  ROLE_PERMISSIONS,
  ROLES,
  SCOPE_PERMISSIONS,
  SCOPES,
  type Permission,
  PERMISSIONS,
} from "../actor.ts";
import { ERROR_CODES } from "../errors.ts";
import { ID_PREFIXES } from "../ids.ts";
import { WARNING_CODES } from "../warnings.ts";
import { RATE_GROUPS, type Route } from "./route.ts";

/** The reference page of the API as Markdown: the content of docs/api.md. */
export function apiReference(routes: readonly Route[]): string {
  const tags = Map.groupBy(routes, ({ tag }) => tag);
  const resources = [...tags].map(([tag, listed]) => `### ${tag}\n\n${routeTable(listed)}`);
  return `${[
    INTRODUCTION,
    "## Routes",
    ...resources,
    "## Scopes and roles",
    SCOPE_TEXT,
    matrix(),
    "## Error codes",
    errorTable(),
    "## Warning codes",
    WARNING_TEXT,
    warningTable(),
    "## Ids",
    table(
      ["Resource", "Prefix"],
      Object.entries(ID_PREFIXES).map(([kind, prefix]) => [words(kind), `\`${prefix}_\``]),
    ),
  ].join("\n\n")}\n`;
}

function routeTable(routes: readonly Route[]): string {
  return table(
    ["Method and path", "", "Scopes", "Dashboard roles", "Limit"],
    routes.map(({ method, path, summary, permission, group }) => [
      `\`${method.toUpperCase()} ${path}\``,
      summary,
      permission === "public" ? "none needed" : names(namesWith(SCOPE_PERMISSIONS, permission)),
      permission === "public" ? "none needed" : names(namesWith(ROLE_PERMISSIONS, permission)),
      group,
    ]),
  );
}

function matrix(): string {
  const cells = (permissions: readonly Permission[]) =>
    PERMISSIONS.map((permission) => (permissions.includes(permission) ? "yes" : ""));
  return table(
    ["", ...PERMISSIONS],
    [
      ...SCOPES.map((scope) => [`scope \`${scope}\``, ...cells(SCOPE_PERMISSIONS[scope])]),
      ...ROLES.map((role) => [`role \`${role}\``, ...cells(ROLE_PERMISSIONS[role])]),
    ],
  );
}

function warningTable(): string {
  return table(
    ["Code", ""],
    Object.entries(WARNING_CODES).map(([code, message]) => [`\`${code}\``, message]),
  );
}

function errorTable(): string {
  return table(
    ["Code", "Status", ""],
    Object.entries(ERROR_CODES).map(([code, { status, message }]) => [
      `\`${code}\``,
      String(status),
      message,
    ]),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function names(list: readonly string[]): string {
  return inBackticks(list) || "-";
}

/** `dashboardUser` as words. */
function words(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

const SCOPE_TEXT = `An API key has one scope, a dashboard user one role. A refusal (403) names the required scopes or roles.
Scope \`gateway\` is for gateways that sync with the control plane and permits nothing else. Scope \`caller\` permits nothing here: gateways
identify callers of applications by such keys.`;

const WARNING_TEXT = `A response has \`warnings\` if the request was carried out but may not have the intended effect. Each has \`code\` and
\`message\`; if a policy requires what is missing, also \`policy_id\`, and \`customers\` for the number of its customers that are affected.`;

const INTRODUCTION = `# API

<!-- Generated from src/control by \`GATEHOUSE_UPDATE=1 npx mocha test/control/platform/frame/reference.test.ts\`: do not edit. -->

All paths are below \`/v1\`. The schemas of all bodies and responses are at \`/v1/openapi.json\` (OpenAPI 3.1), and readable at
\`/docs\` of a running control plane.

- **Keys**: \`Authorization: Bearer gh_live_...\` in production, \`gh_test_...\` in the sandbox. A key that is limited to one
  customer gets 404 for all others.
- **Envelope**: \`success\`, then \`data\` (for lists also \`pagination\`) or \`error\` (\`code\`, \`message\`, \`details\`), and \`meta\`
  (\`timestamp\`, \`request_id\`). 400 means that the request cannot be read; 422 that it was read but is not valid, with the path
  of each invalid field in \`details.fields\`.
- **Lists**: \`page\` (from 1), \`limit\` (default 20, at most 100), \`sort\`, \`order\` (default \`desc\`), and filters.
- **Idempotency-Key** for POST: a request that is repeated within 24 hours gets the first response, and nothing is done twice.
- **PUT** and **PATCH** change the given members only. PATCH merges members whose names are free, such as \`metadata\` (RFC 7396):
  what is not named stays, and \`null\` removes a name. Its body may also be \`application/merge-patch+json\`.
- **ETag**, **If-Match** and **If-None-Match**: a change whose \`If-Match\` is not the resource's ETag is refused (412). Customers,
  their identity providers and policies are answered 304 to those who have them.
- **Rate limits** per minute and key (keys that replace each other count as one), by group (${RATE_GROUPS.join(", ")}):
  \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (Unix seconds) are in every response, \`Retry-After\` in a 429.`;
