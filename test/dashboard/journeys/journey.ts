import type { Locator, Page } from "playwright-core";
import type { Answered } from "../../support/control.ts";
import { eventually } from "../../support/eventually.ts";
import type { RunningGateway } from "../../support/gateway.ts";
import type { Person } from "../../support/guarded-control.ts";
import { focusOn, tabTo, type DashboardBench } from "../support.ts";

export const MARKUP = `<img src=x onerror="globalThis.hit=1"><script>globalThis.hit=1</script>`;
/** The policy set that the journeys write, and that the gateway enforces. */
export const SET = "edge";

/** What the parts of a journey leave for those after them. */
export interface Belongings {
  bench?: DashboardBench;
  /** The page of the owner, who stays signed in. */
  page?: Page;
  owner?: Person;
  /** The id of a customer. */
  customer?: string;
  gateway?: RunningGateway;
}

export type Journey = ReturnType<typeof journeyWith>;

/** One way through the pages of an environment, whose parts share a control plane, a page and who is signed in. */
export function journeyWith(belongings: Belongings) {
  const page = () => there(belongings.page);
  const owner = () => there(belongings.owner);
  const bench = () => there(belongings.bench);
  const dialog = () => page().getByRole("dialog");
  return {
    belongings,
    page,
    owner,
    bench,
    customer: () => there(belongings.customer),
    gateway: () => there(belongings.gateway),
    dialog,
    /** Asks the API as the owner does, beside the page. */
    api: (method: string, path: string, body?: object): Promise<Answered> =>
      bench().control.request(method, path, { headers: owner().headers, ...(body && { body }) }),
    button: (name: string): Locator => page().getByRole("button", { name, exact: true }),
    inDialog: (name: string): Locator => dialog().getByRole("button", { name, exact: true }),
    heading: (name: string): Promise<void> => page().getByRole("heading", { name }).first().waitFor(),
    said: (text: string | RegExp): Promise<void> =>
      page().getByRole("status").getByText(text).first().waitFor(),
    tab: (name: string): Promise<void> => page().getByRole("link", { name, exact: true }).click(),
    /** Presses a button or link as people do who have no pointer. */
    press: async (name: string): Promise<void> => {
      await tabTo(page(), name);
      await page().keyboard.press("Enter");
    },
    /** Presses a button that asks, and then the one of the dialog, which has the focus after it. */
    confirm: async (name: string, action: string): Promise<void> => {
      await tabTo(page(), name);
      await page().keyboard.press("Enter");
      await dialog().waitFor();
      await tabTo(page(), action);
      await page().keyboard.press("Enter");
    },
    /** Presses keys in a field that Tab leads to. */
    keys: async (name: string, ...keys: readonly string[]): Promise<void> => {
      await tabTo(page(), name);
      for (const key of keys) await page().keyboard.press(key);
    },
    focusOn: (name: string): Promise<void> => focusOn(page(), name),
    /** Types into a field that Tab leads to, in place of what it holds. */
    type: async (name: string, text: string): Promise<void> => {
      await tabTo(page(), name);
      await page().keyboard.press("Control+a");
      await page().keyboard.insertText(text);
    },
    settled: (on: Page = page()): Promise<unknown> => settled(on),
    /** The active version of the set. */
    active: async (): Promise<string> => {
      const answer = await bench().control.request("GET", `/policy-sets/${SET}`, {
        headers: owner().headers,
      });
      return answer.body.data.active_version as string;
    },
    /** Waits until the gateway answers with a status. */
    answers: async (path: string, status: number, headers: Record<string, string> = {}): Promise<void> => {
      await eventually(`${path}: ${status}`, async () => {
        const response = await fetch(`${belongings.gateway?.url}${path}`, { headers });
        await response.arrayBuffer();
        return response.status === status;
      });
    },
  };
}

/** The page has what it asked for. */
export async function settled(page: Page): Promise<void> {
  await page.locator("h1").first().waitFor();
  await eventually("the page", async () => (await page.locator("[aria-busy=true]").count()) === 0);
}

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("an earlier part of the journey has failed");
  return value;
}
