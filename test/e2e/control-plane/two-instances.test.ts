import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { closeDatabase, openDatabase, type Database } from "../../../src/storage/index.ts";
import { listMigrations, MIGRATIONS } from "../../../src/storage/migration-files.ts";
import { apiClient } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { startIdentityProvider, type IdentityProvider } from "../../support/providers/identity-provider.ts";
import { createBrowser } from "../../support/sign-in.ts";
import { startTwoInstances, type TwoInstances } from "../../support/two-instances.ts";
import { startReceiver } from "../../support/webhook-receiver.ts";

const RETURN_URL = "https://app.example/signed-in";
const ANALYTICS = 20;
const PASSWORD = "Tr0mpete & Nebel";

describe("end to end: two instances on one database", () => {
  let two: TwoInstances;
  let db: Database;
  let a: ReturnType<typeof apiClient>;
  let b: ReturnType<typeof apiClient>;
  /** Somebody who is signed in to the dashboard. */
  let owner: Readonly<Record<string, string>>;

  before(async () => {
    two = await startTwoInstances({ rate_limits: { management: 100_000, analytics: ANALYTICS } });
    db = openDatabase(two.databaseUrl("production"), { poolSize: 2 });
    const key = await two.a.createKey("production", "full_access");
    a = apiClient(two.a.url.production, key);
    b = apiClient(two.b.url.production, key);
  });
  after(async () => {
    await closeDatabase(db);
    await two.close();
  });

  /** Without a key; as a browser does. */
  const browse = async (url: string, method: string, path: string, body?: unknown, headers = {}) => {
    const answer = await fetch(`${url}/v1${path}`, {
      method,
      headers: { accept: "application/json", "content-type": "application/json", ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what an answer holds is what tests find out
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
  };
  const made = async (answer: ReturnType<typeof a>): Promise<string> => {
    const { status, body } = await answer;
    assert.equal(status, 201, JSON.stringify(body));
    return body.data.id as string;
  };

  it("share the work of migrating, each once", async () => {
    for (const environment of ["production", "sandbox"] as const) {
      const one = openDatabase(two.databaseUrl(environment), { poolSize: 1 });
      const applied = await one("schema_migrations").orderBy("name").pluck<string[]>("name");
      await closeDatabase(one);
      const all = (await listMigrations(MIGRATIONS)).map(({ name }) => name);
      assert.deepEqual(applied, all);
    }
  });

  it("have one link for the first owner: the one that was made first, which works once", async () => {
    const printed = [two.a, two.b].map((instance) => instance.stdout()).join("");
    const links = [...printed.matchAll(/first owner of production .*: (http\S+)/g)].map(([, link]) => link);
    assert.equal(links.length, 1, printed);
    assert.match(printed, /first owner of production: the link printed by an earlier start is valid until /);
    const body = {
      token: new URL(links[0] ?? "").searchParams.get("token"),
      email: "olga@example.com",
      name: "Olga",
      password: PASSWORD,
    };
    for (const status of [201, 401])
      assert.equal((await browse(two.b.url.production, "POST", "/dashboard/setup", body)).status, status);
    const credentials = { email: "olga@example.com", password: PASSWORD };
    const entered = await browse(two.a.url.production, "POST", "/dashboard/login", credentials);
    assert.equal(entered.status, 200, JSON.stringify(entered.body));
    const cookie = (entered.headers.getSetCookie()[0] ?? "").split(";")[0] ?? "";
    owner = { cookie, "x-csrf-token": entered.body.data.csrf_token };
    const who = await browse(two.b.url.production, "GET", "/dashboard/session", undefined, owner);
    assert.equal(who.body.data?.user.email, "olga@example.com");
  });

  it("know a key at once, and no more from the request after its revocation", async () => {
    const body = { name: "short-lived", scope: "read_only" };
    const created = await browse(two.a.url.production, "POST", "/api-keys", body, owner);
    assert.equal(created.status, 201, JSON.stringify(created.body));
    const { id, key } = created.body.data as { id: string; key: string };
    const onB = apiClient(two.b.url.production, key);
    for (let count = 0; count < 3; count++) assert.equal((await onB("GET", "/customers")).status, 200);
    const revoked = await browse(two.a.url.production, "DELETE", `/api-keys/${id}`, undefined, owner);
    assert.equal(revoked.status, 200);
    const refused = await onB("GET", "/customers");
    assert.deepEqual([refused.status, refused.body.error.code], [401, "API_KEY_REVOKED"]);
  });

  it("count a key's requests together, exactly", async () => {
    const key = await two.b.createKey("production", "read_only");
    const both = [two.a, two.b].map((instance) => apiClient(instance.url.production, key));
    const statuses: number[] = [];
    const remaining = new Set<string | null>();
    for (let round = 0; round < 4; round++) {
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) => both[index % 2]!("GET", "/analytics/events")),
      );
      for (const { status, headers } of answers) {
        statuses.push(status);
        if (status === 200) remaining.add(headers.get("x-ratelimit-remaining"));
      }
    }
    assert.equal(statuses.filter((status) => status === 200).length, ANALYTICS);
    assert.equal(statuses.filter((status) => status === 429).length, 32 - ANALYTICS);
    // no two requests had the same count
    assert.equal(remaining.size, ANALYTICS);
  });

  it("carry out one request with one idempotency key, sent to both at once", async () => {
    for (let round = 0; round < 10; round++) {
      const headers = { "idempotency-key": randomUUID() };
      const name = `once ${round}`;
      const answers = await Promise.all(
        [a, b, a, b].map((call) => call("POST", "/customers", { name }, headers)),
      );
      const ids = new Set(answers.map(({ status, body }) => `${status} ${String(body.data?.id)}`));
      assert.equal(ids.size, 1, [...ids].join(", "));
      assert.equal(answers[0]?.status, 201);
      assert.equal((await b("GET", `/customers?name=${name}`)).body.pagination.total_items, 1);
    }
  });

  it("write one after the other: of two updates of one revision the second is refused", async () => {
    const id = await made(a("POST", "/customers", { name: "contended" }));
    for (let round = 0; round < 10; round++) {
      const etag = (await b("GET", `/customers/${id}`)).headers.get("etag") ?? "";
      const answers = await Promise.all(
        [a, b].map((call, index) =>
          call("PUT", `/customers/${id}`, { metadata: { by: index, round } }, { "if-match": etag }),
        ),
      );
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412]);
    }
  });

  it("publish a version once, whoever is first", async () => {
    const set = (name: string, version: string, condition: string) => {
      const text = `version: ${version}\npolicies: [{resource: "GET /", condition: '${condition}'}]`;
      return { name, files: [{ name: "a.yaml", text }] };
    };
    for (let round = 0; round < 3; round++) {
      const version = `v${round}`;
      const same = await Promise.all(
        [a, b].map((call) => call("POST", "/policy-sets", set("same", version, "true"))),
      );
      assert.deepEqual(same.map(({ status }) => status).sort(), [200, 201], JSON.stringify(same));
      const other = await Promise.all([
        a("POST", "/policy-sets", set("other", version, "true")),
        b("POST", "/policy-sets", set("other", version, 'user.role == "reader"')),
      ]);
      assert.deepEqual(other.map(({ status }) => status).sort(), [201, 409], JSON.stringify(other[1].body));
    }
    for (const name of ["same", "other"]) {
      const versions = await b("GET", `/policy-sets/${name}/versions`);
      assert.equal(versions.body.pagination.total_items, 3);
    }
    const events = await db("events").where({ type: "policy_set.published" }).pluck<object[]>("data");
    assert.equal(events.length, 6);
  });

  it("wake each other's followers", async () => {
    const { cursor } = (await b("GET", "/gateway/state")).body.data;
    const waiting = b("GET", `/gateway/state?wait=30&after=${String(cursor)}`);
    // it waits: what is told is a change, not the wait's end
    const first = await Promise.race([waiting, a("GET", "/customers")]);
    assert.ok(Array.isArray(first.body.data));
    const id = await made(a("POST", "/customers", { name: "Late", status: "suspended" }));
    const woken = (await waiting).body.data;
    assert.deepEqual([woken.complete, woken.customers[0]?.id], [false, id]);
  });

  it("deliver an event once, whoever has made it", async () => {
    const receiver = await startReceiver();
    try {
      const hook = { url: receiver.url, events: ["customer.created"] };
      const webhook = await made(a("POST", "/webhooks", hook));
      const names = Array.from({ length: 40 }, (_, index) => `hooked ${index}`);
      const ids = await Promise.all(
        names.map((name, index) => made((index % 2 === 0 ? a : b)("POST", "/customers", { name }))),
      );
      await eventually("the last delivery", async () => {
        const [left] = await db("webhook_deliveries")
          .where({ webhook_id: webhook })
          .whereNot({ status: "delivered" })
          .count<{ count: number }[]>({ count: "*" });
        return left?.count === 0;
      });
      const told = receiver.received.map(({ json }) => json.data.customer.id as string);
      assert.deepEqual(told.sort(), ids.sort());
      assert.equal((await b("DELETE", `/webhooks/${webhook}`)).status, 200);
    } finally {
      await receiver.close();
    }
  });

  describe("sign-in", () => {
    let provider: IdentityProvider;
    let customer: string;

    before(async () => {
      provider = await startIdentityProvider({ redirectUri: `${two.url}/v1/auth/callback` });
      customer = await made(a("POST", "/customers", { name: "Corp", allowed_return_urls: [RETURN_URL] }));
      await made(
        b("POST", `/customers/${customer}/idp`, {
          type: "oidc",
          domain: provider.issuer,
          client_id: provider.clientId,
          client_secret: provider.clientSecret,
          scopes: ["openid"],
        }).then((answer) => ({ ...answer, body: { data: { id: "", ...answer.body.data } } })),
      );
    });
    after(() => provider.close());

    /** Each step at the other instance than the one before it. */
    const signIn = async () => {
      const body = { customer_id: customer, return_url: RETURN_URL };
      const started = await a("POST", "/auth/authorize", body);
      assert.equal(started.status, 200, JSON.stringify(started.body));
      const from = two.served.length;
      const { authorization_url: url, state } = started.body.data;
      const arrived = await createBrowser().walk(url, { until: RETURN_URL });
      assert.ok(arrived.kind === "sent", JSON.stringify(arrived));
      assert.equal(arrived.url.searchParams.get("state"), state);
      const code = arrived.url.searchParams.get("code");
      const by = two.served[from]?.by;
      const tokens = await (by === "a" ? b : a)("POST", "/auth/token", { code });
      assert.equal(tokens.status, 200, `${arrived.url.search} ${JSON.stringify(tokens.body)}`);
      return { by, data: tokens.body.data };
    };
    const refresh = (call: typeof a, token: string) =>
      call("POST", "/auth/refresh", { refresh_token: token });

    it("has one signing key, made once though both are asked first at once", async () => {
      const sets = await Promise.all(
        [two.a, two.b, two.a, two.b].map(async ({ url }) => {
          const answer = await fetch(`${url.production}/.well-known/jwks.json`);
          return answer.text();
        }),
      );
      assert.equal(new Set(sets).size, 1);
      const { keys } = JSON.parse(sets[0] ?? "") as { keys: object[] };
      assert.equal(keys.length, 1);
    });

    it("begins at one, comes back to either, and ends at the other", async () => {
      const seen = new Set<string | undefined>();
      for (let round = 0; round < 2; round++) seen.add((await signIn()).by);
      assert.deepEqual(seen, new Set(["a", "b"]));
    });

    it("goes on at either, and a refresh token is good once at both together", async () => {
      const { data } = await signIn();
      const second = await refresh(a, data.refresh_token);
      assert.equal(second.status, 200, JSON.stringify(second.body));
      const third = await refresh(b, second.body.data.refresh_token);
      assert.equal(third.status, 200, JSON.stringify(third.body));
      // the first: the one that came of it has been used, so that nobody's answer is lost
      const reused = await refresh(a, data.refresh_token);
      assert.equal(reused.status, 401);
      // which ended the session
      const ended = await refresh(b, third.body.data.refresh_token);
      assert.deepEqual([ended.status, ended.body.error.code], [401, "SESSION_ENDED"]);
    });

    it("gives two who use a refresh token at once the same next one", async () => {
      const { data } = await signIn();
      const answers = await Promise.all([a, b].map((call) => refresh(call, data.refresh_token)));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200],
      );
      const [one, other] = answers.map(({ body }) => body.data.refresh_token);
      assert.equal(one, other);
      assert.equal((await refresh(a, one)).status, 200);
    });

    it("gives a code's tokens to one of two who use it at once", async () => {
      const started = await b("POST", "/auth/authorize", { customer_id: customer, return_url: RETURN_URL });
      const arrived = await createBrowser().walk(started.body.data.authorization_url, { until: RETURN_URL });
      assert.ok(arrived.kind === "sent");
      const code = arrived.url.searchParams.get("code");
      const answers = await Promise.all([a, b].map((call) => call("POST", "/auth/token", { code })));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401]);
    });

    it("is over at both when it is over at one, and followers of the other learn of it", async () => {
      const { data } = await signIn();
      const { cursor } = (await b("GET", "/gateway/state")).body.data;
      const waiting = b("GET", `/gateway/state?wait=30&after=${String(cursor)}`);
      const out = await a("DELETE", "/auth/logout", { session_id: data.session.id });
      assert.equal(out.status, 200, JSON.stringify(out.body));
      const refused = await refresh(b, data.refresh_token);
      assert.deepEqual([refused.status, refused.body.error.code], [401, "SESSION_ENDED"]);
      const told = (await waiting).body.data.sessions_ended as { session_id: string }[];
      assert.deepEqual(
        told.map(({ session_id: id }) => id),
        [data.session.id],
      );
    });
  });

  // last: it leaves one
  describe("and one of them gone", () => {
    it("go on: the other does what is left to do", async () => {
      const receiver = await startReceiver();
      try {
        const webhook = await made(
          a("POST", "/webhooks", { url: receiver.url, events: ["customer.created"] }),
        );
        await two.a.kill();
        const id = await made(b("POST", "/customers", { name: "afterwards" }));
        const [first] = await receiver.has(1);
        assert.equal(first?.json.data.customer.id, id);
        assert.equal((await b("GET", `/webhooks/${webhook}`)).status, 200);
      } finally {
        await receiver.close();
      }
    });
  });
});
