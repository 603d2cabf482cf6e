import { newId } from "../src/control/platform/ids.ts";
import type { Database } from "../src/storage/index.ts";
import { effort } from "./effort.ts";

const CUSTOMERS = 1_000_000;
/** Of one customer, as of all others together: the pages list those of one. */
const USERS_OF_ONE = 50_000;
const SESSIONS = 500_000;
const POLICIES = 10_000;
const SETS = 1_000;
const VERSIONS_OF_ONE = 1_000;
const GATEWAYS = 500;
const WEBHOOKS = 1_000;
const DELIVERIES = 1_000_000;
const MINUTE = "interval '1 minute'";

/** What the routes of {@link resourceRequests} are asked for. */
export interface BenchResources {
  readonly customer: string;
  readonly policy: string;
  readonly webhook: string;
}

/** What the dashboard's pages list, written by the database itself: `n` counts from 1, and ids sort as they were made. */
export async function fillResources(db: Database): Promise<BenchResources> {
  const idOf = (id: string) => `'${id.slice(0, -12)}' || lpad(n::text, 12, '0')`;
  const first = (id: string) => `${id.slice(0, -12)}${"1".padStart(12, "0")}`;
  const [customer, user, session] = [newId("customer"), newId("user"), newId("session")];
  const [policy, webhook, delivery] = [newId("policy"), newId("webhook"), newId("delivery")];
  const insert = (table: string, columns: string, values: string, count: number) =>
    db.raw(`insert into ${table} (${columns}) select ${values} from generate_series(1, ${count}) n`);
  const age = (count: number) => `now() - ${MINUTE} * (${count} - n)`;

  const customers = effort(CUSTOMERS);
  await insert(
    "customers",
    "id, name, name_key, status, allowed_return_urls, metadata, created_at, updated_at",
    `${idOf(customer)}, 'Customer ' || n, 'customer ' || n, 'active', '{}', '{}', ${age(customers)}, ${age(customers)}`,
    customers,
  );
  const users = effort(USERS_OF_ONE);
  await insert(
    "users",
    `id, customer_id, issuer, subject, email, name, status, profile, attributes, created_at, updated_at,
     last_sign_in_at`,
    `${idOf(user)}, '${first(customer)}', 'https://idp.example', 'sub-' || n, n || '@example.com', 'User ' || n,
     'active', '{}', '{}', ${age(users)}, ${age(users)}, now()`,
    users,
  );
  const sessions = effort(SESSIONS);
  await insert(
    "sessions",
    `id, customer_id, user_id, client_id, scope, amr, ip_address, user_agent, created_at, last_used_at, expires_at,
     alive_until`,
    `${idOf(session)}, '${first(customer)}', '${user.slice(0, -12)}' || lpad((n % ${users} + 1)::text, 12, '0'), 'key_1',
     'openid', '[]', '192.0.2.7', 'Mozilla/5.0', ${age(sessions)}, ${age(sessions)}, now() + interval '1 hour',
     now() + interval '1 hour'`,
    sessions,
  );
  const policies = effort(POLICIES);
  await insert(
    "policies",
    "id, name, name_key, description, type, status, conditions, created_at, updated_at",
    `${idOf(policy)}, 'Policy ' || n, 'policy ' || n, '', 'authentication', 'active', '{"mfa_required": true}',
     ${age(policies)}, ${age(policies)}`,
    policies,
  );
  // one policy that all customers have
  await db.raw(
    `insert into policy_assignments (customer_id, policy_id, assigned_at)
     select id, '${first(policy)}', created_at from customers`,
  );
  const sets = effort(SETS);
  await insert(
    "policy_sets",
    "name, activated, activated_at, created_at, updated_at",
    `'set-' || n, '{v1}', now(), ${age(sets)}, ${age(sets)}`,
    sets,
  );
  const version = (name: string, of: string, count: number) =>
    insert(
      "policy_set_versions",
      "name, version, digest, files, rules, diagnostics, published_at, published_by",
      `${name}, ${of}, md5(n::text), '[]', 10, '[]', ${age(count)}, '{"kind": "system", "id": "bench", "name": "bench"}'`,
      count,
    );
  await version("'set-' || n", "'v1'", sets);
  await version("'set-1'", "'w' || n", effort(VERSIONS_OF_ONE));
  await insert(
    "gateways",
    `sender, id, name, kind, address, version, policy_source, policy_set, digest_since, workers_expected,
     workers_ready, interval_ms, clock_offset_ms, started_at, registered_at, seen_at, status`,
    `'sender-' || n, 'edge-' || n, 'edge-' || n, 'gateway', 'http://10.0.0.4:8000', '0.1.0', 'control_plane', 'set-1',
     now(), 2, 2, 60000, 0, now(), now(), now(), 'alive'`,
    effort(GATEWAYS),
  );
  const webhooks = effort(WEBHOOKS);
  await insert(
    "webhooks",
    "id, url, events, enabled, secret, created_at, updated_at",
    `${idOf(webhook)}, 'https://receiver.example/' || n, '{*}', true, '', ${age(webhooks)}, ${age(webhooks)}`,
    webhooks,
  );
  const deliveries = effort(DELIVERIES);
  // half of them are of one webhook
  await insert(
    "webhook_deliveries",
    `id, webhook_id, event_id, event_type, payload, retried, status, attempts, finished_at, response_status,
     created_at`,
    `${idOf(delivery)}, '${webhook.slice(0, -12)}' || lpad((case when n % 2 = 0 then 1 else n % ${webhooks} + 1 end)::text, 12, '0'),
     'evt_' || n, 'user.authenticated', '{}', false, 'delivered', 1, now(), 204, ${age(deliveries)}`,
    deliveries,
  );
  return { customer: first(customer), policy: first(policy), webhook: first(webhook) };
}

/** What the pages of the dashboard ask for when they are opened. */
export function resourceRequests({ customer, policy, webhook }: BenchResources): [string, string][] {
  return [
    ["customers", "/customers?page=1&limit=25"],
    ["customers whose name contains something", "/customers?name=omer%209&page=1&limit=25"],
    ["users of a customer", `/customers/${customer}/users?page=1&limit=25`],
    [
      "users of a customer by last sign-in",
      `/customers/${customer}/users?sort=last_sign_in_at&order=desc&limit=25`,
    ],
    ["sessions of a customer", `/sessions?customer_id=${customer}&page=1&limit=25`],
    [
      "sessions of a customer by last use",
      `/sessions?customer_id=${customer}&sort=last_used_at&order=desc&limit=25`,
    ],
    ["policies", "/policies?page=1&limit=25"],
    ["policies by name", "/policies?name=policy%209&sort=name&order=asc&limit=25"],
    ["customers of a policy", `/policies/${policy}/customers?page=1&limit=25`],
    ["policy sets", "/policy-sets?page=1&limit=25"],
    ["versions of a policy set", "/policy-sets/set-1/versions?page=1&limit=25"],
    ["rollouts of a policy set", "/policy-sets/set-1/rollouts?page=1&limit=25"],
    ["gateways", "/gateways?page=1&limit=25"],
    ["webhooks", "/webhooks?page=1&limit=25"],
    ["deliveries of a webhook", `/webhooks/${webhook}/deliveries?page=1&limit=25`],
  ];
}
