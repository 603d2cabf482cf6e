import assert from "node:assert/strict";
import { decodeJwt } from "jose";
import { lockRowsUntilEnd } from "../../../src/storage/index.ts";
import type { Answered, RunningControl } from "../../support/control.ts";
import { eventually } from "../../support/eventually.ts";
import { bearer, makeKey, makeOwner, makePerson, send } from "../../support/guarded-control.ts";
import { startWholeControl } from "../../support/whole-control.ts";
import { startSandbox, type Sandbox } from "../support/sandbox.ts";

const ROUTES = [
  ["GET", "/sandbox/people"],
  ["POST", "/sandbox/people"],
  ["DELETE", "/sandbox/people/per_x"],
  ["POST", "/sandbox/tokens"],
  ["POST", "/sandbox/reset"],
] as const;

function codeOf({ status, body }: Answered): readonly unknown[] {
  return [
    status,
    body.error?.code,
    ...(body.error?.details.fields ?? []).map((field: { path: string }) => field.path),
  ];
}

describe("the sandbox", () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await startSandbox();
  });
  after(() => sandbox.close());

  const tokens = (body: object) => sandbox.post("/sandbox/tokens", body);
  const keyed = async (control: RunningControl, customerId: string) =>
    bearer((await makeKey(control, { customerId })).secret);

  it("does not exist in production", async () => {
    const production = await startWholeControl();
    try {
      const headers = await production.keyOf();
      for (const [method, path] of ROUTES) {
        const answer = await send(production, method, path, headers, method === "POST" ? {} : undefined);
        assert.deepEqual(codeOf(answer), [404, "NOT_FOUND"], path);
      }
      for (const path of ["/idp/.well-known/openid-configuration", "/idp/auth", "/idp/interaction/x"])
        assert.equal((await fetch(`${production.url}${path}`)).status, 404, path);
      const document = await (await fetch(`${production.url}/v1/openapi.json`)).text();
      assert.doesNotMatch(document, /sandbox\/(people|tokens|reset)/);
      const made = await send(production, "POST", "/customers", headers, {
        name: "Acme",
        allowed_return_urls: ["https://app.example.com/"],
      });
      const started = await send(production, "POST", "/auth/authorize", headers, {
        customer_id: made.body.data.id,
        return_url: "https://app.example.com/",
      });
      assert.deepEqual(codeOf(started), [422, "IDP_NOT_CONFIGURED"]);
      for (const table of ["sandbox_people", "sandbox_provider_keys", "sandbox_provider_state"])
        assert.deepEqual(await production.database.db(table), []);
    } finally {
      await production.close();
    }
  });

  it("is for keys of full access, and for owners and admins", async () => {
    const owner = await makeOwner(sandbox);
    const allowed: string[] = [];
    const ask = async (name: string, headers: Readonly<Record<string, string>>) => {
      // nothing is asked for that can be done
      for (const [method, path] of ROUTES.filter(([, path]) => path !== "/sandbox/reset")) {
        const answer = await send(sandbox, method, path, headers, method === "POST" ? {} : undefined);
        if (![401, 403].includes(answer.status)) allowed.push(`${name} ${method} ${path}`);
      }
    };
    for (const scope of ["read_only", "configuration", "authentication", "gateway", "full_access"] as const)
      await ask(scope, bearer((await makeKey(sandbox, { scope })).secret));
    await ask("nobody", {});
    await ask("viewer", (await makePerson(sandbox, owner, "viewer")).headers);
    await ask("admin", (await makePerson(sandbox, owner, "admin")).headers);
    await ask("owner", owner.headers);
    assert.deepEqual(
      allowed,
      ["full_access", "admin", "owner"].flatMap((name) =>
        ROUTES.slice(0, 4).map(([method, path]) => `${name} ${method} ${path}`),
      ),
    );
  });

  it("lists, adds and removes people", async () => {
    const customer = await sandbox.customer();
    const other = await sandbox.customer();
    const added = await sandbox.post("/sandbox/people", {
      customer_id: customer,
      email: "Zoe@List.example",
      name: "Zoe",
      attributes: { employee_id: "u-9" },
    });
    assert.equal(added.status, 201, added.text);
    const { id, created_at: createdAt, ...rest } = added.body.data;
    assert.match(id, /^per_/);
    assert.ok(!Number.isNaN(Date.parse(createdAt)));
    assert.deepEqual(rest, {
      ...{ customer_id: customer, email: "zoe@list.example", name: "Zoe", role: null, department: null },
      ...{ permissions: [], attributes: { employee_id: "u-9" }, amr: ["pwd"] },
    });
    await sandbox.person(other, { email: "yan@list.example", name: "Yan" });
    const everybody = await sandbox.person(null, { email: "all@list.example", name: "All" });
    const list = async (query: string) =>
      (await sandbox.request("GET", `/sandbox/people?sort=name&order=asc&${query}`)).body.data.map(
        ({ name }: { name: string }) => name,
      );
    assert.deepEqual(await list(`customer_id=${other}&email=yan@list.example`), ["Yan"]);
    const ofCustomer = await list(`customer_id=${customer}`);
    assert.ok(ofCustomer.includes("Zoe") && ofCustomer.includes("All") && !ofCustomer.includes("Yan"));

    const again = await sandbox.post("/sandbox/people", {
      customer_id: customer,
      email: "zoe@list.example",
      name: "Z",
    });
    assert.deepEqual(codeOf(again), [409, "DUPLICATE"]);
    const gone = await sandbox.request("DELETE", `/sandbox/people/${everybody.id}`);
    assert.deepEqual(gone.body.data, { id: everybody.id, deleted: true });
    const twice = await sandbox.request("DELETE", `/sandbox/people/${everybody.id}`);
    assert.deepEqual(codeOf(twice), [404, "PERSON_NOT_FOUND"]);
  });

  it("refuses people that are none", async () => {
    const bad = async (body: object) =>
      codeOf(await sandbox.post("/sandbox/people", { email: "x@example.com", name: "X", ...body }));
    assert.deepEqual(await bad({ customer_id: "cus_00000000000000000000000000" }), [422, "INVALID_CUSTOMER"]);
    assert.deepEqual(await bad({ email: "x" }), [422, "VALIDATION_FAILED", "email"]);
    assert.deepEqual(await bad({ attributes: { role: "admin" } }), [422, "VALIDATION_FAILED", "attributes"]);
    assert.deepEqual(await bad({ attributes: { customer_id: "cus_1" } }), [
      ...[422, "VALIDATION_FAILED", "attributes.customer_id"],
    ]);
    assert.deepEqual(await bad({ amr: ["a b"] }), [422, "VALIDATION_FAILED", "amr.0"]);
    assert.deepEqual(await bad({ unknown: 1 }), [422, "VALIDATION_FAILED", "unknown"]);
  });

  it("keeps a key that is limited to a customer to that customer", async () => {
    const own = await sandbox.customer();
    const other = await sandbox.customer();
    const foreign = await sandbox.person(other, { email: "foreign@other.example", name: "Foreign" });
    const everybody = await sandbox.person(null, { email: "everybody@other.example", name: "Everybody" });
    const headers = await keyed(sandbox, own);
    const ask = (method: string, path: string, body?: object) => send(sandbox, method, path, headers, body);
    const seen = (await ask("GET", "/sandbox/people?limit=100")).body.data as {
      customer_id: string | null;
    }[];
    assert.deepEqual(
      seen.filter(({ customer_id: id }) => id !== null && id !== own),
      [],
    );
    assert.deepEqual(codeOf(await ask("GET", `/sandbox/people?customer_id=${other}`)), [
      404,
      "INVALID_CUSTOMER",
    ]);
    for (const { id } of [foreign, everybody])
      assert.deepEqual(codeOf(await ask("DELETE", `/sandbox/people/${id}`)), [404, "PERSON_NOT_FOUND"]);
    const body = { email: "mine@own.example", name: "Mine" };
    assert.equal((await ask("POST", "/sandbox/people", body)).body.data.customer_id, own);
    assert.deepEqual(codeOf(await ask("POST", "/sandbox/people", { ...body, customer_id: other })), [
      ...[422, "INVALID_CUSTOMER"],
    ]);
    const token = (customer_id: string) =>
      ask("POST", "/sandbox/tokens", { customer_id, login: "everybody@other.example" });
    assert.deepEqual(codeOf(await token(other)), [422, "INVALID_CUSTOMER"]);
    assert.equal((await token(own)).status, 200);
    assert.deepEqual(codeOf(await ask("POST", "/sandbox/reset")), [403, "CUSTOMER_KEY_NOT_ALLOWED"]);
  });

  describe("tokens without a browser", () => {
    it("wait for whoever changes the user, and hold nothing of it meanwhile", async () => {
      const customer = await sandbox.customer();
      const ada = await sandbox.person(customer);
      const login = { customer_id: customer, login: ada.email };
      const { user } = (await tokens(login)).body.data;
      const { db } = sandbox.database;
      const changing = await db.transaction();
      let asked: Promise<Answered> | undefined;
      try {
        await lockRowsUntilEnd(changing, "users", [user.id]);
        asked = tokens(login);
        await eventually("a sign-in that waits for it", async () => {
          const { rows } = await db.raw<{ rows: object[] }>(
            `select from pg_locks where locktype = 'advisory' and not granted
               and database = (select oid from pg_database where datname = current_database())`,
          );
          return rows.length > 0;
        });
        await changing("users").where("id", user.id).forUpdate().noWait().first("id");
      } finally {
        await changing.rollback();
      }
      assert.equal((await asked).status, 200);
    });

    it("are those of a real sign-in", async () => {
      const customer = await sandbox.customer();
      const ada = await sandbox.person(customer, { attributes: { employee_id: "u-1", groups: ["staff"] } });
      const answer = await tokens({ customer_id: customer, login: "ADA@acme.example" });
      assert.equal(answer.status, 200, answer.text);
      const { access_token: token, user, session, scope, expires_in: expiresIn } = answer.body.data;
      assert.deepEqual([expiresIn, scope], [900, "openid profile email groups"]);
      const claims = decodeJwt(token);
      assert.deepEqual(
        [claims.sub, claims["sid"], claims["employee_id"], claims["groups"], claims["role"], claims["amr"]],
        [user.id, session.id, "u-1", ["staff"], "admin", ["pwd"]],
      );
      const directory = await sandbox.request("GET", `/users/${user.id}`);
      assert.deepEqual(
        [directory.body.data.subject, directory.body.data.email],
        [ada.id, "ada@acme.example"],
      );
      const events = await sandbox.request(
        "GET",
        `/analytics/events?type=user.authenticated&user_id=${user.id}`,
      );
      assert.equal(events.body.data[0].data.session.id, session.id, events.text);
      const { refresh_token } = answer.body.data;
      const refreshed = await sandbox.post("/auth/refresh", { refresh_token });
      assert.equal(refreshed.body.data.session.id, session.id);
      const out = await sandbox.request("DELETE", "/auth/logout", { body: { session_id: session.id } });
      assert.deepEqual(out.body.data, { ended: 1 });
      // the same user by the browser's way
      assert.equal((await tokens({ customer_id: customer, login: ada.email })).body.data.user.id, user.id);
    });

    it("hold what the customer's lists permit, of those that are set", async () => {
      const customer = await sandbox.customer();
      await sandbox.person(customer, { attributes: { employee_id: "u-1", groups: ["staff"] } });
      const rules = { allowed_roles: ["viewer"], role_mapping: { staff: ["clerk"] } };
      const put = await sandbox.request("PUT", `/customers/${customer}`, { body: rules });
      assert.equal(put.status, 200, put.text);
      const answer = await tokens({ customer_id: customer, login: "ada@acme.example" });
      const { role, roles, groups, employee_id: id } = decodeJwt(answer.body.data.access_token);
      assert.deepEqual([role, roles, groups, id], ["clerk", ["clerk"], ["staff"], "u-1"]);
    });

    it("can be expired, or of another lifetime, or of fewer scopes", async () => {
      const customer = await sandbox.customer();
      await sandbox.person(customer);
      const login = "ada@acme.example";
      const old = await tokens({ customer_id: customer, login, expires_in: -3600 });
      assert.equal(old.body.data.expires_in, -3600, old.text);
      assert.ok((decodeJwt(old.body.data.access_token).exp ?? 0) < Date.now() / 1000 - 3000);
      assert.equal((await tokens({ customer_id: customer, login, expires_in: 60 })).body.data.expires_in, 60);
      // no longer than the session
      const long = await tokens({ customer_id: customer, login, expires_in: 31_536_000 });
      assert.equal(long.body.data.expires_in, 43_200);
      const bare = await tokens({ customer_id: customer, login, scopes: ["email"] });
      const { role, email } = decodeJwt(bare.body.data.access_token);
      assert.deepEqual([role, email, bare.body.data.scope], [undefined, login, "openid email"]);
    });

    it("are for somebody unlisted too, who is one user for one address", async () => {
      const customer = await sandbox.customer();
      const person = {
        ...{ name: "Nemo", email: "nemo@sea.example", role: "viewer", department: "sales" },
        ...{ permissions: ["fish:read"], attributes: { depth: 3 }, amr: ["pwd", "mfa"] },
      };
      const first = await tokens({ customer_id: customer, person });
      const { depth, permissions, amr } = decodeJwt(first.body.data.access_token);
      assert.deepEqual([depth, permissions, amr], [3, ["fish:read"], ["pwd", "mfa"]]);
      const second = await tokens({ customer_id: customer, person: { ...person, role: "admin" } });
      assert.equal(second.body.data.user.id, first.body.data.user.id);
      assert.equal(second.body.data.user.role, "admin");
    });

    it("are refused where a sign-in would be", async () => {
      const customer = await sandbox.customer();
      const other = await sandbox.customer();
      const ada = await sandbox.person(customer);
      await sandbox.person(other, { email: "olga@other.example", name: "Olga" });
      const login = ada.email;
      const ask = async (more: object) => codeOf(await tokens({ customer_id: customer, ...more }));
      assert.deepEqual(await ask({ login: "olga@other.example" }), [422, "VALIDATION_FAILED", "login"]);
      assert.deepEqual(await ask({}), [422, "VALIDATION_FAILED", ""]);
      assert.deepEqual(await ask({ login, person: { name: "A", email: "a@b.example" } }), [
        ...[422, "VALIDATION_FAILED", ""],
      ]);
      assert.deepEqual(await ask({ login, customer_id: "cus_none" }), [422, "INVALID_CUSTOMER"]);
      assert.deepEqual(await ask({ login, scopes: ["admin"] }), [422, "VALIDATION_FAILED", "scopes.0"]);

      const policy = await sandbox.post("/policies", {
        ...{ name: "MFA", type: "authentication" },
        conditions: { mfa_required: true },
      });
      await sandbox.post(`/customers/${customer}/policies`, { policy_ids: [policy.body.data.id] });
      const refused = await tokens({ customer_id: customer, login });
      assert.deepEqual(
        [...codeOf(refused), refused.body.error.details.reason],
        [403, "POLICY_VIOLATED", "MFA_REQUIRED"],
      );
      const events = await sandbox.request("GET", `/analytics/events?customer_id=${customer}&limit=2`);
      assert.deepEqual(events.body.data.map(({ type }: { type: string }) => type).sort(), [
        "policy.violated",
        "user.authentication_failed",
      ]);
      await sandbox.request("PUT", `/customers/${customer}`, { body: { status: "suspended" } });
      assert.deepEqual(await ask({ login }), [403, "CUSTOMER_SUSPENDED"]);
    });

    it("are refused to a suspended user", async () => {
      const customer = await sandbox.customer();
      const { email: login } = await sandbox.person(customer);
      const { user } = (await tokens({ customer_id: customer, login })).body.data;
      await sandbox.request("PUT", `/users/${user.id}`, { body: { status: "suspended" } });
      assert.deepEqual(codeOf(await tokens({ customer_id: customer, login })), [403, "USER_SUSPENDED"]);
    });
  });
});
