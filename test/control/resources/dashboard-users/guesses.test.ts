import assert from "node:assert/strict";
import type { RunningControl } from "../../../support/control.ts";
import {
  deviceOf,
  makeOwner,
  makePerson,
  PASSWORD,
  send,
  signIn,
  startGuardedControl,
} from "../../../support/guarded-control.ts";
import { listen } from "../../../support/written.ts";
import { forgetExpiredSignIns } from "../../../../src/control/resources/dashboard-users/prune-sign-ins.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe("signing in to the dashboard where somebody guesses", () => {
  let control: RunningControl;
  let now: number;
  const written = listen();
  const email = "owner@example.com";

  beforeEach(async () => {
    now = Date.parse("2026-03-01T12:00:00Z");
    written.clear();
    control = await startGuardedControl({
      clock: () => now,
      writers: written.writers,
      settings: { trustedProxies: ["127.0.0.1/32"] },
    });
  });
  afterEach(() => control.close());

  const login = (who: string, password: string, headers: Readonly<Record<string, string>> = {}) =>
    send(control, "POST", "/dashboard/login", headers, { email: who, password });
  const from = (address: string) => ({ "x-forwarded-for": address });
  /** Strangers at many addresses, each with one attempt, until the account's count is locked. */
  const strangers = async () => {
    await login(email, "wrong password", from("198.51.100.1"));
    await control.context.db("dashboard_throttles").where({ kind: "account" }).update({ failures: 19 });
    await login(email, "wrong password", from("198.51.100.2"));
  };

  it("is open from other addresses while one is locked", async () => {
    await makeOwner(control);
    for (let i = 0; i < 5; i += 1) await login(email, "wrong password", from("192.0.2.1"));
    assert.equal((await login(email, PASSWORD, from("192.0.2.1"))).status, 401);
    assert.equal((await login(email, PASSWORD, from("192.0.2.2"))).status, 200);
    // one subscriber has a whole /64 (RFC 6177)
    for (let i = 1; i < 6; i += 1) await login(email, "wrong password", from(`2001:db8:0:1::${i}`));
    assert.equal((await login(email, PASSWORD, from("2001:db8:0:1:ffff::9"))).status, 401);
    assert.equal((await login(email, PASSWORD, from("2001:db8:0:2::9"))).status, 200);
  });

  it("believes no address that the client itself names", async () => {
    const other = await startGuardedControl({ clock: () => now });
    try {
      await makeOwner(other);
      const body = { email, password: "wrong password" };
      for (let i = 0; i < 5; i += 1)
        await send(other, "POST", "/dashboard/login", from(`192.0.2.${i}`), body);
      const good = { email, password: PASSWORD };
      assert.equal((await send(other, "POST", "/dashboard/login", from("192.0.2.99"), good)).status, 401);
    } finally {
      await other.close();
    }
  });

  it("slows down strangers at an account that many addresses try, and no device that it knows", async () => {
    const owner = await makeOwner(control);
    for (let i = 0; i < 20; i += 1) await login(email, "wrong password", from(`198.51.100.${i}`));
    assert.equal((await login(email, PASSWORD, from("203.0.113.1"))).status, 401);
    // the only owner, from wherever the strangers are
    const known = await login(email, PASSWORD, { cookie: owner.device, ...from("198.51.100.1") });
    assert.equal(known.status, 200);
    // which opens nothing to the strangers
    assert.equal((await login(email, PASSWORD, from("203.0.113.1"))).status, 401);
    now += MINUTE;
    assert.equal((await login(email, PASSWORD, from("203.0.113.1"))).status, 200);
    // never for long, however many have failed
    await control.context.db("dashboard_throttles").where({ kind: "account" }).update({ failures: 9_999 });
    await login(email, "wrong password", from("203.0.113.2"));
    assert.equal((await login(email, PASSWORD, from("203.0.113.3"))).status, 401);
    now += HOUR;
    assert.equal((await login(email, PASSWORD, from("203.0.113.3"))).status, 200);
  });

  it("slows down an address that tries many accounts, whose own sign-ins clear nothing", async () => {
    const owner = await makeOwner(control);
    const viewer = await makePerson(control, owner, "viewer");
    const mallory = from("192.0.2.66");
    for (const who of ["a@x.org", "b@x.org"]) await login(who, "wrong password", mallory);
    assert.equal((await login(viewer.email, PASSWORD, mallory)).status, 200);
    const count = control.context.db("dashboard_throttles").where({ kind: "address", failures: 2 });
    assert.equal(await count.update({ failures: 49 }), 1);
    // nor does the one that would have been the last to fail
    assert.equal((await login(viewer.email, PASSWORD, mallory)).status, 200);
    await login("last@x.org", "wrong password", mallory);
    assert.equal((await login(viewer.email, PASSWORD, mallory)).status, 401);
    const known = await login(email, PASSWORD, { cookie: owner.device, ...mallory });
    assert.equal(known.status, 200);
  });

  it("locks a device by its own failures alone, of which no two share the last", async () => {
    const owner = await makeOwner(control);
    const device = { cookie: owner.device };
    // as many as one account may have at once
    for (let round = 0; round < 3; round += 1)
      await Promise.all(Array.from({ length: 4 }, () => login(email, "wrong password", device)));
    const failed = written.changes.filter(({ action }) => action === "dashboard_user.sign_in_failed");
    assert.deepEqual(
      [failed.length, failed.flatMap(({ after }) => after?.["locked"] ?? [])],
      [5, ["device"]],
    );
    assert.equal((await login(email, PASSWORD, device)).status, 401);
    assert.equal((await login(email, PASSWORD)).status, 200);
    now += 15 * MINUTE;
    assert.equal((await login(email, PASSWORD, device)).status, 200);
  });

  it("knows a device at the account that it has signed in to, and only while its cookie is good", async () => {
    const owner = await makeOwner(control);
    const viewer = await makePerson(control, owner, "viewer");
    await strangers();
    const { db } = control.context;
    for (const cookie of [
      viewer.device,
      `${owner.device}; ${owner.device}`,
      `${owner.device.slice(0, -1)}%`,
      `gatehouse_device=${"A".repeat(43)}`,
      `gatehouse_device=`,
      `gatehouse_session=${owner.device.split("=")[1] ?? ""}`,
    ])
      assert.equal((await login(email, PASSWORD, { cookie })).status, 401, cookie);
    // it opens nothing by itself, and is kept as a hash
    assert.equal((await send(control, "GET", "/dashboard/session", { cookie: owner.device })).status, 401);
    const kept = JSON.stringify([await db("dashboard_devices"), written.all()]);
    assert.ok(!kept.includes(owner.device.split("=")[1] ?? ""));
    // it is the same at each sign-in, and good for longer each time; another's is replaced
    const again = await login(email, PASSWORD, { cookie: owner.device });
    assert.equal(deviceOf(again), owner.device);
    now += 179 * 24 * HOUR;
    const late = await login(email, PASSWORD, { cookie: owner.device });
    assert.equal(deviceOf(late), owner.device);
    const others = await login(email, PASSWORD, { cookie: viewer.device });
    assert.ok(![owner.device, viewer.device].includes(deviceOf(others)));
    now += 180 * 24 * HOUR;
    await strangers();
    assert.equal((await login(email, PASSWORD, { cookie: owner.device })).status, 401);
  });

  it("knows no device any more once the password is another, but the one that has set it", async () => {
    const owner = await makeOwner(control);
    const elsewhere = await signIn(control, email);
    const changed = await send(control, "PUT", "/dashboard/password", owner.headers, {
      current_password: PASSWORD,
      new_password: "Another one 42",
    });
    assert.equal(changed.status, 200);
    await strangers();
    for (const cookie of [owner.device, elsewhere.device])
      assert.equal((await login(email, "Another one 42", { cookie })).status, 401);
    const cookie = deviceOf(changed);
    assert.equal((await login(email, "Another one 42", { cookie })).status, 200);
  });

  it("keeps 20 devices of a user, the latest, and as many counts as there is room for", async () => {
    const owner = await makeOwner(control);
    const { db } = control.context;
    const [{ id: user_id }] = await db("dashboard_users");
    const old = { user_id, created_at: new Date(now), expires_at: new Date(now + HOUR) };
    await db("dashboard_devices").insert(
      Array.from({ length: 25 }, (_, at) => ({
        ...old,
        token_hash: `old ${at}`,
        last_used_at: new Date(now - 1_000 - at),
      })),
    );
    const { device } = await signIn(control, email);
    const kept = await db("dashboard_devices").orderBy("last_used_at", "desc").pluck("token_hash");
    assert.deepEqual([kept.length, kept.includes("old 16"), kept.includes("old 17")], [20, true, false]);
    assert.notEqual(device, owner.device);

    for (let i = 0; i < 8; i += 1) await login("a@x.org", "wrong password", from(`198.51.100.${i}`));
    await forgetExpiredSignIns(db, new Date(now), 3);
    const counts = await db("dashboard_throttles").orderBy("failures", "desc");
    assert.deepEqual([counts.length, counts[0].kind, counts[0].failures], [3, "account", 8]);
  });
});
