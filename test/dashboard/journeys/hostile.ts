import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { settled, type Journey } from "./journey.ts";

/** What shows a record whole, or what a dialog holds. */
const SHOWS = /^(Show|Details|Open|Edit|Replace|Change role)$/;

/** Texts that are markup, each with a mark of its own, so that one is known wherever it is shown. */
export class HostileTexts {
  readonly #written = new Set<string>();

  /** For a field that takes any text. */
  text(what: string): string {
    return this.#note(`<img src=x onerror=globalThis.hit=1>${what}`);
  }

  /** For a field that takes no spaces. */
  word(what: string): string {
    return this.#note(`<svg/onload=globalThis.hit=1>${what}`);
  }

  #note(text: string): string {
    assert.ok(!this.#written.has(text), text);
    this.#written.add(text);
    return text;
  }

  /** Those that are in no text of these. */
  missingIn(shown: string): readonly string[] {
    return [...this.#written].filter((text) => !shown.includes(text));
  }
}

/** Walks the pages, and opens whatever shows more: every text is there as text, and none has become an element. */
export function markupSweep(
  { page, bench }: Journey,
  texts: HostileTexts,
  paths: () => Promise<readonly string[]>,
): void {
  it("shows markup in every field that callers, providers, receivers and gateways fill, as text", async () => {
    let shown = "";
    const look = async (where: string) => {
      const [text, elements] = await page().evaluate<[string, number]>(`[
        [document.documentElement, ...[...document.querySelectorAll("*")].flatMap((one) => one.shadowRoot ?? [])]
          .map((root) => root.textContent + [...root.querySelectorAll("input, textarea")].map((one) => one.value).join("\\n"))
          .join("\\n"),
        [document, ...[...document.querySelectorAll("*")].flatMap((one) => one.shadowRoot ?? [])]
          .reduce((sum, root) => sum + root.querySelectorAll("img[src=x], svg[onload]").length, 0),
      ]`);
      assert.equal(elements, 0, `${where}: markup is an element`);
      shown += text;
    };
    for (const path of await paths()) {
      await page().goto(path);
      await settled(page());
      await look(path);
      for (const button of await showing(page())) {
        await button.click();
        const dialog = page().getByRole("dialog");
        await dialog.waitFor();
        await settled(page());
        await look(path);
        await page().keyboard.press("Escape");
        await dialog.waitFor({ state: "detached" });
      }
    }
    assert.equal(await page().evaluate("globalThis.hit"), undefined);
    // a handler that was stopped by the Content-Security-Policy alone
    assert.deepEqual(bench().complaints, []);
    assert.deepEqual(texts.missingIn(shown), []);
  });
}

async function showing(page: Page) {
  const buttons = await page.getByRole("main").locator("button").filter({ hasText: SHOWS }).all();
  const visible = await Promise.all(
    buttons.map(async (button) => (await button.isVisible()) && (await button.isEnabled())),
  );
  return buttons.filter((_, index) => visible[index]);
}
