import assert from "node:assert/strict";
import { eventually } from "../../support/eventually.ts";
import { MARKUP, SET, type Journey } from "./journey.ts";
import { tabTo } from "../support.ts";

const SILVER = { "x-tier": "silver" };

/** Rollouts: v1 is active and serves gold and silver, v2 serves gold alone. */
export function rolloutJourneys({
  page,
  api,
  button,
  dialog,
  inDialog,
  heading,
  tab,
  active,
  answers,
}: Journey): void {
  it("tries a version in shadow: differences by rule, and nobody notices", async () => {
    await page().goto(`/policy-sets/${SET}?tab=rollout`);
    await heading("No rollout yet");
    await tabTo(page(), "Start a rollout");
    await page().keyboard.press("Enter");
    await tabTo(page(), "Candidate");
    await page().keyboard.type("v2");
    await tabTo(page(), "Start a rollout");
    await page().keyboard.press("Enter");
    await page().getByText("running", { exact: true }).waitFor();
    await page().getByRole("cell", { name: "these terms" }).waitFor();
    await eventually("a difference", async () => {
      await answers("/open", 200, SILVER);
      return (await page().getByRole("cell", { name: "the candidate denies" }).count()) > 0;
    });
  });

  it("lets it decide for a part by a slider, and takes it back, by keyboard alone", async () => {
    await tabTo(page(), "Change the terms");
    await page().keyboard.press("Enter");
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
    await tabTo(page(), "Reason, for the record");
    await page().keyboard.insertText(MARKUP);
    await tabTo(page(), "Take back");
    await page().keyboard.press("Enter");
    await page().getByText("taken back", { exact: true }).waitFor();
    await page().getByText(`operator: ${MARKUP}`).waitFor();
    await answers("/open", 200, SILVER);
  });

  it("shows both states where a rollout has changed, then promotes it", async () => {
    await button("Start a rollout").click();
    await page().getByLabel("Candidate", { exact: true }).selectOption("v2");
    await inDialog("Start a rollout").click();
    await button("Promote").click();
    await dialog().waitFor();
    await api("POST", `/policy-sets/${SET}/rollout`, { version: "v2", mode: "enforce", percentage: 3 });
    await inDialog("Promote").click();
    await heading("The rollout has changed in the meantime");
    const row = dialog().getByRole("row", { name: /^Mode/ });
    assert.deepEqual(await row.getByRole("cell").allTextContents(), ["shadow", "enforce"]);
    await inDialog("Show it as it is now").click();
    await button("Promote").click();
    await inDialog("Promote").click();
    await page().getByText("promoted", { exact: true }).waitFor();
    assert.equal(await active(), "v2");
    await answers("/open", 403, SILVER);
    await tab("History");
    await page().getByText("policy_set.rollout_promoted").first().waitFor();
    await page().getByRole("cell", { name: MARKUP }).first().waitFor();
  });
}
