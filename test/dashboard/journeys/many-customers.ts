import assert from "node:assert/strict";
import { newId } from "../../../src/control/platform/ids.ts";
import { MAX_ASSIGNED } from "../../../src/control/resources/policies/assignments.ts";
import { eventually } from "../../support/eventually.ts";
import { problemsOf } from "../support.ts";
import { MARKUP, settled, type Journey } from "./journey.ts";

/** More than are changed at once. */
const CUSTOMERS = 30;
const AT_ONCE = 25;

/** One policy for many customers at once, by keyboard alone. */
export function manyCustomers(journey: Journey): void {
  const { page, bench, api, dialog, heading, said, press, type, keys, confirm, focusOn } = journey;
  const customers: string[] = [];
  let policy = "";
  let refused = "";
  /** With those that are in each sandbox. */
  let total = 0;
  before(async () => {
    for (let n = 1; n <= CUSTOMERS; n += 1) {
      const name = n === CUSTOMERS ? MARKUP : `Globex ${String(n).padStart(2, "0")}`;
      customers.push(String((await api("POST", "/customers", { name })).body.data.id));
    }
    await bench().session(customers.at(-1) ?? "", "somebody");
    const body = { name: "Second factor", type: "authentication", conditions: { mfa_required: true } };
    policy = String((await api("POST", "/policies", body)).body.data.id);
    total = (await api("GET", "/customers?limit=1")).body.pagination.total_items as number;
  });
  const assigned = () =>
    bench()
      .control.context.db("policy_assignments")
      .where({ policy_id: policy })
      .orderBy("customer_id")
      .pluck<string[]>("customer_id");
  const state = (job: string, text: string) =>
    page()
      .getByRole("region", { name: job, exact: true })
      .locator("dd .badge")
      .getByText(text, { exact: true })
      .waitFor();

  it("is previewed: whom it would lock out, and nothing changes", async () => {
    await page().goto(`/policies/${policy}`);
    await heading("Second factor");
    await press("Many customers");
    await page().getByText("Nothing yet").waitFor();
    await page().getByText(`Customers now: ${total}`).waitFor();
    await press("Preview");
    await state("Preview for all customers", "finished");
    const job = new URL(page().url()).searchParams.get("job") ?? "";
    const { impact } = (await api("GET", `/bulk-assignments/${job}`)).body.data as {
      impact: { sessions: number; refused: number; customers: number };
    };
    assert.ok(impact.customers >= 2, JSON.stringify(impact));
    refused = `Of ${impact.sessions} open sessions, ${impact.refused} would be refused, of ${impact.customers} customers.`;
    await page().getByText(refused).first().waitFor();
    const locked = page().getByRole("region", { name: "Customers with the most refused sessions" });
    await locked.getByRole("link", { name: MARKUP, exact: true }).waitFor();
    await locked.getByText("no second factor (1)").first().waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    assert.deepEqual(await assigned(), []);
    await page().reload();
    await locked.getByRole("link", { name: "Acme", exact: true }).waitFor();
    // the page goes to what the address names
    await focusOn("Preview for all customers");
  });

  it("is assigned after a question; a reload shows how far it has come, and it can be cancelled", async () => {
    // the last customer is somebody else's until then
    const trx = await bench().control.context.db.transaction();
    await trx("customers")
      .where({ id: [...customers].sort().at(-1) })
      .forUpdate();
    try {
      await press("Assign to all customers");
      await dialog().getByText("Second factor is assigned to all customers.").waitFor();
      await dialog().getByText(refused).waitFor();
      await dialog().getByText("This changes Sandbox.").waitFor();
      assert.deepEqual(await problemsOf(page()), []);
      await press("Cancel");
      await dialog().waitFor({ state: "detached" });
      await focusOn("Assign to all customers");
      assert.deepEqual(await assigned(), []);
      await page().keyboard.press("Enter");
      await dialog().waitFor();
      await press("Assign");
      const progress = page().locator("section dd").getByText(`${AT_ONCE} of ${total} customers`);
      await progress.waitFor();
      const { href } = new URL(page().url());
      await page().reload();
      await progress.waitFor();
      assert.equal(page().url(), href);
      await state("Assign to all customers", "running");
      assert.deepEqual(await problemsOf(page()), []);
      await confirm("Cancel it", "Cancel it");
      await said("Cancelled");
      await state("Assign to all customers", "cancelled");
      // the button is gone, and the focus stays where it was
      await focusOn("Assign to all customers");
    } finally {
      await trx.rollback();
    }
    assert.equal((await assigned()).length, AT_ONCE);
  });

  it("is assigned to those that are chosen; those that it fails for are named with the reason", async () => {
    const [full = ""] = customers.slice(-2);
    const { db } = bench().control.context;
    const at = new Date();
    const others = Array.from({ length: MAX_ASSIGNED }, () => newId("policy"));
    await db("policies").insert(
      others.map((id) => ({
        ...{ id, name: id, name_key: id, description: "", type: "authentication", status: "active" },
        ...{ conditions: "{}", created_at: at, updated_at: at, revision: 1 },
      })),
    );
    await db("policy_assignments").insert(
      others.map((id) => ({ customer_id: full, policy_id: id, assigned_at: at })),
    );
    await page().goto(`/policies/${policy}?tab=many`);
    await settled(page());
    await keys("For which customers", "End");
    await press("Preview");
    await page().getByRole("alert").getByText("Choose at least one customer.").waitFor();
    await type("Name begins with", "<IMG");
    await page().getByRole("checkbox", { name: MARKUP }).waitFor();
    await keys(MARKUP, "Space");
    await press("Add customers by id");
    await type("Ids", "nonsense");
    await press("Add these ids");
    await page().getByRole("alert").getByText("nonsense").waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await type("Ids", `${full} ${customers[0] ?? ""}`);
    await press("Add these ids");
    await page().getByText("Chosen: 3").waitFor();
    await press(`Remove ${customers[0] ?? ""}`);
    await page().getByText("Chosen: 2").waitFor();
    await focusOn("Chosen customers");
    await page().reload();
    await page().getByText("Chosen: 2").waitFor();
    await press("Assign");
    await dialog().getByText("You have not previewed this").waitFor();
    await press("Assign");
    await state("Assign to 2 customers", "finished");
    const failed = page().getByRole("region", { name: "Customers that it failed for" });
    await failed.getByRole("link", { name: `Globex ${CUSTOMERS - 1}` }).waitFor();
    await failed.getByText("CONFLICT").waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    const now = await assigned();
    assert.ok(now.includes(customers.at(-1) ?? "") && !now.includes(full));
    await db("policy_assignments").whereIn("policy_id", others).delete();
    await db("policies").whereIn("id", others).delete();
  });

  it("is removed from all with a status", async () => {
    const before = await assigned();
    await api("PUT", `/customers/${before.at(-1) ?? ""}`, { status: "suspended" });
    const suspended = await bench()
      .control.context.db("customers")
      .where({ status: "suspended" })
      .pluck<string[]>("id");
    await keys("What to do", "End");
    await keys("For which customers", "Home", "ArrowDown");
    await keys("Status", "ArrowDown");
    await page().getByText(`Customers now: ${suspended.length}`).waitFor();
    await confirm("Remove", "Remove");
    await state("Remove from all customers whose status is suspended", "finished");
    assert.deepEqual(
      await assigned(),
      before.filter((id) => !suspended.includes(id)),
    );
    await page()
      .getByRole("row", { name: /Remove all customers whose status is suspended finished/ })
      .waitFor();
    await page().goto(`/audit?kind=change&action=policy.bulk_assignment_finished`);
    await page().getByRole("cell", { name: "policy.bulk_assignment_finished" }).first().waitFor();
  });

  it("pages and sorts lists in the address, and the focus stays on what was pressed", async () => {
    await page().goto("/customers");
    const first = async () => (await page().getByRole("cell").first().textContent()) ?? "";
    const beyond = await api("GET", "/customers?sort=name&order=asc&limit=25&page=2");
    const [{ name: next }] = beyond.body.data as [{ name: string }];
    await page().getByText(`Page 1 of 2 · entries: ${total}`).waitFor();
    await press("Name ⇅");
    await focusOn("Name ▲");
    await eventually("the order", async () => (await first()) === MARKUP);
    await press("Next");
    await page().getByText("Page 2 of 2").waitFor();
    await focusOn("Next");
    await eventually("the page", async () => (await first()) === next);
    await page().reload();
    await page().getByText("Page 2 of 2").waitFor();
    assert.equal(await first(), next);
    await type("Name begins with", "globex 0");
    await page().keyboard.press("Enter");
    await page().getByText("entries: 9").waitFor();
    await focusOn("Name begins with");
    await press("Clear");
    await page().getByText(`entries: ${total}`).waitFor();
    await focusOn("Apply");
  });
}
