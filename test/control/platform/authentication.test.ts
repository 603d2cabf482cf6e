import assert from "node:assert/strict";
import type { Request } from "express";
import { createAuthenticator } from "../../../src/control/authenticator.ts";
import { ApiError } from "../../../src/control/platform/errors.ts";
import type { RunningControl } from "../../support/control.ts";
import { eventually } from "../../support/eventually.ts";
import {
  bearer,
  makeCustomer,
  makeKey,
  makeOwner,
  OPERATOR,
  send,
  signIn,
  startGuardedControl,
  type Person,
} from "../../support/guarded-control.ts";
import { closeDatabase, openDatabase } from "../../../src/storage/index.ts";
import { sendRaw } from "../../support/raw-http.ts";
import { environmentOfKey, newApiKeySecret } from "../../../src/control/resources/api-keys/secret.ts";
import { revokeApiKey } from "../../../src/control/resources/api-keys/store.ts";

describe("authentication of requests", () => {
  let control: RunningControl;
  let now: number;

  beforeEach(async () => {
    now = Date.now();
    control = await startGuardedControl({ clock: () => now });
  });
  afterEach(() => control.close());

  const probe = (headers: Readonly<Record<string, string>>) => send(control, "GET", "/probe", headers);

  describe("by key", () => {
    it("says who the key is", async () => {
      const { row, secret } = await makeKey(control, { name: "deploy", scope: "read_only" });
      const { status, body } = await probe(bearer(secret));
      assert.equal(status, 200);
      assert.deepEqual(body.data, { kind: "api_key", id: row.id, name: "deploy", scope: "read_only" });
    });

    it("says which customer the key is limited to, and refuses it once that is deleted", async () => {
      const customerId = await makeCustomer(control);
      const { secret } = await makeKey(control, { customerId });
      assert.equal((await probe(bearer(secret))).body.data.customerId, customerId);
      await control.context.db("customers").where({ id: customerId }).update({ status: "suspended" });
      assert.equal((await probe(bearer(secret))).status, 200);
      await control.context
        .db("customers")
        .where({ id: customerId })
        .update({ deleted_at: new Date(now) });
      const { status, body } = await probe(bearer(secret));
      assert.deepEqual([status, body.error.code], [401, "UNAUTHORIZED"]);
    });

    it("refuses who presents nothing, and names the scheme (RFC 6750, section 3)", async () => {
      const { status, body, headers } = await probe({});
      assert.deepEqual([status, body.error.code], [401, "UNAUTHORIZED"]);
      assert.match(headers.get("www-authenticate") ?? "", /^Bearer /);
    });

    it("refuses a key from the request on that follows its revocation, on a second instance too", async () => {
      const second = await startGuardedControl({ database: control.database });
      try {
        const { row, secret } = await makeKey(control);
        assert.equal((await send(second, "GET", "/probe", bearer(secret))).status, 200);
        await control.context.units(OPERATOR, (unit) => revokeApiKey(unit, row.id));
        for (const instance of [second, control]) {
          const { status, body } = await send(instance, "GET", "/probe", bearer(secret));
          assert.deepEqual([status, body.error.code], [401, "API_KEY_REVOKED"]);
        }
      } finally {
        await second.close();
      }
    });

    it("refuses a key at the moment it expires", async () => {
      const { secret } = await makeKey(control, { expiresAt: new Date(now + 1_000) });
      now += 999;
      assert.equal((await probe(bearer(secret))).status, 200);
      now += 1;
      const { status, body } = await probe(bearer(secret));
      assert.deepEqual([status, body.error.code], [401, "API_KEY_EXPIRED"]);
    });

    it("refuses the other environment's keys in both, without asking the database", async () => {
      const sandbox = await startGuardedControl({ settings: { environment: "sandbox" } });
      try {
        const live = await makeKey(control);
        const test = await makeKey(sandbox);
        assert.match(test.secret, /^gh_test_/);
        assert.equal((await send(sandbox, "GET", "/probe", bearer(test.secret))).status, 200);
        for (const [instance, key] of [
          [sandbox, live.secret],
          [control, test.secret],
          [control, newApiKeySecret("sandbox")],
        ] as const) {
          const asked: string[] = [];
          instance.context.db.on("query", ({ sql }: { sql: string }) => asked.push(sql));
          const { status, body } = await send(instance, "GET", "/probe", bearer(key));
          assert.deepEqual([status, body.error.code], [401, "WRONG_ENVIRONMENT"]);
          assert.deepEqual(asked, []);
        }
      } finally {
        await sandbox.close();
      }
    });

    it("refuses what is mistyped without asking the database, and what is unknown after", async () => {
      const { secret } = await makeKey(control);
      const asked: string[] = [];
      control.context.db.on("query", ({ sql }: { sql: string }) => asked.push(sql));
      const swapped = secret.replace("gh_live_", "gh_test_");
      const other = secret.at(12) === "a" ? "b" : "a";
      for (const typo of [
        secret.slice(0, -1),
        `${secret}0`,
        secret.slice(0, 12) + other + secret.slice(13),
        swapped,
        secret.toLowerCase() === secret ? secret.toUpperCase() : secret.toLowerCase(),
        `gh_live_${"0".repeat(38)}`,
        "gh_live_",
      ]) {
        assert.equal((await probe(bearer(typo))).body.error.code, "UNAUTHORIZED", typo);
      }
      assert.deepEqual(asked, []);
      assert.equal((await probe(bearer(newApiKeySecret("production")))).body.error.code, "UNAUTHORIZED");
      assert.equal(asked.length, 1);
    });

    it("notes when a key was used, once a minute", async () => {
      const { row, secret } = await makeKey(control);
      const lastUse = async (): Promise<number | undefined> =>
        (await control.context.db("api_keys").where({ id: row.id }).first()).last_used_at?.getTime();
      const first = now;
      await probe(bearer(secret));
      await eventually("the first use", async () => (await lastUse()) === first);
      const written: unknown[] = [];
      control.context.db.on("query", ({ sql }: { sql: string }) => {
        if (sql.startsWith("update")) written.push(sql);
      });
      now += 59_999;
      await probe(bearer(secret));
      assert.deepEqual(written, []);
      now += 1;
      const second = now;
      await probe(bearer(secret));
      await eventually("the use a minute later", async () => (await lastUse()) === second);
      assert.equal(written.length, 1);
    });
  });

  describe("the Authorization header", () => {
    const ask = async (...lines: readonly string[]) => {
      const port = Number(new URL(control.url).port);
      const head = ["GET /v1/probe HTTP/1.1", "Host: x", "Connection: close", ...lines, "", ""].join("\r\n");
      return sendRaw(port, head);
    };

    it("takes any case of the scheme, and spaces after it (RFC 9110, section 11.4)", async () => {
      const { secret } = await makeKey(control);
      for (const value of [
        `Bearer ${secret}`,
        `bearer ${secret}`,
        `BEARER   ${secret}`,
        `Bearer ${secret}  `,
      ]) {
        assert.equal((await ask(`Authorization: ${value}`)).status, 200, value);
      }
    });

    it("refuses whatever can be read in another way", async () => {
      const { secret } = await makeKey(control);
      const other = (await makeKey(control)).secret;
      for (const lines of [
        [`Authorization: Bearer ${secret}`, `Authorization: Bearer ${other}`],
        [`Authorization: Bearer ${secret}`, `authorization: Bearer ${secret}`],
        [`Authorization: Bearer ${secret} ${other}`],
        [`Authorization: Bearer ${secret}, Bearer ${other}`],
        [`Authorization: Bearer ${secret},`],
        [`Authorization: Bearer, ${secret}`],
        [`Authorization: Bearer\t${secret}`],
        [`Authorization: Bearer${secret}`],
        [`Authorization: Bearer "${secret}"`],
        [`Authorization: Bearer =${secret}`],
        [`Authorization: Bearer ${secret}=`],
        [`Authorization: Basic ${secret}`],
        [`Authorization: ${secret}`],
        ["Authorization: Bearer"],
        ["Authorization: "],
        ["Authorization: Bearer gh_live_\u00e9\u00e9\u00e9"],
        [`Authorization: Bearer ${secret}\u00a0`],
        [`Authorization: Bearer ${"a".repeat(10_000)}`],
      ]) {
        const { status, body } = await ask(...lines);
        assert.equal(status, 401, lines.join(" | "));
        assert.equal(JSON.parse(body).error.code, "UNAUTHORIZED");
        assert.ok(!body.includes(secret), "an answer repeats the key");
      }
    });
  });

  describe("by cookie", () => {
    let owner: Person;
    beforeEach(async () => {
      owner = await makeOwner(control);
    });

    const change = (headers: Readonly<Record<string, string>>) => send(control, "POST", "/probe", headers);

    it("says who is signed in, with the role of this moment", async () => {
      const { body } = await probe({ cookie: owner.cookie });
      assert.deepEqual(
        [body.data.kind, body.data.id, body.data.name, body.data.role],
        ["dashboard_user", owner.id, "Olga", "owner"],
      );
      await control.context.db("dashboard_users").where({ id: owner.id }).update({ role: "viewer" });
      assert.equal((await probe({ cookie: owner.cookie })).body.data.role, "viewer");
      assert.equal((await change(owner.headers)).body.error.code, "INSUFFICIENT_ROLE");
    });

    it("looks the sessions of one moment up together", async () => {
      const asked: string[] = [];
      control.context.db.on("query", ({ sql }: { sql: string }) => {
        if (sql.includes("token_hash")) asked.push(sql);
      });
      const { cookie } = owner;
      const authenticator = createAuthenticator(control.context);
      const requests = [cookie, `${cookie}x`, cookie].map((value) => ({
        ...{ headersDistinct: {}, headers: { cookie: value } },
      }));
      const found = await Promise.all(
        requests.map((request) => authenticator.identify(request as unknown as Request)),
      );
      assert.deepEqual(
        found.map((actor) => (actor instanceof ApiError ? actor.code : actor?.id)),
        [owner.id, undefined, owner.id],
      );
      assert.equal(asked.length, 1);
    });

    it("takes the key where both are sent, and does not fall back to the cookie", async () => {
      const { row, secret } = await makeKey(control);
      assert.equal((await probe({ cookie: owner.cookie, ...bearer(secret) })).body.data.id, row.id);
      // no CSRF token is asked for: no browser adds the key
      const changed = await change({ cookie: owner.cookie, origin: "https://evil.test", ...bearer(secret) });
      assert.equal(changed.body.data.id, row.id);
      for (const authorization of [`Bearer ${newApiKeySecret("production")}`, "Basic eDp5", ""]) {
        const { status } = await probe({ cookie: owner.cookie, authorization });
        assert.equal(status, 401, authorization);
      }
    });

    it("takes no other cookie for the session's", async () => {
      const [name = "", value = ""] = owner.cookie.split("=");
      for (const cookie of [
        `${name}=${value}; ${name}=${value}`,
        `${name}=${"A".repeat(43)}; ${name}=${value}`,
        `x${name}=${value}`,
        `${name}x=${value}`,
        `${name}="${value}"`,
        `${name}=${value}A`,
        `${name}=${value.slice(0, -1)}`,
        `${name}=`,
        name,
        `${name}_sandbox=${value}`,
        `__Host-${name}=${value}`,
      ]) {
        assert.equal((await probe({ cookie })).status, 401, cookie);
      }
      assert.equal((await probe({ cookie: `a=b; ${owner.cookie}; c=d` })).status, 200);
    });

    it("ends after two hours without use, and after twelve hours in any case", async () => {
      now += 2 * 3_600_000 - 1;
      assert.equal((await probe({ cookie: owner.cookie })).status, 200);
      await eventually("the use to be noted", async () => {
        const row = await control.context.db("dashboard_sessions").first();
        return row.last_seen_at.getTime() === now;
      });
      now += 2 * 3_600_000;
      assert.equal((await probe({ cookie: owner.cookie })).status, 401);

      const again = await signIn(control, owner.email);
      const end = now + 12 * 3_600_000;
      while (now + 3_600_000 < end) {
        now += 3_600_000;
        assert.equal((await probe({ cookie: again.cookie })).status, 200);
        const at = now;
        await eventually("the use to be noted", async () => {
          const rows = await control.context.db("dashboard_sessions").where({ last_seen_at: new Date(at) });
          return rows.length === 1;
        });
      }
      now = end - 1;
      assert.equal((await probe({ cookie: again.cookie })).status, 200);
      now = end;
      assert.equal((await probe({ cookie: again.cookie })).status, 401);
    });

    it("asks for the session's CSRF token where something is changed", async () => {
      assert.equal((await change(owner.headers)).status, 200);
      const other = await signIn(control, owner.email);
      for (const token of [
        undefined,
        "",
        other.csrf,
        owner.csrf.slice(0, -1),
        `${owner.csrf}A`,
        owner.cookie,
      ]) {
        const { status, body } = await change({
          cookie: owner.cookie,
          ...(token !== undefined && { "x-csrf-token": token }),
        });
        assert.deepEqual([status, body.error.code], [403, "CSRF_TOKEN_INVALID"], String(token));
      }
      assert.equal((await probe({ cookie: owner.cookie })).status, 200);
    });

    it("refuses a change that a browser sends for another origin, token or not", async () => {
      const { host, port } = new URL(control.url);
      const from = (headers: Readonly<Record<string, string>>) => change({ ...owner.headers, ...headers });
      for (const headers of [
        { origin: "https://evil.test" },
        { origin: "null" },
        { origin: `http://127.0.0.1:${Number(port) + 1}` },
        { origin: `http://${host}.evil.test` },
        { origin: `http://evil.test/${host}` },
        { origin: "http://" },
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
        { "sec-fetch-site": "none" },
        { origin: control.url, "sec-fetch-site": "cross-site" },
      ]) {
        const { status, body } = await from(headers);
        assert.deepEqual([status, body.error.code], [403, "CSRF_TOKEN_INVALID"], JSON.stringify(headers));
      }
      assert.equal((await from({ origin: control.url, "sec-fetch-site": "same-origin" })).status, 200);
    });
  });

  it("makes keys of one form, each another one", () => {
    const keys = Array.from({ length: 1_000 }, () => newApiKeySecret("production"));
    assert.equal(new Set(keys).size, keys.length);
    for (const key of keys) {
      assert.match(key, /^gh_live_[0-9A-Za-z]{38}$/);
      assert.equal(environmentOfKey(key), "production");
    }
    assert.equal(environmentOfKey(newApiKeySecret("sandbox")), "sandbox");
  });

  it("answers 503 while the database is away, and lets nobody in", async () => {
    const { secret } = await makeKey(control);
    // nothing listens on port 1
    const db = openDatabase("postgres://nobody@127.0.0.1:1/none", { poolSize: 1 });
    const broken = await startGuardedControl({ database: { ...control.database, db } });
    try {
      const { status, body } = await send(broken, "GET", "/probe", bearer(secret));
      assert.deepEqual([status, body.error.code], [503, "SERVICE_UNAVAILABLE"]);
    } finally {
      await broken.close();
      await closeDatabase(db);
    }
  });
});
