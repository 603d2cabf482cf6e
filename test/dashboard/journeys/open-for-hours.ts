import assert from "node:assert/strict";
import { makeKey } from "../../support/guarded-control.ts";
import type { Journey } from "./journey.ts";

const HOUR_MS = 3_600_000;

/** Pages that stay open while time goes by. */
export function openForHours({ bench, owner }: Journey): void {
  it("shows the last hour of now, however long the page has been open", async () => {
    const { secret } = await makeKey(bench().control, { name: "hours", scope: "gateway" });
    const timestamp = new Date(Date.now() - 2 * HOUR_MS).toISOString();
    await bench().decide(secret, [{ timestamp, rule_resource: "GET /two-hours-ago" }]);
    const tab = await bench().open("/");
    await bench().signIn(tab, owner().email);
    // a clock that was eight hours behind when the page was opened
    await tab.clock.install({ time: Date.now() - 8 * HOUR_MS });
    await tab.goto("/?range=1h");
    const old = tab.getByRole("link", { name: "GET /two-hours-ago" });
    await old.waitFor();
    const asks = tab.waitForRequest((request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname !== "/v1/analytics/dashboard") return false;
      const from = Date.parse(searchParams.get("from") ?? "");
      assert.equal(from % 60_000, 0, "in whole minutes");
      return from > Date.now() - 2 * HOUR_MS;
    });
    await tab.clock.fastForward(8 * HOUR_MS);
    await asks;
    await old.waitFor({ state: "detached" });
    await tab.context().close();
  });

  it("follows the trail from a range that has ended", async () => {
    const { secret } = await makeKey(bench().control, { name: "live", scope: "gateway" });
    const [from, to] = [2, 1].map((hours) => new Date(Date.now() - hours * HOUR_MS).toISOString());
    const range = new URLSearchParams({ kind: "decision", from: from ?? "", to: to ?? "" });
    const tab = await bench().open(`/audit?${range.toString()}`);
    await bench().signIn(tab, owner().email);
    await tab.getByRole("heading", { name: "Audit" }).waitFor();
    await tab.getByLabel("Live").check();
    await bench().decide(secret, [{ resource: "/after-the-range" }]);
    await tab.getByRole("cell", { name: "GET /after-the-range" }).waitFor();
    await tab.context().close();
  });
}
