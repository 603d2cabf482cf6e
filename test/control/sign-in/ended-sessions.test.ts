import assert from "node:assert/strict";
import { decodeJwt } from "jose";
import { endSessions } from "../../../src/control/resources/sessions/end.ts";
import { runSessionEndings } from "../../../src/control/resources/sessions/run-endings.ts";
import { newId } from "../../../src/control/platform/ids.ts";
import { startControl } from "../../support/control.ts";
import { OPERATOR } from "../../support/guarded-control.ts";
import { OTHER_KEY, SIGN_IN_KEY, startSignInBench, type SignInBench } from "../support/sign-in.ts";

const MINUTE = 60_000;

describe("sessions that end", () => {
  let bench: SignInBench;
  let skip = 0;
  before(async () => {
    bench = await startSignInBench({ clock: () => Date.now() + skip });
  });
  after(() => bench.close());
  beforeEach(() => {
    skip = 0;
  });

  describe("after a policy that was stricter for a while", () => {
    /** Signs in, and refreshes under a policy that leaves the second token less time than the first one has. */
    async function shortened() {
      const customer = await bench.customer();
      const first = await bench.signIn(customer, { more: { max_age: 3_600 } });
      const policy = await bench.policy(customer, { max_session_duration: 120 });
      const second = await bench.refresh(first.refresh_token);
      assert.equal(second.status, 200, second.text);
      const firstEnds = decodeJwt(first.access_token).exp!;
      assert.ok(firstEnds - decodeJwt(second.body.data.access_token as string).exp! > 600);
      bench.forget();
      return { customer, policy, session: first.session.id, firstEnds };
    }

    const refusedUntil = () =>
      bench.told.flatMap((change) => (change.type === "session_ended" ? [Date.parse(change.until)] : []));

    it("have all of their tokens refused, the longest too", async () => {
      const { session, firstEnds } = await shortened();
      const answer = await bench.request("DELETE", `/auth/logout?session_id=${session}`);
      assert.equal(answer.body.data.ended, 1);
      assert.deepEqual(refusedUntil(), [firstEnds * 1000 + 300_000]);
    });

    it("can be ended as long as one of their tokens is valid", async () => {
      const { customer, policy, session, firstEnds } = await shortened();
      skip = 5 * MINUTE;
      // with the policy gone, gateways would take the first token again
      await bench.request("DELETE", `/customers/${customer}/policies/${policy}`);
      const answer = await bench.request("DELETE", `/auth/logout?session_id=${session}`);
      assert.equal(answer.body.data.ended, 1);
      assert.deepEqual(refusedUntil(), [firstEnds * 1000 + 300_000]);
    });
  });

  it("tell the hint for the provider's logout, an ID token, to the key of the sign-in alone", async () => {
    const customer = await bench.customer();
    for (const [key, told] of [
      [SIGN_IN_KEY, true],
      [OTHER_KEY, false],
    ] as const) {
      for (const member of ["session_id", "user_id"] as const) {
        const { session, user } = await bench.signIn(customer);
        const id = member === "session_id" ? session.id : user.id;
        const answer = await bench.request("DELETE", `/auth/logout?${member}=${id}`, { as: key });
        assert.equal(answer.body.data.ended, 1, answer.text);
        const url = new URL(answer.body.data.end_session_url as string);
        assert.equal(url.searchParams.has("id_token_hint"), told, member);
        // by which the provider knows who asks, too
        assert.equal(url.searchParams.get("client_id"), bench.provider.clientId);
      }
    }
  });

  it("can be very many at once", async () => {
    const control = await startControl();
    try {
      const created = await control.request("POST", "/customers", { body: { name: "Large" } });
      const customer = (created.body as { data: { id: string } }).data.id;
      const many = 12_000;
      const user = newId("user");
      await control.context.db.raw(
        `insert into users (id, customer_id, subject, status, profile, attributes, created_at, updated_at)
         values (?, ?, 'many', 'active', '{}', '{}', now(), now())`,
        [user, customer],
      );
      await control.context.db.raw(
        `insert into sessions (id, customer_id, user_id, client_id, scope, amr, ip_address, user_agent,
           created_at, last_used_at, expires_at, alive_until, last_token_expires_at)
         select 'ses_' || n, ?, ?, 'key_1', 'openid', '[]', '192.0.2.1', '', now(), now(),
           now() + interval '1 hour', now() + interval '1 hour', now() + interval '1 hour'
         from generate_series(1, ?) as n`,
        [customer, user, many],
      );
      const answer = await control.request("PUT", `/customers/${customer}`, {
        body: { status: "suspended" },
      });
      assert.equal(answer.status, 200, answer.text);
      const again = await control.context.units(OPERATOR, (unit) =>
        endSessions(unit, { customerId: customer }, "revoked"),
      );
      assert.equal(again, 0);
      await runSessionEndings(control.context);
      const [told] = await control.context
        .db("events")
        .where({ type: "session.revoked" })
        .count<{ total: number }[]>({ total: "*" });
      assert.equal(told?.total, many);
    } finally {
      await control.close();
    }
  });
});
