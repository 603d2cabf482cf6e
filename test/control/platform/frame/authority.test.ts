import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { revokeApiKey } from "../../../../src/control/resources/api-keys/store.ts";
import { createAuthenticator } from "../../../../src/control/authenticator.ts";
import type { ControlContext } from "../../../../src/control/platform/context.ts";
import { ok, readRoute, writeRoute } from "../../../../src/control/platform/frame/route.ts";
import { ApiError } from "../../../../src/control/platform/errors.ts";
import { createApiServer } from "../../../../src/control/platform/frame/serve-on.ts";
import type { RunningControl } from "../../../support/control.ts";
import {
  bearer,
  makeKey,
  makeOwner,
  makePerson,
  OPERATOR,
  send,
  startGuardedControl,
} from "../../../support/guarded-control.ts";

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

  it("gives whoever sends a request half a minute for all of it", () => {
    const { requestTimeout, headersTimeout } = createApiServer();
    assert.deepEqual([requestTimeout, headersTimeout], [30_000, 10_000]);
  });
});
