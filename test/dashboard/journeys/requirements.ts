import assert from "node:assert/strict";
import { eventually } from "../../support/eventually.ts";
import { MARKUP, type Journey } from "./journey.ts";
import { problemsOf, staysInDialog, tabTo } from "../support.ts";

/** Policies that are assigned to customers. */
export function requirementJourneys(journey: Journey): void {
  const { page, bench, customer, api, button, dialog, heading, said } = journey;
  const { press, confirm, type, keys, focusOn } = journey;
  it("requires something of customers: created by keyboard alone, errors beside their fields", async () => {
    await page().goto("/policies");
    await button("New policy").waitFor();
    await tabTo(page(), "New policy");
    await page().keyboard.press("Enter");
    await dialog().waitFor();
    await tabTo(page(), "Name");
    await page().keyboard.insertText(MARKUP);
    await tabTo(page(), "Client addresses");
    await page().keyboard.type("nonsense");
    await tabTo(page(), "Save");
    await page().keyboard.press("Enter");
    await dialog().locator('[aria-invalid="true"]').waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await staysInDialog(page());
    await type("Client addresses", " ");
    await keys("Multi-factor authentication", "Space");
    await press("Save");
    await heading(MARKUP);
    await page().getByText("multi-factor authentication", { exact: true }).waitFor();
  });

  it("says whom an assignment would lock out, before it is made", async () => {
    await bench().session(customer(), "somebody");
    await press("Assign to a customer");
    await dialog().waitFor();
    await type("Name begins with", "Acm");
    await dialog().getByText("Of 1 open sessions, 1 would be refused.").waitFor();
    await dialog().getByText("no second factor").waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await press("Assign to a customer");
    await page().getByRole("row", { name: /Acme/ }).waitFor();
    await focusOn("Assign to a customer");
    await confirm("Delete", "Delete");
    await dialog().getByRole("alert").getByText("assigned to 1 customer").waitFor();
    // the button that was pressed keeps the focus, so that one can try again
    await focusOn("Delete");
    await page().keyboard.press("Escape");
    await dialog().waitFor({ state: "detached" });
  });

  it("keeps both versions where two people edit a policy, and lets one choose", async () => {
    const id = page().url().split("/").at(-1) ?? "";
    const stored = async () => (await api("GET", `/policies/${id}`)).body.data;
    await press("Edit");
    await dialog().waitFor();
    await api("PUT", `/policies/${id}`, { description: "theirs" });
    await type("Description", "mine");
    await press("Save");
    await heading("Somebody else has changed this policy");
    const row = dialog().getByRole("row", { name: /^Description/ });
    assert.deepEqual(await row.getByRole("cell").allTextContents(), ["mine", "theirs"]);
    assert.deepEqual(await problemsOf(page()), []);
    await press("Continue with theirs");
    await eventually(
      "theirs",
      async () => (await page().getByLabel("Description").inputValue()) === "theirs",
    );
    await type("Description", "agreed");
    await api("PUT", `/policies/${id}`, { description: "theirs again" });
    await press("Save");
    await heading("Somebody else has changed this policy");
    await press("Save yours over theirs");
    await said("Policy saved");
    await focusOn("Edit");
    assert.equal((await stored()).description, "agreed");
    await confirm("Remove from Acme", "Remove");
    await said("Removed from the customer");
    await focusOn("Customers");
  });

  it("says on the customer's page, too, whom an assignment would lock out", async () => {
    const path = page().url();
    await page().goto(`/customers/${customer()}?tab=policies`);
    await button("Assign a policy").waitFor();
    await press("Assign a policy");
    await dialog().getByText("Of 1 open sessions, 1 would be refused.").waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await press("Assign a policy");
    await page().getByRole("link", { name: MARKUP }).waitFor();
    await confirm(`Remove ${MARKUP}`, "Remove");
    await page().getByText("No policies assigned").waitFor();
    await press("Activity");
    await page().getByRole("region", { name: "Activity" }).getByText("customer.created").first().waitFor();
    await page().goto(path);
  });

  it("shows both versions of a policy that somebody else has changed, before it is deleted", async () => {
    const id = page().url().split("/").at(-1) ?? "";
    await button("Delete").waitFor();
    await press("Delete");
    await dialog().waitFor();
    await api("PUT", `/policies/${id}`, { description: "theirs at last", status: "inactive" });
    await press("Delete");
    await dialog().getByText("Somebody else has changed this in the meantime").waitFor();
    const both = (member: string) =>
      dialog()
        .getByRole("row", { name: new RegExp(`^${member}`) })
        .getByRole("cell")
        .allTextContents();
    await dialog()
      .getByRole("row", { name: /^status/ })
      .waitFor();
    assert.deepEqual(await both("description"), ['"agreed"', '"theirs at last"']);
    assert.deepEqual(await both("status"), ['"active"', '"inactive"']);
    assert.deepEqual(await problemsOf(page()), []);
    assert.equal((await api("GET", `/policies/${id}`)).status, 200);
    await press("Show it as it is now");
    await page().getByText("theirs at last").waitFor();
    await focusOn("Delete");
    await page().keyboard.press("Enter");
    await dialog().getByText("This changes Sandbox.").waitFor();
    await press("Delete");
    await heading("Policies");
    await said("Policy deleted");
    assert.equal((await api("GET", `/policies/${id}`)).status, 404);
  });
}
