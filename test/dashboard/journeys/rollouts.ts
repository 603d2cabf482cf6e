import assert from "node:assert/strict";
import { eventually } from "../../support/eventually.ts";
import { fleet } from "./fleet.ts";
import { MARKUP, SET, type Journey } from "./journey.ts";
import { staysInDialog, tabTo } from "../support.ts";

const SILVER = { "x-tier": "silver" };

/** Rollouts: v1 is active and serves gold and silver, v2 serves gold alone. */
export function rolloutJourneys(journey: Journey): void {
  const { page, api, dialog, heading, press, keys, focusOn, active, answers } = journey;
  it("tries a version in shadow: differences by rule, and nobody notices", async () => {
    await page().goto(`/policy-sets/${SET}?tab=rollout`);
    await heading("No rollout yet");
    await tabTo(page(), "Start a rollout");
    await page().keyboard.press("Enter");
    await dialog().waitFor();
    await tabTo(page(), "Candidate");
    await page().keyboard.type("v2");
    await tabTo(page(), "Start a rollout");
    await page().keyboard.press("Enter");
    await page().getByText("running", { exact: true }).waitFor();
    // by default the candidate is guarded
    await page().locator("dd").getByText("Decisions of each version that are needed: 200").waitFor();
    await focusOn("Rollout");
    await page().getByRole("cell", { name: "these terms" }).waitFor();
    await eventually("a difference", async () => {
      await answers("/open", 200, SILVER);
      return (await page().getByRole("cell", { name: "the candidate denies" }).count()) > 0;
    });
  });

  fleet(journey);

  it("lets it decide for a part by a slider, and takes it back, by keyboard alone", async () => {
    await tabTo(page(), "Change the terms");
    await page().keyboard.press("Enter");
    await dialog().waitFor();
    await tabTo(page(), "Mode");
    await page().keyboard.press("ArrowDown");
    await tabTo(page(), "Part of the callers");
    await page().keyboard.press("Home");
    await tabTo(page(), "Guard: take the candidate back if it does worse");
    await page().keyboard.press("Space");
    await tabTo(page(), "Save");
    await page().keyboard.press("Enter");
    await page().getByText("no guard").waitFor();
    await tabTo(page(), "Part of the callers for whom the candidate decides");
    await page().keyboard.press("End");
    await tabTo(page(), "Set to 100 %");
    await page().keyboard.press("Enter");
    await answers("/open", 403, SILVER);
    await tabTo(page(), "Take back");
    await page().keyboard.press("Enter");
    await dialog().waitFor();
    await tabTo(page(), "Reason, for the record");
    await page().keyboard.insertText(MARKUP);
    await tabTo(page(), "Take back");
    await page().keyboard.press("Enter");
    await page().getByText("taken back", { exact: true }).waitFor();
    await page().getByText(`operator: ${MARKUP}`).waitFor();
    await answers("/open", 200, SILVER);
  });

  it("shows both states where a rollout has changed, then promotes it, by keyboard alone", async () => {
    await press("Start a rollout");
    await dialog().waitFor();
    await staysInDialog(page());
    await tabTo(page(), "Candidate");
    await page().keyboard.type("v2");
    await press("Start a rollout");
    await page().getByText("running", { exact: true }).waitFor();
    await press("Promote");
    await dialog().getByText("This changes Sandbox.").waitFor();
    await staysInDialog(page());
    await page().keyboard.press("Escape");
    await dialog().waitFor({ state: "detached" });
    await focusOn("Promote");
    await page().keyboard.press("Enter");
    await dialog().waitFor();
    await api("POST", `/policy-sets/${SET}/rollout`, { version: "v2", mode: "enforce", percentage: 3 });
    await press("Promote");
    await heading("The rollout has changed in the meantime");
    const row = dialog().getByRole("row", { name: /^Mode/ });
    assert.deepEqual(await row.getByRole("cell").allTextContents(), ["shadow", "enforce"]);
    await press("Show it as it is now");
    await dialog().waitFor({ state: "detached" });
    await focusOn("Promote");
    await page().getByText("3 %", { exact: true }).first().waitFor();
    await page().keyboard.press("Enter");
    await dialog().waitFor();
    await press("Promote");
    await page().getByText("promoted", { exact: true }).waitFor();
    // there is nothing left to promote, and the focus stays in this part of the page
    await focusOn("Rollout");
    assert.equal(await active(), "v2");
    await answers("/open", 403, SILVER);
    await keys("History", "Enter");
    await page().getByText("policy_set.rollout_promoted").first().waitFor();
    await page().getByRole("cell", { name: MARKUP }).first().waitFor();
  });
}
