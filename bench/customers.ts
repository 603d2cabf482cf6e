import { Agent, request as ask } from "node:http";
import pg from "pg";
import { newId } from "../src/control/platform/ids.ts";
import { closeDatabase, openDatabase, type Database } from "../src/storage/index.ts";
import { startControl } from "../test/support/control.ts";
import { startControlPlaneProcess } from "../test/support/control-plane.ts";
import { withPlaneDatabase } from "../test/support/plane-database.ts";
import { effort } from "./effort.ts";
import { percentile } from "./statistics.ts";

interface Row {
  readonly request: string;
  readonly connections: number;
  readonly p50_ms: number;
  readonly p95_ms: number;
  readonly per_second: number;
  readonly sql_p50_ms: number;
  readonly sql_per_second: number;
  readonly rate_to_sql: number;
}

/** One kind of request. */
interface Kind {
  readonly request: string;
  readonly method: "GET" | "POST";
  readonly path: (id: string) => string;
  readonly body?: object;
  /** The customer of the request; a different one each time. */
  readonly some?: () => string;
}

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

const CUSTOMERS = 1_000_000;
const CONNECTIONS = [1, 16];
/** As many as the control plane has to its database. */
const POOL = 10;
const MS = 4_000;
const WARM_MS = 1_000;
const LIMIT = 10_000_000;

/**
 * Routes over a million customers: a `gatehouse control-plane` as a user starts it, and the statements that the same
 * requests lead to, sent by `pg` alone.
 */
export async function benchmarkCustomers(): Promise<Row[]> {
  const plane = await startControlPlaneProcess({
    config: { api: { rate_limits: { management: LIMIT, authentication: LIMIT, analytics: LIMIT } } },
  });
  try {
    const key = await plane.createKey("production", "full_access");
    return await withPlaneDatabase(plane, async (db, url) => {
      await fill(db);
      const pool = new pg.Pool({ connectionString: url, max: POOL });
      try {
        const rows: Row[] = [];
        for (const kind of kinds()) await measure(2, callsOf(plane.url.production, key, kind, 2));
        for (const kind of kinds()) {
          const statements = await statementsOf(url, kind);
          for (const connections of CONNECTIONS) {
            const api = await measure(connections, callsOf(plane.url.production, key, kind, connections));
            const sql = await measure(connections, replaysOf(pool, kind, statements));
            rows.push(rowOf(kind.request, connections, api, sql));
          }
        }
        return rows;
      } finally {
        await pool.end();
      }
    });
  } finally {
    await plane.stop();
  }
}

const idOf = (count: number) => `cus_${String(count).padStart(26, "0")}`;
/** Of those that have a policy. */
const EVERY = 100;

/** A million customers in two thousand families of names; one of a hundred has a policy, one is not active. */
async function fill(db: Database): Promise<void> {
  const total = effort(CUSTOMERS);
  const chunk = total / 10;
  for (let from = 1; from <= total; from += chunk) {
    await db.raw(
      `insert into customers (id, external_id, name, name_key, status, allowed_return_urls, metadata, created_at, updated_at)
       select 'cus_' || lpad(n::text, 26, '0'), 'crm-' || n, name, lower(name),
              case n % 200 when 1 then 'suspended' when 2 then 'archived' else 'active' end,
              array['https://app.example.com/signed-in/' || n], jsonb_build_object('plan', n % 3, 'region', 'eu-' || n % 7),
              now() - (:total - n) * interval '1 minute', now() - (n::bigint * 7919 % :total) * interval '1 minute'
         from generate_series(:from::int, :to::int) n
         cross join lateral (
           select (:first::text[])[1 + n % 50] || ' ' || (:second::text[])[1 + n / 50 % 40] || ' ' || n as name
         ) named`,
      { total, from, to: from + chunk - 1, first: words("North", 50), second: words("Bank", 40) },
    );
  }
  await db.raw(
    `insert into policies (id, name, name_key, description, type, status, conditions, created_at, updated_at)
     select 'pol_' || lpad(n::text, 26, '0'), 'policy ' || n, 'policy ' || n, '', 'authentication', 'active',
            '{"mfa_required": true, "max_session_duration": 28800}', now(), now()
       from generate_series(0, 9) n`,
  );
  await db.raw(
    `insert into policy_assignments (customer_id, policy_id, assigned_at)
     select 'cus_' || lpad(n::text, 26, '0'), 'pol_' || lpad((n / :every % 10)::text, 26, '0'), now()
       from generate_series(:every::int, :total::int, :every::int) n`,
    { total, every: EVERY },
  );
  await db.raw("vacuum (analyze) customers, policies, policy_assignments, customer_counts");
}

/** `North0`, `North1` and so on. */
function words(word: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${word}${index}`);
}

function kinds(): Kind[] {
  const total = effort(CUSTOMERS);
  const random = (step: number) => () => idOf(step * (1 + Math.floor((Math.random() * total) / step)));
  const middle = total / 40;
  const list = (request: string, query: string): Kind => ({
    request,
    method: "GET",
    path: () => `/customers${query}`,
  });
  return [
    list("list: first page", ""),
    list(`list: page ${middle} of ${middle * 2}`, `?page=${middle}`),
    list("list: active", "?status=active"),
    list(`list: active, page ${middle}`, `?status=active&page=${middle}`),
    list("list: by name", "?sort=name&order=asc"),
    list(`list: ${total / 2000} of one name`, "?name=north7%20bank5%20"),
    list(`list: ${total / 50} of one name`, "?name=north7%20"),
    { request: "read", method: "GET", path: (id) => `/customers/${id}`, some: random(1) },
    {
      request: "policies of one",
      method: "GET",
      path: (id) => `/customers/${id}/policies`,
      some: random(EVERY),
    },
    { request: "create", method: "POST", path: () => "/customers", body: { name: "Northern Bank" } },
    {
      request: `gateway's whole state (${total / 50} customers)`,
      method: "GET",
      path: () => "/gateway/state",
    },
  ];
}

/** The route's SQL statements, recorded by calling it once. */
async function statementsOf(url: string, kind: Kind): Promise<readonly Statement[]> {
  const db = openDatabase(url, { poolSize: 2 });
  const control = await startControl({ database: { url, db, close: () => Promise.resolve() } });
  const statements: Statement[] = [];
  db.on("query", ({ sql, bindings }: { sql: string; bindings?: readonly unknown[] }) => {
    statements.push({ text: sql, values: bindings ?? [] });
  });
  try {
    const answer = await control.request(
      kind.method,
      kind.path(SAMPLE),
      kind.body ? { body: kind.body } : {},
    );
    if (answer.status >= 300) throw new Error(`${kind.request}: ${answer.text}`);
  } finally {
    await control.close();
    await closeDatabase(db);
  }
  return statements;
}

/** Has a policy. */
const SAMPLE = idOf(EVERY);

type Call = () => Promise<void>;

function callsOf(url: string, key: string, kind: Kind, connections: number): Call {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { method, body } = kind;
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${key}`,
    accept: "application/json",
    ...(text !== undefined && { "content-type": "application/json", "content-length": text.length }),
  };
  return () =>
    new Promise((resolve, reject) => {
      const to = `${url}/v1${kind.path(kind.some?.() ?? "")}`;
      const sent = ask(to, { agent, method, headers }, (answer) => {
        answer.once("end", resolve).once("error", reject).resume();
        if ((answer.statusCode ?? 500) >= 300) reject(new Error(`${to}: ${answer.statusCode ?? 0}`));
      });
      sent.once("error", reject).end(text);
    });
}

/** The same statements by themselves, in order on one connection; about another customer each time, where one is named. */
function replaysOf(pool: pg.Pool, kind: Kind, statements: readonly Statement[]): Call {
  return async () => {
    const ids = new Map([[SAMPLE, kind.some?.() ?? SAMPLE]]);
    const connection = await pool.connect();
    try {
      for (const { text, values } of statements) {
        const given = values.map((value) => (typeof value === "string" ? withIds(value, kind, ids) : value));
        await connection.query(text, given);
      }
    } finally {
      connection.release();
    }
  };
}

const NEW_IDS = { cus: "customer", chg: "change", evt: "event" } as const;

function withIds(value: string, { method }: Kind, ids: Map<string, string>): string {
  if (method === "GET") return ids.get(value) ?? value;
  // what is created is new each time, wherever its id stands
  return value.replace(/\b(cus|chg|evt)_[0-9a-z]{26}\b/g, (id, prefix: keyof typeof NEW_IDS) => {
    const fresh = ids.get(id) ?? newId(NEW_IDS[prefix]);
    ids.set(id, fresh);
    return fresh;
  });
}

interface Measured {
  readonly times: readonly number[];
  readonly perSecond: number;
}

/** Calls on several connections, each again as soon as the last is answered; the first second warms up. */
async function measure(connections: number, call: Call): Promise<Measured> {
  const times: number[] = [];
  const from = performance.now() + effort(WARM_MS);
  const end = from + effort(MS);
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (let started = performance.now(); started < end;) {
        await call();
        const now = performance.now();
        if (started >= from) times.push(now - started);
        started = now;
      }
    }),
  );
  return { times, perSecond: (times.length * 1000) / (performance.now() - from) };
}

function rowOf(request: string, connections: number, api: Measured, sql: Measured): Row {
  return {
    request,
    connections,
    p50_ms: percentile(api.times, 0.5),
    p95_ms: percentile(api.times, 0.95),
    per_second: Math.round(api.perSecond),
    sql_p50_ms: percentile(sql.times, 0.5),
    sql_per_second: Math.round(sql.perSecond),
    rate_to_sql: api.perSecond / sql.perSecond,
  };
}
