import assert from "node:assert/strict";
import { eventually } from "../../support/eventually.ts";
import { makePerson } from "../../support/guarded-control.ts";
import { problemsOf } from "../support.ts";
import { SET, settled, type Journey } from "./journey.ts";

/** A new release, rights that are taken away, and work that is cancelled. */
export function interruptions({ bench, page, owner, api, button, said }: Journey): void {
  it("says that a tab is of an earlier release, and reloads it", async () => {
    const tab = await bench().tab(page(), "/customers");
    await tab.getByRole("button", { name: "Create a customer" }).waitFor();
    // what the tab knows by name is no longer there, as after a deployment
    const parts = /\/assets\/(?!index-)[\w-]+\.js$/;
    await tab.route(parts, (route) => route.fulfill({ status: 404, body: "" }));
    await tab.getByRole("link", { name: "Settings", exact: true }).click();
    await tab.getByRole("heading", { name: "Gatehouse has been updated" }).waitFor();
    assert.deepEqual(await problemsOf(tab), []);
    await tab.unroute(parts);
    await tab.getByRole("button", { name: "Reload" }).click();
    await tab.getByRole("heading", { name: "Settings" }).waitFor();
    await tab.getByRole("button", { name: "Invite somebody" }).waitFor();
    await tab.close();
  });

  it("says that nothing is reached where that is so, and not that there is a release", async () => {
    const tab = await bench().tab(page(), "/customers");
    await tab.getByRole("button", { name: "Create a customer" }).waitFor();
    await tab.context().setOffline(true);
    await tab.getByRole("link", { name: "Explain", exact: true }).click();
    await tab.getByRole("heading", { name: "The control plane cannot be reached" }).waitFor();
    await tab.context().setOffline(false);
    await tab.getByRole("button", { name: "Try again" }).click();
    await tab.getByRole("button", { name: "Explain", exact: true }).waitFor();
    await tab.close();
  });

  it("keeps the draft of somebody whose rights, and then whose account, are taken away", async () => {
    const admin = await makePerson(bench().control, owner(), "admin");
    const other = await bench().open(`/policy-sets/${SET}?tab=edit&from=v1`);
    await bench().signIn(other, admin.email);
    const editor = () => other.getByRole("textbox", { name: /^Source of/ });
    await editor().focus();
    await other.keyboard.press("Control+End");
    await other.keyboard.insertText("# of the draft\n");
    await other.getByRole("status").getByText("No problems").first().waitFor();
    const kept = () =>
      other.evaluate<boolean>("Object.values(localStorage).some((text) => text.includes('# of the draft'))");
    await eventually("the draft", kept);
    await api("PUT", `/dashboard/users/${admin.id}`, { role: "viewer" });
    await other.getByRole("button", { name: "Publish", exact: true }).click();
    await other.getByRole("dialog").getByRole("button", { name: "Publish", exact: true }).click();
    await other.getByRole("alert").getByText("role").waitFor();
    assert.deepEqual(await problemsOf(other), []);
    await other.reload();
    await editor().getByText("# of the draft").waitFor();
    assert.equal(await other.getByRole("button", { name: "Publish", exact: true }).count(), 0);
    await api("DELETE", `/dashboard/users/${admin.id}`);
    await other.getByRole("link", { name: "Customers", exact: true }).click();
    await other.getByText("Your session has ended").waitFor();
    assert.ok(await kept());
    await other.context().close();
  });

  it("ends the worker of a comparison that is cancelled", async () => {
    await page().goto(`/policy-sets/${SET}?tab=edit&from=v1`);
    await settled(page());
    await said("No problems");
    const others = page().workers().length;
    // it does not begin before it is cancelled
    let begun = 0;
    const isWorker = /\/assets\/worker-[\w-]+\.js$/;
    await page().route(isWorker, () => void (begun += 1));
    await button("Compare with the active version").click();
    await button("Cancel").waitFor();
    await eventually("the worker", () => begun === 1);
    assert.deepEqual(await problemsOf(page()), []);
    await button("Cancel").click();
    await button("Cancel").waitFor({ state: "detached" });
    await eventually("its end", () => page().workers().length === others);
    await page().unroute(isWorker);
    await button("Compare with the active version").click();
    await page().locator(".change").first().waitFor();
  });
}
