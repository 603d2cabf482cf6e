import assert from "node:assert/strict";
import { listen } from "../../../support/written.ts";
import type { RunningControl } from "../../../support/control.ts";
import {
  bearer,
  cookieOf,
  makeKey,
  makeOwner,
  makePerson,
  PASSWORD,
  send,
  signIn,
  startGuardedControl,
  tokenOf,
} from "../../../support/guarded-control.ts";
import type { ApiError } from "../../../../src/control/platform/errors.ts";
import { verifyPassword } from "../../../../src/control/resources/dashboard-users/hash-password.ts";
import { forgetExpiredSignIns } from "../../../../src/control/resources/dashboard-users/prune-sign-ins.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe("signing in to the dashboard", () => {
  let control: RunningControl;
  let now: number;
  const written = listen();

  beforeEach(async () => {
    now = Date.parse("2026-03-01T12:00:00Z");
    written.clear();
    control = await startGuardedControl({ clock: () => now, writers: written.writers });
  });
  afterEach(() => control.close());

  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    send(control, "POST", path, headers, body);
  const login = (email: string, password: string, headers: Readonly<Record<string, string>> = {}) =>
    post("/dashboard/login", { email, password }, headers);

  describe("signing in", () => {
    const email = "owner@example.com";

    it("sets a cookie that scripts cannot read and other sites do not send", async () => {
      await makeOwner(control);
      const answer = await login(email, PASSWORD);
      assert.deepEqual([answer.body.data.user.email, answer.body.data.environment], [email, "production"]);
      assert.equal(answer.body.data.expires_at, "2026-03-02T00:00:00.000Z");
      assert.match(
        answer.headers.getSetCookie().join("\n"),
        /^gatehouse_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict\ngatehouse_device=[\w-]{43}; Max-Age=15552000; Path=\/; HttpOnly; SameSite=Strict$/,
      );
      assert.ok(!answer.text.includes(cookieOf(answer).split("=")[1] ?? ""));
    });

    it("binds the cookie to the host where there is TLS, and has one of its own in the sandbox", async () => {
      for (const [settings, form] of [
        [
          { publicUrl: "https://id.example.com" },
          /^__Host-gatehouse_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Strict\n__Host-gatehouse_device=[\w-]{43}; Max-Age=15552000; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
        ],
        [{ environment: "sandbox" }, /^gatehouse_session_sandbox=.*\ngatehouse_device_sandbox=/],
      ] as const) {
        const other = await startGuardedControl({ settings });
        try {
          await makeOwner(other);
          const answer = await send(other, "POST", "/dashboard/login", {}, { email, password: PASSWORD });
          assert.match(answer.headers.getSetCookie().join("\n"), form);
          const session = await send(other, "GET", "/dashboard/session", { cookie: cookieOf(answer) });
          assert.equal(session.status, 200);
        } finally {
          await other.close();
        }
      }
    });

    it("begins under a new token, and ends the session that the browser had", async () => {
      const person = await makeOwner(control);
      const fixed = `gatehouse_session=${"A".repeat(43)}`;
      const fromFixed = await login(email, PASSWORD, { cookie: fixed });
      assert.equal(fromFixed.status, 200);
      assert.notEqual(cookieOf(fromFixed), fixed);
      assert.equal((await send(control, "GET", "/dashboard/session", { cookie: fixed })).status, 401);

      const again = await login(email, PASSWORD, person.headers);
      assert.equal(again.status, 200);
      assert.notEqual(cookieOf(again), person.cookie);
      assert.equal((await send(control, "GET", "/dashboard/session", { cookie: person.cookie })).status, 401);
      assert.equal(
        (await send(control, "GET", "/dashboard/session", { cookie: cookieOf(again) })).status,
        200,
      );
    });

    it("is not done for another site's page", async () => {
      await makeOwner(control);
      for (const headers of [{ origin: "https://evil.test" }, { "sec-fetch-site": "cross-site" }]) {
        const { status, body } = await login(email, PASSWORD, headers);
        assert.deepEqual([status, body.error.code], [403, "CSRF_TOKEN_INVALID"]);
      }
    });

    it("answers the same to a wrong password, an unknown address, an invited user and a locked one", async () => {
      const owner = await makeOwner(control);
      await post("/dashboard/users", { email: "new@x.org", name: "New", role: "viewer" }, owner.headers);
      for (let i = 0; i < 5; i += 1) await login("locked@x.org", "wrong password");
      const answers = await Promise.all(
        [email, "nobody@x.org", "new@x.org", "locked@x.org"].map((who) => login(who, "wrong password")),
      );
      for (const { status, body, headers } of answers) {
        assert.equal(status, 401);
        assert.deepEqual(body.error, answers[0]?.body.error);
        assert.equal(body.error.code, "INVALID_CREDENTIALS");
        assert.equal(headers.get("set-cookie"), null);
      }
    });

    it("is locked after five failures: 15 minutes, then twice as long, up to a day", async () => {
      await makeOwner(control);
      for (const [already, locked] of [
        [0, 15 * MINUTE],
        [5, 30 * MINUTE],
        [10, HOUR],
        [30, 16 * HOUR],
        [35, 24 * HOUR],
        [500, 24 * HOUR],
      ] as const) {
        // what it would take many more rounds to reach
        if (already > 10)
          await control.context
            .db("dashboard_throttles")
            .where({ kind: "account_address" })
            .update({ failures: already });
        for (let i = 0; i < 5; i += 1) assert.equal((await login(email, "wrong password")).status, 401);
        now += locked - 1;
        assert.equal((await login(email, PASSWORD)).status, 401, `after ${already} failures`);
        now += 1;
      }
      assert.equal((await login(email, PASSWORD)).status, 200);
      // it begins anew
      for (let i = 0; i < 5; i += 1) await login(email, "wrong password");
      now += 15 * MINUTE;
      assert.equal((await login(email, PASSWORD)).status, 200);
    });

    it("is not locked by failures that another sign-in lies between, or a day", async () => {
      await makeOwner(control);
      for (let round = 0; round < 3; round += 1) {
        for (let i = 0; i < 4; i += 1) await login(email, "wrong password");
        assert.equal((await login(email, PASSWORD)).status, 200);
      }
      for (let i = 0; i < 4; i += 1) await login(email, "wrong password");
      now += 24 * HOUR;
      await login(email, "wrong password");
      assert.equal((await login(email, PASSWORD)).status, 200);
    });

    it("looks at no more than five passwords, however many come at once and in whatever spelling", async () => {
      await makeOwner(control);
      const guesses = Array.from({ length: 12 }, (_, at) =>
        login(at % 2 === 0 ? email : email.toUpperCase(), `wrong password ${at}`),
      );
      await Promise.all(guesses);
      assert.equal((await login(email, PASSWORD)).status, 401);
      const failed = written.changes.filter(({ action }) => action === "dashboard_user.sign_in_failed");
      assert.equal(failed.length, 5);
      assert.deepEqual(
        failed.filter(({ after }) => after !== undefined).map(({ after }) => after),
        [{ locked: ["account_address"], locked_until: "2026-03-01T12:15:00.000Z" }],
      );
    });

    it("counts for e-mail addresses that nobody has in the same way", async () => {
      for (let i = 0; i < 6; i += 1) await login("nobody@x.org", "wrong password");
      const rows = await control.context.db("dashboard_throttles").orderBy("kind");
      assert.deepEqual(
        rows.map(({ kind, failures, locked_until }) => [kind, failures, locked_until?.getTime()]),
        [
          ["account", 5, undefined],
          ["account_address", 5, now + 15 * MINUTE],
          ["address", 5, undefined],
        ],
      );
      assert.ok(!JSON.stringify([rows, written.all()]).includes("nobody@x.org"));
    });

    it("ends with signing out", async () => {
      const person = await makeOwner(control);
      const other = await signIn(control, email);
      const answer = await post("/dashboard/logout", undefined, person.headers);
      assert.deepEqual([answer.status, answer.body.data], [200, { signed_out: true }]);
      assert.match(answer.headers.getSetCookie().join(), /^gatehouse_session=; Max-Age=0; Path=\//);
      assert.equal((await send(control, "GET", "/dashboard/session", { cookie: person.cookie })).status, 401);
      assert.equal((await send(control, "GET", "/dashboard/session", { cookie: other.cookie })).status, 200);
      assert.equal((await post("/dashboard/logout", undefined, { cookie: other.cookie })).status, 403);
    });

    it("is not for keys", async () => {
      const { secret } = await makeKey(control);
      for (const [method, path] of [
        ["GET", "/dashboard/session"],
        ["POST", "/dashboard/logout"],
        ["GET", "/dashboard/users"],
      ] as const) {
        const { status, body } = await send(control, method, path, bearer(secret));
        assert.deepEqual([status, body.error.code], [403, "INSUFFICIENT_SCOPE"], path);
      }
    });
  });

  describe("one's own session and password", () => {
    it("tells who one is and what one may", async () => {
      const owner = await makeOwner(control);
      const viewer = await makePerson(control, owner, "viewer");
      const { body } = await send(control, "GET", "/dashboard/session", { cookie: viewer.cookie });
      assert.deepEqual(
        [body.data.user.id, body.data.user.role, body.data.permissions, body.data.csrf_token],
        [viewer.id, "viewer", ["read", "self"], viewer.csrf],
      );
      assert.ok(!/password|argon2|hash/.test(JSON.stringify(body)));
    });

    it("changes the password, and ends one's other sessions", async () => {
      const person = await makeOwner(control);
      const elsewhere = await signIn(control, person.email);
      const put = (body: object) => send(control, "PUT", "/dashboard/password", person.headers, body);
      for (const [body, path] of [
        [{ current_password: "wrong", new_password: "Another one 42" }, "current_password"],
        [{ current_password: PASSWORD, new_password: "passwordpassword" }, "new_password"],
        [{ current_password: PASSWORD, new_password: person.email }, "new_password"],
        [{ current_password: PASSWORD }, "new_password"],
        [{ new_password: "Another one 42" }, "current_password"],
      ] as const) {
        const { status, body: answered } = await put(body);
        assert.deepEqual([status, answered.error.details.fields[0].path], [422, path]);
      }
      assert.equal((await put({ current_password: PASSWORD, new_password: "Another one 42" })).status, 200);
      assert.equal((await send(control, "GET", "/dashboard/session", { cookie: person.cookie })).status, 200);
      assert.equal(
        (await send(control, "GET", "/dashboard/session", { cookie: elsewhere.cookie })).status,
        401,
      );
      assert.equal((await login(person.email, PASSWORD)).status, 401);
      assert.equal((await login(person.email, "Another one 42")).status, 200);
    });

    it("is no way to guess the password without being locked", async () => {
      const person = await makeOwner(control);
      const put = (current_password: string) =>
        send(control, "PUT", "/dashboard/password", person.headers, {
          current_password,
          new_password: "Another one 42",
        });
      for (let i = 0; i < 5; i += 1) assert.equal((await put("wrong")).status, 422);
      assert.equal((await put(PASSWORD)).status, 422);
      now += 15 * MINUTE;
      assert.equal((await put(PASSWORD)).status, 200);
    });
  });

  describe("where more come than hashes can be computed", () => {
    /** Strangers, as many as are let in; each waits for the release once it is its turn. */
    const fill = (count: number, order: string[] = []) => {
      const gate = Promise.withResolvers<undefined>();
      const strangers = Promise.allSettled(
        Array.from({ length: count }, () =>
          verifyPassword(turn("stranger", order, gate.promise), "x", { of: "stranger" }),
        ),
      );
      return {
        async release() {
          gate.resolve(undefined);
          return strangers;
        },
      };
    };
    const turn =
      (who: string, order: string[], gate: Promise<undefined> = Promise.resolve(undefined)) =>
      () => {
        order.push(who);
        return gate;
      };
    const codesOf = (answers: readonly PromiseSettledResult<boolean>[]) =>
      answers.flatMap((answer) => (answer.status === "rejected" ? [(answer.reason as ApiError).code] : []));

    it("computes two at once and lets 64 strangers wait: who is sent away has not tried", async () => {
      const order: string[] = [];
      const codes = codesOf(await fill(80, order).release());
      assert.deepEqual([new Set(codes), codes.length], [new Set(["SERVICE_UNAVAILABLE"]), 14]);
      assert.equal(order.length, 66);
      assert.equal(await verifyPassword(turn("", order), "x", { of: "stranger" }), false);
    });

    it("has 16 places for those who are known, who go first", async () => {
      const order: string[] = [];
      const strangers = fill(66, order);
      const known = Promise.allSettled(
        Array.from({ length: 20 }, (_, account) =>
          verifyPassword(turn("known", order), "x", { of: "known", account: String(account) }),
        ),
      );
      assert.deepEqual(codesOf(await strangers.release()), []);
      const codes = codesOf(await known);
      assert.deepEqual([new Set(codes), codes.length], [new Set(["SERVICE_UNAVAILABLE"]), 4]);
      assert.deepEqual(order.slice(0, 18), ["stranger", "stranger", ...Array(16).fill("known")]);
      assert.equal(order.length, 66 + 16);
    });

    it("has two of these places for one account", async () => {
      const order: string[] = [];
      const strangers = fill(2, order);
      const ofAccount = (account: string, count: number) =>
        Array.from({ length: count }, () =>
          verifyPassword(turn(account, order), "x", { of: "known", account }),
        );
      const known = Promise.allSettled([...ofAccount("a", 20), ...ofAccount("b", 2)]);
      await strangers.release();
      assert.equal(codesOf(await known).length, 18);
      assert.deepEqual(order.slice(2), ["a", "a", "b", "b"]);
    });

    it("lets known browsers and links in, and sends a locked address away before it waits", async () => {
      const owner = await makeOwner(control);
      const invite = { email: "a@x.org", name: "N", role: "viewer" };
      const invited = await post("/dashboard/users", invite, owner.headers);
      const token = tokenOf(invited.body.data.invitation.url as string);
      const strangers = fill(66);
      const first = [
        login(owner.email, PASSWORD, { cookie: owner.device }),
        post("/dashboard/invitation", { token, password: PASSWORD }),
      ];
      const attempts = async () => (await login("nobody@x.org", "wrong password")).status;
      assert.equal(await attempts(), 503);
      const { db } = control.context;
      const locked_until = new Date(now + MINUTE);
      await db("dashboard_throttles").where({ kind: "address" }).update({ locked_until });
      assert.equal(await attempts(), 401);
      assert.equal((await login(owner.email, PASSWORD)).status, 401);
      await strangers.release();
      assert.deepEqual(
        (await Promise.all(first)).map(({ status }) => status),
        [200, 200],
      );
      // its end is the end of it
      now += MINUTE;
      assert.equal((await login(owner.email, PASSWORD)).status, 200);
    });
  });

  it("forgets what is over, and nothing else", async () => {
    const { db } = control.context;
    const person = await makeOwner(control);
    const invite = (email: string) =>
      post("/dashboard/users", { email, name: "N", role: "viewer" }, person.headers);
    await invite("a@x.org");
    await login("nobody@x.org", "wrong password");
    now += 2 * HOUR;
    const again = await signIn(control, person.email);
    await post("/dashboard/users", { email: "b@x.org", name: "N", role: "viewer" }, again.headers);
    await forgetExpiredSignIns(db, new Date(now));
    assert.equal((await db("dashboard_sessions")).length, 1);
    assert.equal((await db("dashboard_links")).length, 2);
    assert.equal((await db("dashboard_throttles").where("failures", ">", 0)).length, 3);
    assert.equal((await db("dashboard_devices")).length, 3);
    now += 71 * HOUR;
    await forgetExpiredSignIns(db, new Date(now));
    assert.equal((await db("dashboard_links")).length, 1);
    assert.equal((await db("dashboard_throttles")).length, 0);
    now += 180 * 24 * HOUR;
    await forgetExpiredSignIns(db, new Date(now));
    assert.equal((await db("dashboard_devices")).length, 0);
  });
});
