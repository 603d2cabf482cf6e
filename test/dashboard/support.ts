import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { newId } from "../../src/control/platform/ids.ts";
import { decisionRecord } from "../control/support/gateway-records.ts";
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
    page.setDefaultTimeout(20_000);
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

/** Presses Tab until an element has the focus whose name or text is this. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const seen: string[] = [];
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      interface Focused {
        getAttribute(name: string): string | null;
        labels?: ArrayLike<{ textContent: string }>;
        textContent: string;
        shadowRoot: { activeElement: Focused | null } | null;
      }
      const { activeElement } = (globalThis as unknown as { document: { activeElement: Focused } }).document;
      const element = activeElement.shadowRoot?.activeElement ?? activeElement;
      return element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent;
    });
    if (at.trim() === name) return;
    seen.push(at.trim().slice(0, 40));
  }
  throw new Error(`Tab does not lead to ${name}, but to: ${seen.join(" | ")}`);
}
