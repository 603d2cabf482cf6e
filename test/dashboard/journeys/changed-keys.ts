import assert from "node:assert/strict";
import { makeKey } from "../../support/guarded-control.ts";
import { problemsOf } from "../support.ts";
import type { Journey } from "./journey.ts";

/** On the page of keys, beside which somebody else changes one. */
export function changedKeys({ page, bench, owner, dialog, said, press, confirm }: Journey): void {
  it("shows both versions of a key that somebody else has changed, before it is rolled or revoked", async () => {
    const { row, secret } = await makeKey(bench().control, { name: "billing", scope: "gateway" });
    const rename = async (name: string) => {
      const path = `/api-keys/${row.id}`;
      const answer = await bench().control.request("PUT", path, { headers: owner().headers, body: { name } });
      assert.equal(answer.status, 200, answer.text);
    };
    let name = "billing";
    await page().reload();
    for (const [action, next] of [
      ["Roll", "renamed"],
      ["Revoke", "renamed again"],
    ] as const) {
      await page().getByRole("cell", { name, exact: true }).waitFor();
      await press(`${action} ${name}`);
      await dialog().waitFor();
      // a use of the key is no change of it
      await bench().decide(secret, [{}]);
      await rename(next);
      await press(action);
      const both = dialog().getByRole("row", { name: /^name/ });
      await both.waitFor();
      assert.deepEqual(await both.getByRole("cell").allTextContents(), [`"${name}"`, `"${next}"`]);
      assert.deepEqual(await problemsOf(page()), []);
      await press("Show it as it is now");
      await dialog().waitFor({ state: "detached" });
      name = next;
    }
    await bench().decide(secret, [{}]);
    await page().getByRole("cell", { name, exact: true }).waitFor();
    await confirm(`Revoke ${name}`, "Revoke");
    await said("Key revoked");
    await assert.rejects(bench().decide(secret, [{}]), /API_KEY_REVOKED/);
  });
}
