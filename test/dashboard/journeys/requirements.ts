import assert from "node:assert/strict";
import { MARKUP, type Journey } from "./journey.ts";
import { problemsOf, tabTo } from "../support.ts";

/** Policies that are assigned to customers. */
export function requirementJourneys({
  page,
  bench,
  customer,
  api,
  button,
  dialog,
  inDialog,
  heading,
  said,
}: Journey): void {
  it("requires something of customers: created by keyboard alone, errors beside their fields", async () => {
    await page().goto("/policies");
    await button("New policy").waitFor();
    await tabTo(page(), "New policy");
    await page().keyboard.press("Enter");
    await tabTo(page(), "Name");
    await page().keyboard.insertText(MARKUP);
    await tabTo(page(), "Client addresses");
    await page().keyboard.type("nonsense");
    await tabTo(page(), "Save");
    await page().keyboard.press("Enter");
    await dialog().locator('[aria-invalid="true"]').waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await page().getByLabel("Client addresses").fill("");
    await page().getByLabel("Multi-factor authentication").check();
    await inDialog("Save").click();
    await heading(MARKUP);
    await page().getByText("multi-factor authentication", { exact: true }).waitFor();
  });

  it("says whom an assignment would lock out, before it is made", async () => {
    await bench().session(customer(), "somebody");
    await button("Assign to a customer").click();
    await dialog().getByLabel("Name contains").fill("Acm");
    await dialog().getByText("Of 1 open sessions, 1 would be refused.").waitFor();
    await dialog().getByText("no second factor").waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await inDialog("Assign to a customer").click();
    await page().getByRole("row", { name: /Acme/ }).waitFor();
    await button("Delete").click();
    await inDialog("Delete").click();
    await dialog().getByRole("alert").getByText("assigned to 1 customer").waitFor();
    await page().keyboard.press("Escape");
  });

  it("keeps both versions where two people edit a policy, and lets one choose", async () => {
    const id = page().url().split("/").at(-1) ?? "";
    const stored = async () => (await api("GET", `/policies/${id}`)).body.data;
    await button("Edit").click();
    await api("PUT", `/policies/${id}`, { description: "theirs" });
    await page().getByLabel("Description").fill("mine");
    await inDialog("Save").click();
    await heading("Somebody else has changed this policy");
    const row = dialog().getByRole("row", { name: /^Description/ });
    assert.deepEqual(await row.getByRole("cell").allTextContents(), ["mine", "theirs"]);
    assert.deepEqual(await problemsOf(page()), []);
    await inDialog("Continue with theirs").click();
    assert.equal(await page().getByLabel("Description").inputValue(), "theirs");
    await page().getByLabel("Description").fill("agreed");
    await api("PUT", `/policies/${id}`, { description: "theirs again" });
    await inDialog("Save").click();
    await inDialog("Save yours over theirs").click();
    await said("Policy saved");
    assert.equal((await stored()).description, "agreed");
    await button("Remove from Acme").click();
    await inDialog("Remove").click();
    await said("Removed from the customer");
  });
}
