import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { eventually } from "../../support/eventually.ts";
import { makePerson } from "../../support/guarded-control.ts";
import { problemsOf, problemsOfColours, staysInDialog } from "../support.ts";
import { settled, type Journey } from "./journey.ts";

const PHONE = { width: 360, height: 740 };
const DESKTOP = { width: 1280, height: 800 };
/** What people may press who may only read: it shows, sorts, finds, explains, copies, or changes the own account. */
const HARMLESS =
  /^(Apply|Clear|Show|Show more|Open|Close|Cancel|Try again|Previous|Next|Copy|Details|Export|Explain|Add a file|Open files|Fill in|Use its claims|Sign out|Compare|Run the tests|Format|main\.yaml|Change the password|.*[⇅▲▼]$)/;

/** What opens a dialog and does nothing yet. */
const OPENS =
  /^(Create a customer|Suspend|Activate|Configure the identity provider|Replace|Remove the identity provider|Test the connection|End|End all sessions|Assign a policy|Generate new key|Roll|Revoke|Register a webhook|Disable|Enable|Delete|Roll the secret|Invite somebody|Change role|New policy|Edit|Assign to a customer|New policy set|Roll back|Publish|Discard the draft|Add a file|Start a rollout|Add a person|Remove|Assign|Show|Details|Open)$/;

/** What holds for each page of an environment. */
export function everyPage(journey: Journey, paths: () => Promise<readonly string[]>): void {
  describe("every page", () => {
    onEveryPage(journey, paths);
  });
}

function onEveryPage({ page, bench, owner }: Journey, paths: () => Promise<readonly string[]>): void {
  it("has nothing that axe finds, on any page, in either theme, fits a phone, and its dialogs keep the focus", async () => {
    const dialogs = new Set<string>();
    for (const path of await paths()) {
      await page().goto(path);
      await page().getByLabel("Theme").selectOption("light");
      await settled(page());
      assert.deepEqual(await problemsOf(page()), [], `${path} light`);
      await page().getByLabel("Theme").selectOption("dark");
      assert.deepEqual(await problemsOfColours(page()), [], `${path} dark`);
      await page().setViewportSize(PHONE);
      assert.equal(await page().evaluate("document.documentElement.scrollWidth > innerWidth"), false, path);
      await page().setViewportSize(DESKTOP);
      await checkDialogs(page(), dialogs);
    }
    assert.ok(dialogs.size >= 8, [...dialogs].join(", "));
  });

  it("offers people who may only read nothing that changes anything, whatever they press", async () => {
    const viewer = await makePerson(bench().control, owner(), "viewer");
    const other = await bench().open("/explain");
    await bench().signIn(other, viewer.email);
    const sent: string[] = [];
    other.on("request", (request) => {
      // the own password is everybody's to change
      if (request.method() !== "GET" && !request.url().endsWith("/v1/dashboard/password"))
        sent.push(`${request.method()} ${request.url()}`);
    });
    for (const path of await paths()) {
      await other.goto(path);
      await settled(other);
      const buttons = other.getByRole("main").locator("button");
      const names = (await buttons.allTextContents()).map((name) => name.trim());
      assert.deepEqual(
        names.filter((name) => !HARMLESS.test(name)),
        [],
        path,
      );
      assert.equal(await other.getByRole("dialog").count(), 0, path);
      for (const name of new Set(names)) {
        const button = buttons.filter({ hasText: name }).first();
        if (!(await button.isVisible()) || (await button.isDisabled())) continue;
        await button.click();
        await painted(other);
        if ((await other.getByRole("dialog").count()) > 0) await other.keyboard.press("Escape");
        await other.getByRole("dialog").waitFor({ state: "detached" });
        await settled(other);
      }
      assert.deepEqual(sent, [], path);
    }
    for (const path of ["/keys", "/settings?tab=people"]) {
      await other.goto(path);
      await settled(other);
      assert.equal(await other.getByRole("cell").count(), 0, path);
    }
    await other.context().close();
  });
}

/** Opens each dialog that was not seen on another page, and closes it again, by keyboard. */
async function checkDialogs(page: Page, seen: Set<string>): Promise<void> {
  const buttons = page.getByRole("main").locator("button");
  const names = (await buttons.allTextContents()).map((name) => name.trim());
  for (const name of new Set(names.filter((one) => OPENS.test(one) && !seen.has(one)))) {
    const button = buttons.filter({ hasText: new RegExp(`^\\s*${name}\\s*$`) }).first();
    if (!(await button.isVisible()) || (await button.isDisabled())) continue;
    seen.add(name);
    await button.focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await settled(page);
    await staysInDialog(page);
    assert.deepEqual(await problemsOf(page), [], `${name} dark`);
    await showTheme(page, "light");
    assert.deepEqual(await problemsOfColours(page), [], `${name} light`);
    await showTheme(page, "dark");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await eventually(`the focus on ${name}`, () => button.evaluate(hasFocus));
  }
}

/** The choice is out of reach while a dialog is open. */
async function showTheme(page: Page, theme: "light" | "dark"): Promise<void> {
  await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
}

function hasFocus(element: object): boolean {
  return (
    (globalThis as unknown as { document: { activeElement: unknown } }).document.activeElement === element
  );
}

/** What the last event has changed is there to be seen. */
async function painted(page: Page): Promise<void> {
  await page.evaluate("new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))");
}
