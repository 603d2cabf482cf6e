import assert from "node:assert/strict";
import { namesWith, SCOPE_PERMISSIONS, SCOPES } from "../../../src/control/platform/actor.ts";
import { revokeApiKey } from "../../../src/control/resources/api-keys/store.ts";
import { newApiKeySecret } from "../../../src/control/resources/api-keys/secret.ts";
import type { Route } from "../../../src/control/platform/frame/route.ts";
import type { Answered } from "../../support/control.ts";
import { bearer, makeCustomer, makeKey, OPERATOR, send } from "../../support/guarded-control.ts";
import { startWholeControl, type WholeControl } from "../../support/whole-control.ts";
import {
  bodyOf,
  idFor,
  nameOf,
  pathParameters,
  pathWith,
  queryParameters,
} from "../support/route-requests.ts";
import { seed, type Seeded } from "../support/seed.ts";

type Headers = Readonly<Record<string, string>>;

/** Every route there is, by the route table: the sandbox has all. */
describe("hostile callers, at every route", () => {
  let control: WholeControl;
  let own: Seeded;
  let foreign: Seeded;
  let guarded: readonly Route[];

  before(async () => {
    control = await startWholeControl({ settings: { environment: "sandbox" } });
    const full = await control.keyOf();
    own = await seed(control, "Acme", full);
    foreign = await seed(control, "Zebra", full);
    guarded = control.routes.filter(({ permission }) => permission !== "public");
    assert.ok(guarded.length > 60);
  });
  after(() => control.close());

  const ask = (route: Route, headers: Headers, of: Seeded = own) =>
    send(
      control,
      route.method.toUpperCase(),
      pathWith(route, (name) => idFor(route, name, of)),
      headers,
      bodyOf(route, of),
    );

  async function refusedEverywhere(headers: Headers, code: string): Promise<void> {
    for (const route of guarded) {
      const answer = await ask(route, headers);
      assert.deepEqual([answer.status, answer.body.error.code], [401, code], nameOf(route));
      assert.match(answer.headers.get("www-authenticate") ?? "", /^Bearer/, nameOf(route));
      assert.equal(answer.headers.get("cache-control"), "no-store");
    }
  }

  it("get 401 without a key", () => refusedEverywhere({}, "UNAUTHORIZED"));

  it("get 401 with a key that nobody made", () =>
    refusedEverywhere(bearer(newApiKeySecret("sandbox")), "UNAUTHORIZED"));

  it("get 401 with another scheme", () => refusedEverywhere({ authorization: "Basic YTpi" }, "UNAUTHORIZED"));

  it("get 401 with a key of the other environment", () =>
    refusedEverywhere(bearer(newApiKeySecret("production")), "WRONG_ENVIRONMENT"));

  it("get 401 with a key that was revoked", async () => {
    const { row, secret } = await makeKey(control);
    await control.context.units(OPERATOR, (unit) => revokeApiKey(unit, row.id, () => undefined));
    await refusedEverywhere(bearer(secret), "API_KEY_REVOKED");
  });

  it("get 401 with a key that has expired", async () => {
    const { row, secret } = await makeKey(control);
    await control.context
      .db("api_keys")
      .where({ id: row.id })
      .update({ expires_at: new Date(0) });
    await refusedEverywhere(bearer(secret), "API_KEY_EXPIRED");
  });

  it("get 401 with the cookie of a session that nobody has", () =>
    refusedEverywhere({ cookie: `gatehouse_session_sandbox=${"a".repeat(43)}` }, "UNAUTHORIZED"));

  for (const scope of SCOPES)
    it(`get 403 where the scope ${scope} is not enough, and are told which is`, async () => {
      const customerId = scope === "caller" && (await makeCustomer(control));
      const key = await control.keyOf({ scope, ...(customerId !== false && { customerId }) });
      for (const route of guarded) {
        if (route.permission === "public") continue;
        const needed = namesWith(SCOPE_PERMISSIONS, route.permission);
        if (needed.includes(scope)) continue;
        const { status, body } = await ask(route, key);
        assert.deepEqual([status, body.error.code], [403, "INSUFFICIENT_SCOPE"], nameOf(route));
        assert.deepEqual(body.error.details.required_scope, needed, nameOf(route));
      }
    });

  describe("with a key of one customer and another's ids", () => {
    let key: Headers;
    let untouched: string;

    before(async () => {
      key = await control.keyOf({ customerId: own.customer });
      untouched = await stateOf(foreign);
    });
    // whatever was tried
    afterEach(async () => {
      assert.equal(await stateOf(foreign), untouched);
    });

    it("see 404 or 403 for each of them in a path", async () => {
      for (const route of guarded) {
        for (const name of pathParameters(route)) {
          const path = pathWith(route, (other) => idFor(route, other, other === name ? foreign : own));
          // of what belongs to no customer there is none to tell apart
          if (path === pathWith(route, (other) => idFor(route, other, own))) continue;
          const answer = await send(control, route.method.toUpperCase(), path, key, bodyOf(route, own));
          assert.ok([403, 404].includes(answer.status), `${nameOf(route)} ${name}: ${answer.text}`);
          nothingForeign(route, answer, path);
        }
      }
    });

    it("see nothing for each of them in a query", async () => {
      for (const route of guarded) {
        for (const name of queryParameters(route)) {
          for (const value of Object.values(foreign) as string[]) {
            const path = pathWith(route, (other) => idFor(route, other, own));
            const query = `${name}=${encodeURIComponent(value)}`;
            const answer = await send(control, route.method.toUpperCase(), `${path}?${query}`, key);
            // a list is of what the key may see
            const listed = answer.status === 200 && Array.isArray(answer.body?.data);
            assert.ok(
              listed || [400, 403, 404, 422].includes(answer.status),
              `${nameOf(route)}?${query}: ${answer.text}`,
            );
            nothingForeign(route, answer, query);
          }
        }
      }
    });

    it("see 403, 404 or 422 for each of them in a body", async () => {
      for (const route of guarded) {
        const sent = bodyOf(route, foreign);
        // a body that refers to nothing
        if (JSON.stringify(sent) === JSON.stringify(bodyOf(route, own))) continue;
        const path = pathWith(route, (name) => idFor(route, name, own));
        const answer = await send(control, route.method.toUpperCase(), path, key, sent);
        assert.ok([401, 403, 404, 422].includes(answer.status), `${nameOf(route)}: ${answer.text}`);
        nothingForeign(route, answer, JSON.stringify(sent));
      }
    });

    it("see nothing of it in what they may read", async () => {
      let seen = 0;
      for (const route of guarded) {
        if (route.method !== "get") continue;
        const answer = await ask(route, key);
        nothingForeign(route, answer, "");
        if (answer.status === 200) seen += 1;
      }
      // of its own it sees something, or this would prove nothing
      assert.ok(seen > 15, String(seen));
    });
  });

  /** No id of the other customer's that the request did not name, and none of its texts. */
  function nothingForeign(route: Route, answer: Answered, asked: string): void {
    assert.ok(answer.status < 500, `${nameOf(route)}: ${answer.text}`);
    const marks = [...(Object.values(foreign) as string[]).filter((id) => id !== "v1"), "Zebra", "zebra"];
    for (const mark of marks)
      if (!asked.includes(mark)) assert.ok(!answer.text.includes(mark), `${nameOf(route)}: ${answer.text}`);
  }

  /** All that is stored of a customer. */
  async function stateOf({ customer, webhook }: Seeded): Promise<string> {
    const { db } = control.context;
    const of = { customer_id: customer };
    return JSON.stringify([
      await db("customers").where({ id: customer }),
      await db("customer_idps").where(of),
      await db("users").where(of).orderBy("id"),
      await db("sessions").where(of).orderBy("id"),
      await db("policy_assignments").where(of),
      await db("policies").orderBy("id"),
      await db("webhooks").where({ id: webhook }),
      await db("webhook_deliveries").where({ webhook_id: webhook }).count(),
      await db("audit_records").where(of).count(),
    ]);
  }
});
