import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { newId } from "../../src/control/platform/ids.ts";
import { decisionRecord } from "../control/support/gateway-records.ts";
import { eventually } from "../support/eventually.ts";
import { makeOwner, PASSWORD, type Person } from "../support/guarded-control.ts";
import { startWholeControl, type WholeControl } from "../support/whole-control.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const STANDARD = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** A control plane with the dashboard, in a browser that notes whatever a page must not do. */
export class DashboardBench {
  /** Errors of scripts, violations of the Content-Security-Policy, requests to other hosts. */
  readonly complaints: string[] = [];
  readonly control: WholeControl;
  readonly #browser: Browser;
  readonly #contexts: BrowserContext[] = [];

  /** The dashboard must be built. The browser stays open after the bench. */
  static async start(browser: Browser, environment: "production" | "sandbox"): Promise<DashboardBench> {
    return new DashboardBench(await startWholeControl({ settings: { environment } }), browser);
  }

  private constructor(control: WholeControl, browser: Browser) {
    this.control = control;
    this.#browser = browser;
  }

  /** A new browser profile on a page. */
  async open(path: string, options: Parameters<Browser["newContext"]>[0] = {}): Promise<Page> {
    const context = await this.#browser.newContext({ baseURL: this.control.url, ...options });
    this.#contexts.push(context);
    return this.#tab(context, path);
  }

  /** Another tab of the same profile. */
  tab(page: Page, path: string): Promise<Page> {
    return this.#tab(page.context(), path);
  }

  async #tab(context: BrowserContext, path: string): Promise<Page> {
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("console", (message) => {
      // a refused request is an answer that the page shows; the browser notes it, too
      if (message.type() === "error" && !message.text().includes("Failed to load resource"))
        this.complaints.push(message.text());
    });
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== this.control.url) this.complaints.push(request.url());
    });
    await page.goto(path);
    return page;
  }

  /** Makes the first owner without the browser. */
  owner(): Promise<Person> {
    return makeOwner(this.control);
  }

  /** Signs in by the form of the page that is open. */
  async signIn(page: Page, email: string): Promise<void> {
    await page.getByLabel("E-mail address").fill(email);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
  }

  /** Sends decisions as a gateway does. */
  async decide(key: string, decisions: readonly Parameters<typeof decisionRecord>[0][]): Promise<void> {
    const records = decisions.map((changes) =>
      decisionRecord({ timestamp: new Date().toISOString(), ...changes }),
    );
    const answer = await fetch(`${this.control.url}/v1/gateway/records`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ records }),
    });
    if (!answer.ok) throw new Error(await answer.text());
  }

  /** Puts a user with an open session there. @returns the session's id */
  async session(customer: string, userAgent: string): Promise<string> {
    const { db } = this.control.context;
    const [user, id, now] = [newId("user"), newId("session"), new Date()];
    const later = new Date(Date.now() + 3_600_000);
    await db("users").insert({
      ...{ id: user, customer_id: customer, issuer: "https://idp.example", subject: `sub-${user}` },
      ...{ email: `${user}@example.com`, name: userAgent, status: "active" },
      ...{
        profile: "{}",
        attributes: "{}",
        created_at: now,
        updated_at: now,
        last_sign_in_at: now,
        revision: 1,
      },
    });
    await db("sessions").insert({
      ...{ id, customer_id: customer, user_id: user, client_id: "key_1", scope: "openid", amr: "[]" },
      ...{ ip_address: "192.0.2.7", user_agent: userAgent, created_at: now, last_used_at: now },
      ...{ expires_at: later, alive_until: later },
    });
    return id;
  }

  async close(): Promise<void> {
    for (const context of this.#contexts) await context.close();
    await this.control.close();
  }
}

/** What axe finds at WCAG 2.2 AA. */
export function problemsOf(page: Page): Promise<readonly string[]> {
  return axe(page, { type: "tag", values: STANDARD });
}

/** The part of it that another theme can change. */
export function problemsOfColours(page: Page): Promise<readonly string[]> {
  return axe(page, { type: "rule", values: ["color-contrast", "link-in-text-block"] });
}

async function axe(page: Page, runOnly: object): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(AXE);
  return page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as {
      axe: {
        run(
          root: unknown,
          options: object,
        ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
      };
    };
    const { violations } = await axe.run("html", { runOnly, resultTypes: ["violations"], preload: false });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
  }, runOnly);
}

interface Focused {
  /** What the element with the focus is called; empty where nothing has it. */
  readonly name: string;
  /** Whether people see that it has the focus. */
  readonly isVisible: boolean;
  readonly isInDialog: boolean;
}

/** A script of the page: the editor is in a shadow tree, and its frame shows the focus. */
const FOCUSED = `(() => {
  const active = document.activeElement;
  if (active === null || active === document.body) return { name: "", isVisible: true, isInDialog: false };
  const inner = active.shadowRoot?.activeElement ?? active;
  const frames = [inner];
  if (inner !== active) for (let one = inner.parentElement; one; one = one.parentElement) frames.push(one);
  const { width, height } = inner.getBoundingClientRect();
  const isOutlined = (one) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    return outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
  };
  return {
    name: (inner.getAttribute("aria-label") ?? inner.labels?.[0]?.textContent ?? inner.textContent).trim(),
    // a heading that a page gave it to is no place that Tab leads to
    isVisible: inner.tabIndex < 0 || (width > 0 && height > 0 && frames.some(isOutlined)),
    isInDialog: active.closest("dialog") !== null,
  };
})()`;

export function focused(page: Page): Promise<Focused> {
  return page.evaluate<Focused>(FOCUSED);
}

/** Waits until the focus is on what has this name. */
export async function focusOn(page: Page, name: string): Promise<void> {
  let last = "";
  await eventually(`the focus on ${name}`, async () => {
    last = (await focused(page)).name;
    return last === name;
  }).catch((error: unknown) => {
    throw new Error(`the focus is on ${last}`, { cause: error });
  });
}

/** Presses Tab until an element has the focus whose name or text is this. Wherever the focus is on the way, it is to be seen. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const seen: string[] = [];
  for (let presses = 0; presses < 150; presses++) {
    await page.keyboard.press("Tab");
    const at = await focused(page);
    assert.ok(at.isVisible, `nobody sees that the focus is on ${at.name}`);
    if (at.name === name) return;
    seen.push(at.name.slice(0, 40));
  }
  throw new Error(`Tab does not lead to ${name}, but to: ${seen.join(" | ")}`);
}

/** Tab goes round in the dialog that is open, in both directions; between its ends the browser itself may have the focus. */
export async function staysInDialog(page: Page): Promise<void> {
  for (const key of ["Tab", "Shift+Tab"]) {
    const names = new Set<string>();
    for (;;) {
      await page.keyboard.press(key);
      const at = await focused(page);
      assert.ok(at.isInDialog || at.name === "", `${key} leaves the dialog for ${at.name}`);
      assert.ok(at.isVisible, `nobody sees that the focus is on ${at.name}`);
      if (names.has(at.name)) break;
      names.add(at.name);
    }
  }
}
