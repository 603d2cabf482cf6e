import assert from "node:assert/strict";
import type { Actor } from "../../../../src/control/platform/actor.ts";
import { newId } from "../../../../src/control/platform/ids.ts";
import { userRoutes } from "../../../../src/control/resources/users/routes.ts";
import { effectiveAttributes, findUser, type SignIn } from "../../../../src/control/resources/users/store.ts";
import { FULL_KEY, startControl, type RunningControl } from "../../../support/control.ts";
import { ANY_CLAIMS } from "../../support/claims.ts";
import { keyOf, startUserDirectory, type UserDirectory } from "../../support/user-directory.ts";

describe("users", () => {
  let directory: UserDirectory;
  let control: RunningControl;
  let customer: string;
  let other: string;

  before(async () => {
    directory = await startUserDirectory();
    ({ control } = directory);
  });
  after(() => control.close());
  beforeEach(async () => {
    [customer, other] = [await directory.makeCustomer(), await directory.makeCustomer()];
  });

  const signIn = (subject: string, more?: Partial<SignIn>) => directory.signIn(customer, subject, more);

  describe("list", () => {
    it("has the users of the customer alone, by filters, with all pages together each once", async () => {
      for (const [index, role] of ["clerk", "manager", "clerk"].entries()) {
        await signIn(`s-${index}`, { email: `U${index}@example.com`, profile: { role } });
      }
      await directory.signIn(other, "foreign", { profile: { role: "clerk" } });
      const subjects = async (query: string) => {
        const answer = await control.request("GET", `/customers/${customer}/users?${query}`);
        assert.equal(answer.status, 200, answer.text);
        return (answer.body.data as { subject: string }[]).map(({ subject }) => subject);
      };
      assert.deepEqual(await subjects("sort=email&order=asc"), ["s-0", "s-1", "s-2"]);
      assert.deepEqual(await subjects("sort=email&order=asc&role=clerk"), ["s-0", "s-2"]);
      assert.deepEqual(await subjects("email=U1@Example.com"), ["s-1"]);
      assert.deepEqual(await subjects("status=suspended"), []);
      // all were made at the same time
      const paged = [...(await subjects("limit=2&page=1")), ...(await subjects("limit=2&page=2"))];
      assert.deepEqual(paged.sort(), ["s-0", "s-1", "s-2"]);
      assert.deepEqual(await subjects("role=clerk' or '1'='1"), []);
    });

    it("filters by the role that holds: an administrator's before the provider's", async () => {
      const { id } = await signIn("s-1", { profile: { role: "admin" } });
      await control.request("PUT", `/users/${id}`, { body: { attributes: { role: "viewer" } } });
      const count = async (role: string) =>
        (await control.request("GET", `/users?customer_id=${customer}&role=${role}`)).body.pagination
          .total_items as number;
      assert.equal(await count("viewer"), 1);
      assert.equal(await count("admin"), 0);
    });

    it("refuses what is no parameter, and sort keys that are none", async () => {
      for (const query of ["sort=subject", "sort=email;drop table users", "statuss=active", "email=nobody"])
        assert.equal((await control.request("GET", `/users?${query}`)).status, 400, query);
    });

    it("keeps a customer's key to that customer", async () => {
      await signIn("mine");
      await directory.signIn(other, "theirs");
      const mine = await control.request("GET", "/users", { as: keyOf(customer) });
      assert.deepEqual(
        (mine.body.data as { subject: string }[]).map(({ subject }) => subject),
        ["mine"],
      );
      for (const path of [`/users?customer_id=${other}`, `/customers/${other}/users`]) {
        const answer = await control.request("GET", path, { as: keyOf(customer) });
        assert.equal(answer.status, 404, path);
        assert.equal(answer.body.error.code, "INVALID_CUSTOMER");
      }
    });

    it("answers 404 for customers that do not exist, and has no user of a deleted one", async () => {
      assert.equal((await control.request("GET", `/customers/${newId("customer")}/users`)).status, 404);
      const { id } = await signIn("s-1", { email: "gone@example.com" });
      assert.equal((await control.request("DELETE", `/customers/${customer}`)).status, 200);
      assert.equal((await control.request("GET", `/customers/${customer}/users`)).status, 404);
      assert.equal((await control.request("GET", "/users?email=gone@example.com")).body.data.length, 0);
      assert.equal((await control.request("GET", `/users/${id}`)).status, 404);
      assert.equal((await control.request("GET", `/gateway/users/${id}`)).status, 404);
    });
  });

  describe("one user", () => {
    it("is added before the first sign-in, which is then theirs", async () => {
      const body = { subject: "later", email: "Later@Example.com", attributes: { role: "auditor" } };
      const made = await control.request("POST", `/customers/${customer}/users`, { body });
      assert.equal(made.status, 201, made.text);
      assert.equal(made.body.data.last_sign_in_at, null);
      assert.equal(made.body.data.email, "later@example.com");
      assert.equal(made.headers.get("location"), `/v1/users/${made.body.data.id}`);
      const row = await signIn("later", { profile: { role: "clerk" } });
      assert.equal(row.id, made.body.data.id);
      const policy = { ...ANY_CLAIMS, role_mapping: {}, unset: "nothing" } as const;
      assert.equal(effectiveAttributes(row, policy)["role"], "auditor");
      const again = await control.request("POST", `/customers/${customer}/users`, { body });
      assert.equal(again.status, 409);
      assert.equal(again.body.error.code, "DUPLICATE");
      const foreign = await control.request("POST", `/customers/${other}/users`, {
        body,
        as: keyOf(customer),
      });
      assert.equal(foreign.status, 404);
    });

    it("takes attributes within bounds, and says which are not", async () => {
      const { id } = await signIn("s-1", { profile: { role: "clerk", level: 1 } });
      const good = {
        role: "manager",
        level: 7.5,
        cleared: false,
        assigned_customers: ["c-1", "c-2"],
        _x: "",
      };
      const answer = await control.request("PUT", `/users/${id}`, { body: { attributes: good } });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(answer.body.data.attributes, good);
      assert.equal(answer.body.data.effective_attributes.role, "manager");
      assert.equal(answer.body.data.profile.role, "clerk");
      const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`a${index}`, 1]));
      const bad: [object, string][] = [
        [{ id: "usr_x" }, "attributes.id"],
        [{ customer_id: other }, "attributes.customer_id"],
        [{ email: "x@y.z" }, "attributes.email"],
        [{ status: "active" }, "attributes.status"],
        [{ "a-b": 1 }, "attributes.a-b"],
        [{ "1a": 1 }, "attributes.1a"],
        [{ ["n".repeat(65)]: 1 }, `attributes.${"n".repeat(65)}`],
        [{ nested: { a: 1 } }, "attributes.nested"],
        [{ nothing: null }, "attributes.nothing"],
        [{ numbers: [1] }, "attributes.numbers"],
        [{ long: "x".repeat(501) }, "attributes.long"],
        [{ list: Array.from({ length: 201 }, () => "x") }, "attributes.list"],
        [many, "attributes"],
      ];
      for (const [attributes, path] of bad) {
        const refused = await control.request("PUT", `/users/${id}`, { body: { attributes } });
        assert.equal(refused.status, 422, path);
        assert.deepEqual(
          (refused.body.error.details.fields as { path: string }[]).map((field) => field.path),
          [path],
        );
      }
      const before = await findUser(control.database.db, id);
      assert.deepEqual(before?.attributes, good);
    });

    it("bounds its attributes as a whole", async () => {
      const list = Array.from({ length: 200 }, () => "x".repeat(400));
      const answer = await control.request("POST", `/customers/${customer}/users`, {
        body: { subject: "s", attributes: { list } },
      });
      assert.equal(answer.status, 422, answer.text.slice(0, 200));
      assert.equal(answer.body.error.details.fields[0].path, "attributes");
    });

    it("has no integers in its attributes but those that come out of the database as they went in", async () => {
      const add = (subject: string, limit: number) =>
        control.request("POST", `/customers/${customer}/users`, { body: { subject, attributes: { limit } } });
      for (const limit of [1.2345678901234568e20, 1e23, 2 ** 53]) {
        const refused = await add("s-1", limit);
        assert.deepEqual([refused.status, refused.body.error.code], [400, "MALFORMED_JSON"], String(limit));
      }
      for (const limit of [2 ** 53 - 1, -0.1, 1e-300]) {
        const { data } = (await add(`s${limit}`, limit)).body;
        assert.equal(data.effective_attributes.limit, limit);
      }
    });

    it("refuses an empty change, other fields and other values of status", async () => {
      const { id } = await signIn("s-1");
      for (const body of [{}, { subject: "x" }, { status: "deleted" }, { status: null }, []])
        assert.equal(
          (await control.request("PUT", `/users/${id}`, { body })).status,
          422,
          JSON.stringify(body),
        );
    });

    it("changes by ETag, and stays at its revision where nothing changes", async () => {
      const { id } = await signIn("s-1");
      const read = await control.request("GET", `/users/${id}`);
      const etag = read.headers.get("etag")!;
      const change = (headers: Record<string, string>, role: string) =>
        control.request("PUT", `/users/${id}`, { body: { attributes: { role } }, headers });
      const changed = await change({ "if-match": etag }, "a");
      assert.equal(changed.status, 200);
      assert.notEqual(changed.headers.get("etag"), etag);
      assert.equal((await change({ "if-match": etag }, "b")).status, 412);
      assert.equal(
        (await control.request("DELETE", `/users/${id}`, { headers: { "if-match": etag } })).status,
        412,
      );
      assert.equal((await change({}, "a")).headers.get("etag"), changed.headers.get("etag"));
    });

    it("ends the sessions of a user who is suspended, and tells gateways", async () => {
      const row = await signIn("s-1");
      const session = await directory.makeSession(row);
      const answer = await control.request("PUT", `/users/${row.id}`, { body: { status: "suspended" } });
      assert.equal(answer.status, 200, answer.text);
      assert.ok(await directory.hasEnded(session));
      const told = await control.database.db("gateway_changes").orderBy("seq", "desc").limit(2);
      assert.deepEqual(
        new Set(told.map(({ type }) => type as string)),
        new Set(["user_changed", "session_ended"]),
      );
      const looked = await control.request("GET", `/gateway/users/${row.id}`);
      assert.equal(looked.body.data.status, "suspended");
    });

    it("is gone when deleted: a later sign-in is another user, without what was set", async () => {
      const row = await signIn("s-1");
      const session = await directory.makeSession(row);
      await control.request("PUT", `/users/${row.id}`, { body: { attributes: { role: "admin" } } });
      const answer = await control.request("DELETE", `/users/${row.id}`);
      assert.deepEqual(answer.body.data, { id: row.id, deleted: true });
      assert.ok(await directory.hasEnded(session));
      for (const [method, path] of [
        ["GET", `/users/${row.id}`],
        ["PUT", `/users/${row.id}`],
        ["DELETE", `/users/${row.id}`],
        ["GET", `/gateway/users/${row.id}`],
      ] as const) {
        const gone = await control.request(
          method,
          path,
          method === "PUT" ? { body: { status: "active" } } : {},
        );
        assert.equal(gone.body.error.code, "USER_NOT_FOUND", `${method} ${path}`);
        assert.equal(gone.status, 404);
      }
      const again = await signIn("s-1");
      assert.notEqual(again.id, row.id);
      assert.deepEqual(again.attributes, {});
    });

    it("does not exist for another customer's key, whatever it does", async () => {
      const { id } = await directory.signIn(other, "s-1");
      const as = keyOf(customer);
      assert.equal((await control.request("GET", `/users/${id}`, { as })).status, 404);
      assert.equal(
        (await control.request("PUT", `/users/${id}`, { as, body: { status: "suspended" } })).status,
        404,
      );
      assert.equal((await control.request("DELETE", `/users/${id}`, { as })).status, 404);
      assert.equal((await findUser(control.database.db, id))?.status, "active");
      assert.equal((await control.request("GET", `/gateway/users/${id}`, { as })).status, 403);
    });

    it("can be suspended by the customer's own key, and nothing that could let one in", async () => {
      const { id } = await signIn("s-1");
      const as = keyOf(customer);
      const path = `/customers/${customer}/users`;
      const refused = [
        await control.request("PUT", `/users/${id}`, {
          as,
          body: { attributes: { assigned_customers: [other] } },
        }),
        await control.request("POST", path, { as, body: { subject: "s-2", attributes: { role: "admin" } } }),
        await control.request("DELETE", `/users/${id}`, { as }),
      ];
      assert.equal((await control.request("POST", path, { as, body: { subject: "s-3" } })).status, 201);
      const suspended = await control.request("PUT", `/users/${id}`, { as, body: { status: "suspended" } });
      assert.equal(suspended.body.data.status, "suspended");
      refused.push(await control.request("PUT", `/users/${id}`, { as, body: { status: "active" } }));
      for (const answer of refused) assert.equal(answer.body.error.code, "CUSTOMER_KEY_NOT_ALLOWED");
      assert.equal((await findUser(control.database.db, id))?.status, "suspended");
    });

    it("answers 404 for what is no id", async () => {
      for (const id of ["x", "usr_", "%27%20or%201=1", newId("user"), customer])
        assert.equal((await control.request("GET", `/users/${id}`)).body.error.code, "USER_NOT_FOUND", id);
    });

    it("is looked up by gateways with all attributes that hold", async () => {
      const { id } = await signIn("s-1", {
        email: "a@b.example",
        profile: { role: "clerk", address: { city: "X" } },
      });
      await control.request("PUT", `/users/${id}`, {
        body: { attributes: { role: "boss", department: "it" } },
      });
      const answer = await control.request("GET", `/gateway/users/${id}`);
      assert.deepEqual(answer.body.data, {
        id,
        customer_id: customer,
        email: "a@b.example",
        role: "boss",
        department: "it",
        address: { city: "X" },
        status: "active",
      });
    });

    it("asks for the right permission", async () => {
      const { id } = await signIn("s-1");
      const reader: Actor = { ...FULL_KEY, scope: "read_only" };
      assert.equal((await control.request("GET", `/users/${id}`, { as: reader })).status, 200);
      assert.equal((await control.request("DELETE", `/users/${id}`, { as: reader })).status, 403);
      assert.equal((await control.request("GET", `/gateway/users/${id}`, { as: reader })).status, 403);
      assert.equal((await control.request("GET", `/users/${id}`, { as: null })).status, 401);
    });
  });

  it("records every change with before and after", async () => {
    const records: unknown[] = [];
    const audited = await startControl({
      database: control.database,
      routes: (context) => userRoutes(context),
      writers: {
        changes: (_trx, changes) => {
          records.push(...changes.map(({ action, before, after }) => ({ action, before, after })));
          return Promise.resolve();
        },
      },
    });
    try {
      const made = await audited.request("POST", `/customers/${customer}/users`, { body: { subject: "s" } });
      const { id } = made.body.data as { id: string };
      await audited.request("PUT", `/users/${id}`, { body: { attributes: { role: "x" } } });
      await audited.request("DELETE", `/users/${id}`);
      const plain = { subject: "s", email: null, name: null, status: "active", profile: {}, attributes: {} };
      const changed = { ...plain, attributes: { role: "x" } };
      assert.deepEqual(records, [
        { action: "user.created", before: undefined, after: plain },
        { action: "user.updated", before: plain, after: changed },
        // who it was is gone
        { action: "user.deleted", before: undefined, after: undefined },
      ]);
    } finally {
      await audited.close();
    }
  });
});
