import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { EventEmitter, once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { lockKeyShared, revokeApiKey } from "../../../../src/control/resources/api-keys/store.ts";
import { createAuthenticator } from "../../../../src/control/authenticator.ts";
import type { ControlContext } from "../../../../src/control/platform/context.ts";
import { ok, readRoute, writeRoute } from "../../../../src/control/platform/frame/route.ts";
import { ApiError } from "../../../../src/control/platform/errors.ts";
import { createApiServer } from "../../../../src/control/platform/frame/serve-on.ts";
import type { RunningControl } from "../../../support/control.ts";
import { eventually } from "../../../support/eventually.ts";
import {
  bearer,
  makeKey,
  makeOwner,
  makePerson,
  OPERATOR,
  send,
  startGuardedControl,
} from "../../../support/guarded-control.ts";
import { lockWaits } from "../../../support/lock-waits.ts";

describe("the right to a request that takes its time", () => {
  let control: RunningControl;
  let now = Date.now();
  const identified = new EventEmitter();

  function authenticator(context: ControlContext) {
    const real = createAuthenticator(context);
    return {
      ...real,
      async identify(...[request]: Parameters<typeof real.identify>) {
        const actor = await real.identify(request);
        identified.emit("request");
        return actor;
      },
    };
  }

  before(async () => {
    control = await startGuardedControl({ clock: () => now, authenticator });
  });
  after(() => control.close());

  /** Sends all of it but the last byte, and waits until it is known who asks. */
  async function begin(headers: Readonly<Record<string, string>>) {
    const known = once(identified, "request");
    const request = httpRequest(`${control.url}/v1/probe`, {
      method: "POST",
      headers: {
        ...headers,
        accept: "application/json",
        "content-type": "application/json",
        "content-length": 2,
      },
    });
    request.write("{");
    await known;
    return async () => {
      request.end("}");
      const [response] = (await once(request, "response")) as [IncomingMessage];
      return (await json(response)) as { data: { name: string }; error: { code: string } };
    };
  }
  const revoke = (id: string) => control.context.units(OPERATOR, (unit) => revokeApiKey(unit, id));
  const update = (id: string, change: object) =>
    control.context.db("dashboard_users").where({ id }).update(change);

  it("refuses a key that is revoked before the body has come", async () => {
    const { row, secret } = await makeKey(control);
    const finish = await begin(bearer(secret));
    await revoke(row.id);
    now += 1_000;
    assert.equal((await finish()).error.code, "API_KEY_REVOKED");
  });

  it("refuses people who lose their role or their session meanwhile, and names others as they are by then", async () => {
    const owner = await makeOwner(control);
    const admin = await makePerson(control, owner, "admin");
    const [renamed, demoted] = [await begin(owner.headers), await begin(admin.headers)];
    await update(owner.id, { name: "Olga Renamed" });
    await update(admin.id, { role: "viewer" });
    assert.equal((await renamed()).data.name, "Olga Renamed");
    assert.equal((await demoted()).error.code, "INSUFFICIENT_ROLE");
    const ended = await begin(owner.headers);
    await control.context.db("dashboard_sessions").delete();
    assert.equal((await ended()).error.code, "UNAUTHORIZED");
  });

  it("refuses a key that is revoked while something is asked elsewhere, and ends what is sent to it", async () => {
    const shared = {
      tag: "slow",
      group: "management",
      tenancy: "handler",
      summary: "Takes its time",
    } as const;
    let written = false;
    async function takeTime() {
      await control.context
        .db("api_keys")
        .whereNull("revoked_at")
        .update({ revoked_at: new Date(now) });
      now += 1_000;
    }
    async function* lines() {
      yield 1;
      await takeTime();
      yield 2;
    }
    const slow = await startGuardedControl({
      database: control.database,
      clock: () => now,
      routes: () => [
        writeRoute({
          ...{ ...shared, method: "post", path: "/slow", operation: "ask", permission: "configure" },
          answers: { 200: null },
          prepare: takeTime,
          write: () => {
            written = true;
            return Promise.resolve(ok({}));
          },
        }),
        readRoute({
          ...{ ...shared, method: "get", path: "/lines", operation: "lines", permission: "read" },
          ...{ answers: { 200: null }, lines: true },
          read: () => Promise.resolve({ kind: "lines", lines: lines() }),
        }),
      ],
    });
    try {
      const { body } = await send(slow, "POST", "/slow", bearer((await makeKey(control)).secret));
      assert.deepEqual([body.error.code, written], ["API_KEY_REVOKED", false]);
      const accept = "application/x-ndjson";
      await assert.rejects(
        send(slow, "GET", "/lines", { accept, ...bearer((await makeKey(control)).secret) }),
      );
    } finally {
      await slow.close();
    }
  });

  it("commits nothing for a key that is revoked while the write waits for others", async () => {
    const { db } = control.context;
    const { row, secret } = await makeKey(control);
    const slow = await startGuardedControl({
      database: control.database,
      clock: () => now,
      routes: () => [
        writeRoute({
          ...{ tag: "slow", group: "management", tenancy: "handler", summary: "Waits" },
          ...{ method: "post", path: "/waits", operation: "wait", permission: "configure" },
          answers: { 200: null },
          async write(_call, { trx }) {
            await trx("api_keys").where({ id: row.id }).update({ name: "written" });
            now += 1_000;
            return ok({});
          },
        }),
      ],
      authenticator: (context) => {
        const real = createAuthenticator(context);
        let looks = 0;
        return {
          ...real,
          // by the second look it is revoked; its row is locked by what waits
          identify: async (request) =>
            (looks += 1) === 1 ? real.identify(request) : new ApiError("API_KEY_REVOKED"),
        };
      },
    });
    try {
      const { body } = await send(slow, "POST", "/waits", bearer(secret));
      assert.equal(body.error.code, "API_KEY_REVOKED");
      assert.equal((await db("api_keys").where({ id: row.id }).first("name")).name, row.name);
    } finally {
      await slow.close();
    }
  });

  describe("that is withdrawn while the unit's writers run", () => {
    const nothing = () => Promise.resolve<unknown>(undefined);
    /** Run within the transaction, before it is looked whether they who asked still may, and after that. */
    let beforeLook = nothing;
    let afterLook = nothing;
    let writing: RunningControl;

    before(async () => {
      writing = await startGuardedControl({
        database: control.database,
        clock: () => now,
        writers: {
          changes: () => beforeLook().then(() => undefined),
          gateways: () => afterLook().then(() => undefined),
        },
        routes: () => [
          writeRoute({
            ...{ tag: "things", group: "management", tenancy: "handler", summary: "Write" },
            ...{ method: "post", path: "/things", operation: "write", permission: "configure" },
            answers: { 200: null },
            async write(_call, unit) {
              const row = { email_hash: "written", failures: 0, forget_at: unit.now };
              await unit.trx("dashboard_attempts").insert(row);
              unit.record({ action: "thing.written", target: { type: "thing", id: "x" } });
              unit.notifyGateways({ type: "policy_set_activated", name: "x" });
              return { kind: "page", status: 200, html: "" };
            },
          }),
        ],
      });
    });
    beforeEach(async () => {
      [beforeLook, afterLook] = [nothing, nothing];
      await control.context.db("dashboard_attempts").delete();
    });
    after(() => writing.close());

    const write = async (headers: Readonly<Record<string, string>>) => {
      const answer = await send(writing, "POST", "/things", { ...headers, accept: "text/html, */*" });
      const written = await control.context.db("dashboard_attempts").where({ email_hash: "written" });
      return [answer.body?.error.code ?? answer.status, written.length];
    };
    const waiter = (pattern: string) =>
      eventually("a statement that waits", async () => {
        return (await lockWaits(control.context.db, { query: pattern })).length > 0;
      });

    it("commits nothing of it: a key that is revoked, a session that ends, a role that is taken", async () => {
      const { row, secret } = await makeKey(control);
      assert.deepEqual(await write(bearer(secret)), [200, 1]);
      await control.context.db("dashboard_attempts").delete();
      beforeLook = () => revoke(row.id);
      assert.deepEqual(await write(bearer(secret)), ["API_KEY_REVOKED", 0]);
      await control.context.db("dashboard_users").delete();
      const owner = await makeOwner(control, "second@example.com");
      beforeLook = () => update(owner.id, { role: "viewer" });
      assert.deepEqual(await write(owner.headers), ["INSUFFICIENT_ROLE", 0]);
      await update(owner.id, { role: "owner" });
      beforeLook = () => control.context.db("dashboard_sessions").delete();
      assert.deepEqual(await write(owner.headers), ["UNAUTHORIZED", 0]);
    });

    it("waits for a revocation that is under way, and sees it", async () => {
      const { row, secret } = await makeKey(control);
      beforeLook = async () => {
        const { db } = control.context;
        const revoking = await db.transaction();
        await revoking("api_keys")
          .where({ id: row.id })
          .update({ revoked_at: new Date(now) });
        void waiter("%for share%").then(() => revoking.commit());
      };
      assert.deepEqual(await write(bearer(secret)), ["API_KEY_REVOKED", 0]);
    });

    it("keeps no revocation out, however many writes with the key overlap", async () => {
      const { row } = await makeKey(control);
      const { db } = control.context;
      let isRevoked = false;
      let asked = false;
      let meanwhile = 0;
      const write = (hold: () => Promise<unknown>) =>
        db.transaction(async (trx) => {
          await lockKeyShared(trx, row.id);
          const key = await trx<{ id: string; revoked_at: Date | null }>("api_keys")
            .where({ id: row.id })
            .first();
          if (key?.revoked_at !== null) isRevoked = true;
          else if (asked) meanwhile += 1;
          await hold();
        });
      const writes = async (first: number) => {
        await delay(first);
        while (!isRevoked && meanwhile < 100) await write(() => delay(40));
      };
      // one has the key until the revocation waits for it; the others come and go
      const held = Promise.withResolvers<null>();
      const holding = Promise.withResolvers<null>();
      const holder = write(() => {
        holding.resolve(null);
        return held.promise;
      });
      await holding.promise;
      const writers = [0, 10, 20, 30].map((first) => writes(first));
      const revoking = revoke(row.id);
      try {
        await waiter("%pg_advisory_xact_lock(%");
      } finally {
        asked = true;
        held.resolve(null);
      }
      await Promise.all([holder, revoking, ...writers]);
      // those that had it already
      assert.ok(meanwhile <= writers.length, String(meanwhile));
    });

    it("is waited for by a revocation that comes later", async () => {
      const { row, secret } = await makeKey(control);
      const steps: string[] = [];
      let revoked: Promise<unknown> = Promise.resolve();
      afterLook = async () => {
        revoked = revoke(row.id).then(() => steps.push("revoked"));
        await waiter("%pg_advisory_xact_lock(%");
        steps.push("written");
      };
      assert.deepEqual(await write(bearer(secret)), [200, 1]);
      await revoked;
      assert.deepEqual(steps, ["written", "revoked"]);
      assert.deepEqual((await write(bearer(secret)))[0], "API_KEY_REVOKED");
    });
  });

  it("ends what is sent to a key that is revoked and to a session that is over, though nobody reads", async () => {
    async function* silent() {
      yield 1;
      await new Promise(() => undefined);
    }
    const sending = await startGuardedControl({
      database: control.database,
      routes: () => [
        readRoute({
          ...{ tag: "things", group: "management", tenancy: "handler", summary: "Says no more" },
          ...{ method: "get", path: "/silent", operation: "readSilent", permission: "read" },
          ...{ answers: { 200: null }, lines: true },
          read: () => Promise.resolve({ kind: "lines", lines: silent() }),
        }),
      ],
    });
    try {
      await control.context.db("dashboard_users").delete();
      const owner = await makeOwner(control, "third@example.com");
      const { row, secret } = await makeKey(control);
      const begin = async (headers: Readonly<Record<string, string>>) => {
        const { body } = await fetch(`${sending.url}/v1/silent`, {
          headers: { ...headers, accept: "application/x-ndjson" },
        });
        const reader = body!.getReader();
        await reader.read();
        return { ended: assert.rejects(reader.read()) };
      };
      const [byKey, bySession] = [await begin(bearer(secret)), await begin(owner.headers)];
      await revoke(row.id);
      await byKey.ended;
      await control.context.db("dashboard_sessions").delete();
      await bySession.ended;
    } finally {
      await sending.close();
    }
  });

  it("gives whoever sends a request half a minute for all of it", async () => {
    const { requestTimeout, headersTimeout } = (await createApiServer()).server;
    assert.deepEqual([requestTimeout, headersTimeout], [30_000, 10_000]);
  });
});
