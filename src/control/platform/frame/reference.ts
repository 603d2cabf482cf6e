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

/** The reference page of the API as Markdown: what docs/api.md must be. */
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

/** `dashboardUser` as people say it. */
function words(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

const SCOPE_TEXT = `An API key has one scope, a dashboard user one role. A refusal (403) names the required scopes or roles.
Scope \`gateway\` is for gateways that sync with the control plane and permits nothing else.`;

const WARNING_TEXT = `An answer has \`warnings\` where what was done as asked may not do what was meant. Each is \`code\`, \`message\`, and
\`policy_id\` where a policy asks for what is missing; \`customers\` is how many of the policy's customers it concerns.`;

const INTRODUCTION = `# API

<!-- Generated from src/control by \`GATEHOUSE_UPDATE=1 npx mocha test/control/platform/frame/reference.test.ts\`: do not edit. -->

All paths are below \`/v1\`. Schemas of all bodies and answers: \`/v1/openapi.json\` (OpenAPI 3.1), readable at \`/docs\` of a
running control plane.

- **Keys**: \`Authorization: Bearer gh_live_...\` in production, \`gh_test_...\` in the sandbox. A key that is limited to a
  customer sees 404 for every other one.
- **Envelope**: \`success\`, then \`data\` (and \`pagination\` of lists) or \`error\` (\`code\`, \`message\`, \`details\`), and \`meta\`
  (\`timestamp\`, \`request_id\`). 400 is for what cannot be read, 422 for what can be and is not valid, with the path of each
  field in \`details.fields\`.
- **Lists**: \`page\` (from 1), \`limit\` (20 unless given, at most 100), \`sort\`, \`order\` (\`desc\` unless given), and filters.
- **Idempotency-Key** on POST: repeated within 24 hours it gets the first answer, and nothing is done twice.
- **ETag** and **If-Match**: a change whose \`If-Match\` is not the resource's ETag is refused (412).
- **Limits** a minute and key (with those that it was rolled to), by group (${RATE_GROUPS.join(", ")}): \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and
  \`X-RateLimit-Reset\` (Unix seconds) on every answer, \`Retry-After\` with 429.`;
