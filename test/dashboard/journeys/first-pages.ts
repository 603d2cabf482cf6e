import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { newSetupLink, PASSWORD, signIn } from "../../support/guarded-control.ts";
import { problemsOf, problemsOfColours } from "../support.ts";
import type { Journey } from "./journey.ts";

const OWNER = "olga@example.com";

/** The pages before there is anything: how the first owner gets in. */
export function firstPages({ belongings, bench, page, api }: Journey): void {
  it("has nothing that axe finds on the way to the first steps, in either theme", async () => {
    const opened = await bench().open(new URL(await newSetupLink(bench().control)).href);
    belongings.page = opened;
    await inBothThemes(opened, "setup");
    await opened.getByRole("button", { name: "Create owner account" }).click();
    await opened.getByText("Check the marked fields.").waitFor();
    await inBothThemes(opened, "setup with errors");
    await opened.getByLabel("E-mail address").fill(OWNER);
    await opened.getByLabel("Name", { exact: true }).fill("Olga");
    await opened.getByLabel("Password").fill(PASSWORD);
    await opened.getByRole("button", { name: "Create owner account" }).click();
    await opened.getByText("Your account is ready.").waitFor();
    await inBothThemes(opened, "setup done");
    await opened.getByRole("link", { name: "Sign in" }).click();
    await opened.getByRole("button", { name: "Sign in" }).waitFor();
    await inBothThemes(opened, "sign-in");
    await bench().signIn(opened, OWNER);
    await opened.getByRole("heading", { name: "First steps" }).waitFor();
    await inBothThemes(opened, "first steps");
    belongings.owner = await signIn(bench().control, OWNER);
  });

  it("has nothing that axe finds on the page of an invitation, in either theme", async () => {
    const invited = await api("POST", "/dashboard/users", {
      ...{ email: "ines@example.com", name: "Ines", role: "viewer" },
    });
    const { url } = (invited.body.data as { invitation: { url: string } }).invitation;
    const other = await bench().tab(page(), url);
    await other.getByRole("button", { name: "Set password" }).waitFor();
    await inBothThemes(other, "invitation");
    await other.close();
  });
}

/** Pages follow the system where nobody has chosen a theme. */
async function inBothThemes(page: Page, what: string): Promise<void> {
  await page.emulateMedia({ colorScheme: "light" });
  assert.deepEqual(await problemsOf(page), [], `${what}, light`);
  await page.emulateMedia({ colorScheme: "dark" });
  assert.deepEqual(await problemsOfColours(page), [], `${what}, dark`);
  await page.emulateMedia({ colorScheme: null });
}
