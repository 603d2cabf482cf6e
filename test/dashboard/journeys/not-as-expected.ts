import assert from "node:assert/strict";
import { problemsOf } from "../support.ts";
import type { Journey } from "./journey.ts";

const UNAVAILABLE = {
  error: { code: "SERVICE_UNAVAILABLE", message: "the database cannot be reached", details: {} },
  meta: { request_id: "req_unavailable", timestamp: "2026-01-01T00:00:00.000Z" },
};

/** Answers that a page does not expect: on the page that shows health, while something is away, and of another release. */
export function notAsExpected({ page, bench, heading, press }: Journey): void {
  const JWKS = "**/.well-known/jwks.json";
  it("shows the health of a control plane whose database is away, and reads again", async () => {
    const away = { ok: false, detail: "no connection to the database" };
    await page().route("**/readyz", (route) =>
      route.fulfill({ status: 503, json: { checks: { database: away } } }),
    );
    await page().route(JWKS, (route) => route.fulfill({ status: 503, json: UNAVAILABLE }));
    await page().route("**/v1/analytics/events?*", (route) =>
      route.fulfill({ status: 503, contentType: "application/json", body: "null" }),
    );
    await page().goto("/settings?tab=system");
    const part = (name: string) => page().getByRole("region", { name, exact: true });
    await part("Health").getByRole("cell", { name: away.detail }).waitFor();
    await part("Health").getByText("failed", { exact: true }).waitFor();
    const keys = part("Signing keys").getByRole("alert");
    await keys.getByText(UNAVAILABLE.error.message).waitFor();
    await keys.getByText(UNAVAILABLE.meta.request_id).waitFor();
    await part("Rate limits").getByText("The answer is not what this page expects.").waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await page().unrouteAll();
    await part("Signing keys").getByRole("button", { name: "Try again" }).click();
    await part("Signing keys").getByRole("table").waitFor();
    await part("Rate limits").getByRole("button", { name: "Try again" }).click();
    await part("Rate limits").getByRole("cell", { name: "Management" }).waitFor();
    // a proxy in front of it, which has no checks to tell of
    await page().route("**/readyz", (route) =>
      route.fulfill({ status: 503, json: { message: "no upstream" } }),
    );
    await page().reload();
    await part("Health").getByRole("button", { name: "Try again" }).waitFor();
    await page().unrouteAll();
    await part("Health").getByRole("button", { name: "Try again" }).click();
    await part("Health").getByText("good", { exact: true }).first().waitFor();
  });

  it("says that a page has stopped working, leads to the others, and reloads it", async () => {
    await page().route(JWKS, (route) => route.fulfill({ json: { keys: [null] } }));
    await page().goto("/settings?tab=system");
    await heading("This page has stopped working");
    assert.deepEqual(await problemsOf(page()), []);
    await press("Customers");
    await page().getByRole("table").waitFor();
    assert.equal(await page().getByRole("alert").count(), 0);
    await page().goBack();
    await heading("This page has stopped working");
    // whatever watches the page learns of it
    const told = bench().complaints.splice(0);
    assert.equal(told.length, 2, told.join(" "));
    for (const complaint of told) assert.match(complaint, /TypeError/);
    await page().unrouteAll();
    await press("Reload");
    await page().getByRole("region", { name: "Signing keys" }).getByRole("table").waitFor();
  });
}
