import assert from "node:assert/strict";
import type { RunningControl } from "../../../support/control.ts";
import { eventually } from "../../../support/eventually.ts";
import {
  makeOwner,
  newSetupLink,
  OPERATOR,
  PASSWORD,
  send,
  setupToken,
  signIn,
  startGuardedControl,
  tokenOf,
} from "../../../support/guarded-control.ts";
import { listen } from "../../../support/written.ts";
import { setUp } from "../../../../src/control/resources/dashboard-users/entry.ts";
import { ensureSetupLink } from "../../../../src/control/resources/dashboard-users/links.ts";

const HOUR = 3_600_000;

describe("the first owner", () => {
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
  const login = (email: string, password: string) => post("/dashboard/login", { email, password });

  const owner = { email: "Olga@Example.com", name: "Olga", password: PASSWORD };

  it("comes in through the link, once", async () => {
    const link = (await ensureSetupLink(control.context))?.url ?? "";
    assert.ok(link.startsWith(`${control.url}/setup?token=`));
    const token = tokenOf(link);
    const made = await post("/dashboard/setup", { ...owner, token });
    assert.equal(made.status, 201);
    const { email, name, role, status } = made.body.data;
    assert.deepEqual([email, name, role, status], ["olga@example.com", "Olga", "owner", "active"]);
    assert.ok(!/password|argon2/.test(made.text));

    for (const again of [token, token]) {
      const { status: code, body } = await post("/dashboard/setup", {
        ...owner,
        email: "b@x.org",
        token: again,
      });
      assert.deepEqual([code, body.error.code], [401, "INVALID_LINK"]);
    }
    assert.equal(await ensureSetupLink(control.context), undefined);
    assert.equal((await login("olga@example.com", PASSWORD)).status, 200);
    const actions = written.changes.map(({ action, actor }) => [action, actor.kind]);
    assert.deepEqual(actions[0], ["dashboard_user.created", "anonymous"]);
  });

  it("is one, however many use the link at once", async () => {
    const token = await setupToken(control);
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        post("/dashboard/setup", { ...owner, email: `o${at}@x.org`, token }),
      ),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 401, 401, 401, 401, 401]);
    assert.equal((await control.context.db("dashboard_users")).length, 1);
  });

  it("is one, also when links are made while one is used", async () => {
    const token = await setupToken(control);
    const [made, ...links] = await Promise.all([
      post("/dashboard/setup", { ...owner, token }),
      ...Array.from({ length: 6 }, () => newSetupLink(control)),
    ]);
    const tokens = links.flatMap((link) => (link === "" ? [] : [tokenOf(link)]));
    const more = [];
    for (const other of tokens)
      more.push(await post("/dashboard/setup", { ...owner, email: "b@x.org", token: other }));
    const worked = [made, ...more].filter(({ status }) => status === 201);
    assert.equal(worked.length, 1);
    assert.equal((await control.context.db("dashboard_users")).length, 1);
  });

  it("is waited for by who would make another link", async () => {
    const { context } = control;
    const token = await setupToken(control);
    let link: Promise<unknown> | undefined;
    await context.units(OPERATOR, async (unit) => {
      await setUp(unit, { ...owner, email: "olga@example.com", token }, "hash");
      link = ensureSetupLink(context);
      await eventually("the wait", async () => {
        const { rows } = await context.db.raw(
          "select 1 from pg_locks l join pg_database d on d.oid = l.database " +
            "where l.locktype = 'advisory' and not l.granted and d.datname = current_database()",
        );
        return rows.length === 1;
      });
    });
    assert.equal(await link, undefined);
  });

  it("keeps the link of an earlier start while it is good, and gets another one after", async () => {
    const first = await ensureSetupLink(control.context);
    const token = tokenOf(first?.url ?? "");
    now += 23 * HOUR;
    // only a hash is kept: it cannot be shown again
    assert.deepEqual(await ensureSetupLink(control.context), { expiresAt: first?.expiresAt });
    now += HOUR;
    const second = await ensureSetupLink(control.context);
    assert.deepEqual([second?.expiresAt], [new Date(now + 24 * HOUR)]);
    assert.equal((await post("/dashboard/setup", { ...owner, token })).status, 401);
    const next = tokenOf(second?.url ?? "");
    now += 23 * HOUR;
    await ensureSetupLink(control.context);
    assert.equal((await post("/dashboard/setup", { ...owner, token: next })).status, 201);
    assert.equal(await ensureSetupLink(control.context), undefined);
  });

  it("gets one link, however many instances start at once", async () => {
    const links = await Promise.all(Array.from({ length: 6 }, () => ensureSetupLink(control.context)));
    const made = links.flatMap((link) => (link?.url === undefined ? [] : [link.url]));
    assert.equal(made.length, 1);
    assert.equal((await post("/dashboard/setup", { ...owner, token: tokenOf(made[0] ?? "") })).status, 201);
  });

  it("does not come in by a link that is over, replaced, invented or of another kind", async () => {
    const first = await setupToken(control);
    const second = await setupToken(control);
    const refused = async (token: string) => {
      const { status, body } = await post("/dashboard/setup", { ...owner, token });
      assert.deepEqual([status, body.error.code], [401, "INVALID_LINK"], token);
    };
    await refused(first);
    await refused("x");
    await refused(second.slice(0, -1));
    now += 24 * HOUR;
    await refused(second);
    const person = await makeOwner(control);
    const invited = await post(
      "/dashboard/users",
      { email: "v@x.org", name: "V", role: "viewer" },
      person.headers,
    );
    await refused(tokenOf(invited.body.data.invitation.url));
    assert.equal((await control.context.db("dashboard_users")).length, 2);
  });

  it("has a password worth the name", async () => {
    const token = await setupToken(control);
    for (const password of [
      "short",
      "elevenchars",
      "x".repeat(201),
      "olga@example.com",
      "OLGA@example.com",
      "passwordpassword",
      "Password1234",
      "1q2w3e4r5t6y",
      "abababababab",
      "\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44\uff11\uff12\uff13\uff14",
      "\u{1f600}".repeat(6),
    ]) {
      const { status, body } = await post("/dashboard/setup", { ...owner, token, password });
      assert.deepEqual([status, body.error.details.fields[0].path], [422, "password"], password);
    }
    for (const [field, value] of [
      ["name", "a\r\nset-cookie: x=y"],
      ["email", "a\r\nb@example.com"],
      ["email", "no address"],
      ["role", "owner"],
    ] as const) {
      const { status, body } = await post("/dashboard/setup", { ...owner, token, [field]: value });
      assert.deepEqual([status, body.error.details.fields[0].path], [422, field]);
    }
    const long = `${"\u00e4\u00f6\u00fc\u20ac\u{1f600}".repeat(39)}12345`;
    assert.equal((await post("/dashboard/setup", { ...owner, token, password: long })).status, 201);
    // the same characters, put together in another way
    assert.equal((await login("olga@example.com", long.normalize("NFD"))).status, 200);
  });

  it("leaves neither token nor password in the database, the trail or the log", async () => {
    const token = await setupToken(control);
    await post("/dashboard/setup", { ...owner, token });
    const { cookie, csrf, device } = await signIn(control, "olga@example.com");
    const { db } = control.context;
    const tables = [
      ...["dashboard_users", "dashboard_links", "dashboard_sessions"],
      ...["dashboard_devices", "dashboard_throttles"],
    ];
    const rows = await Promise.all(tables.map((table) => db(table)));
    const kept = JSON.stringify([rows, written.all()]);
    for (const secret of [token, PASSWORD, cookie.split("=")[1] ?? "", csrf, device.split("=")[1] ?? ""])
      assert.ok(!kept.includes(secret));
    assert.match(kept, /\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });
});
