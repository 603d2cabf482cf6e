import assert from "node:assert/strict";
import { effectiveAttributes, findUser, type SignIn } from "../../../../src/control/resources/users/store.ts";
import type { RunningControl } from "../../../support/control.ts";
import { ANY_CLAIMS } from "../../support/claims.ts";
import { startUserDirectory, type UserDirectory } from "../../support/user-directory.ts";

describe("users who sign in", () => {
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

  async function changesOf(userId: string): Promise<number> {
    return (await control.database.db("gateway_changes").where({ user_id: userId })).length;
  }

  it("makes a user, and finds the same one again with what the provider says now", async () => {
    const first = await signIn("s-1", { email: "a@example.com", name: "A", profile: { role: "clerk" } });
    assert.equal(first.status, "active");
    assert.deepEqual(first.profile, { role: "clerk" });
    directory.time += 60_000;
    const second = await signIn("s-1", { name: "A2", profile: { role: "manager", groups: ["x"] } });
    assert.equal(second.id, first.id);
    assert.equal(second.email, null);
    assert.equal(second.name, "A2");
    assert.deepEqual(second.profile, { role: "manager", groups: ["x"] });
    assert.equal(second.last_sign_in_at?.getTime(), directory.time);
    assert.equal(second.revision, 2);
    assert.equal(await changesOf(first.id), 1);
  });

  it("changes no revision, and tells no gateway, where nothing is new", async () => {
    const first = await signIn("s-1", { profile: { role: "clerk", level: 3, groups: [] } });
    const second = await signIn("s-1", { profile: { groups: [], level: 3, role: "clerk" } });
    assert.equal(second.revision, first.revision);
    assert.equal(await changesOf(first.id), 0);
  });

  it("is of the customer: the same subject of another one is another user", async () => {
    const a = await signIn("s-1");
    const b = await directory.signIn(other, "s-1");
    assert.notEqual(a.id, b.id);
  });

  it("is of the issuer: when the customer changes its provider, the same subject is somebody else", async () => {
    const before = await signIn("s-1", { profile: { role: "admin" } });
    const after = await signIn("s-1", { issuer: "https://other.example" });
    assert.notEqual(after.id, before.id);
    assert.deepEqual(after.profile, {});
    assert.equal((await signIn("s-1", { profile: { role: "admin" } })).id, before.id);
  });

  it("gives a user who was added beforehand to whoever signs in with the subject first", async () => {
    const added = await control.request("POST", `/customers/${customer}/users`, {
      body: { subject: "s-2", attributes: { role: "auditor" } },
    });
    assert.deepEqual([added.status, added.body.data.issuer], [201, null]);
    const first = await signIn("s-2");
    assert.deepEqual([first.id, first.attributes], [added.body.data.id, { role: "auditor" }]);
    const elsewhere = await signIn("s-2", { issuer: "https://other.example" });
    assert.notEqual(elsewhere.id, first.id);
    assert.deepEqual(elsewhere.attributes, {});
  });

  it("makes one user of sign-ins at once", async () => {
    const rows = await Promise.all(Array.from({ length: 8 }, () => signIn("at-once")));
    assert.equal(new Set(rows.map(({ id }) => id)).size, 1);
    const records = await control.database.db("users").where({ customer_id: customer, subject: "at-once" });
    assert.equal(records.length, 1);
  });

  it("leaves a suspended user as they are", async () => {
    const { id } = await signIn("s-1", { profile: { role: "clerk" } });
    await control.request("PUT", `/users/${id}`, { body: { status: "suspended" } });
    const again = await signIn("s-1", { profile: { role: "admin" } });
    assert.equal(again.status, "suspended");
    assert.deepEqual((await findUser(control.database.db, id))?.profile, { role: "clerk" });
  });

  it("lets neither a provider nor an administrator say who a user is", async () => {
    const profile = {
      id: "usr_forged",
      customer_id: other,
      email: "root@example.com",
      name: "root",
      status: "x",
    };
    const row = await signIn("s-1", { profile: { ...profile, role: "clerk" } });
    const forged = { ...row, attributes: { id: "forged", department: "sales" } };
    assert.deepEqual(effectiveAttributes(forged, { ...ANY_CLAIMS, role_mapping: {}, unset: "nothing" }), {
      role: "clerk",
      department: "sales",
      id: row.id,
      customer_id: customer,
    });
  });
});
