import assert from "node:assert/strict";
import type { RunningControl } from "../../../support/control.ts";
import { ExitError } from "../../../../src/cli/exit.ts";
import { ownersCommand } from "../../../../src/cli/owners.ts";
import { resetOwner } from "../../../../src/control/resources/dashboard-users/reset-owner.ts";
import {
  deviceOf,
  makeOwner,
  makePerson,
  OPERATOR,
  PASSWORD,
  send,
  signIn,
  startGuardedControl,
  tokenOf,
  type Person,
} from "../../../support/guarded-control.ts";
import { printedBy } from "../../../support/printed.ts";
import { eventually } from "../../../support/eventually.ts";
import { listen } from "../../../support/written.ts";

describe("/dashboard/users", () => {
  let control: RunningControl;
  let now: number;
  let owner: Person;
  const written = listen();

  beforeEach(async () => {
    now = Date.parse("2026-03-01T12:00:00Z");
    control = await startGuardedControl({ clock: () => now, writers: written.writers });
    owner = await makeOwner(control);
    written.clear();
  });
  afterEach(() => control.close());

  const ask = (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ) => send(control, method, `/dashboard/users${path}`, { ...owner.headers, ...headers }, body);
  const accept = (token: string, password = PASSWORD) =>
    send(control, "POST", "/dashboard/invitation", {}, { token, password });
  const viewer = { email: "vera@example.com", name: "Vera", role: "viewer" };

  it("invites somebody, who sets the password by the link, once", async () => {
    const made = await ask("POST", "", { ...viewer, email: "Vera@Example.com" });
    assert.equal(made.status, 201);
    const { invitation, ...user } = made.body.data;
    assert.deepEqual([user.email, user.role, user.status], ["vera@example.com", "viewer", "invited"]);
    assert.equal(invitation.expires_at, "2026-03-04T12:00:00.000Z");
    assert.ok(invitation.url.startsWith(`${control.url}/invite?token=`));
    const token = tokenOf(invitation.url);
    const kept = JSON.stringify([await control.context.db("dashboard_links"), written.all()]);
    assert.ok(!kept.includes(token));
    assert.ok(!(await ask("GET", `/${user.id}`)).text.includes(token));

    const weak = await accept(token, "vera@example.com");
    assert.deepEqual([weak.status, weak.body.error.details.fields[0].path], [422, "password"]);
    const accepted = await accept(token);
    assert.deepEqual([accepted.status, accepted.body.data.status], [200, "active"]);
    const again = await accept(token, "Another one 42");
    assert.deepEqual([again.status, again.body.error.code], [401, "INVALID_LINK"]);
    assert.equal((await signIn(control, "vera@example.com")).id, user.id);
    assert.deepEqual(
      written.changes.map(({ action, actor }) => [action, actor.kind]),
      [
        ["dashboard_user.invited", "dashboard_user"],
        ["dashboard_user.password_set", "anonymous"],
        ["dashboard_user.signed_in", "anonymous"],
      ],
    );
  });

  it("takes a link once, however many use it at once", async () => {
    const token = tokenOf((await ask("POST", "", viewer)).body.data.invitation.url);
    const passwords = ["First one 1234", "Second one 1234", "Third one 1234"];
    const answers = await Promise.all(passwords.map((password) => accept(token, password)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401]);
    const winner = passwords[answers.findIndex(({ status }) => status === 200)] ?? "";
    await signIn(control, viewer.email, winner);
  });

  it("takes no link that is over or replaced, nor one of somebody who is gone", async () => {
    const { id, invitation } = (await ask("POST", "", viewer)).body.data;
    const next = await ask("POST", `/${id}/invitation`);
    assert.equal(next.status, 201);
    assert.equal((await accept(tokenOf(invitation.url))).status, 401);
    now += 72 * 3_600_000;
    owner = await signIn(control, owner.email);
    assert.equal((await accept(tokenOf(next.body.data.invitation.url))).status, 401);
    const last = await ask("POST", `/${id}/invitation`);
    await ask("DELETE", `/${id}`);
    assert.equal((await accept(tokenOf(last.body.data.invitation.url))).status, 401);
    assert.equal((await accept("invented")).status, 401);
  });

  it("takes no link whose maker was deleted, is no owner any more, or has another password since", async () => {
    const maker = await makePerson(control, owner, "owner");
    const victim = await makePerson(control, owner, "owner");
    const makeLink = async (by: Person) => {
      const made = await send(control, "POST", `/dashboard/users/${victim.id}/invitation`, by.headers);
      assert.equal(made.status, 201);
      return tokenOf(made.body.data.invitation.url);
    };
    const changes: readonly (readonly [string, () => Promise<{ readonly status: number }>])[] = [
      [
        "a new password",
        async () => accept(tokenOf((await ask("POST", `/${maker.id}/invitation`)).body.data.invitation.url)),
      ],
      ["another role", () => ask("PUT", `/${maker.id}`, { role: "admin" })],
      ["deletion", () => ask("DELETE", `/${maker.id}`)],
    ];
    for (const [what, change] of changes) {
      await ask("PUT", `/${maker.id}`, { role: "owner" });
      const token = await makeLink(await signIn(control, maker.email));
      assert.equal((await change()).status, 200, what);
      const { status, body } = await accept(token, "Another one 42");
      assert.deepEqual([status, body.error?.code], [401, "INVALID_LINK"], what);
      await signIn(control, victim.email);
    }
    // one that a release has left that does not know about makers
    const { db } = control.context;
    const left = await makeLink(owner);
    for (const maker of ["dbu_gone", (await makePerson(control, owner, "admin")).id]) {
      await db("dashboard_links").update({ created_by: maker });
      assert.equal((await accept(left, "Another one 42")).status, 401);
    }
    // what others do with their names changes nothing
    const token = await makeLink(owner);
    assert.equal((await ask("PUT", `/${owner.id}`, { name: "O" })).status, 200);
    assert.equal((await accept(token, "Another one 42")).status, 200);
  });

  it("lets a forgotten password be set anew: sessions end, and a lock is lifted", async () => {
    const person = await makePerson(control, owner, "admin");
    for (let i = 0; i < 5; i += 1)
      await send(
        control,
        "POST",
        "/dashboard/login",
        {},
        { email: person.email, password: "wrong password" },
      );
    const made = await ask("POST", `/${person.id}/invitation`);
    assert.equal(made.body.data.status, "active");
    assert.equal((await send(control, "GET", "/dashboard/session", { cookie: person.cookie })).status, 200);
    assert.equal((await accept(tokenOf(made.body.data.invitation.url), "Another one 42")).status, 200);
    assert.equal((await send(control, "GET", "/dashboard/session", { cookie: person.cookie })).status, 401);
    await signIn(control, person.email, "Another one 42");
  });

  describe("gatehouse owners reset", () => {
    const reset = (email: string) =>
      control.context.units(OPERATOR, (unit) => resetOwner(unit, email, control.url));

    it("lets the only owner in again: a new password, and nothing that failed before counts", async () => {
      const { db } = control.context;
      const login = (password: string, headers: Readonly<Record<string, string>> = {}) =>
        send(control, "POST", "/dashboard/login", headers, { email: owner.email, password });
      for (let i = 0; i < 5; i += 1) await login("wrong password", { cookie: owner.device });
      for (let i = 0; i < 5; i += 1) await login("wrong password");
      assert.equal((await login(PASSWORD)).status, 401);
      const first = await reset(owner.email);
      assert.deepEqual(first.expires_at, new Date(now + 24 * 3_600_000));
      // until the link is used, the password is what it was
      assert.equal((await login(PASSWORD, { cookie: owner.device })).status, 200);
      const { url } = await reset(owner.email);
      assert.equal((await accept(tokenOf(first.url), "Another one 42")).status, 401);
      // strangers go on meanwhile
      await login("wrong password");
      await db("dashboard_throttles").where({ kind: "account" }).update({ failures: 19 });
      await login("wrong password");
      const accepted = await accept(tokenOf(url), "Another one 42");
      assert.equal(accepted.status, 200);
      assert.equal((await accept(tokenOf(url), "Another one 42")).status, 401);
      for (const { cookie } of [owner, { cookie: owner.device }])
        assert.equal((await send(control, "GET", "/dashboard/session", { cookie })).status, 401);
      // and go on afterwards: the browser that has set the password is none of them
      await login("wrong password");
      await db("dashboard_throttles").where({ kind: "account" }).update({ failures: 19 });
      await login("wrong password");
      assert.equal((await login("Another one 42")).status, 401);
      assert.equal((await login("Another one 42", { cookie: deviceOf(accepted) })).status, 200);
      const records = written.changes.filter(({ action }) => action === "dashboard_user.reset_link_created");
      assert.deepEqual(
        records.map(({ target, actor }) => [target.id, actor.kind]),
        [
          [owner.id, "system"],
          [owner.id, "system"],
        ],
      );
      assert.ok(!JSON.stringify([await db("dashboard_links"), written.all()]).includes(tokenOf(url)));
    });

    it("is for owners, and says who they are", async () => {
      const admin = await makePerson(control, owner, "admin");
      await assert.rejects(
        reset("nobody@example.com"),
        /no owner has the e-mail address .*`owner@example.com`/,
      );
      await assert.rejects(reset(admin.email), /is admin, whom an owner makes a new link/);
      assert.equal((await control.context.db("dashboard_links")).length, 0);
    });

    it("prints the link alone, and what is wrong", async () => {
      const run = async (...parameters: readonly string[]) => {
        const opened = { context: control.context, close: () => Promise.resolve() };
        const command = ownersCommand(() => Promise.resolve(opened));
        for (const each of [command, ...command.commands])
          each.exitOverride().configureOutput({ writeErr: () => undefined });
        return printedBy(() => command.parseAsync(["reset", ...parameters], { from: "user" }));
      };
      const named = ["--environment", "production", "--url", "https://id.example.com/"];
      const printed = await run(...named, "--email", "OWNER@example.com");
      assert.match(printed, /^https:\/\/id\.example\.com\/invite\?token=[\w-]{43}\n$/);
      assert.equal((await accept(tokenOf(printed.trim()), "Another one 42")).status, 200);
      await assert.rejects(run(...named, "--email", "a@x.org"), ExitError);
      await assert.rejects(run(...named, "--email", "olga"), /--email: `olga` is not a valid e-mail address/);
      await assert.rejects(run("--environment", "production"), { name: "CommanderError" });
    });
  });

  it("has an address once", async () => {
    await ask("POST", "", viewer);
    const again = await ask("POST", "", { ...viewer, email: "VERA@example.com" });
    assert.deepEqual([again.status, again.body.error.code], [409, "DUPLICATE"]);
    const many = await Promise.all(
      Array.from({ length: 5 }, () => ask("POST", "", { ...viewer, email: "w@example.com" })),
    );
    assert.deepEqual(many.map(({ status }) => status).sort(), [201, 409, 409, 409, 409]);
  });

  it("refuses what describes no user", async () => {
    for (const [body, path] of [
      [{ ...viewer, role: "root" }, "role"],
      [{ ...viewer, email: "vera" }, "email"],
      [{ ...viewer, name: "a\nb" }, "name"],
      [{ ...viewer, name: "a\r\nx-evil: 1" }, "name"],
      [{ ...viewer, password: PASSWORD }, "password"],
      [{ email: "a@example.com", name: "A" }, "role"],
    ] as const) {
      const { status, body: answered } = await ask("POST", "", body);
      assert.deepEqual([status, answered.error.details.fields[0].path], [422, path]);
    }
  });

  it("lists users, filtered and in order", async () => {
    const add = async (email: string, role: string) => {
      now += 1_000;
      await ask("POST", "", { email, name: email.slice(0, 1), role });
    };
    await add("b@example.com", "admin");
    await add("a@example.com", "viewer");
    const emails = async (query: string) =>
      (await ask("GET", query)).body.data.map(({ email }: { email: string }) => email);
    assert.deepEqual(await emails(""), ["a@example.com", "b@example.com", "owner@example.com"]);
    assert.deepEqual(await emails("?sort=email&order=asc&limit=2"), ["a@example.com", "b@example.com"]);
    assert.deepEqual(await emails("?role=admin"), ["b@example.com"]);
    assert.deepEqual(await emails("?status=active"), ["owner@example.com"]);
    assert.deepEqual(await emails("?status=invited&sort=name"), ["b@example.com", "a@example.com"]);
    assert.ok(!/password|hash/.test((await ask("GET", "")).text));
  });

  it("changes name and role at the revision that If-Match names", async () => {
    const made = await ask("POST", "", viewer);
    const { id } = made.body.data;
    const etag = made.headers.get("etag") ?? "";
    const changed = await ask("PUT", `/${id}`, { role: "admin" }, { "if-match": etag });
    assert.deepEqual(
      [changed.status, changed.body.data.role, changed.body.data.name],
      [200, "admin", "Vera"],
    );
    const late = await ask("PUT", `/${id}`, { name: "V" }, { "if-match": etag });
    assert.equal(late.status, 412);
    assert.equal((await ask("DELETE", `/${id}`, undefined, { "if-match": etag })).status, 412);
    for (const body of [{}, { email: "x@example.com" }, { password: PASSWORD }])
      assert.equal((await ask("PUT", `/${id}`, body)).status, 422);
  });

  it("signs out at once who is deleted", async () => {
    const person = await makePerson(control, owner, "admin");
    const gone = await ask("DELETE", `/${person.id}`);
    assert.deepEqual(gone.body.data, { id: person.id, deleted: true });
    assert.equal((await send(control, "GET", "/probe", { cookie: person.cookie })).status, 401);
    assert.equal((await ask("GET", `/${person.id}`)).body.error.code, "DASHBOARD_USER_NOT_FOUND");
    assert.equal((await ask("DELETE", `/${person.id}`)).status, 404);
    await assert.rejects(signIn(control, person.email));
  });

  it("keeps one owner who can sign in", async () => {
    // one who has been invited cannot yet
    const second = (await ask("POST", "", { ...viewer, role: "owner" })).body.data;
    for (const [method, body] of [
      ["PUT", { role: "admin" }],
      ["DELETE", undefined],
    ] as const) {
      const { status, body: answered } = await ask(method, `/${owner.id}`, body);
      assert.deepEqual([status, answered.error.code], [409, "CONFLICT"]);
    }
    assert.equal((await ask("PUT", `/${owner.id}`, { role: "owner", name: "O" })).status, 200);
    await accept(tokenOf(second.invitation.url));
    assert.equal((await ask("PUT", `/${owner.id}`, { role: "admin" })).status, 200);
    assert.equal((await ask("GET", "")).body.error.code, "INSUFFICIENT_ROLE");
  });

  it("keeps one owner, when two make each other something else at once", async () => {
    for (let round = 0; round < 5; round += 1) {
      const other = await makePerson(control, owner, "owner");
      const demote = (by: Person, whom: Person) =>
        send(control, "PUT", `/dashboard/users/${whom.id}`, by.headers, { role: "viewer" });
      const answers = await Promise.all([demote(owner, other), demote(other, owner)]);
      const owners = await control.context.db("dashboard_users").where({ role: "owner" });
      assert.equal(owners.length, 1);
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
      if (owners[0].id === other.id) owner = other;
    }
  });

  it("demotes and deletes an owner who invites others all the time, without a failure", async () => {
    for (const change of ["demote", "delete"] as const) {
      const hostile = await makePerson(control, owner, "owner");
      const invited = (await ask("POST", "", { ...viewer, email: `${change}@example.com` })).body.data.id;
      let over = false;
      const statuses = new Set<number>();
      const invite = async (id: string) => {
        while (!over) {
          const path = `/dashboard/users/${id}/invitation`;
          const { status } = await send(control, "POST", path, hostile.headers);
          statuses.add(status);
          over ||= status !== 201;
        }
      };
      const inviting = Promise.all([owner.id, invited, owner.id, invited].map(invite));
      await eventually("an invitation", () => statuses.has(201));
      // whom they invite can be changed, and so can they
      const promoted = await ask("PUT", `/${invited}`, { role: "admin" });
      const changed =
        change === "demote"
          ? await ask("PUT", `/${hostile.id}`, { role: "viewer" })
          : await ask("DELETE", `/${hostile.id}`);
      over ||= changed.status !== 200;
      await inviting;
      assert.equal(promoted.status, 200, promoted.text);
      assert.equal(changed.status, 200, changed.text);
      assert.deepEqual([...statuses], [201, change === "demote" ? 403 : 401]);
      assert.equal((await control.context.db("dashboard_links").where({ created_by: hostile.id })).length, 0);
    }
  });

  it("is for owners alone", async () => {
    const { id } = (await ask("POST", "", viewer)).body.data;
    for (const role of ["admin", "viewer"] as const) {
      const person = await makePerson(control, owner, role);
      for (const [method, path, body] of [
        ["GET", "", undefined],
        ["POST", "", viewer],
        ["GET", `/${id}`, undefined],
        ["PUT", `/${id}`, { role: "owner" }],
        ["PUT", `/${person.id}`, { role: "owner" }],
        ["DELETE", `/${id}`, undefined],
        ["POST", `/${id}/invitation`, undefined],
      ] as const) {
        const { status, body: answered } = await send(
          control,
          method,
          `/dashboard/users${path}`,
          person.headers,
          body,
        );
        assert.deepEqual([status, answered.error.code], [403, "INSUFFICIENT_ROLE"]);
        assert.deepEqual(answered.error.details, { role, required_role: ["owner"] });
      }
    }
  });
});
