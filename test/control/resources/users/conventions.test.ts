import assert from "node:assert/strict";
import type { Actor } from "../../../../src/control/platform/actor.ts";
import type { SignIn } from "../../../../src/control/resources/users/store.ts";
import { FULL_KEY, type RunningControl } from "../../../support/control.ts";
import { keyOf, startUserDirectory, type UserDirectory } from "../../support/user-directory.ts";

describe("the directory of users", () => {
  let directory: UserDirectory;
  let control: RunningControl;
  let customer: string;
  let other: string;

  before(async () => {
    directory = await startUserDirectory();
    ({ control } = directory);
    [customer, other] = [await directory.makeCustomer(), await directory.makeCustomer()];
  });
  after(() => control.close());

  const signIn = (subject: string, more?: Partial<SignIn>) => directory.signIn(customer, subject, more);

  it("searches by the beginning of the name, by subject, and by the time of creation", async () => {
    await signIn("s-ada", { name: "Ada Lovelace" });
    await signIn("s-adam", { name: "ADAM 50%_off" });
    await signIn("s-bob", { name: "Bob" });
    await directory.signIn(other, "s-ada", { name: "Ada Other" });
    const found = async (filters: Record<string, string>, where = `/customers/${customer}/users`) => {
      const answer = await control.request("GET", `${where}?${new URLSearchParams(filters).toString()}`);
      assert.equal(answer.status, 200, answer.text);
      return (answer.body.data as { name: string }[]).map(({ name }) => name).sort();
    };
    assert.deepEqual(await found({ name: "ada" }), ["ADAM 50%_off", "Ada Lovelace"]);
    assert.deepEqual(await found({ name: "Ada L" }), ["Ada Lovelace"]);
    assert.deepEqual(await found({ name: "lovelace" }), []);
    assert.deepEqual(await found({ name: "adam 50%_" }), ["ADAM 50%_off"]);
    assert.deepEqual(
      [await found({ name: "%" }), await found({ name: "_" }), await found({ name: "\\" })],
      [[], [], []],
    );
    assert.deepEqual(await found({ subject: "s-ada" }), ["Ada Lovelace"]);
    assert.deepEqual(await found({ subject: "S-ADA" }), []);
    assert.deepEqual(await found({ subject: "s-ada" }, "/users"), ["Ada Lovelace", "Ada Other"]);
    const { body } = await control.request("GET", `/customers/${customer}/users?subject=s-bob`);
    const { created_at: time } = body.data[0] as { created_at: string };
    assert.deepEqual(await found({ created_after: time, name: "bob" }), []);
    assert.deepEqual(
      await found({ created_before: new Date(Date.parse(time) + 1).toISOString(), name: "bob" }),
      ["Bob"],
    );
  });

  it("merges attributes in a PATCH, under the same rights and bounds as PUT", async () => {
    const { id } = await signIn("s-1");
    await control.request("PUT", `/users/${id}`, { body: { attributes: { role: "a", team: "x" } } });
    const patch = (attributes: object, as: Actor = FULL_KEY) =>
      control.request("PATCH", `/users/${id}`, { body: { attributes }, as });
    const changed = await patch({ role: null, floor: 3 });
    assert.deepEqual(changed.body.data.attributes, { team: "x", floor: 3 });
    assert.equal((await patch({ floor: { a: 1 } })).status, 422);
    const limited = keyOf(customer);
    assert.equal((await patch({ floor: 4 }, limited)).body.error.code, "CUSTOMER_KEY_NOT_ALLOWED");
    assert.equal((await patch({ floor: null }, limited)).body.error.code, "CUSTOMER_KEY_NOT_ALLOWED");
    assert.deepEqual((await control.request("GET", `/users/${id}`)).body.data.attributes, {
      team: "x",
      floor: 3,
    });
  });
});
