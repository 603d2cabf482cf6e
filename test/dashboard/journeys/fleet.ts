import assert from "node:assert/strict";
import { eventually } from "../../support/eventually.ts";
import { makeKey } from "../../support/guarded-control.ts";
import { problemsOf } from "../support.ts";
import { SET, settled, type Journey } from "./journey.ts";

/** The page of gateways, while a real one follows a rollout of v2 beside the active v1. */
export function fleet({ bench, page, api }: Journey): void {
  const digestOf = async (version: string) =>
    String((await api("GET", `/policy-sets/${SET}/versions/${version}`)).body.data.digest);

  it("shows which versions a real gateway enforces and tries, and that it goes on reporting", async () => {
    const [active, candidate] = [await digestOf("v1"), await digestOf("v2")];
    const tab = await bench().tab(page(), "/gateways");
    await settled(tab);
    const row = tab.getByRole("row").filter({ has: tab.locator(`code[title="${active}"]`) });
    await row.getByText("alive", { exact: true }).waitFor();
    await row.getByText(`${SET} v1`).waitFor();
    await row.getByText(/^shadow, \d+ %$/).waitFor();
    const seen = () => row.locator("time").getAttribute("datetime");
    const first = Date.parse((await seen()) ?? "");
    await eventually("another report", async () => Date.parse((await seen()) ?? "") > first);
    await row.getByRole("button", { name: /^Details of/ }).click();
    const details = tab.getByRole("dialog");
    await details.getByText("It enforces what it should.").waitFor();
    assert.equal(await details.locator("dd").getByText(active, { exact: true }).count(), 2);
    await details.locator("dd").getByText(candidate, { exact: true }).waitFor();
    await tab.close();
  });

  it("shows which gateways lag, have diverged or are lost, and finds them", async () => {
    const { db } = bench().control.context;
    const { secret } = await makeKey(bench().control, { name: "fleet", scope: "gateway" });
    const [active, former] = [await digestOf("v1"), await digestOf("v0")];
    const never = "f".repeat(64);
    for (const [id, digest] of [
      ["lagging:1", former],
      ["diverged:1", never],
      ["lost:1", active],
    ] as const) {
      const at = new Date().toISOString();
      const answer = await bench().control.request("POST", "/gateway/registration", {
        headers: { authorization: `Bearer ${secret}`, "x-gatehouse-gateway": id.replace(":1", "") },
        body: {
          ...{ id, kind: "gateway", address: "http://10.0.0.4:8000", version: "0.1.0" },
          policies: {
            source: "control_plane",
            set: SET,
            version: null,
            digest: digest.replace("sha256:", ""),
          },
          ...{ rollout: null, workers: { expected: 1, ready: 1 }, started_at: at, sent_at: at },
          ...{ interval_ms: 600_000, leaving: false },
        },
      });
      assert.equal(answer.status, 200, answer.text);
    }
    // as if the version had been activated, and the last report come, long ago
    const long = new Date(Date.now() - 3_600_000);
    await db("gateways").where({ id: "lost:1" }).update({ seen_at: long });
    const tab = await bench().tab(page(), "/gateways");
    const row = (name: string) => tab.getByRole("row", { name: new RegExp(`^${name} `) });
    await row("lost").getByText("lost", { exact: true }).waitFor();
    await row("diverged").getByText("diverged", { exact: true }).waitFor();
    // it has some seconds for a new version
    await row("lagging").getByText("lagging", { exact: true }).waitFor();
    for (const name of ["lagging", "diverged"])
      await row(name)
        .getByText(`active: ${active.slice(0, 19)}`)
        .waitFor();
    assert.deepEqual(await problemsOf(tab), []);
    await row("diverged").getByRole("button", { name: "Details of diverged" }).click();
    await tab.getByRole("dialog").getByText("It enforces what was never published here").waitFor();
    await tab.getByRole("button", { name: "Close" }).click();
    await tab.getByLabel("Status").selectOption("lagging");
    await tab.getByRole("button", { name: "Apply" }).click();
    await row("lost").waitFor({ state: "detached" });
    await row("lagging").waitFor();
    assert.equal(await tab.getByRole("row").count(), 2);
    await tab.close();
    await db("gateways").where({ interval_ms: 600_000 }).delete();
  });
}
